"""Fitting one gate's pose to its corners and sides in an image.

A pose is a vector `q` of seven: optical_from_gate (w, x, y, z), then the gate's position in Optical, m.
The outline a gate shows from a pose is `gate_model`'s. The fit is Levenberg-Marquardt on the distances
in the image; perturbation exp(d) optical_from_gate, Sola (2017) sec. 4. Lens is (fx, fy, cx, cy), size
is (outer, inner, depth) in m. Corners are rows outer TL, TR, BR, BL, inner TL, TR, BR, BL, shape (8, 2);
side i is the stretch (x, y, x, y) found of the line from corner i on; NaN is unknown.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import quat_exp, quat_multiply, quat_normalise, quat_rotate
from racewire.core.jit import kernel
from racewire.pilots.gate_model import outline_edge

NEAR = 0.05
"""A corner nearer to the lens plane than this (m) does not count."""

_SLANT = 0.4  # the slant of the oblique starts, rad
_SQUARELY = (0.5, -0.5, -0.5, -0.5)  # optical_from_gate of a gate faced squarely


def _outline_points(
    q: NDArray[np.float64], outer: float, inner: float, depth: float, points: NDArray[np.float64]
) -> None:
    """Write the outline's points in the camera frame, less the position, to `points`, shape (8, 3).

    `q` is optical_from_gate (4) and the gate's position (3).
    """
    cx, cy, cz = quat_rotate(q[0], -q[1], -q[2], -q[3], -q[4], -q[5], -q[6])
    share = depth / (depth + max(-cx - 0.5 * depth, 1e-6))
    for corner in range(8):
        half, sense = (0.5 * outer, 1.0) if corner < 4 else (0.5 * inner, -1.0)
        right = 1.0 if corner % 4 in (1, 2) else -1.0
        down = 1.0 if corner % 4 > 1 else -1.0
        y = outline_edge(right * half, cy, share, sense * right)
        z = outline_edge(down * half, cz, share, sense * down)
        points[corner, 0], points[corner, 1], points[corner, 2] = quat_rotate(
            q[0], q[1], q[2], q[3], -0.5 * depth, y, z
        )


outline_points = kernel(_outline_points)


def _project_outline(
    q: NDArray[np.float64],
    lens: tuple[float, float, float, float],
    size: tuple[float, float, float],
    corners: NDArray[np.float64],
) -> None:
    """Write where the eight corners of the outline at the pose `q` fall to `corners`, shape (8, 2)."""
    points = np.empty((8, 3))
    outline_points(q, size[0], size[1], size[2], points)
    for c in range(8):
        z = points[c, 2] + q[6]
        if z < NEAR:
            corners[c, :] = math.nan
        else:
            corners[c, 0] = lens[2] + lens[0] * (points[c, 0] + q[4]) / z
            corners[c, 1] = lens[3] + lens[1] * (points[c, 1] + q[5]) / z


project_outline = kernel(_project_outline)


def _solve6(H: NDArray[np.float64], g: NDArray[np.float64]) -> bool:
    """Solve H x = g by Cholesky, in place (x in `g`); False if H is not positive definite."""
    for i in range(6):
        for j in range(i + 1):
            total = H[i, j]
            for k in range(j):
                total -= H[i, k] * H[j, k]
            if i == j:
                if total <= 0.0:
                    return False
                H[i, i] = math.sqrt(total)
            else:
                H[i, j] = total / H[j, j]
    for i in range(6):
        for k in range(i):
            g[i] -= H[i, k] * g[k]
        g[i] /= H[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            g[i] -= H[k, i] * g[k]
        g[i] /= H[i, i]
    return True


solve6 = kernel(_solve6)


def _accumulate(
    q: NDArray[np.float64],
    corners: NDArray[np.float64],
    sides: NDArray[np.float64],
    lens: tuple[float, float, float, float],
    size: tuple[float, float, float],
    H: NDArray[np.float64],
    g: NDArray[np.float64],
) -> tuple[float, int]:
    """Sum the normal equations of every known corner and side at the pose `q`.

    A corner counts with its two coordinates, a side with the distances of its two ends from the line it
    should lie on. Returns the sum of squares (px^2) and the number of residuals; infinity where the gate
    is behind the lens. Perturbation: exp(d) optical_from_gate, then the position; Sola (2017) sec. 4.
    """
    fx, fy, cx, cy = lens
    points, image, J = np.empty((8, 3)), np.empty((8, 2)), np.empty((8, 2, 6))
    outline_points(q, size[0], size[1], size[2], points)
    for c in range(8):
        rx, ry, rz = points[c, 0], points[c, 1], points[c, 2]
        x, y, z = rx + q[4], ry + q[5], rz + q[6]
        if z < NEAR:
            return math.inf, 0
        image[c, 0], image[c, 1] = cx + fx * x / z, cy + fy * y / z
        a, b, d, e = fx / z, -fx * x / (z * z), fy / z, -fy * y / (z * z)
        # the point moves by -[r]x d
        J[c, 0, 0], J[c, 0, 1], J[c, 0, 2] = b * ry, a * rz - b * rx, -a * ry
        J[c, 0, 3], J[c, 0, 4], J[c, 0, 5] = a, 0.0, b
        J[c, 1, 0], J[c, 1, 1], J[c, 1, 2] = e * ry - d * rz, -e * rx, d * rx
        J[c, 1, 3], J[c, 1, 4], J[c, 1, 5] = 0.0, d, e
    H[:, :], g[:] = 0.0, 0.0
    total, count = 0.0, 0
    row = np.empty(6)
    for c in range(8):
        if not math.isnan(corners[c, 0]):
            for axis in range(2):
                error = corners[c, axis] - image[c, axis]
                add_row(J[c, axis], error, H, g)
                total += error * error
                count += 1
        if math.isnan(sides[c, 0]):
            continue
        after = c + 1 if c % 4 < 3 else c - 3
        dx, dy = image[after, 0] - image[c, 0], image[after, 1] - image[c, 1]
        length = math.sqrt(dx * dx + dy * dy)
        if length < 1e-6:
            return math.inf, 0
        nx, ny = -dy / length, dx / length
        for end in range(2):
            mx, my = sides[c, 2 * end] - image[c, 0], sides[c, 2 * end + 1] - image[c, 1]
            error = nx * mx + ny * my
            share = (dx * mx + dy * my) / (length * length)
            for i in range(6):
                here = nx * J[c, 0, i] + ny * J[c, 1, i]
                row[i] = (1.0 - share) * here + share * (nx * J[after, 0, i] + ny * J[after, 1, i])
            add_row(row, error, H, g)
            total += error * error
            count += 1
    return total, count


def _add_row(row: NDArray[np.float64], error: float, H: NDArray[np.float64], g: NDArray[np.float64]) -> None:
    for i in range(6):
        g[i] += row[i] * error
        for j in range(6):
            H[i, j] += row[i] * row[j]


add_row = kernel(_add_row)
accumulate = kernel(_accumulate)


def _refine(
    q: NDArray[np.float64],
    corners: NDArray[np.float64],
    sides: NDArray[np.float64],
    lens: tuple[float, float, float, float],
    size: tuple[float, float, float],
    rounds: int,
) -> float:
    """Move the pose `q` (see `outline_points`) to fit `corners` (8, 2) and `sides` (8, 4 or more).

    Levenberg-Marquardt. Returns the rms error (px) of the residuals; infinity if it cannot be fitted.
    """
    H, g, trial = np.empty((6, 6)), np.empty(6), np.empty(7)
    total, count = accumulate(q, corners, sides, lens, size, H, g)
    if count < 8:
        return math.inf
    damping = 1e-4
    for _ in range(rounds):
        for i in range(6):
            H[i, i] *= 1.0 + damping
        if not solve6(H, g):
            return math.inf
        ew, ex, ey, ez = quat_exp(g[0], g[1], g[2])
        mw, mx, my, mz = quat_multiply(ew, ex, ey, ez, q[0], q[1], q[2], q[3])
        trial[0], trial[1], trial[2], trial[3] = quat_normalise(mw, mx, my, mz)
        for i in range(3):
            trial[4 + i] = q[4 + i] + g[3 + i]
        step = abs(g[0]) + abs(g[1]) + abs(g[2]) + (abs(g[3]) + abs(g[4]) + abs(g[5])) / q[6]
        better, _ = accumulate(trial, corners, sides, lens, size, H, g)
        if better <= total:
            total, q[:] = better, trial
            damping *= 0.1
        else:
            damping *= 30.0
            total, _ = accumulate(q, corners, sides, lens, size, H, g)
        if step < 1e-6:
            break
    return math.sqrt(total / count)


refine = kernel(_refine)


def _start_pose(
    corners: NDArray[np.float64],
    lens: tuple[float, float, float, float],
    size: tuple[float, float, float],
    q: NDArray[np.float64],
) -> float:
    """Write a pose that fits the known rough `corners`, shape (8, 2), to `q`; return its rms error, px.

    The picture's scale and turn (least squares) place a gate faced squarely; that and four gates slanted to
    one side each are refined, and the best is taken, since a square start sits on the saddle between two.
    """
    known, mu, mv, mx, my = 0, 0.0, 0.0, 0.0, 0.0
    plane = np.empty((8, 2))
    for c in range(8):
        half = 0.5 * size[0] if c < 4 else 0.5 * size[1]
        plane[c, 0] = half if c % 4 in (1, 2) else -half
        plane[c, 1] = half if c % 4 > 1 else -half
        if not math.isnan(corners[c, 0]):
            known += 1
            mu, mv = mu + corners[c, 0], mv + corners[c, 1]
            mx, my = mx + plane[c, 0], my + plane[c, 1]
    if known < 4:
        return math.inf
    mu, mv, mx, my = mu / known, mv / known, mx / known, my / known
    a, b, s = 0.0, 0.0, 0.0
    for c in range(8):
        if not math.isnan(corners[c, 0]):
            x, y, u, v = plane[c, 0] - mx, plane[c, 1] - my, corners[c, 0] - mu, corners[c, 1] - mv
            a, b, s = a + x * u + y * v, b + x * v - y * u, s + x * x + y * y
    a, b = a / s, b / s  # px a metre, along and across
    scale = math.sqrt(a * a + b * b)
    if scale < 1e-3:
        return math.inf
    u, v = mu - a * mx + b * my, mv - b * mx - a * my
    z = 0.5 * (lens[0] + lens[1]) / scale
    x, y = (u - lens[2]) / lens[0] * z, (v - lens[3]) / lens[1] * z
    w0, x0, y0, z0 = quat_exp(0.0, 0.0, math.atan2(b, a))
    w0, x0, y0, z0 = quat_multiply(w0, x0, y0, z0, _SQUARELY[0], _SQUARELY[1], _SQUARELY[2], _SQUARELY[3])
    no_sides = np.full((8, 4), math.nan)
    trial, best = np.empty(7), math.inf
    for start in range(5):
        pitch = _SLANT * (start - 1.5) * 2.0 if start in (1, 2) else 0.0
        yaw = _SLANT * (start - 3.5) * 2.0 if start > 2 else 0.0
        dw, dx, dy, dz = quat_exp(0.0, pitch, yaw)
        trial[0], trial[1], trial[2], trial[3] = quat_multiply(w0, x0, y0, z0, dw, dx, dy, dz)
        trial[4], trial[5], trial[6] = x, y, z
        rms = refine(trial, corners, no_sides, lens, size, 10)
        if rms < best and trial[6] > NEAR:
            best = rms
            q[:] = trial
    return best


start_pose = kernel(_start_pose)
