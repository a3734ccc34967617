"""Finding every gate in an image, as corners to a fraction of a pixel.

Blobs of red propose (`blobs`); a proposal becomes a gate only if the sides that a gate's pose predicts
are really there (`gate_fit`): all eight sides are sought as edges, the corners are where found sides
cross, and one rigid gate must fit them, which is the test that outer and inner square are concentric
and 1.8 to 1. So lettering, ribbons, lamps and merged blobs propose much and pass little. A found gate
is taken out of the mask, and what it hid the join of is looked at again.
Image coordinates are continuous (see `sensors.camera`).
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from racewire.core.config import load
from racewire.pilots.blobs import erase, find_blobs, hypotheses
from racewire.pilots.gate_fit import extent, settle
from racewire.pilots.gate_model import GATE_SIZE, GateSize, GateView
from racewire.pilots.gate_pose import lens_of, sides_of
from racewire.pilots.pose_fit import start_pose
from racewire.pilots.redness import RedBounds, red_mask
from racewire.sensors.camera import AIGP_CAMERA, Camera

__all__ = ["DETECTOR", "DetectorParams", "GateView", "detect"]


@dataclass(frozen=True, slots=True)
class DetectorParams:
    """Thresholds of the detector; `data/detector.toml` says what each is."""

    smallest: float
    most_blobs: int
    reach: float
    contrast: float
    tolerance: float
    agreement: float
    sides: int
    inner_sides: int
    sides_share: float
    corners: int
    misfit: float
    misfit_share: float
    slimness: float
    red: RedBounds


DETECTOR = load(DetectorParams, Path(__file__).parent / "data" / "detector.toml")
"""The parameters in the package."""


def detect(
    image: NDArray[np.uint8],
    params: DetectorParams = DETECTOR,
    camera: Camera = AIGP_CAMERA,
    size: GateSize = GATE_SIZE,
    roll: float = 0.0,
) -> list[GateView]:
    """Return the gates in a BGR `image`, shape (height, width, 3), the largest in the image first.

    `roll` (rad) is how far the picture is expected to be turned clockwise; the corner called TL is the
    one that is top left after turning back, so that the names hold at any bank.
    """
    height, width = image.shape[:2]
    mask = red_mask(image, params.red)
    found: list[_Found] = []
    blobs = find_blobs(mask, (0, 0, width, height), params.smallest)
    for _ in range(params.most_blobs):
        if not blobs:
            break
        blob = blobs.pop(0)
        for corners in hypotheses(mask, blob, params.smallest, roll):
            gate = _verify(image, corners, params, camera, size)
            if gate is not None:
                found.append(gate)
                erase(mask, gate.outline, blob.box)
                blobs += find_blobs(mask, blob.box, params.smallest)
                blobs.sort(key=lambda b: -b.extent)
                break
    return sorted(_distinct(found), key=lambda view: -view.area_px)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A gate's view, its fitted outline, shape (8, 2), and how many of its corners are known."""

    view: GateView
    outline: NDArray[np.float64]
    known: int


def _verify(
    image: NDArray[np.uint8],
    corners: NDArray[np.float64],
    params: DetectorParams,
    camera: Camera,
    size: GateSize,
) -> _Found | None:
    """Seek the sides of the gate that the rough `corners`, shape (8, 2), are of; None if it is none."""
    lens, ring = lens_of(camera), sides_of(size)
    q, sides, found, outline = np.empty(7), np.empty((8, 9)), np.empty((8, 2)), np.empty((8, 2))
    if not start_pose(corners, lens, ring, q) < math.inf:
        return None
    edge = (params.reach, params.contrast, params.tolerance, params.agreement)
    rms = settle(image, q, lens, ring, edge, (params.slimness, params.smallest), outline, sides, found)
    if not rms <= params.misfit + params.misfit_share * extent(outline)[1]:
        return None
    known, good = ~np.isnan(found[:, 0]), ~np.isnan(sides[:, 0])
    corner_count, side_count = int(np.count_nonzero(known)), int(np.count_nonzero(good))
    visible = np.count_nonzero(sides[:, 8] > 0.5)
    if corner_count < params.corners or side_count < max(params.sides, params.sides_share * visible):
        return None
    if np.count_nonzero(good[4:]) < params.inner_sides:
        return None
    spread = sorted(sides[good, 7].tolist())[side_count // 2]
    view = GateView(
        outer=found[:4] if known[:4].any() else None,
        inner=found[4:] if known[4:].any() else None,
        complete=bool(known[:4].all()),
        area_px=_area(np.where(known[:4, None], found[:4], outline[:4])),
        sigma_px=math.hypot(spread, 0.1),
        sides=sides[:, :4].copy(),
    )
    return _Found(view, outline, corner_count)


def _area(quad: NDArray[np.float64]) -> float:
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad.tolist()
    return 0.5 * abs((cx - ax) * (dy - by) - (dx - bx) * (cy - ay))


def _distinct(found: list[_Found]) -> list[GateView]:
    """Drop the poorer of two views of one gate."""
    kept: list[tuple[GateView, float, float]] = []
    for gate in sorted(found, key=lambda g: -g.known):
        x, y = map(float, 0.5 * (gate.outline[4] + gate.outline[6]))
        area = gate.view.area_px
        if not any(
            math.hypot(x - other_x, y - other_y) < 0.25 * math.sqrt(other.area_px)
            and 0.5 < area / other.area_px < 2.0
            for other, other_x, other_y in kept
        ):
            kept.append((gate.view, x, y))
    return [view for view, _, _ in kept]
