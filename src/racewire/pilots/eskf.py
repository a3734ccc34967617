"""The error-state Kalman filter: body and gates in one state, and its recent past.

Every inertial sample advances the state and leaves a snapshot. A camera frame is older than the state
when it arrives, so `at` goes back to the frame's exposure, lets the map fuse what was seen there and
runs the kept samples again: the result is the one of measurements in order. World NED with its
origin and heading on the pad; body FRD. The arithmetic is `eskf_kernels`'.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from racewire.core.clock import NS_PER_S, Nanos, nanos, seconds
from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.pilots import eskf_kernels as k
from racewire.pilots.airframe import Airframe
from racewire.pilots.belief import Array, Belief, BeliefParams
from racewire.sensors.camera import Camera

_LONGEST_STEP = 0.05
_LONGEST_GAP = 1.0


class Mode(IntEnum):
    """What else is known while a sample is taken: nothing, that the body rests, that it flies in air."""

    COAST = 0
    REST = 1
    AIR = 2


@dataclass(frozen=True, slots=True)
class FilterParams:
    """Noise as standard deviations, SI; `data/gate.toml` says what each is."""

    accel_noise: float
    gyro_noise: float
    change_share: float
    accel_walk: float
    gyro_walk: float
    drag_noise: float
    drag_share: float
    rest_velocity: float
    rest_position: float
    rest_force: float
    rest_rates: float
    history_ms: float


@dataclass(slots=True)
class _Moment:
    t_ns: Nanos
    sample: Array
    mode: Mode
    x: Array
    P: Array
    n: int
    jolt: tuple[float, float, float] | None = None


class Eskf(Belief):
    """The belief, carried through time."""

    def __init__(
        self, params: FilterParams, belief: BeliefParams, airframe: Airframe, camera: Camera
    ) -> None:
        super().__init__(belief, camera)
        self._p = params
        self._airframe = airframe
        self.t_ns: Nanos = 0
        self.late = 0
        self._past: deque[_Moment] = deque()
        noise = (params.accel_noise, params.gyro_noise, params.accel_walk, params.gyro_walk)
        accel, gyro, accel_walk, gyro_walk = (sd * sd for sd in noise)
        self._noise = np.array((accel, gyro, params.change_share, accel_walk, gyro_walk))
        rest = (params.rest_velocity, params.rest_position, params.rest_force, params.rest_rates)
        self._rest = np.array([sd * sd for sd in rest])

    def reset(self, attitude: Rot[Ned, Frd], gyro_bias: Vec[Frd]) -> None:
        """Start at rest at the origin with this attitude, no gates and no past."""
        self.place(attitude, gyro_bias)
        self._past.clear()

    def restart(self, attitude: Rot[Ned, Frd], gyro_bias: Vec[Frd]) -> None:
        """Start again in flight: where the body is thought to be, its velocity unknown, no gates."""
        position = self.position if np.all(np.isfinite(self.x[7:10])) else Vec[Ned](0.0, 0.0, 0.0)
        self.reset(attitude, gyro_bias)
        self.x[7:10] = (position.x, position.y, position.z)
        self.jolt(5.0, 1.0, math.radians(5.0))

    def jolt(self, velocity: float, position: float, attitude: float) -> None:
        """Expect a jump of the body's state now, of these standard deviations."""
        self.soften(velocity, position, attitude)
        if self._past:
            self._keep(self._past.pop().sample, self.t_ns, Mode.COAST)
            self._past[-1].jolt = (velocity, position, attitude)

    def imu(self, t_ns: Nanos, sample: Array, mode: Mode) -> None:
        """Advance to an inertial sample: force 0-2 (m/s^2), rates 3-5 (rad/s). Old stamps are ignored."""
        if not self._past:
            self.t_ns = t_ns
            self._keep(sample, t_ns, mode)
            return
        if t_ns <= self.t_ns:
            return
        self._advance(t_ns, sample, mode)
        oldest = t_ns - nanos(self._p.history_ms / 1e3)
        while len(self._past) > 2 and self._past[1].t_ns < oldest:
            self._past.popleft()

    def at(self, t_ns: Nanos, fuse: Callable[[], None]) -> bool:
        """Call `fuse` with the state as of `t_ns`, then come back to now; False if that is too long ago."""
        past = self._past
        if not past or t_ns < past[0].t_ns or t_ns > self.t_ns + NS_PER_S // 10:
            self.late += 1
            return False
        later: list[_Moment] = []
        while past[-1].t_ns > t_ns:
            later.append(past.pop())
        before = past[-1]
        self.x[:], self.P[:, :], self.n, self.t_ns = before.x, before.P, before.n, before.t_ns
        if t_ns > before.t_ns:
            sample = before.sample
            if later:
                after = later[-1]
                share = (t_ns - before.t_ns) / (after.t_ns - before.t_ns)
                sample = before.sample + share * (after.sample - before.sample)
            self._advance(t_ns, sample, Mode.COAST)
        here = past.pop()
        fuse()
        past.clear()
        self._keep(here.sample, t_ns, here.mode)
        while later:
            moment = later.pop()
            self._advance(moment.t_ns, moment.sample, moment.mode)
            if moment.jolt is not None:
                self.jolt(*moment.jolt)
        return True

    def _advance(self, t_ns: Nanos, sample: Array, mode: Mode) -> None:
        before = self._past[-1].sample
        gap = seconds(t_ns - self.t_ns)
        if gap > _LONGEST_GAP:  # nothing is known of such a gap: stand still through it
            self.P[range(3, 9), range(3, 9)] += 25.0
        else:
            steps = math.ceil(gap / _LONGEST_STEP)
            for _ in range(steps):
                k.propagate(self.x, self.P, self.n, before, sample, gap / steps, self._noise)
        if mode is Mode.REST:
            k.rest(self.x, self.P, self.n, sample, self._rest)
        elif mode is Mode.AIR:
            kx, ky, _ = self._airframe.drag
            k.drag(self.x, self.P, self.n, sample, kx, ky, self._p.drag_noise, self._p.drag_share)
        self.t_ns = t_ns
        self._keep(sample, t_ns, mode)

    def _keep(self, sample: Array, t_ns: Nanos, mode: Mode) -> None:
        self._past.append(_Moment(t_ns, sample, mode, self.x.copy(), self.P.copy(), self.n))
