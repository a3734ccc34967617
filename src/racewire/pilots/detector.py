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
from racewire.pilots.quads import corners_of, lines_of
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
    mask = red_mask(image, params.red)
    found: list[GateView] = []
    blobs = _blobs(mask, (0, 0, width, height), params)
    for _ in range(params.largest_blobs):
        if not blobs:
            break
        blob = blobs.pop(0)
        for hypothesis in _hypotheses(mask, blob, params, roll):
            view = _verify(image, hypothesis, params, camera, size)
            if view is not None:
                found.append(view[1])
                _erase(mask, view[0])
                rest = _blobs(mask, cv2.boundingRect(blob[0]), params)
                blobs = sorted([*blobs, *rest], key=lambda b: -b[2])
                break
    return sorted(_distinct(found), key=lambda view: -view.area_px)

def _erase(mask: NDArray[np.uint8], outline: NDArray[np.float64]) -> None:
    """Take a found gate out of the mask, but not what is seen through its opening."""
    middle = outline[:4].mean(axis=0)
    outer = middle + (outline[:4] - middle) * (1.0 + 3.0 / math.sqrt(_area(outline[:4])))
    inner = middle + (outline[4:] - middle) * (1.0 - 3.0 / math.sqrt(_area(outline[4:])))
    ring = np.zeros_like(mask)
    cv2.fillConvexPoly(ring, np.rint(outer - 0.5).astype(np.int32), 255)
    cv2.fillConvexPoly(ring, np.rint(inner - 0.5).astype(np.int32), 0)
    mask[ring > 0] = 0


def _blobs(mask, box, params):
    x0, y0, w0, h0 = box
    part = mask[y0 : y0 + h0, x0 : x0 + w0]
    contours, tree = cv2.findContours(part, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE, offset=(x0, y0))
    if not contours:
        return []
    links: NDArray[np.int32] = cast("Any", tree)[0]
    blobs = []
    for i, contour in enumerate(contours):
        if links[i, 3] >= 0:
            continue
        _, _, w, h = cv2.boundingRect(contour)
        if max(w, h) >= params.smallest and min(w, h) >= 3:
            holes = [contours[k] for k in np.flatnonzero(links[:, 3] == i)]
            blobs.append((contour, holes, w * h))
    return sorted(blobs, key=lambda b: -b[2])


def _hypotheses(
    mask: NDArray[np.uint8],
    blob,
    params: DetectorParams,
    roll: float,
) -> Iterator[NDArray[np.float64]]:
    height, width = mask.shape
    missing = np.full((4, 2), math.nan)
    holes = _holes(mask, cv2.boundingRect(blob[0]), blob[1], params)
    for rough in WAYS:
        outer = rough(blob[0], width, height, roll)
        known = int(np.sum(~np.isnan(outer[:, 0])))
        if known == 4:
            yield np.concatenate((outer, missing))
        for hole in holes:
            inner = rough(hole, width, height, roll)
            seen = int(np.sum(~np.isnan(inner[:, 0])))
            if seen == 4:
                yield np.concatenate((missing, inner))
            if known < 4 and 4 <= known + seen:
                yield np.concatenate((outer, inner))

import os
WAYS = {"l":[lines_of], "h":[lambda *a:corners_of(*a)[0]], "hl":[lambda *a:corners_of(*a)[0],lines_of],"lh":[lines_of,lambda *a:corners_of(*a)[0]]}[os.environ.get("WAYS","lh")]

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
    lens, ring = lens_of(camera), sides_of(size)
    none = np.full((8, 4), math.nan)
    fits = [(refine(q, corners, none, lens, ring, 8), i) for i, q in enumerate(poses)]
    rms, best = min(fits)
    if not rms < math.inf:
        return None
    q, sides, found, outline = poses[best], np.empty((8, 9)), np.empty((8, 2)), np.empty((8, 2))
    edge = (params.reach, params.contrast, params.tolerance, params.agreement)
    rms = settle(image, q, lens, ring, edge, (params.slimness, params.smallest), outline, sides, found)
    if not rms <= params.misfit + params.misfit_share * extent(outline)[1]:
        return None
    known = ~np.isnan(found[:, 0])
    good = ~np.isnan(sides[:, 0])
    visible = np.count_nonzero(sides[:, 8] > 0.5)
    if np.count_nonzero(known) < params.corners or np.count_nonzero(good) < max(params.sides, 0.74*visible):
        return None
    return outline, GateView(
        outer=found[:4] if known[:4].any() else None,
        inner=found[4:] if known[4:].any() else None,
        complete=bool(known[:4].all()),
        area_px=_area(np.where(known[:4, None], found[:4], outline[:4])),
        sigma_px=math.hypot(float(np.median(sides[good, 7])), 0.1),
        sides=sides[:, :4].copy(),
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
