"""Finding every gate in an image, as corners to a fraction of a pixel.

Blobs of red are hypotheses: a blob's outline is a gate's outer square, a hole in it an opening, and
where the image cuts the gate the two together. A hypothesis becomes a gate only if the sides that a
gate's pose predicts are really there: all eight sides are sought as edges, the corners are where
found sides cross, and one rigid gate must fit them (this is the test that outer and inner square
are concentric and 1.8 to 1). So lettering, ribbons, lamps and merged blobs propose much and pass little.
Image coordinates are continuous (see `sensors.camera`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from racewire.core.config import load
from racewire.pilots.gate_fit import extent, settle
from racewire.pilots.gate_model import GATE_SIZE, GateSize, GateView
from racewire.pilots.gate_pose import first_poses, lens_of, refine, sides_of
from racewire.pilots.quads import corners_of
from racewire.pilots.redness import RedBounds, red_mask
from racewire.sensors.camera import AIGP_CAMERA, Camera

__all__ = ["DETECTOR", "DetectorParams", "GateView", "detect"]


@dataclass(frozen=True, slots=True)
class DetectorParams:
    """Thresholds of the detector; `data/detector.toml` says what each is."""

    smallest: float
    largest_blobs: int
    reach: float
    contrast: float
    tolerance: float
    agreement: float
    sides: int
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
    found: list[GateView] = []
    for hypothesis in _hypotheses(red_mask(image, params.red), params, width, height, roll, found):
        view = _verify(image, hypothesis, params, camera, size)
        if view is not None:
            found.append(view)
    return sorted(_distinct(found), key=lambda view: -view.area_px)


def _hypotheses(
    mask: NDArray[np.uint8],
    params: DetectorParams,
    width: int,
    height: int,
    roll: float,
    found: list[GateView],
) -> Iterator[NDArray[np.float64]]:
    contours, tree = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    if not contours:
        return
    links: NDArray[np.int32] = cast("Any", tree)[0]
    boxes = [(i, cv2.boundingRect(contours[i])) for i in np.flatnonzero(links[:, 3] < 0)]
    blobs = [(i, box) for i, box in boxes if max(box[2:]) >= params.smallest and min(box[2:]) >= 3]
    blobs.sort(key=lambda blob: -blob[1][2] * blob[1][3])
    for i, box in blobs[: params.largest_blobs]:
        outer, _ = corners_of(contours[i], width, height, roll)
        holes = _holes(mask, box, [contours[k] for k in np.flatnonzero(links[:, 3] == i)], params)
        missing = np.full((4, 2), math.nan)
        known = int(np.sum(~np.isnan(outer[:, 0])))
        if known == 4:
            yield np.concatenate((outer, missing))
        for hole in holes:
            x, y, w, h = cv2.boundingRect(hole)
            if _taken(found, x + 0.5 * w, y + 0.5 * h):
                continue
            inner, _ = corners_of(hole, width, height, roll)
            seen = int(np.sum(~np.isnan(inner[:, 0])))
            if seen == 4:
                yield np.concatenate((missing, inner))
            if known < 4 and 4 <= known + seen and not _taken(found, x + 0.5 * w, y + 0.5 * h):
                yield np.concatenate((outer, inner))


def _holes(
    mask: NDArray[np.uint8],
    box: Any,  # noqa: ANN401 - OpenCV's rectangle
    enclosed: list[NDArray[np.int32]],
    params: DetectorParams,
) -> list[NDArray[np.int32]]:
    """Return the openings in a blob, largest first: those it encloses, and those the image's border cuts."""
    x, y, w, h = box
    holes = enclosed
    height, width = mask.shape
    if x <= 1 or y <= 1 or x + w >= width - 1 or y + h >= height - 1:
        part = cv2.bitwise_not(mask[y : y + h, x : x + w])
        gaps, _ = cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE, offset=(x, y))
        holes = [*holes, *gaps]
    sized = [(max(cv2.boundingRect(hole)[2:]), i) for i, hole in enumerate(holes)]
    sized = sorted((-s, i) for s, i in sized if s >= 0.4 * params.smallest)
    return [holes[i] for _, i in sized[:4]]


def _verify(
    image: NDArray[np.uint8],
    corners: NDArray[np.float64],
    params: DetectorParams,
    camera: Camera,
    size: GateSize,
) -> GateView | None:
    """Seek the sides of the gate that the rough `corners`, shape (8, 2), are of; None if it is none."""
    poses = first_poses(corners, camera, size)
    if not poses:
        return None
    q, sides, found, outline = poses[0], np.empty((8, 6)), np.empty((8, 2)), np.empty((8, 2))
    lens, ring = lens_of(camera), sides_of(size)
    if not refine(q, corners, lens, ring, 4) < math.inf:
        return None
    edge = (params.reach, params.contrast, params.tolerance, params.agreement)
    rms = settle(image, q, lens, ring, edge, (params.slimness, params.smallest), outline, sides, found)
    if not rms <= params.misfit + params.misfit_share * extent(outline)[1]:
        return None
    known = ~np.isnan(found[:, 0])
    good = sides[:, 2] >= params.agreement
    if np.count_nonzero(known) < params.corners or np.count_nonzero(good) < params.sides:
        return None
    return GateView(
        outer=found[:4] if known[:4].any() else None,
        inner=found[4:] if known[4:].any() else None,
        complete=bool(known[:4].all()),
        area_px=_area(np.where(known[:4, None], found[:4], outline[:4])),
        sigma_px=math.hypot(float(np.median(sides[good, 5])), 0.1),
    )


def _area(quad: NDArray[np.float64]) -> float:
    following = np.roll(quad, -1, axis=0)
    return 0.5 * abs(float(np.sum(quad[:, 0] * following[:, 1] - following[:, 0] * quad[:, 1])))


def _middle(view: GateView) -> NDArray[np.float64]:
    return np.nanmean(view.corners(), axis=0)


def _taken(found: list[GateView], x: float, y: float) -> bool:
    """Tell whether (x, y) is near the middle of a gate already found whole."""
    for view in found:
        if view.complete:
            mx, my = _middle(view)
            if math.hypot(mx - x, my - y) < 0.15 * math.sqrt(view.area_px):
                return True
    return False


def _distinct(found: list[GateView]) -> list[GateView]:
    """Drop the poorer of two views of one gate."""
    kept: list[GateView] = []
    for view in sorted(found, key=lambda v: -int(np.sum(~np.isnan(v.corners()[:, 0])))):
        twin = any(
            float(np.hypot(*(_middle(view) - _middle(other)))) < 0.25 * math.sqrt(other.area_px)
            and 0.5 < view.area_px / other.area_px < 2.0
            for other in kept
        )
        if not twin:
            kept.append(view)
    return kept
