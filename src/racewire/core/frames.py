"""Frames and rotations: the only rotation code in racewire.

Frames (all right-handed; metres, radians):

    Ned      world: north, east, down
    Frd      body: forward, right, down; its origin is the vehicle's centre
    Optical  camera: right, down, forward (out of the lens)
    Gate     gate opening: forward through it, right, down; its origin is the opening's centre

Names read right to left: `ned_from_frd @ v_frd` is a vector in Ned. The type of a `Rot` or `Vec`
carries its frames, so that pyright refuses the sum of a body and a world vector. Quaternions are
Hamilton, unit, scalar first, and act by q v q*. Euler angles are yaw-pitch-roll (ZYX, intrinsic):
nose up is positive pitch, right wing down positive roll, turning right positive yaw.

The kernels at the end are the same scalar functions, compiled for use inside other kernels.
Source: J. Sola, "Quaternion kinematics for the error-state Kalman filter" (2017).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel


class Ned:
    """World frame: north, east, down."""


class Frd:
    """Body frame: forward, right, down."""


class Optical:
    """Camera frame: right, down, forward."""


class Gate:
    """Gate frame: forward through the opening, right, down."""


A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
F = TypeVar("F")
P = TypeVar("P")
Q = TypeVar("Q")


def _rotate(
    w: float, x: float, y: float, z: float, vx: float, vy: float, vz: float
) -> tuple[float, float, float]:
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


def _multiply(
    aw: float, ax: float, ay: float, az: float, bw: float, bx: float, by: float, bz: float
) -> tuple[float, float, float, float]:
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def _exp(rx: float, ry: float, rz: float) -> tuple[float, float, float, float]:
    half = 0.5 * math.sqrt(rx * rx + ry * ry + rz * rz)
    k = 0.5 * (math.sin(half) / half if half > 1e-6 else 1.0 - half * half / 6.0)
    return math.cos(half), k * rx, k * ry, k * rz


def _normalise(w: float, x: float, y: float, z: float) -> tuple[float, float, float, float]:
    k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return k * w, k * x, k * y, k * z


_Nine = tuple[float, float, float, float, float, float, float, float, float]


def _matrix(w: float, x: float, y: float, z: float) -> _Nine:
    x2, y2, z2 = x + x, y + y, z + z
    wx, wy, wz = w * x2, w * y2, w * z2
    xx, xy, xz = x * x2, x * y2, x * z2
    yy, yz, zz = y * y2, y * z2, z * z2
    return (
        1.0 - (yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        1.0 - (xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        1.0 - (xx + yy),
    )


def _apply(m: _Nine, x: float, y: float, z: float) -> tuple[float, float, float]:
    return m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z


def _apply_inverse(m: _Nine, x: float, y: float, z: float) -> tuple[float, float, float]:
    return m[0] * x + m[3] * y + m[6] * z, m[1] * x + m[4] * y + m[7] * z, m[2] * x + m[5] * y + m[8] * z


def _derivative(
    w: float, x: float, y: float, z: float, p: float, q: float, r: float
) -> tuple[float, float, float, float]:
    return (
        -0.5 * (x * p + y * q + z * r),
        0.5 * (w * p + y * r - z * q),
        0.5 * (w * q + z * p - x * r),
        0.5 * (w * r + x * q - y * p),
    )


class _Unsubscripted:
    """At run time `Vec[Ned]` is plain `Vec`: frames exist for the type checker only, at no cost."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __class_getitem__(cls, _frames: object) -> type:
            return cls


