"""What the pilot wants from moment to moment: an acceleration and where to point the nose.

Racing, it flies through the gates with its nose to the next one, so that it stays in view; past a gate
behind which none is known it flies on along the gate's normal. Searching, it brakes, holds its height,
sweeps its nose about the likely direction and nods: the camera looks 20 degrees up, and only a vehicle
that leans forward sees what lies below. World NED, SI.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from racewire.core.clock import Nanos, nanos, seconds
from racewire.core.frames import Ned, Vec
from racewire.pilots.control import Kinematics
from racewire.pilots.guidance import GuidanceParams, Waypoint, approach, go_round, hold


@dataclass(frozen=True, slots=True)
class PaceParams:
    """Command interval, look-ahead, search pattern; `data/gate.toml` says what each is."""

    command_ms: float
    rest_stride: int
    look_ahead_s: float
    beside: float
    return_sd: float
    creep: float
    stuck_speed: float
    stuck_s: float
    escape_s: float
    nod: float
    nod_s: float
    sweep_deg: float
    sweep_s: float


@dataclass(frozen=True, slots=True)
class Wish:
    """A wanted acceleration (m/s^2) and heading (rad)."""

    accel: Vec[Ned]
    heading: float


class Pace:
    """Chooses between approach, detour, cruise, search and rest."""

    def __init__(self, params: PaceParams, guidance: GuidanceParams) -> None:
        self._p = params
        self._g = guidance
        self._back = False
        self._since: Nanos | None = None
        self._height = 0.0
        self._middle = 0.0
        self._moved: Nanos | None = None

    def fly(self, state: Kinematics, way: Sequence[Waypoint], exit_: Vec[Ned]) -> Wish:
        """Race: through `way`, or along `exit_` where no gate is known."""
        self._since = None
        if not way:
            self._back = False
            return Wish(hold(state.velocity, exit_ * self._g.cruise_speed, self._g), _heading(exit_))
        if self._stuck(state):
            off = state.position - way[0].centre
            away = off * (self._g.search_speed / max(off.norm(), 1e-3)) + Vec(0.0, 0.0, -1.0)
            return Wish(hold(state.velocity, away, self._g), _heading(-off))
        if self._must_go_back(state, way[0]):
            return self._go_back(state, way[0])
        aim = approach(state.position, state.velocity, way, self._g)
        view = way[0].centre - state.position
        if view.norm() < self._p.look_ahead_s * max(state.velocity.norm(), 1.0):
            view = way[1].centre - state.position if len(way) > 1 else aim.exit
        return Wish(aim.accel, _heading(view))

    def search(self, state: Kinematics, way: Sequence[Waypoint], exit_: Vec[Ned]) -> Wish:
        """Look around for a gate; go back before one that was missed while its place is known."""
        if way and way[0].position_sd < self._p.return_sd and self._must_go_back(state, way[0]):
            self._since = None
            return self._go_back(state, way[0])
        if self._since is None:
            self._since, self._height = state.t_ns, state.position.z
            self._middle = _heading(way[0].centre - state.position if way else exit_)
        t = seconds(state.t_ns - self._since)
        sweep = math.radians(self._p.sweep_deg) * math.sin(2.0 * math.pi * t / self._p.sweep_s)
        nod = self._p.nod * math.sin(2.0 * math.pi * t / self._p.nod_s)
        up = self._height - state.position.z
        wanted = _level(self._middle, self._p.creep) + Vec(0.0, 0.0, up)
        heading = self._middle + sweep
        return Wish(hold(state.velocity, wanted, self._g) + _level(heading, nod), heading)

    def rest(self, state: Kinematics) -> Wish:
        """Hover where it is, nose ahead."""
        if self._since is None:
            self._since, self._height = state.t_ns, state.position.z
            self._middle = _heading(state.velocity)
        up = self._height - state.position.z
        return Wish(hold(state.velocity, Vec(0.0, 0.0, up), self._g), self._middle)

    def _stuck(self, state: Kinematics) -> bool:
        """Tell whether the vehicle has come to a stop against something, and for a while after."""
        if self._moved is None or state.velocity.norm() > self._p.stuck_speed:
            if self._moved is None or state.t_ns > self._moved:
                self._moved = state.t_ns
            return state.t_ns < self._moved
        if seconds(state.t_ns - self._moved) > self._p.stuck_s:
            self._moved = state.t_ns + nanos(self._p.escape_s)
        return state.t_ns < self._moved

    def _must_go_back(self, state: Kinematics, gate: Waypoint) -> bool:
        """Tell whether the gate cannot be passed from here; once begun, going back is done to its end."""
        offset = state.position - gate.centre
        beyond = offset.dot(gate.forward)
        beside = (offset - gate.forward * beyond).norm() > self._p.beside
        if self._back:
            self._back = beyond > -0.8 * self._g.detour_back
        else:
            self._back = beyond > 0.3 or (beyond > -1.0 and beside)
        return self._back

    def _go_back(self, state: Kinematics, gate: Waypoint) -> Wish:
        return Wish(
            go_round(state.position, state.velocity, gate, self._g), _heading(gate.centre - state.position)
        )


def _level(heading: float, size: float) -> Vec[Ned]:
    return Vec(size * math.cos(heading), size * math.sin(heading), 0.0)


def _heading(direction: Vec[Ned]) -> float:
    return math.atan2(direction.y, direction.x)
