"""What the pilot believes: the state of body and gates, with its uncertainty, and what corners tell.

Gates occupy slots 0, 1, ... in the order in which they were taken in. Time is not known here: see
`eskf`. World NED with its origin and north on the pad, body FRD; layout of the vectors and arithmetic
in `eskf_kernels` and `corner_kernels`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Frd, Gate, Ned, Pose, Rot, Vec
from racewire.pilots import corner_kernels as corners
from racewire.pilots import eskf_kernels as k
from racewire.pilots.gate_model import GATE_SIZE
from racewire.sensors.camera import Camera

Array = NDArray[np.float64]
Which = NDArray[np.int64]
"""Corners by number: outer TL, TR, BR, BL 0-3, inner 4-7; shape (k,)."""


@dataclass(frozen=True, slots=True)
class BeliefParams:
    """Standard deviations, SI; `data/gate.toml` says what each is."""

    start_tilt_deg: float
    start_heading_deg: float
    start_accel_bias: float
    start_gyro_bias: float
    start_velocity: float
    start_position: float
    gate_position: float
    gate_tilt_deg: float
    gate_yaw_deg: float
    gate_drift: float
    gate_turn_deg: float
    huber: float
    most_gates: int
    largest_speed: float


class Belief:
    """Nominal state `x`, error covariance `P` and the length `n` of the error state in use."""

    def __init__(self, params: BeliefParams, camera: Camera) -> None:
        self._b = params
        most = params.most_gates
        self.x: Array = np.zeros(k.GATE0 + 7 * most)
        self.P: Array = np.zeros((k.BODY + 6 * most, k.BODY + 6 * most))
        self.n = k.BODY
        q, o = camera.frd_from_optical, camera.position
        self._camera = np.array(
            (camera.fx, camera.fy, camera.cx, camera.cy, q.w, q.x, q.y, q.z, o.x, o.y, o.z)
        )
        drift, turn = params.gate_drift**2, math.radians(params.gate_turn_deg) ** 2
        self._ageing = np.tile((drift, drift, drift, turn, turn, turn), most)
        self._size = np.array((0.5 * GATE_SIZE.outer, 0.5 * GATE_SIZE.inner, GATE_SIZE.depth))
        self.place(Rot.identity(), Vec(0.0, 0.0, 0.0))

    def place(self, attitude: Rot[Ned, Frd], gyro_bias: Vec[Frd]) -> None:
        """Start at rest at the origin with this attitude and no gates."""
        b = self._b
        self.x[:] = 0.0
        self.x[:4] = (attitude.w, attitude.x, attitude.y, attitude.z)
        self.x[10:13] = (gyro_bias.x, gyro_bias.y, gyro_bias.z)
        self.n = k.BODY
        self.P[:, :] = 0.0
        tilt, heading = math.radians(b.start_tilt_deg) ** 2, math.radians(b.start_heading_deg) ** 2
        down = (attitude.inverse() @ Vec(0.0, 0.0, 1.0)).array()
        self.P[:3, :3] = tilt * np.eye(3) + (heading - tilt) * np.outer(down, down)
        for i, sd in (
            (3, b.start_velocity),
            (6, b.start_position),
            (9, b.start_gyro_bias),
            (12, b.start_accel_bias),
        ):
            self.P[range(i, i + 3), range(i, i + 3)] = sd * sd

    def soften(self, velocity: float, position: float, attitude: float) -> None:
        """Add these standard deviations to the body's."""
        for i, sd in ((0, attitude), (3, velocity), (6, position)):
            self.P[range(i, i + 3), range(i, i + 3)] += sd * sd

    def see(
        self, slot: int, which: Which, seen: Array, sd_px: float, *, fuse: bool, robust: bool = True
    ) -> float:
        """Return how far (squared Mahalanobis) a gate's corners are from where they should be; maybe fuse."""
        return corners.see_gate(
            self.x,
            self.P,
            self.n,
            slot,
            which,
            self._size,
            self._camera,
            seen,
            sd_px * sd_px,
            self._b.huber if robust else math.inf,
            fuse,
        )

    def look(self, slot: int, which: Which, rotation: Rot[Ned, Gate] | None = None) -> Array | None:
        """Return where corners of a gate should be in the image (k, 2), were it turned so; None if behind."""
        x = self.x
        if rotation is not None:
            x = x.copy()
            a = k.GATE0 + 7 * slot
            x[a + 3 : a + 7] = (rotation.w, rotation.x, rotation.y, rotation.z)
        pixels = np.empty((len(which), 2))
        ok = corners.look(x, slot, which, self._size, self._camera, pixels, np.empty((2 * len(which), 12)))
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
        self.P[range(e, e + 3), range(e, e + 3)] = self._b.gate_position**2
        self._loosen(slot)
        return slot

    def turn_gate(self, slot: int, rotation: Rot[Ned, Gate]) -> None:
        """Give a gate another attitude, with the prior's uncertainty."""
        a = k.GATE0 + 7 * slot
        self.x[a + 3 : a + 7] = (rotation.w, rotation.x, rotation.y, rotation.z)
        self._loosen(slot)

    def age_gates(self) -> None:
        """Let gates grow a little less certain: the errors of successive frames are not independent."""
        self.P[range(k.BODY, self.n), range(k.BODY, self.n)] += self._ageing[: self.n - k.BODY]

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
        tilt, yaw = math.radians(self._b.gate_tilt_deg), math.radians(self._b.gate_yaw_deg)
        self.P[range(e, e + 3), range(e, e + 3)] = (tilt * tilt, tilt * tilt, yaw * yaw)

    @property
    def full(self) -> bool:
        """Whether no more gate fits in."""
        return self.n == len(self.P)

    @property
    def sane(self) -> bool:
        """Whether the state is one that a vehicle can have."""
        return k.sane(self.x, self.P, self.n, self._b.largest_speed)

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
