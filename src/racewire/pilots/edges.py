"""Straight edges to a fraction of a pixel: find the step along many short probes, fit a line.

A side is given roughly by its two ends. Probes run across it; each finds where the redness rises,
as the centroid of the rise around its steepest point, which a symmetric blur does not move. The
line is the one most probes agree on (every pair is tried), then least squares over those, so a decal,
a ribbon or another gate across part of the side costs only its probes. Image coordinates are
continuous (see `sensors.camera`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel
from racewire.pilots.redness import redness

PROBES = 28
"""Most probes to a side."""

STEP = 0.5
"""Distance between samples along a probe, px."""

WINDOW = 3.2
"""Half the width of the window whose centroid is the edge, samples."""


def _step_along(
    image: NDArray[np.uint8], x: float, y: float, nx: float, ny: float, reach: float, contrast: float
) -> float:
    """Offset along (nx, ny), px, of the steepest rise within `reach`; NaN if none reaches `contrast`."""
    count = 2 * math.ceil(reach / STEP) + 1
    rise = np.zeros(count + 2)
    start = -0.5 * STEP * count
    before = redness(image, x + start * nx, y + start * ny)
    for k in range(count):
        t = start + STEP * (k + 1)
        after = redness(image, x + t * nx, y + t * ny)
        rise[k + 1] = after - before
        before = after
    best, peak = 0.0, 0
    for k in range(1, count + 1):
        smooth = rise[k - 1] + 2.0 * rise[k] + rise[k + 1]
        if smooth > best:
            best, peak = smooth, k
    # the centroid of a window, which then moves to its own centroid: a symmetric blur does not pull it
    total, centroid = 0.0, float(peak)
    for _ in range(3):
        total, moment = 0.0, 0.0
        lo, hi = max(1, math.ceil(centroid - WINDOW)), min(count, math.floor(centroid + WINDOW))
        for k in range(lo, hi + 1):
            weight = max(rise[k], 0.0)
            total += weight
            moment += weight * k
        if total <= 0.0:
            return math.nan
        centroid = moment / total
    if peak == 0 or total < contrast:
        return math.nan
    return start + STEP * (centroid - 0.5)


step_along = kernel(_step_along)


def _fit_line(
    u: NDArray[np.float64], t: NDArray[np.float64], n: int, tolerance: float
) -> tuple[int, float, float, float]:
    """Inliers, offset at u = 0, slope and residual sd of the line t(u) most of the `n` points agree on."""
    best, a, b = 0, 0.0, 0.0
    for i in range(n):
        for j in range(i + 1, n):
            if 3 * (j - i) < n:
                continue
            slope = (t[j] - t[i]) / (u[j] - u[i])
            agree = 0
            for k in range(n):
                agree += abs(t[k] - t[i] - slope * (u[k] - u[i])) < tolerance
            if agree > best:
                best, a, b = agree, t[i] - slope * u[i], slope
    inliers, sd = 0, 0.0
    for _ in range(2):
        s0, s1, s2, r0, r1, rr = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(n):
            if abs(t[k] - a - b * u[k]) < tolerance:
                s0 += 1.0
                s1 += u[k]
                s2 += u[k] * u[k]
                r0 += t[k]
                r1 += u[k] * t[k]
                rr += t[k] * t[k]
        determinant = s0 * s2 - s1 * s1
        inliers = int(s0)
        if inliers < 3 or determinant < 1e-9:
            return 0, 0.0, 0.0, 0.0
        a = (s2 * r0 - s1 * r1) / determinant
        b = (s0 * r1 - s1 * r0) / determinant
        sd = math.sqrt(max(rr - a * r0 - b * r1, 0.0) / s0)
    return inliers, a, b, sd


fit_line = kernel(_fit_line)


def _fit_sides(
    image: NDArray[np.uint8],
    corners: NDArray[np.float64],
    reach: float,
    contrast: float,
    tolerance: float,
    agreement: float,
    sides: NDArray[np.float64],
) -> None:
    """Fit the eight sides of the quads `corners`, shape (8, 2): outer clockwise, then inner.

    A side is found if at least the share `agreement` of its probes agrees within `tolerance`, px.

    Row i of `sides`, shape (8, 9), becomes the side from corner i to its successor: the ends (x, y, x, y)
    of the stretch on which probes agree, NaN if none is found; the share of the probes inside the image
    that agree; whether any do in the first and in the last third of the side; residual sd, px;
    how much of the side lies inside the image, 0 to 1.
    """
    height, width = image.shape[0], image.shape[1]
    u, t = np.empty(PROBES), np.empty(PROBES)
    for side in range(8):
        sides[side, :] = 0.0
        sides[side, 0] = math.nan
        last = side + 1 if side % 4 < 3 else side - 3
        x0, y0 = corners[side, 0], corners[side, 1]
        dx, dy = corners[last, 0] - x0, corners[last, 1] - y0
        length = math.sqrt(dx * dx + dy * dy)
        if not 3.0 <= length < 1.0e5:
            continue
        sense = 1.0 if side < 4 else -1.0
        nx, ny = -sense * dy / length, sense * dx / length
        margin = min(max(1.0 / length, 0.05), 0.3)
        lo, hi = margin, 1.0 - margin
        for origin, direction, limit in ((x0, dx, float(width)), (y0, dy, float(height))):
            if abs(direction) < 1e-9:
                if not 1.0 < origin < limit - 1.0:
                    hi = lo - 1.0
                continue
            enter, leave = (1.0 - origin) / direction, (limit - 1.0 - origin) / direction
            lo = max(lo, min(enter, leave))
            hi = min(hi, max(enter, leave))
        if (hi - lo) * length < 2.0:
            continue
        sides[side, 8] = (hi - lo) / (1.0 - 2.0 * margin)
        probes = min(PROBES, max(5, int((hi - lo) * length)))
        n = 0
        for k in range(probes):
            s = lo + (hi - lo) * (k + 0.5) / probes
            offset = step_along(image, x0 + s * dx, y0 + s * dy, nx, ny, reach, contrast)
            if not math.isnan(offset):
                u[n], t[n] = s, offset
                n += 1
        if n < 4:
            continue
        inliers, a, b, sd = fit_line(u, t, n, tolerance)
        if inliers < max(4.0, agreement * probes):
            continue
        start, end = 1.0, 0.0
        for k in range(n):
            if abs(t[k] - a - b * u[k]) < tolerance:
                start, end = min(start, u[k]), max(end, u[k])
        sides[side, 0] = x0 + start * dx + (a + b * start) * nx
        sides[side, 1] = y0 + start * dy + (a + b * start) * ny
        sides[side, 2] = x0 + end * dx + (a + b * end) * nx
        sides[side, 3] = y0 + end * dy + (a + b * end) * ny
        sides[side, 4] = inliers / probes
        sides[side, 5] = 1.0 if start < 0.34 else 0.0
        sides[side, 6] = 1.0 if end > 0.66 else 0.0
        sides[side, 7] = sd


fit_sides = kernel(_fit_sides)


def _cross_sides(sides: NDArray[np.float64], corners: NDArray[np.float64]) -> None:
    """Write where successive `sides` cross to `corners`, shape (8, 2); NaN where one is missing or hidden."""
    for corner in range(8):
        corners[corner, :] = math.nan
        before = corner - 1 if corner % 4 > 0 else corner + 3
        if min(sides[before, 6], sides[corner, 5]) < 1.0:
            continue
        x, y = sides[corner, 0], sides[corner, 1]
        ax, ay = sides[before, 2] - sides[before, 0], sides[before, 3] - sides[before, 1]
        bx, by = sides[corner, 2] - x, sides[corner, 3] - y
        cross = ax * by - ay * bx
        if abs(cross) < 1e-6:
            continue
        k = (ax * (sides[before, 1] - y) - ay * (sides[before, 0] - x)) / cross
        corners[corner, 0], corners[corner, 1] = x + k * bx, y + k * by


cross_sides = kernel(_cross_sides)
