"""From rough corners of a gate to exact ones: predict the outline, find its sides, fit the pose, again.

The first rounds mend the pose until the prediction stands still. What comes out are corners where two
*found* sides cross inside the image; the pose itself is only a means. A side that no rigid gate
explains together with the others, or an inner one whose outer one is hidden, belongs to another gate
and is dropped. Image coordinates are continuous (see `sensors.camera`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel
from racewire.pilots.edges import cross_sides, fit_sides
from racewire.pilots.pose_fit import project_outline, refine

ROUNDS = 3
"""Most rounds of finding sides and fitting the pose."""

_STILL = 0.5  # the prediction stands still when no corner moves by more, px
_CORNER = 1.5  # how far a corner may lie off the fitted outline, px, plus ...
_CORNER_SHARE = 0.02  # ... this share of the gate's size


def _extent(corners: NDArray[np.float64]) -> tuple[float, float]:
    """Lesser and greater mean length of the opposite sides of the first four `corners`, px."""
    lengths = np.empty(4)
    for i in range(4):
        j = (i + 1) % 4
        dx, dy = corners[j, 0] - corners[i, 0], corners[j, 1] - corners[i, 1]
        lengths[i] = math.sqrt(dx * dx + dy * dy)
    across, down = 0.5 * (lengths[0] + lengths[2]), 0.5 * (lengths[1] + lengths[3])
    return min(across, down), max(across, down)


extent = kernel(_extent)


def _drop_stray_side(sides: NDArray[np.float64], outline: NDArray[np.float64], limit: float) -> bool:
    """Drop the side that lies farthest off the `outline`, shape (8, 2), if by more than `limit`, px."""
    worst, stray = limit, -1
    for side in range(8):
        if math.isnan(sides[side, 0]):
            continue
        after = side + 1 if side % 4 < 3 else side - 3
        dx, dy = outline[after, 0] - outline[side, 0], outline[after, 1] - outline[side, 1]
        length = math.sqrt(dx * dx + dy * dy)
        for end in range(2):
            x, y = sides[side, 2 * end] - outline[side, 0], sides[side, 2 * end + 1] - outline[side, 1]
            off = abs(dx * y - dy * x) / length
            if off > worst:
                worst, stray = off, side
    if stray >= 0:
        sides[stray, 0] = math.nan
        sides[stray, 5], sides[stray, 6] = 0.0, 0.0
    return stray >= 0


drop_stray_side = kernel(_drop_stray_side)


def _settle(
    image: NDArray[np.uint8],
    q: NDArray[np.float64],
    lens: tuple[float, float, float, float],
    size: tuple[float, float, float],
    edge: tuple[float, float, float, float],
    shape: tuple[float, float],
    outline: NDArray[np.float64],
    sides: NDArray[np.float64],
    found: NDArray[np.float64],
) -> float:
    """Improve the pose `q` (optical_from_gate, position) on the image; return the rms misfit, px.

    `edge` is reach (px), contrast, tolerance (px) and agreement, `shape` the least ratio of the outline's
    sides and its least size (px). Filled in: `outline` (8, 2) as the final pose predicts it, `sides` (8, 9)
    as `fit_sides` does, `found` (8, 2) with NaN where unknown. Infinity if no gate stands there.
    """
    height, width = image.shape[0], image.shape[1]
    no_corners = np.full((8, 2), math.nan)
    next_outline = np.empty((8, 2))
    project_outline(q, lens, size, outline)
    rms, greater = math.inf, 0.0
    for _ in range(ROUNDS):
        lesser, greater = extent(outline)
        # NaN, from a corner behind the lens, fails here too
        if not (lesser >= shape[0] * greater and greater >= shape[1]):
            return math.inf
        band = 0.5 * (1.0 - size[1] / size[0]) * lesser
        fit_sides(image, outline, min(edge[0], max(1.5, 0.75 * band)), edge[1], edge[2], edge[3], sides)
        for side in range(4):
            if math.isnan(sides[side, 0]) and sides[side, 8] > 0.4:
                # the band's outer side is hidden: what looks like its inner side is another gate's
                sides[side + 4, 0] = math.nan
                sides[side + 4, 5], sides[side + 4, 6] = 0.0, 0.0
        rms = refine(q, no_corners, sides, lens, size, 8)
        if not rms < math.inf:
            return math.inf
        project_outline(q, lens, size, next_outline)
        shift = 0.0
        for c in range(8):
            shift = max(shift, abs(next_outline[c, 0] - outline[c, 0]))
            shift = max(shift, abs(next_outline[c, 1] - outline[c, 1]))
        outline[:, :] = next_outline
        if shift < _STILL:
            break
    limit = _CORNER + _CORNER_SHARE * greater
    for _ in range(2):
        if not drop_stray_side(sides, outline, 0.7 * limit):
            break
        rms = refine(q, no_corners, sides, lens, size, 8)
        if not rms < math.inf:
            return math.inf
        project_outline(q, lens, size, outline)
    cross_sides(sides, found)
    for c in range(8):
        off = max(abs(found[c, 0] - outline[c, 0]), abs(found[c, 1] - outline[c, 1]))
        inside = 1.0 <= found[c, 0] <= width - 1.0 and 1.0 <= found[c, 1] <= height - 1.0
        if not (inside and off <= limit):
            found[c, :] = math.nan
    return rms


settle = kernel(_settle)
