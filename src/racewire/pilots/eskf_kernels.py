"""The error-state filter's arithmetic: predict, and what rest and drag tell.

The nominal state `x` is one vector: quaternion ned_from_frd 0-3, velocity 4-6 and position 7-9 (NED),
gyro bias 10-12 and accelerometer bias 13-15 (FRD); then 7 numbers a gate, position (NED) and quaternion
ned_from_gate. The error state has 15 numbers (attitude, velocity, position, biases) and 6 a gate
(position, attitude); attitude errors are rotation vectors in the body's or the gate's own frame, on
the right: R = R_nominal exp(error). `n` is the length of the error state in use.
Source: J. Sola, "Quaternion kinematics for the error-state Kalman filter" (2017), sections 5 and 6.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import quat_exp, quat_multiply, quat_normalise, quat_rotate
from racewire.core.jit import kernel

Array = NDArray[np.float64]

BODY = 15
"""Length of the body's part of the error state."""

GATE0 = 16
"""Where the first gate stands in the nominal state."""

GRAVITY = 9.81
"""Down, m/s^2."""


def _unit(k: int) -> tuple[float, float, float]:
    """Return axis `k` of any frame."""
    return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0


unit = kernel(_unit)


def _propagate(x: Array, P: Array, n: int, before: Array, after: Array, dt: float, noise: Array) -> None:
    """Advance `x` and `P` by `dt` (s) with inertial samples at both ends (force 0-2, rates 3-5).

    `noise`: variance a sample of the accelerometer and of the gyro, share of a sample's change that is
    taken for error, variance a second of the walks of the accelerometer's and the gyro's bias.
    """
    wx = 0.5 * (before[3] + after[3]) - x[10]
    wy = 0.5 * (before[4] + after[4]) - x[11]
    wz = 0.5 * (before[5] + after[5]) - x[12]
    fx = 0.5 * (before[0] + after[0]) - x[13]
    fy = 0.5 * (before[1] + after[1]) - x[14]
    fz = 0.5 * (before[2] + after[2]) - x[15]
    hw, hx, hy, hz = quat_exp(0.5 * dt * wx, 0.5 * dt * wy, 0.5 * dt * wz)
    mw, mx, my, mz = quat_multiply(x[0], x[1], x[2], x[3], hw, hx, hy, hz)
    ax, ay, az = quat_rotate(mw, mx, my, mz, fx, fy, fz)
    az += GRAVITY
    x[7] += dt * (x[4] + 0.5 * dt * ax)
    x[8] += dt * (x[5] + 0.5 * dt * ay)
    x[9] += dt * (x[6] + 0.5 * dt * az)
    x[4] += dt * ax
    x[5] += dt * ay
    x[6] += dt * az
    qw, qx, qy, qz = quat_multiply(mw, mx, my, mz, hw, hx, hy, hz)
    x[0], x[1], x[2], x[3] = quat_normalise(qw, qx, qy, qz)

    F = np.zeros((9, BODY))
    dw, dx, dy, dz = quat_multiply(hw, hx, hy, hz, hw, hx, hy, hz)
    for k in range(3):
        ex, ey, ez = unit(k)
        F[0, k], F[1, k], F[2, k] = quat_rotate(dw, -dx, -dy, -dz, ex, ey, ez)
        F[k, 9 + k] = -dt
        F[3 + k, 3 + k] = 1.0
        F[6 + k, 6 + k] = 1.0
        F[6 + k, 3 + k] = dt
        rx, ry, rz = quat_rotate(mw, mx, my, mz, ex, ey, ez)
        F[3, 12 + k], F[4, 12 + k], F[5, 12 + k] = -dt * rx, -dt * ry, -dt * rz
        # dv/dtheta = -R [f]x dt: column k is -R (f x e_k) dt
        cx, cy, cz = fy * ez - fz * ey, fz * ex - fx * ez, fx * ey - fy * ex
        rx, ry, rz = quat_rotate(mw, mx, my, mz, cx, cy, cz)
        F[3, k], F[4, k], F[5, k] = -dt * rx, -dt * ry, -dt * rz
    A = np.zeros((9, n))
    for i in range(9):
        for k in range(BODY):
            f = F[i, k]
            if f != 0.0:
                for j in range(n):
                    A[i, j] += f * P[k, j]
    for i in range(9):
        for j in range(9, n):
            P[i, j] = A[i, j]
            P[j, i] = A[i, j]
    for i in range(9):
        for j in range(i, 9):
            s = 0.0
            for k in range(BODY):
                s += A[i, k] * F[j, k]
            P[i, j] = s
            P[j, i] = s
    for k in range(3):
        turn, push = noise[2] * (after[3 + k] - before[3 + k]), noise[2] * (after[k] - before[k])
        P[k, k] += dt * dt * (noise[1] + turn * turn)
        P[3 + k, 3 + k] += dt * dt * (noise[0] + push * push)
        P[9 + k, 9 + k] += dt * noise[4]
        P[12 + k, 12 + k] += dt * noise[3]


