"""Blobs of red in a mask, and the rough corners that each could be a gate's.

A blob has an outline and holes; one that the image cuts also has gaps, which the border closes. Each
outline gives corners in two ways (main lines, convex hull); an outline's four corners, a hole's four,
or what is left of both where the border cuts them, are one hypothesis. Pixel indices of the mask,
rough corners in continuous image coordinates.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from racewire.pilots.lines import line_corners
from racewire.pilots.quads import Corners, Outline, hull_corners

Box = tuple[int, int, int, int]
"""Left, top, width, height, px."""

MOST_HOLES = 5
"""Holes of a blob that are looked at, largest first."""

_WAYS = (line_corners, hull_corners)
_UNKNOWN = np.full((4, 2), math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Blob:
    """One connected patch of a mask: its outline, the holes it encloses, its bounding box."""

    outline: Outline
    holes: tuple[Outline, ...]
    box: Box

    @property
    def extent(self) -> int:
        """Area of the bounding box, px."""
        return self.box[2] * self.box[3]


def find_blobs(mask: NDArray[np.uint8], box: Box, smallest: float) -> list[Blob]:
    """Return the blobs of `mask` inside `box` that are at least `smallest` px long, largest first."""
    x, y, w, h = box
    part = mask[y : y + h, x : x + w]
    contours, tree = cv2.findContours(part, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE, offset=(x, y))
    blobs: list[Blob] = []
    if not contours:
        return blobs
    # a row of the tree: next, previous, first child, parent
    links: list[list[int]] = np.asarray(tree)[0].tolist()
    for i, (_, _, hole, parent) in enumerate(links):
        if parent >= 0 or len(contours[i]) < 3:
            continue
        left, top, width, height = cv2.boundingRect(contours[i])
        if max(width, height) < smallest or min(width, height) < 3:
            continue
        holes: list[Outline] = []
        following = hole
        while following >= 0:
            holes.append(contours[following])
            following = links[following][0]
        blobs.append(Blob(contours[i], tuple(holes), (left, top, width, height)))
    return sorted(blobs, key=lambda blob: -blob.extent)


def hypotheses(mask: NDArray[np.uint8], blob: Blob, smallest: float, roll: float) -> Iterator[Corners]:
    """Yield rough corners, shape (8, 2): outer TL, TR, BR, BL, inner TL, TR, BR, BL, NaN where unknown."""
    height, width = mask.shape
    holes = _openings(mask, blob, 0.4 * smallest)
    tried: list[Corners] = []
    for rough in _WAYS:
        outer = rough(blob.outline, width, height, roll)
        known = _count(outer)
        guesses = [np.concatenate((outer, _UNKNOWN))] if known == 4 else []
        for hole in holes:
            inner = rough(hole, width, height, roll)
            seen = _count(inner)
            if seen == 4:
                guesses.append(np.concatenate((_UNKNOWN, inner)))
            if known < 4 <= known + seen:
                guesses.append(np.concatenate((outer, inner)))
        for guess in guesses:
            if not any(_alike(guess, other) for other in tried):
                tried.append(guess)
                yield guess


def erase(mask: NDArray[np.uint8], outline: Corners, box: Box) -> None:
    """Take a found gate out of the part `box` of `mask`, but not what is seen through its opening.

    `outline` is the gate's, shape (8, 2); the ring erased is a little wider.
    """
    x, y, w, h = box
    part = mask[y : y + h, x : x + w]
    opening = np.zeros_like(part)
    cv2.fillConvexPoly(opening, _grown(outline[4:], x, y, -1.5), (255,))
    kept = cv2.bitwise_and(part, opening)
    cv2.fillConvexPoly(part, _grown(outline[:4], x, y, 1.5), (0,))
    cv2.bitwise_or(part, kept, dst=part)


def _grown(quad: Corners, left: int, top: int, by: float) -> NDArray[np.int32]:
    """Pixel indices, counted from (left, top), of a quad whose corners are moved outwards by about `by`."""
    points = quad.tolist()
    mx, my = sum(x for x, _ in points) / 4.0, sum(y for _, y in points) / 4.0
    grown = np.empty((4, 2), np.int32)
    for i, (x, y) in enumerate(points):
        k = max(1.0 + math.sqrt(2.0) * by / max(math.hypot(x - mx, y - my), 1.0), 0.0)
        grown[i] = round(mx + k * (x - mx) - left - 0.5), round(my + k * (y - my) - top - 0.5)
    return grown


def _alike(a: Corners, b: Corners) -> bool:
    off = np.abs(a - b)
    return bool(np.all((off < 2.0) | (np.isnan(a) & np.isnan(b))))


def _count(corners: Corners) -> int:
    return 4 - int(np.count_nonzero(np.isnan(corners[:, 0])))


def _openings(mask: NDArray[np.uint8], blob: Blob, smallest: float) -> list[Outline]:
    x, y, w, h = blob.box
    height, width = mask.shape
    holes = list(blob.holes)
    if x <= 1 or y <= 1 or x + w >= width - 1 or y + h >= height - 1:
        background = cv2.bitwise_not(mask[y : y + h, x : x + w])
        gaps, _ = cv2.findContours(background, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE, offset=(x, y))
        holes.extend(gaps)
    sized = [(max(cv2.boundingRect(hole)[2:]), i) for i, hole in enumerate(holes) if len(hole) > 2]
    sized = sorted((-size, i) for size, i in sized if size >= smallest)
    return [holes[i] for _, i in sized[:MOST_HOLES]]
