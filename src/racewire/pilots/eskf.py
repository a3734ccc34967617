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
from numpy.typing import NDArray

from racewire.core.clock import NS_PER_S, Nanos, nanos, seconds
from racewire.core.frames import Frd, Gate, Ned, Pose, Rot, Vec
from racewire.pilots import eskf_kernels as k
from racewire.pilots.airframe import Airframe
from racewire.pilots.gate_model import GATE_SIZE
from racewire.sensors.camera import Camera

Array = NDArray[np.float64]

_LONGEST_STEP = 0.05
_LONGEST_GAP = 1.0


class Mode(IntEnum):
    """What else is known while a sample is taken: nothing, that the body rests, that it flies in air."""

    COAST = 0
    REST = 1
    AIR = 2


@dataclass(frozen=True, slots=True)
class FilterParams:
    """Standard deviations, SI; `data/gate.toml` says what each is."""

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
    start_tilt_deg: float
    start_heading_deg: float
    start_accel_bias: float
    start_gyro_bias: float
    gate_position: float
    gate_tilt_deg: float
    gate_yaw_deg: float
    gate_drift: float
    gate_turn_deg: float
    huber: float
    history_ms: float
    most_gates: int
    largest_speed: float


@dataclass(slots=True)
class _Moment:
    t_ns: Nanos
    sample: Array
    mode: Mode
    x: Array
    P: Array
    n: int


