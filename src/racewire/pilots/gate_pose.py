"""Where a gate stands, from what one image shows of it.

IPPE (Collins & Bartoli 2014, OpenCV's) gives the two poses that a plane seen in perspective allows;
each is then refined on the reprojection error of every side found (or every corner, of a view without
sides), with the outline that the gate's depth really shows from there. From few pixels the two can
fit equally well: both are given. A cut gate whose few corners mislead IPPE is fitted from slanted
starts instead. Frames: `Pose[Optical, Gate]`, origin at the opening's centre, forward away from the
camera.
"""

import math
from dataclasses import dataclass
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Gate, Optical, Pose, Rot, Vec
from racewire.pilots.gate_model import GATE_SIZE, GateSize, GateView
from racewire.pilots.pose_fit import NEAR, project_outline, refine, start_pose
from racewire.sensors.camera import AIGP_CAMERA, Camera

_SQUARES = np.array(((-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)) * 2)

_NO_CORNERS = np.full((8, 2), math.nan)
_NO_SIDES = np.full((8, 4), math.nan)

ROUNDS = 15
"""Most Levenberg-Marquardt steps."""


class Board:
    """OpenCV's plane frame: right, down, away; its origin is the centre of the gate's front face."""


BOARD_FROM_GATE: Rot[Board, Gate] = Rot.from_matrix(
    np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
)
"""The gate's axes (away, right, down) on the board."""


@dataclass(frozen=True, slots=True)
class GatePose:
    """The better pose and its rms reprojection error, and the other one, if there are two.

    The errors (px) are of a corner along one axis, or of a side across it; infinity if there is no other.
    """

    pose: Pose[Optical, Gate]
    rms_px: float
    other: Pose[Optical, Gate] | None
    other_rms_px: float


def gate_pose(view: GateView, camera: Camera = AIGP_CAMERA, size: GateSize = GATE_SIZE) -> GatePose | None:
    """Return the pose of a seen gate from all its sides (or its corners, where it has no sides).

    None with fewer than four corners, or where no pose before the camera fits.
    """
    known = view.corners()
    corners, sides = (known, _NO_SIDES) if view.sides is None else (_NO_CORNERS, view.sides)
    lens, ring = lens_of(camera), sides_of(size)
    fits = _refined(_ippe(known, camera, size), corners, sides, camera, size)
    if not fits:
        q = np.empty(7)
        if not start_pose(known, lens, ring, q) < math.inf:
            return None
        fits = _refined([q], corners, sides, camera, size)
    if not fits:
        return None
    fits.sort(key=lambda fit: fit[0])
    best, second = fits[0], fits[1] if len(fits) > 1 else None
    if second is not None and second[1].rotation.angle_to(best[1].rotation) < math.radians(1.0):
        second = None
    return GatePose(best[1], best[0], second[1] if second else None, second[0] if second else math.inf)


def _ippe(corners: NDArray[np.float64], camera: Camera, size: GateSize) -> list[NDArray[np.float64]]:
    """Return IPPE's poses from the known `corners`, shape (8, 2), as if the gate were flat.

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


def _refined(
    starts: list[NDArray[np.float64]],
    corners: NDArray[np.float64],
    sides: NDArray[np.float64],
    camera: Camera,
    size: GateSize,
) -> list[tuple[float, Pose[Optical, Gate]]]:
    fits: list[tuple[float, Pose[Optical, Gate]]] = []
    for q in starts:
        rms = refine(q, corners, sides, lens_of(camera), sides_of(size), ROUNDS)
        if math.isfinite(rms) and np.all(np.isfinite(q)) and q[6] > NEAR:
            w, x, y, z, px, py, pz = map(float, q)
            fits.append((rms, Pose(Vec(px, py, pz), Rot(w, x, y, z))))
    return fits


def outline(
    pose: Pose[Optical, Gate], camera: Camera = AIGP_CAMERA, size: GateSize = GATE_SIZE
) -> NDArray[np.float64]:
    """Return where the eight corners of a gate's silhouette fall, shape (8, 2), NaN behind the lens."""
    r, p = pose.rotation, pose.position
    corners = np.empty((8, 2))
    q = np.array((r.w, r.x, r.y, r.z, p.x, p.y, p.z))
    project_outline(q, lens_of(camera), sides_of(size), corners)
    return corners


def lens_of(camera: Camera) -> tuple[float, float, float, float]:
    """Return (fx, fy, cx, cy), as the kernels take a camera."""
    return camera.fx, camera.fy, camera.cx, camera.cy


def sides_of(size: GateSize) -> tuple[float, float, float]:
    """Return (outer, inner, depth), as the kernels take a gate's size."""
    return size.outer, size.inner, size.depth