propagate = kernel(_propagate)


def _inject(x: Array, n: int, error: Array) -> None:
    """Add the error state to the nominal state."""
    w, i, j, k = quat_exp(error[0], error[1], error[2])
    w, i, j, k = quat_multiply(x[0], x[1], x[2], x[3], w, i, j, k)
    x[0], x[1], x[2], x[3] = quat_normalise(w, i, j, k)
    for m in range(12):
        x[4 + m] += error[3 + m]
    for g in range((n - BODY) // 6):
        a, e = GATE0 + 7 * g, BODY + 6 * g
        for m in range(3):
            x[a + m] += error[e + m]
        w, i, j, k = quat_exp(error[e + 3], error[e + 4], error[e + 5])
        w, i, j, k = quat_multiply(x[a + 3], x[a + 4], x[a + 5], x[a + 6], w, i, j, k)
        x[a + 3], x[a + 4], x[a + 5], x[a + 6] = quat_normalise(w, i, j, k)


inject = kernel(_inject)


def _update(x: Array, P: Array, n: int, H: Array, residual: float, variance: float, gate: float) -> bool:
    """Fuse one number whose row of the Jacobian is `H` (n); False if it is beyond `gate` deviations."""
    PH = np.zeros(n)
    for k in range(n):
        h = H[k]
        if h != 0.0:
            for i in range(n):
                PH[i] += P[i, k] * h
    s = variance
    for k in range(n):
        s += H[k] * PH[k]
    if residual * residual > gate * gate * s:
        return False
    error = np.empty(n)
    for i in range(n):
        error[i] = PH[i] * (residual / s)
        for j in range(i, n):
            P[i, j] -= PH[i] * PH[j] / s
            P[j, i] = P[i, j]
    inject(x, n, error)
    return True


update = kernel(_update)


def _rest(x: Array, P: Array, n: int, sample: Array, noise: Array) -> None:
    """Fuse that the vehicle stands still: no velocity, no rates, gravity alone, at the origin.

    `noise`: variances of velocity, of position, of force and of rates.
    """
    row = np.zeros(n)
    for k in range(3):
        for at, residual, variance in (
            (3 + k, -x[4 + k], noise[0]),
            (6 + k, -x[7 + k], noise[1]),
            (9 + k, sample[3 + k] - x[10 + k], noise[3]),
        ):
            row[:] = 0.0
            row[at] = 1.0
            update(x, P, n, row, residual, variance, 1e9)
        ux, uy, uz = quat_rotate(x[0], -x[1], -x[2], -x[3], 0.0, 0.0, -GRAVITY)
        row[:] = 0.0
        row[12 + k] = 1.0
        if k == 0:  # force = u + bias with du = [u]x dtheta
            row[1], row[2] = -uz, uy
            predicted = ux
        elif k == 1:
            row[0], row[2] = uz, -ux
            predicted = uy
        else:
            row[0], row[1] = -uy, ux
            predicted = uz
        update(x, P, n, row, sample[k] - predicted - x[13 + k], noise[2], 1e9)


rest = kernel(_rest)


def _drag(x: Array, P: Array, n: int, force: Array, kx: float, ky: float, sd: float, share: float) -> None:
    """Fuse the drag that the accelerometer feels across the thrust: force_xy = -k v|v| (1/m), body axes.

    The deviation is `sd` (m/s^2) plus `share` of the drag itself.
    """
    for axis in range(2):
        vx, vy, vz = quat_rotate(x[0], -x[1], -x[2], -x[3], x[4], x[5], x[6])
        H = np.zeros(n)
        k, v = (kx, vx) if axis == 0 else (ky, vy)
        slope = -2.0 * k * abs(v)
        # dv_body = R^T dv + [v_body]x dtheta
        ex, ey, ez = unit(axis)
        rx, ry, rz = quat_rotate(x[0], x[1], x[2], x[3], ex, ey, ez)
        H[3], H[4], H[5] = slope * rx, slope * ry, slope * rz
        if axis == 0:
            H[1], H[2] = -slope * vz, slope * vy
        else:
            H[0], H[2] = slope * vz, -slope * vx
        H[12 + axis] = 1.0
        drag = -k * v * abs(v)
        deviation = sd + share * abs(drag)
        residual = force[axis] - x[13 + axis] - drag
        update(x, P, n, H, residual, deviation * deviation, 4.0)


drag = kernel(_drag)


def _sane(x: Array, P: Array, n: int, largest_speed: float) -> bool:
    """Tell whether the state is finite, its variances positive, and its speed and place possible."""
    for i in range(GATE0 + 7 * ((n - BODY) // 6)):
        if not math.isfinite(x[i]):
            return False
    for i in range(n):
        if not (math.isfinite(P[i, i]) and P[i, i] >= 0.0):
            return False
    fast = x[4] * x[4] + x[5] * x[5] + x[6] * x[6] > largest_speed * largest_speed
    return not fast and max(abs(x[7]), abs(x[8]), abs(x[9])) < 1e4


sane = kernel(_sane)
