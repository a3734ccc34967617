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


def _name_corners(
    hull: NDArray[np.int32], width: int, height: int, roll: float, corners: NDArray[np.float64]
) -> float:
    """Write the labelled corners of a hull of pixel indices, shape (n, 2), to `corners`, shape (4, 2).

    Returns the area of the thinned polygon, px; see `corners_of`.
    """
    corners[:, :] = math.nan
    n = hull.shape[0]
    twice = 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        twice += float(hull[i, 0]) * hull[j, 1] - float(hull[j, 0]) * hull[i, 1]
    if n < 3 or abs(twice) < 1.0:
        return 0.0
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
    angle, label, area, sine, cosine = np.empty(n), np.full(n, -1), 0.0, 0.0, 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        dx, dy = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
        area += 0.5 * (points[i, 0] * points[j, 1] - points[j, 0] * points[i, 1])
        angle[i] = math.atan2(dy, dx) - roll
        if not border[i]:
            length = math.sqrt(dx * dx + dy * dy)
            sine += length * math.sin(4.0 * angle[i])
            cosine += length * math.cos(4.0 * angle[i])
    # the turn against an upright square, within +-45 degrees: the mean over quarter turns
    turn = 0.25 * math.atan2(sine, cosine)
    count = np.zeros(4, np.int64)
    for i in range(n):
        if not border[i]:
            label[i] = int(round((angle[i] - turn) / (0.5 * math.pi))) % 4
            count[label[i]] += 1
    for i in range(n):
        before, after = label[i - 1] if i > 0 else label[n - 1], label[i]
        if before >= 0 and after >= 0 and (before + 1) % 4 == after and max(count[before], count[after]) == 1:
            corners[after, 0], corners[after, 1] = points[i, 0], points[i, 1]
    return area


name_corners = kernel(_name_corners)


def corners_of(contour: NDArray[np.int32], width: int, height: int, roll: float) -> tuple[Corners, float]:
    """Return the labelled corners of a contour's hull and the area of the polygon it was thinned to.

    Parameters
    ----------
    contour : NDArray
        Pixel indices as OpenCV gives them, shape (n, 1, 2).
    width, height : int
        Size of the image, px.
    roll : float
        How far the picture is expected to be turned clockwise, rad: decides which corner is TL.
    """
    hull = cv2.convexHull(contour)[:, 0, :]
    corners = np.empty((4, 2))
    area = name_corners(hull, width, height, roll, corners)
    return corners, area


def _line_corners(
    polygon: NDArray[np.int32], width: int, height: int, roll: float, corners: NDArray[np.float64]
) -> None:
    """Write the corners between the best supported lines of an outline to `corners`, shape (4, 2)."""
    corners[:, :] = math.nan
    n = polygon.shape[0]
    twice = 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        twice += float(polygon[i, 0]) * polygon[j, 1] - float(polygon[j, 0]) * polygon[i, 1]
    if n < 4 or n > 200 or abs(twice) < 1.0:
        return
    edges, length, label = np.empty((n, 4)), np.empty(n), np.full(n, -1)
    sine, cosine = 0.0, 0.0
    for i in range(n):
        a, b = (i, (i + 1) % n) if twice > 0.0 else ((i + 1) % n, i)
        x0, y0, x1, y1 = polygon[a, 0] + 0.5, polygon[a, 1] + 0.5, polygon[b, 0] + 0.5, polygon[b, 1] + 0.5
        edges[i, 0], edges[i, 1], edges[i, 2], edges[i, 3] = x0, y0, x1, y1
        length[i] = math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)
        if (
            max(x0, x1) < 2.0
            or min(x0, x1) > width - 2.0
            or max(y0, y1) < 2.0
            or min(y0, y1) > height - 2.0
        ):
            length[i] = 0.0
        angle = 4.0 * (math.atan2(y1 - y0, x1 - x0) - roll)
        sine += length[i] * length[i] * math.sin(angle)
        cosine += length[i] * length[i] * math.cos(angle)
    turn = 0.25 * math.atan2(sine, cosine) + roll
    for i in range(n):
        if length[i] > 0.0:
            angle = math.atan2(edges[i, 3] - edges[i, 1], edges[i, 2] - edges[i, 0]) - turn
            label[i] = int(round(angle / (0.5 * math.pi))) % 4
    lines = np.zeros((4, 4))
    support = np.zeros(4)
    for i in range(n):
        if label[i] < 0 or length[i] < 2.0:
            continue
        dx, dy = (edges[i, 2] - edges[i, 0]) / length[i], (edges[i, 3] - edges[i, 1]) / length[i]
        total, first, last = 0.0, 0.0, 0.0
        for k in range(n):
            if label[k] != label[i]:
                continue
            near = max(
                abs((edges[k, 0] - edges[i, 0]) * dy - (edges[k, 1] - edges[i, 1]) * dx),
                abs((edges[k, 2] - edges[i, 0]) * dy - (edges[k, 3] - edges[i, 1]) * dx),
            )
            if near < 1.5:
                total += length[k]
                first = min(first, (edges[k, 0] - edges[i, 0]) * dx + (edges[k, 1] - edges[i, 1]) * dy)
                last = max(last, (edges[k, 2] - edges[i, 0]) * dx + (edges[k, 3] - edges[i, 1]) * dy)
        if total > support[label[i]]:
            support[label[i]] = total
            for c in range(2):
                way = dx if c == 0 else dy
                lines[label[i], c] = edges[i, c] + first * way
                lines[label[i], c + 2] = edges[i, c] + last * way
    most = max(max(support[0], support[1]), max(support[2], support[3]))
    for after in range(4):
        before = (after - 1) % 4
        if min(support[before], support[after]) < 0.3 * most:
            continue
        ax, ay = lines[before, 2] - lines[before, 0], lines[before, 3] - lines[before, 1]
        bx, by = lines[after, 2] - lines[after, 0], lines[after, 3] - lines[after, 1]
        cross = ax * by - ay * bx
        if cross <= 1e-9:
            continue
        k = ((lines[after, 0] - lines[before, 0]) * by - (lines[after, 1] - lines[before, 1]) * bx) / cross
        x, y = lines[before, 0] + k * ax, lines[before, 1] + k * ay
        gap = max(abs(x - lines[before, 2]) + abs(y - lines[before, 3]), abs(x - lines[after, 0]) + abs(y - lines[after, 1]))
        if gap > 2.0 + 0.15 * math.sqrt(max(ax * ax + ay * ay, bx * bx + by * by)):
            continue
        if 1.0 < x < width - 1.0 and 1.0 < y < height - 1.0:
            corners[after, 0], corners[after, 1] = x, y


line_corners = kernel(_line_corners)


def lines_of(contour: NDArray[np.int32], width: int, height: int, roll: float) -> Corners:
    """Corners by lines."""
    _, _, w, h = cv2.boundingRect(contour)
    polygon = cv2.approxPolyDP(contour, min(2.0, max(0.8, 0.03 * max(w, h))), True)[:, 0, :]
    corners = np.empty((4, 2))
    line_corners(polygon, width, height, roll, corners)
    return corners