class Eskf:
    """The filter. Gates occupy slots 0, 1, ... in the order in which they were added."""

    def __init__(self, params: FilterParams, airframe: Airframe, camera: Camera) -> None:
        self._p = params
        self._airframe = airframe
        most = params.most_gates
        self.x: Array = np.zeros(k.GATE0 + 7 * most)
        self.P: Array = np.zeros((k.BODY + 6 * most, k.BODY + 6 * most))
        self.n = k.BODY
        self._past: deque[_Moment] = deque()
        self._noise = np.array(
            (
                params.accel_noise**2,
                params.gyro_noise**2,
                params.change_share,
                params.accel_walk**2,
                params.gyro_walk**2,
            )
        )
        self._rest = np.array(
            (
                params.rest_velocity**2,
                params.rest_position**2,
                params.rest_force**2,
                params.rest_rates**2,
            )
        )
        q, o = camera.frd_from_optical, camera.position
        self._camera = np.array(
            (camera.fx, camera.fy, camera.cx, camera.cy, q.w, q.x, q.y, q.z, o.x, o.y, o.z)
        )
        self._size = np.array((0.5 * GATE_SIZE.outer, 0.5 * GATE_SIZE.inner, GATE_SIZE.depth))
        self.late = 0
        self.reset(Rot.identity())

    def reset(self, attitude: Rot[Ned, Frd], gyro_bias: Vec[Frd] = Vec(0.0, 0.0, 0.0)) -> None:
        """Start at rest at the origin with this attitude, no gates and no past."""
        p = self._p
        self.x[:] = 0.0
        self.x[:4] = (attitude.w, attitude.x, attitude.y, attitude.z)
        self.x[10:13] = (gyro_bias.x, gyro_bias.y, gyro_bias.z)
        self.n = k.BODY
        self.P[:, :] = 0.0
        tilt, heading = math.radians(p.start_tilt_deg) ** 2, math.radians(p.start_heading_deg) ** 2
        down = attitude.inverse() @ Vec(0.0, 0.0, 1.0)
        self.P[:3, :3] = tilt * np.eye(3) + (heading - tilt) * np.outer(down.array(), down.array())
        for i, sd in ((3, p.rest_velocity), (6, p.rest_position), (9, p.start_gyro_bias), (12, p.start_accel_bias)):
            self.P[range(i, i + 3), range(i, i + 3)] = sd * sd
        self._past.clear()

    def restart(self, attitude: Rot[Ned, Frd], gyro_bias: Vec[Frd]) -> None:
        """Start again in flight: where the body is thought to be, its velocity unknown, no gates."""
        position = self.position if np.all(np.isfinite(self.x[7:10])) else Vec[Ned](0.0, 0.0, 0.0)
        self.reset(attitude, gyro_bias)
        self.x[7:10] = (position.x, position.y, position.z)
        self.soften(5.0, 1.0, math.radians(5.0))

    def soften(self, velocity: float, position: float, attitude: float) -> None:
        """Add these standard deviations to the body's: after a hit, or where eyes and filter disagree."""
        for i, sd in ((0, attitude), (3, velocity), (6, position)):
            self.P[range(i, i + 3), range(i, i + 3)] += sd * sd
        if self._past:
            self._keep(self._past.pop().sample, self.t_ns, Mode.COAST)

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

    def see(self, slot: int, which: NDArray[np.int64], seen: Array, sd_px: float, *, fuse: bool) -> float:
        """Return how far (squared Mahalanobis) a gate's corners are from where they should be; or fuse them."""
        return k.see_gate(
            self.x,
            self.P,
            self.n,
            slot,
            which,
            self._size,
            self._camera,
            seen,
            sd_px * sd_px,
            self._p.huber,
            fuse,
        )

    def look(self, slot: int, which: NDArray[np.int64], rotation: Rot[Ned, Gate] | None = None) -> Array | None:
        """Return where corners of a gate should be in the image (k, 2), were it turned so; None if behind."""
        x = self.x
        if rotation is not None:
            x = x.copy()
            a = k.GATE0 + 7 * slot
            x[a + 3 : a + 7] = (rotation.w, rotation.x, rotation.y, rotation.z)
        pixels = np.empty((len(which), 2))
        ok = k.look(x, slot, which, self._size, self._camera, pixels, np.empty((2 * len(which), 12)))
        return pixels if ok else None

    def add_gate(self, pose: Pose[Ned, Gate]) -> int:
        """Take a gate into the state with a wide prior about `pose`; return its slot."""
        slot, e = (self.n - k.BODY) // 6, self.n
        a = k.GATE0 + 7 * slot
        p, r = pose.position, pose.rotation
        self.x[a : a + 7] = (p.x, p.y, p.z, r.w, r.x, r.y, r.z)
        self.n += 6
        self.P[e : self.n, :] = 0.0
        self.P[:, e : self.n] = 0.0
        self.P[range(e, e + 3), range(e, e + 3)] = self._p.gate_position**2
        self._loosen(slot)
        return slot

    def turn_gate(self, slot: int, rotation: Rot[Ned, Gate]) -> None:
        """Give a gate another attitude, with the prior's uncertainty."""
        a = k.GATE0 + 7 * slot
        self.x[a + 3 : a + 7] = (rotation.w, rotation.x, rotation.y, rotation.z)
        self._loosen(slot)

    def age_gates(self) -> None:
        """Let every gate's pose grow a little less certain: errors of successive frames are not independent."""
        drift, turn = self._p.gate_drift**2, math.radians(self._p.gate_turn_deg) ** 2
        for e in range(k.BODY, self.n, 6):
            self.P[range(e, e + 3), range(e, e + 3)] += drift
            self.P[range(e + 3, e + 6), range(e + 3, e + 6)] += turn

    def move_gate(self, slot: int, sd: float) -> None:
        """Admit that a gate may stand elsewhere by this standard deviation (m)."""
        e = k.BODY + 6 * slot
        self.P[range(e, e + 3), range(e, e + 3)] += sd * sd

    def drop_gate(self, slot: int) -> None:
        """Forget a gate; those of higher slots move down by one."""
        a, e = k.GATE0 + 7 * slot, k.BODY + 6 * slot
        n = self.n
        self.x[a:-7] = self.x[a + 7 :].copy()
        keep = np.r_[0:e, e + 6 : n]
        self.P[: n - 6, : n - 6] = self.P[np.ix_(keep, keep)]
        self.n = n - 6

    def _loosen(self, slot: int) -> None:
        e = k.BODY + 6 * slot + 3
        self.P[e : e + 3, :] = 0.0
        self.P[:, e : e + 3] = 0.0
        tilt, yaw = math.radians(self._p.gate_tilt_deg), math.radians(self._p.gate_yaw_deg)
        self.P[range(e, e + 3), range(e, e + 3)] = (tilt * tilt, tilt * tilt, yaw * yaw)

    @property
    def full(self) -> bool:
        """Whether no more gate fits in."""
        return self.n == len(self.P)

    @property
    def sane(self) -> bool:
        """Whether the state is one that a vehicle can have."""
        return k.sane(self.x, self.P, self.n, self._p.largest_speed)

    @property
    def attitude(self) -> Rot[Ned, Frd]:
        """Attitude of the body."""
        return Rot(*self.x[:4].tolist())

    @property
    def velocity(self) -> Vec[Ned]:
        """Velocity of the body."""
        return Vec(*self.x[4:7].tolist())

    @property
    def position(self) -> Vec[Ned]:
        """Position of the body."""
        return Vec(*self.x[7:10].tolist())

    @property
    def pose(self) -> Pose[Ned, Frd]:
        """Pose of the body."""
        return Pose(self.position, self.attitude)

    @property
    def gyro_bias(self) -> Vec[Frd]:
        """Bias of the gyro."""
        return Vec(*self.x[10:13].tolist())

    def gate(self, slot: int) -> Pose[Ned, Gate]:
        """Pose of a gate."""
        px, py, pz, w, i, j, l = self.x[k.GATE0 + 7 * slot : k.GATE0 + 7 * slot + 7].tolist()
        return Pose(Vec(px, py, pz), Rot(w, i, j, l))

    def gate_sd(self, slot: int) -> tuple[float, float]:
        """Return sd of a gate's position relative to the body (m, rms over axes) and of its yaw (rad)."""
        e = k.BODY + 6 * slot
        P = self.P
        total = sum(float(P[e + i, e + i] + P[6 + i, 6 + i] - 2.0 * P[e + i, 6 + i]) for i in range(3))
        return math.sqrt(max(total, 0.0) / 3.0), math.sqrt(max(float(P[e + 5, e + 5]), 0.0))
