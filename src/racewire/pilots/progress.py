"""Which gate is next: the order of the gates, own crossings, and what the race status says of them.

The next gate is the nearest unpassed one ahead along the path. A gate counts as passed when the
estimated position crosses its plane forwards inside its frame; the race status, four times a second,
confirms it or not. A gate that was flown beside or not counted is owed: it is flown at again before
any other, until it has failed too often to be the right one. Frames Ned and Gate, m.
"""

import math
from dataclasses import dataclass

from racewire.core.clock import NS_PER_MS, Nanos
from racewire.core.frames import Gate, Ned, Pose, Vec
from racewire.core.messages import RaceStatus
from racewire.pilots.belief import Belief
from racewire.pilots.gate_map import GateMap, Landmark
from racewire.pilots.guidance import Waypoint

FORWARD: Vec[Gate] = Vec(1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ProgressParams:
    """Choice of the next gate; `data/gate.toml` says what each is."""

    frame: float
    clean: float
    clean_sd: float
    turn_cost: float
    retry_cost: float
    behind_cost: float
    keep_within: float
    better: float
    confirm_ms: int
    reach: float
    same: float
    most_retries: int


@dataclass(frozen=True, slots=True)
class _Crossing:
    """A gate passed that the referee has yet to count: where it stood, when, and whether surely inside."""

    gate: Landmark
    centre: Vec[Ned]
    t_ns: Nanos
    clean: bool


class Progress:
    """The race so far, as the pilot knows it."""

    def __init__(self, params: ProgressParams) -> None:
        self._p = params
        self.restart()

    def restart(self) -> None:
        """Begin the race again."""
        self.passed = 0
        self.target: Landmark | None = None
        self.exit: Vec[Ned] = Vec(1.0, 0.0, 0.0)
        self._owed: Landmark | None = None
        self._counted = 0
        self._gates: list[Landmark] = []
        self._crossed: _Crossing | None = None
        self._done: list[Vec[Ned]] = []
        self._ahead: dict[int, float] = {}
        self._poses: dict[int, Pose[Ned, Gate]] = {}

    def advance(self, belief: Belief, map_: GateMap, t_ns: Nanos, *, hit: bool = False) -> None:
        """Look for a crossing since the last call, and choose the target; `hit` if a blow was felt lately."""
        here = belief.position
        gates = self._gates = map_.known()
        self._poses = {gate.number: map_.facing(belief, gate) for gate in gates}
        for gate in gates:
            if not gate.passed and self._was_counted(self._poses[gate.number].position):
                gate.passed = True
            local = self._poses[gate.number].to_local(here)
            before = self._ahead.get(gate.number, local.x)
            self._ahead[gate.number] = local.x
            if gate is self.target and not gate.passed and before < 0.0 <= local.x:
                off = max(abs(local.y), abs(local.z))
                if off < self._p.frame:
                    sure = not hit and belief.gate_sd(gate.slot)[0] < self._p.clean_sd
                    self._pass(gate, t_ns, clean=sure and off < self._p.clean)
                else:
                    self._fail(gate, clean=False)
        self._choose(gates, here, belief.velocity)

    def race(self, status: RaceStatus, here: Vec[Ned]) -> None:
        """Hear how many gates the referee has counted."""
        if status.active_gate > self._counted:
            self._forgive()
        self._counted = status.active_gate
        if status.active_gate > self.passed:
            near = self._nearest(here)
            if near is not None:
                self._pass(near, status.t_ns, clean=True)
            self.passed = status.active_gate
        crossed = self._crossed
        if crossed is None:
            return
        if status.active_gate == self.passed:
            self._done.append(crossed.centre)
            self._crossed = None
        elif status.t_ns > crossed.t_ns + self._p.confirm_ms * NS_PER_MS:
            crossed.gate.passed, self.passed, self._crossed = False, status.active_gate, None
            self._fail(crossed.gate, clean=crossed.clean)

    def way(self, belief: Belief, map_: GateMap) -> list[Waypoint]:
        """Return the next gate and the one after it, as far as they are known."""
        if self.target is None:
            return []
        first = self._waypoint(belief, self.target)
        following = self._following(map_.known(), first)
        return [first] if following is None else [first, self._waypoint(belief, following)]

    def _pass(self, gate: Landmark, t_ns: Nanos, *, clean: bool) -> None:
        gate.passed = True
        self.passed += 1
        pose = self._poses[gate.number]
        self._crossed = _Crossing(gate, pose.position, t_ns, clean)
        self.exit = pose.rotation @ FORWARD
        if gate is self._owed:
            self._owed = None
        if gate is self.target:
            self.target = None

    def _fail(self, gate: Landmark, *, clean: bool) -> None:
        """Owe a gate. One passed cleanly and yet not counted was passed from behind, or out of turn."""
        gate.retries += 1
        self._owed = gate if gate.retries <= self._p.most_retries else None
        if clean:
            if gate.reversed:
                self._owed = None
            gate.reversed = not gate.reversed
            self._ahead.pop(gate.number, None)

    def _was_counted(self, centre: Vec[Ned]) -> bool:
        """Tell whether a gate at `centre` is one that was counted before, found again."""
        return any((centre - done).norm() < self._p.same for done in self._done)

    def _forgive(self) -> None:
        """Take back what was held against gates that were passed out of their turn: it may have come."""
        for gate in self._gates:
            if not gate.passed and gate.retries:
                gate.retries, gate.reversed = 0, False
                self._ahead.pop(gate.number, None)

    def _nearest(self, here: Vec[Ned]) -> Landmark | None:
        """Return the target if the vehicle is at it."""
        target = self.target
        if target is None or target.number not in self._poses:
            return None
        near = (self._poses[target.number].position - here).norm() < self._p.reach
        return target if near else None

    def _choose(self, gates: list[Landmark], here: Vec[Ned], velocity: Vec[Ned]) -> None:
        if self._owed in gates:
            self.target = self._owed
            return
        speed = velocity.norm()
        ahead = self.exit if speed < 2.0 else velocity * (1.0 / speed)
        best, least = None, math.inf
        for gate in gates:
            if gate.passed:
                continue
            pose = self._poses[gate.number]
            way = pose.position - here
            cost = self._cost(way, ahead)
            if self._ahead[gate.number] > 0.0:
                cost += self._p.behind_cost
            elif gate is self.target:
                cost *= 0.0 if way.norm() < self._p.keep_within else self._p.better
            cost += self._p.retry_cost * gate.retries
            if cost < least:
                best, least = gate, cost
        self.target = best

    def _following(self, gates: list[Landmark], first: Waypoint) -> Landmark | None:
        best, least = None, math.inf
        for gate in gates:
            if gate.passed or gate is self.target or gate.number not in self._poses:
                continue
            way = self._poses[gate.number].position - first.centre
            if way.dot(first.forward) > 0.0 and way.norm() > 2.0:
                cost = self._cost(way, first.forward)
                if cost < least:
                    best, least = gate, cost
        return best

    def _cost(self, way: Vec[Ned], ahead: Vec[Ned]) -> float:
        """Length of the way, longer the more it turns off the path."""
        length = max(way.norm(), 1e-3)
        return length * (1.0 + self._p.turn_cost * (1.0 - way.dot(ahead) / length))

    def _waypoint(self, belief: Belief, gate: Landmark) -> Waypoint:
        pose = self._poses[gate.number]
        position_sd, normal_sd = belief.gate_sd(gate.slot)
        return Waypoint(pose.position, pose.rotation @ FORWARD, position_sd, normal_sd)