@dataclass(frozen=True, slots=True)
class Vec(_Unsubscripted, Generic[F]):
    """A vector with its components in frame `F`."""

    x: float
    y: float
    z: float

    def __add__(self, other: "Vec[F]") -> "Vec[F]":
        """Sum."""
        return Vec(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: "Vec[F]") -> "Vec[F]":
        """Difference."""
        return Vec(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> "Vec[F]":
        """Opposite."""
        return Vec(-self.x, -self.y, -self.z)

    def __mul__(self, factor: float) -> "Vec[F]":
        """Multiple."""
        return Vec(factor * self.x, factor * self.y, factor * self.z)

    def dot(self, other: "Vec[F]") -> float:
        """Scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: "Vec[F]") -> "Vec[F]":
        """Vector product."""
        return Vec(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def norm(self) -> float:
        """Length."""
        return math.sqrt(self.dot(self))

    def array(self) -> NDArray[np.float64]:
        """Components as an array, shape (3,)."""
        return np.array((self.x, self.y, self.z))


@dataclass(frozen=True, slots=True)
class Rot(_Unsubscripted, Generic[A, B]):
    """The rotation `a_from_b`, a unit quaternion: applied to a vector in `B` it gives it in `A`."""

    w: float
    x: float
    y: float
    z: float

    @staticmethod
    def identity() -> "Rot[P, Q]":
        """Return the rotation between two aligned frames."""
        return Rot(1.0, 0.0, 0.0, 0.0)

    @staticmethod
    def from_quaternion(w: float, x: float, y: float, z: float) -> "Rot[P, Q]":
        """Normalise a quaternion.

        Raises
        ------
        ValueError
            If it is zero or not finite.
        """
        norm = math.sqrt(w * w + x * x + y * y + z * z)
        if not (math.isfinite(norm) and norm > 0.0):
            message = f"not a rotation: quaternion ({w}, {x}, {y}, {z})"
            raise ValueError(message)
        return Rot(w / norm, x / norm, y / norm, z / norm)

    @staticmethod
    def from_euler(roll: float, pitch: float, yaw: float) -> "Rot[P, Q]":
        """Yaw about down, then pitch about right, then roll about forward (rad)."""
        cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
        cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
        cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
        return Rot(
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        )

    @staticmethod
    def exp(x: float, y: float, z: float) -> "Rot[P, Q]":
        """Rotation by the rotation vector (x, y, z), rad."""
        return Rot(*_exp(x, y, z))

    @staticmethod
    def from_matrix(m: NDArray[np.float64]) -> "Rot[P, Q]":
        """Rotation of the matrix `m`, shape (3, 3), whose columns are B's axes in A (Shepperd 1978)."""
        t = float(m[0, 0] + m[1, 1] + m[2, 2])
        four = (t, float(m[0, 0]), float(m[1, 1]), float(m[2, 2]))
        i = max(range(4), key=four.__getitem__)
        if i == 0:
            q = (1.0 + t, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1])
        elif i == 1:
            q = (m[2, 1] - m[1, 2], 1.0 + 2.0 * m[0, 0] - t, m[0, 1] + m[1, 0], m[0, 2] + m[2, 0])
        elif i == 2:
            q = (m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], 1.0 + 2.0 * m[1, 1] - t, m[1, 2] + m[2, 1])
        else:
            q = (m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 1.0 + 2.0 * m[2, 2] - t)
        return Rot.from_quaternion(*(float(c) for c in q))

    def inverse(self) -> "Rot[B, A]":
        """Return the opposite rotation, `b_from_a`."""
        return Rot(self.w, -self.x, -self.y, -self.z)

    @overload
    def __matmul__(self, other: "Rot[B, C]") -> "Rot[A, C]": ...
    @overload
    def __matmul__(self, other: "Vec[B]") -> "Vec[A]": ...
    def __matmul__(self, other: "Rot[B, C] | Vec[B]") -> "Rot[A, C] | Vec[A]":
        """Compose with a rotation, or rotate a vector."""
        if isinstance(other, Vec):
            return Vec(*_rotate(self.w, self.x, self.y, self.z, other.x, other.y, other.z))
        q = _multiply(self.w, self.x, self.y, self.z, other.w, other.x, other.y, other.z)
        return Rot(*_normalise(*q))

    def euler(self) -> tuple[float, float, float]:
        """(roll, pitch, yaw) in rad; pitch within +-pi/2."""
        w, x, y, z = self.w, self.x, self.y, self.z
        roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
        pitch = math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        return roll, pitch, yaw

    def log(self) -> tuple[float, float, float]:
        """Return the rotation vector in rad, at most pi long; the inverse of `exp`."""
        n = math.sqrt(self.x * self.x + self.y * self.y + self.z * self.z)
        w = self.w if self.w >= 0.0 else -self.w
        sign = 1.0 if self.w >= 0.0 else -1.0
        k = sign * (2.0 * math.atan2(n, w) / n if n > 1e-12 else 2.0)
        return k * self.x, k * self.y, k * self.z

    def angle_to(self, other: "Rot[A, B]") -> float:
        """Return the angle between two rotations, rad, 0 to pi."""
        x, y, z = (self.inverse() @ other).log()
        return math.sqrt(x * x + y * y + z * z)

    def matrix(self) -> NDArray[np.float64]:
        """Return the rotation matrix, shape (3, 3), with B's axes in A as its columns."""
        w, x, y, z = self.w, self.x, self.y, self.z
        return np.array(
            (
                (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
                (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
                (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
            )
        )


@dataclass(frozen=True, slots=True)
class Pose(_Unsubscripted, Generic[A, B]):
    """Where frame `B` stands in frame `A`: its origin and its attitude."""

    position: Vec[A]
    rotation: Rot[A, B]

    def __matmul__(self, point: Vec[B]) -> Vec[A]:
        """Return a point given in `B`, in `A`."""
        return self.position + self.rotation @ point

    def to_local(self, point: Vec[A]) -> Vec[B]:
        """Return a point given in `A`, in `B`."""
        return self.rotation.inverse() @ (point - self.position)


def wrap_angle(angle: float) -> float:
    """Return `angle` moved by whole turns into [-pi, pi)."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


quat_rotate = kernel(_rotate)
"""Kernel: rotate (vx, vy, vz) from B to A by the unit quaternion `a_from_b` (w, x, y, z)."""

quat_multiply = kernel(_multiply)
"""Kernel: the Hamilton product of two quaternions."""

quat_exp = kernel(_exp)
"""Kernel: the unit quaternion of a rotation vector (rad)."""

quat_normalise = kernel(_normalise)
"""Kernel: a quaternion scaled to unit length."""

quat_matrix = kernel(_matrix)
"""Kernel: the rotation matrix of a unit quaternion, nine numbers row by row."""

matrix_apply = kernel(_apply)
"""Kernel: rotate (x, y, z) from B to A by the nine numbers of `a_from_b`."""

matrix_apply_inverse = kernel(_apply_inverse)
"""Kernel: rotate (x, y, z) from A to B by the nine numbers of `a_from_b`."""

quat_derivative = kernel(_derivative)
"""Kernel: the time derivative of `a_from_b` while B turns at (p, q, r) rad/s about its own axes."""
