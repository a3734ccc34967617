"""Which gate is next: the order of the gates, own crossings, and what the race status says of them.

The next gate is the nearest unpassed one ahead along the path. A gate counts as passed when the
estimated position crosses its plane forwards inside its frame; the race status, four times a second,
confirms it or not. One that was not counted is flown at again. Frames Ned and Gate, m.
"""

import math
from dataclasses import dataclass

from racewire.core.clock import NS_PER_MS, Nanos
from racewire.core.frames import Gate, Ned, Vec
from racewire.core.messages import RaceStatus
from racewire.pilots.eskf import Eskf
from racewire.pilots.gate_map import GateMap, Landmark
from racewire.pilots.guidance import Waypoint

FORWARD: Vec[Gate] = Vec(1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ProgressParams:
    """Choice of the next gate; `data/gate.toml` says what each is."""

    frame: float
    turn_cost: float
    retry_cost: float
    behind_cost: float
    keep_within: float
    better: float
    confirm_ms: int
    reach: float


class Progress:
    """The race so far, as the pilot knows it."""

    def __init__(self, params: ProgressParams) -> None:
        self._p = params
        self.passed = 0
        self.target: Landmark | None = None
        self.exit: Vec[Ned] = Vec(1.0, 0.0, 0.0)
        self._side: dict[int, float] = {}
        self._crossed: tuple[Landmark, Nanos] | None = None

    def restart(self) -> None:
        """Begin the race again."""
        self.passed, self.target, self._crossed = 0, None, None
        self.exit = Vec(1.0, 0.0, 0.0)
        self._side.clear()

    def advance(self, filter_: Eskf, map_: GateMap, t_ns: Nanos) -> None:
        """Look for a crossing since the last call, and choose the target."""
        here = filter_.position
        for gate in map_.known():
            local = filter_.gate(gate.slot).to_local(here)
            before = self._side.get(gate.number, local.x)
            self._side[gate.number] = local.x
            if before < 0.0 <= local.x and not gate.passed and gate is self.target:
                if max(abs(local.y), abs(local.z)) < self._p.frame:
                    self._pass(filter_, gate, t_ns)
                else:
                    gate.retries += 1
        self._choose(filter_, map_)

    def race(self, status: RaceStatus, filter_: Eskf, map_: GateMap) -> None:
        """Hear how many gates the referee has counted."""
        late = self._crossed is not None and status.t_ns > self._crossed[1] + self._p.confirm_ms * NS_PER_MS
        if status.active_gate > self.passed:
            near = self._nearest(filter_, map_)
            if near is not None:
                self._pass(filter_, near, status.t_ns)
            self.passed, self._crossed = status.active_gate, None
        elif status.active_gate == self.passed:
            self._crossed = None if late else self._crossed
        elif late and self._crossed is not None:
            gate, self.passed, self._crossed = self._crossed[0], status.active_gate, None
            gate.passed = False
            gate.retries += 1

    def way(self, filter_: Eskf, map_: GateMap) -> list[Waypoint]:
        """Return the next gate and the one after it, as far as they are known."""
        if self.target is None:
            return []
        first = waypoint(filter_, self.target)
        following = self._following(filter_, map_, first)
        return [first] if following is None else [first, waypoint(filter_, following)]

    def _pass(self, filter_: Eskf, gate: Landmark, t_ns: Nanos) -> None:
        gate.passed = True
        self.passed += 1
        self._crossed = (gate, t_ns)
        self.exit = filter_.gate(gate.slot).rotation @ FORWARD
        if gate is self.target:
            self.target = None

    def _nearest(self, filter_: Eskf, map_: GateMap) -> Landmark | None:
        """Return the unpassed gate whose plane the vehicle is at, if it is at one."""
        here = filter_.position
        best, least = None, self._p.reach
        for gate in map_.known():
            apart = (filter_.gate(gate.slot).position - here).norm()
            if not gate.passed and apart < least:
                best, least = gate, apart
        return best

    def _choose(self, filter_: Eskf, map_: GateMap) -> None:
        here, velocity = filter_.position, filter_.velocity
        ahead = self.exit if velocity.norm() < 2.0 else velocity * (1.0 / velocity.norm())
        current = self.target if self.target in map_.gates else None
        best, least = None, math.inf
        for gate in map_.known():
            if not gate.passed:
                cost = self._cost(filter_, gate, here, ahead)
                if gate is current:
                    near = (filter_.gate(gate.slot).position - here).norm() < self._p.keep_within
                    cost *= 0.0 if near and not gate.retries else self._p.better
                if cost < least:
                    best, least = gate, cost
        self.target = best

    def _cost(self, filter_: Eskf, gate: Landmark, here: Vec[Ned], ahead: Vec[Ned]) -> float:
        pose = filter_.gate(gate.slot)
        way = pose.position - here
        length = max(way.norm(), 1e-3)
        turn = 1.0 - way.dot(ahead) / length
        behind = self._p.behind_cost if pose.to_local(here).x > 0.0 else 0.0
        return length * (1.0 + self._p.turn_cost * turn) + self._p.retry_cost * gate.retries + behind

    def _following(self, filter_: Eskf, map_: GateMap, first: Waypoint) -> Landmark | None:
        best, least = None, math.inf
        for gate in map_.known():
            if gate.passed or gate is self.target:
                continue
            way = filter_.gate(gate.slot).position - first.centre
            length = max(way.norm(), 1e-3)
            cosine = way.dot(first.forward) / length
            if cosine > 0.0 and length > 2.0:
                cost = length * (1.0 + self._p.turn_cost * (1.0 - cosine))
                if cost < least:
                    best, least = gate, cost
        return best


def waypoint(filter_: Eskf, gate: Landmark) -> Waypoint:
    """Return a gate of the map as guidance takes it."""
    pose = filter_.gate(gate.slot)
    position_sd, normal_sd = filter_.gate_sd(gate.slot)
    return Waypoint(pose.position, pose.rotation @ FORWARD, position_sd, normal_sd)
