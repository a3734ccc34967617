"""Where a gate stands, from its corners in one image.

IPPE (Collins & Bartoli 2014, OpenCV's) gives the two poses that a plane seen in perspective allows;
each is then refined by Gauss-Newton on the reprojection error of every known corner, with the outline
that the gate's depth really shows from there. From few pixels the two can fit equally well: both are
given. Frames: `Pose[Optical, Gate]`, origin at the opening's centre, forward away from the camera.
"""

import math
from dataclasses import dataclass
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Gate, Optical, Pose, Rot, Vec, quat_exp, quat_multiply, quat_normalise, quat_rotate
from racewire.core.jit import kernel
from racewire.pilots.gate_model import GATE_SIZE, GateSize, GateView, outline_edge
from racewire.sensors.camera import AIGP_CAMERA, Camera

_SQUARES = np.array(((-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)) * 2)

_NO_CORNERS = np.full((8, 2), math.nan)
_NO_SIDES = np.full((8, 4), math.nan)

ROUNDS = 15
"""Most Levenberg-Marquardt steps."""

NEAR = 0.05
"""A corner nearer to the lens plane than this (m) does not count."""


class Board:
    """OpenCV's plane frame: right, down, away; its origin is the centre of the gate's front face."""


BOARD_FROM_GATE: Rot[Board, Gate] = Rot.from_matrix(np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))))


@dataclass(frozen=True, slots=True)
class GatePose:
    """The better pose and its rms reprojection error (px a corner), and the other one, if there are two."""

    pose: Pose[Optical, Gate]
    rms_px: float
    other: Pose[Optical, Gate] | None
    other_rms_px: float


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


def first_poses(
    corners: NDArray[np.float64], camera: Camera = AIGP_CAMERA, size: GateSize = GATE_SIZE
) -> list[NDArray[np.float64]]:
    """Return IPPE's poses, best first, of the known ones of `corners`, shape (8, 2), as if the gate were flat.

    Each is optical_from_gate and the position, shape (7,). Empty with fewer than four corners.
    """
    known = ~np.isnan(corners[:, 0])
    if np.count_nonzero(known) < 4:
        return []
    plane = (_SQUARES * np.repeat((0.5 * size.outer, 0.5 * size.inner), 4)[:, None])[known]
    try:
        _, rotations, positions, _ = cast("Any", cv2).solvePnPGeneric(
            plane, corners[known], camera.matrix, None, flags=cv2.SOLVEPNP_IPPE
        )
    except cv2.error:
        return []
    poses: list[NDArray[np.float64]] = []
    for rotation, position in zip(rotations, positions, strict=True):
        optical_from_board: Rot[Optical, Board] = Rot.exp(*map(float, rotation[:, 0]))
        start = optical_from_board @ BOARD_FROM_GATE
        face: Vec[Optical] = Vec(*map(float, position[:, 0]))
        centre = face + start @ Vec(0.5 * size.depth, 0.0, 0.0)
        q = np.array((start.w, start.x, start.y, start.z, centre.x, centre.y, centre.z))
        if np.all(np.isfinite(q)) and centre.z > NEAR:
            poses.append(q)
    return poses


def lens_of(camera: Camera) -> tuple[float, float, float, float]:
    """Return (fx, fy, cx, cy), as the kernels take a camera."""
    return camera.fx, camera.fy, camera.cx, camera.cy


def sides_of(size: GateSize) -> tuple[float, float, float]:
    """Return (outer, inner, depth), as the kernels take a gate's size."""
    return size.outer, size.inner, size.depth


def gate_pose(view: GateView, camera: Camera = AIGP_CAMERA, size: GateSize = GATE_SIZE) -> GatePose | None:
    """Return the pose of a seen gate from all its sides (or its corners, where it has no sides).

    None with fewer than four corners, or where no pose before the camera fits.
    """
    corners = view.corners()
    starts = first_poses(corners, camera, size)
    sides = _NO_SIDES
    if view.sides is not None:
        corners, sides = _NO_CORNERS, view.sides
    fits: list[tuple[float, Pose[Optical, Gate]]] = []
    for q in starts:
        rms = refine(q, corners, sides, lens_of(camera), sides_of(size), ROUNDS)
        if math.isfinite(rms) and np.all(np.isfinite(q)) and q[6] > NEAR:
            w, x, y, z, px, py, pz = map(float, q)
            fits.append((rms, Pose(Vec(px, py, pz), Rot(w, x, y, z))))
    if not fits:
        return None
    fits.sort(key=lambda fit: fit[0])
    best, second = fits[0], fits[1] if len(fits) > 1 else None
    if second is not None and second[1].rotation.angle_to(best[1].rotation) < math.radians(1.0):
        second = None
    return GatePose(best[1], best[0], second[1] if second else None, second[0] if second else math.inf)


def outline(
    pose: Pose[Optical, Gate], camera: Camera = AIGP_CAMERA, size: GateSize = GATE_SIZE
) -> NDArray[np.float64]:
    """Return where the eight corners of a gate's silhouette fall, shape (8, 2), NaN behind the lens."""
    r, p = pose.rotation, pose.position
    corners = np.empty((8, 2))
    q = np.array((r.w, r.x, r.y, r.z, p.x, p.y, p.z))
    project_outline(q, lens_of(camera), sides_of(size), corners)
    return corners
