"""From a rough pose of a gate to its corners: predict the outline, find its sides, fit again.

Two rounds: the first mends the pose, the second starts from it and decides. What comes out are corners
where two *found* sides cross inside the image; the pose itself is only a means.
Image coordinates are continuous (see `sensors.camera`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel
from racewire.pilots.edges import cross_sides, fit_sides
from racewire.pilots.gate_pose import project_outline, refine

ROUNDS = 3


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
    rms = math.inf
    no_corners = np.full((8, 2), math.nan)
    for _ in range(ROUNDS):
        project_outline(q, lens, size, outline)
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
        cross_sides(sides, found)
        for c in range(8):
            if not (1.0 <= found[c, 0] <= width - 1.0 and 1.0 <= found[c, 1] <= height - 1.0):
                found[c, :] = math.nan
        rms = refine(q, no_corners, sides, lens, size, 8)
        if not rms < math.inf:
            return math.inf
    project_outline(q, lens, size, outline)
    return rms


settle = kernel(_settle)
