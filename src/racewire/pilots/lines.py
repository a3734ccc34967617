"""A blob's four main lines, for outlines that are no simple quad: gates grown together, ribbons across.

The outline is cut into straight pieces. Each piece is named by its direction (top, right, bottom, left,
going clockwise), and for each name the line wins on which the most of the outline lies. A corner is
where two winners meet, and only if both end near there. Continuous image coordinates.
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel
from racewire.pilots.quads import Corners, Outline

MOST_PIECES = 200
"""An outline of more straight pieces is no gate's."""

_NEAR = 1.5  # how far a piece may lie off a line and count for it, px
_LEAST = 0.3  # least share of the best line's support
_GAP, _GAP_SHARE = 2.0, 0.15  # how far from its lines' ends a corner may lie: px, and share of their length


def _pieces(polygon: Outline, width: int, height: int, roll: float, pieces: NDArray[np.float64]) -> bool:
    """Write the sides of a polygon of pixel indices, clockwise, to `pieces`, shape (n, 6).

    A row is both ends, the length (0 for one that lies on the image's border) and the name: 0 top, 1 right,
    2 bottom, 3 left. False for a polygon without area.
    """
    n = polygon.shape[0]
    twice = 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        twice += float(polygon[i, 0]) * polygon[j, 1] - float(polygon[j, 0]) * polygon[i, 1]
    if abs(twice) < 1.0:
        return False
    sine, cosine = 0.0, 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        a, b = (i, j) if twice > 0.0 else (j, i)
        x0, y0, x1, y1 = polygon[a, 0] + 0.5, polygon[a, 1] + 0.5, polygon[b, 0] + 0.5, polygon[b, 1] + 0.5
        length = math.sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0))
        if max(x0, x1) < 2.0 or min(x0, x1) > width - 2.0 or max(y0, y1) < 2.0 or min(y0, y1) > height - 2.0:
            length = 0.0
        pieces[i, 0], pieces[i, 1], pieces[i, 2], pieces[i, 3], pieces[i, 4] = x0, y0, x1, y1, length
        angle = 4.0 * (math.atan2(y1 - y0, x1 - x0) - roll)
        sine += length * length * math.sin(angle)
        cosine += length * length * math.cos(angle)
    # the turn against an upright square, within +-45 degrees of `roll`: the mean over quarter turns
    turn = 0.25 * math.atan2(sine, cosine) + roll
    for i in range(n):
        angle = math.atan2(pieces[i, 3] - pieces[i, 1], pieces[i, 2] - pieces[i, 0]) - turn
        pieces[i, 5] = round(angle / (0.5 * math.pi)) % 4
    return True


pieces_of = kernel(_pieces)


def _main_lines(pieces: NDArray[np.float64], lines: NDArray[np.float64]) -> None:
    """Write the best supported line of each name to `lines`, shape (4, 5): its ends and its support, px."""
    lines[:, :] = 0.0
    for i in range(pieces.shape[0]):
        x, y, length = pieces[i, 0], pieces[i, 1], pieces[i, 4]
        name = int(pieces[i, 5])
        if length < 2.0:
            continue
        dx, dy = (pieces[i, 2] - x) / length, (pieces[i, 3] - y) / length
        support, first, last = 0.0, 0.0, 0.0
        for k in range(pieces.shape[0]):
            if pieces[k, 5] != pieces[i, 5] or pieces[k, 4] <= 0.0:
                continue
            ax, ay, bx, by = pieces[k, 0] - x, pieces[k, 1] - y, pieces[k, 2] - x, pieces[k, 3] - y
            if max(abs(ax * dy - ay * dx), abs(bx * dy - by * dx)) < _NEAR:
                support += pieces[k, 4]
                first = min(first, ax * dx + ay * dy)
                last = max(last, bx * dx + by * dy)
        if support > lines[name, 4]:
            lines[name, 0], lines[name, 1] = x + first * dx, y + first * dy
            lines[name, 2], lines[name, 3] = x + last * dx, y + last * dy
            lines[name, 4] = support


main_lines = kernel(_main_lines)


def _meet_lines(lines: NDArray[np.float64], width: int, height: int, corners: NDArray[np.float64]) -> None:
    """Write the corners inside the image to `corners`, shape (4, 2)."""
    most = max(lines[0, 4], lines[1, 4], lines[2, 4], lines[3, 4])
    for after in range(4):
        corners[after, :] = math.nan
        before = after - 1 if after > 0 else 3
        if min(lines[before, 4], lines[after, 4]) < _LEAST * most:
            continue
        ax, ay = lines[before, 2] - lines[before, 0], lines[before, 3] - lines[before, 1]
        bx, by = lines[after, 2] - lines[after, 0], lines[after, 3] - lines[after, 1]
        cross = ax * by - ay * bx
        if cross <= 1e-9:
            continue
        k = ((lines[after, 0] - lines[before, 0]) * by - (lines[after, 1] - lines[before, 1]) * bx) / cross
        x, y = lines[before, 0] + k * ax, lines[before, 1] + k * ay
        gap = max(
            abs(x - lines[before, 2]) + abs(y - lines[before, 3]),
            abs(x - lines[after, 0]) + abs(y - lines[after, 1]),
        )
        if gap > _GAP + _GAP_SHARE * math.sqrt(max(ax * ax + ay * ay, bx * bx + by * by)):
            continue
        if 1.0 < x < width - 1.0 and 1.0 < y < height - 1.0:
            corners[after, 0], corners[after, 1] = x, y


meet_lines = kernel(_meet_lines)


def line_corners(contour: Outline, width: int, height: int, roll: float) -> Corners:
    """Return the labelled corners between a contour's main lines; parameters as `quads.hull_corners`."""
    corners = np.full((4, 2), math.nan)
    _, _, w, h = cv2.boundingRect(contour)
    polygon = cv2.approxPolyDP(contour, min(2.0, max(0.8, 0.03 * max(w, h))), closed=True)[:, 0, :]
    if not 4 <= len(polygon) <= MOST_PIECES:
        return corners
    pieces, lines = np.empty((len(polygon), 6)), np.empty((4, 5))
    if pieces_of(polygon, width, height, roll, pieces):
        main_lines(pieces, lines)
        meet_lines(lines, width, height, corners)
    return corners
