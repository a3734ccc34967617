"""From a blob's outline to four-cornered candidates.

The convex hull of an outline is thinned, side by side, to the few sides that matter: always the one
whose removal (its neighbours run on until they meet) adds the least area, and never one that lies on
the image's border, since that one is a cut and no edge. What is left of a gate is a convex polygon
whose sides are labelled top, right, bottom, left; a corner is where two true sides of successive
labels meet inside the image. Clockwise in the image; continuous coordinates.
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel

Corners = NDArray[np.float64]
"""TL, TR, BR, BL in continuous image coordinates, shape (4, 2); NaN where unknown."""


Outline = cv2.typing.MatLike
"""A contour: pixel indices (x, y) as OpenCV gives them, shape (n, 1, 2), int32."""


def _thin(points: NDArray[np.float64], border: NDArray[np.uint8], most: int, small: float) -> int:
    """Thin a clockwise convex polygon in place; return how many vertices are left.

    `border[i]` marks the side from vertex i to the next as a cut. Sides go while more than `most`
    true ones are left, and while one adds less than the share `small` of the area.
    """
    n = points.shape[0]
    area = 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        area += 0.5 * (points[i, 0] * points[j, 1] - points[j, 0] * points[i, 1])
    while n > 3:
        true_sides = 0
        best, chosen, best_x, best_y = 1.0e18, -1, 0.0, 0.0
        for i in range(n):
            if border[i]:
                continue
            true_sides += 1
            h, j = (i - 1) % n, (i + 1) % n
            k = (i + 2) % n
            ax, ay = points[i, 0] - points[h, 0], points[i, 1] - points[h, 1]
            bx, by = points[j, 0] - points[k, 0], points[j, 1] - points[k, 1]
            ex, ey = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
            cross = ay * bx - ax * by
            if cross <= 1e-9:
                continue
            run = (ey * bx - ex * by) / cross
            added = 0.5 * abs(run * (ax * ey - ay * ex))
            if added < best:
                best, chosen = added, i
                best_x, best_y = points[i, 0] + run * ax, points[i, 1] + run * ay
        if chosen < 0 or (best > small * area and (true_sides <= most or best > 0.1 * area)):
            break
        area += best
        gone = (chosen + 1) % n
        points[chosen, 0], points[chosen, 1] = best_x, best_y
        border[chosen] = border[gone]
        for i in range(gone, n - 1):
            points[i, 0], points[i, 1] = points[i + 1, 0], points[i + 1, 1]
            border[i] = border[i + 1]
        n -= 1
    return n


thin = kernel(_thin)


def _name_in_turn(angle: NDArray[np.float64], length: NDArray[np.float64], label: NDArray[np.int64]) -> None:
    """Name four sides 0 top, 1 right, 2 bottom, 3 left, in the order that fits their directions best."""
    best, first = -1.0e18, 0
    for offset in range(4):
        fit = 0.0
        for i in range(4):
            fit += length[i] * math.cos(angle[i] - 0.5 * math.pi * (i + offset))
        if fit > best:
            best, first = fit, offset
    for i in range(4):
        label[i] = (i + first) % 4


name_in_turn = kernel(_name_in_turn)


def _name_by_direction(
    angle: NDArray[np.float64], length: NDArray[np.float64], label: NDArray[np.int64]
) -> None:
    """Name the sides of a cut quad each by its own direction; -1 for cuts (length 0) and for doubles."""
    # the turn against an upright square, within +-45 degrees: the mean over quarter turns
    turn = 0.25 * math.atan2(np.sum(length * np.sin(4.0 * angle)), np.sum(length * np.cos(4.0 * angle)))
    count = np.zeros(4, np.int64)
    for i in range(angle.shape[0]):
        if length[i] > 0.0:
            label[i] = round((angle[i] - turn) / (0.5 * math.pi)) % 4
            count[label[i]] += 1
    for i in range(angle.shape[0]):
        if label[i] >= 0 and count[label[i]] > 1:
            label[i] = -1


name_by_direction = kernel(_name_by_direction)


def _name_corners(hull: Outline, width: int, height: int, roll: float, corners: NDArray[np.float64]) -> None:
    """Write the labelled corners of a hull of pixel indices, shape (n, 2), to `corners`, shape (4, 2)."""
    corners[:, :] = math.nan
    n = hull.shape[0]
    twice = 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        twice += float(hull[i, 0]) * hull[j, 1] - float(hull[j, 0]) * hull[i, 1]
    if n < 3 or abs(twice) < 1.0:
        return
    points, border = np.empty((n, 2)), np.zeros(n, np.uint8)
    for i in range(n):
        k = i if twice > 0.0 else n - 1 - i
        points[i, 0], points[i, 1] = hull[k, 0] + 0.5, hull[k, 1] + 0.5
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        for axis, limit in ((0, width), (1, height)):
            a, b = points[i, axis], points[j, axis]
            if max(a, b) < 2.0 or min(a, b) > limit - 2.0:
                border[i] = 1
    n = thin(points, border, 4, 0.012)
    angle, length, label = np.empty(n), np.zeros(n), np.full(n, -1)
    true_sides = 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        dx, dy = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
        angle[i] = math.atan2(dy, dx) - roll
        if not border[i]:
            length[i] = math.sqrt(dx * dx + dy * dy)
            true_sides += 1
    if n == 4 and true_sides == 4:
        name_in_turn(angle, length, label)
    else:
        name_by_direction(angle, length, label)
    for i in range(n):
        before, after = label[i - 1] if i > 0 else label[n - 1], label[i]
        if before >= 0 and after >= 0 and (before + 1) % 4 == after:
            corners[after, 0], corners[after, 1] = points[i, 0], points[i, 1]


name_corners = kernel(_name_corners)


def hull_corners(contour: Outline, width: int, height: int, roll: float) -> Corners:
    """Return the labelled corners of a contour's hull.

    Parameters
    ----------
    contour : Outline
        The outline of a blob or a hole.
    width, height : int
        Size of the image, px.
    roll : float
        How far the picture is expected to be turned clockwise, rad: decides which corner is TL.
    """
    hull = cv2.convexHull(contour)[:, 0, :]
    corners = np.empty((4, 2))
    name_corners(hull, width, height, roll, corners)
    return corners
