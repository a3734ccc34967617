"""The gate as a camera sees it: a red square ring with depth, and the outline it shows.

The ring is a tunnel: its front face (towards the camera) lies half its depth before the opening's
centre, its back face half behind. What a red mask shows is the outline of the whole solid, so each
of the eight sides of the two squares is the edge of the front *or* the back face, whichever covers
more: from straight ahead the hole's sides are back edges, and far off the axis an outer side is a
back edge too. `silhouette` gives that outline as points of the front plane. Frame Gate: forward
away from the camera, right, down. Source: gate sizes of spec 4.2 (VADR-TS-002).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Gate, Vec
from racewire.core.jit import kernel


@dataclass(frozen=True, slots=True)
class GateSize:
    """Side of the outer square, of the opening, and the ring's depth, m."""

    outer: float = 2.7
    inner: float = 1.5
    depth: float = 0.26


GATE_SIZE = GateSize()
"""The gate of both qualifier courses."""


def _outline_edge(nominal: float, camera: float, share: float, outward: float) -> float:
    back = nominal + (camera - nominal) * share
    return max(nominal, back) if outward > 0.0 else min(nominal, back)


outline_edge = kernel(_outline_edge)
"""Kernel: coordinate, on the front plane, at which a side at `nominal` is seen.

`camera` is the camera's coordinate along the same axis, `share` = depth / (depth + distance of the
front plane), and `outward` the direction (+1 or -1) in which the solid hides what is behind it.
"""


def silhouette(camera: Vec[Gate], size: GateSize = GATE_SIZE) -> NDArray[np.float64]:
    """Return the outline seen from `camera`: (right, down) on the front plane, shape (8, 2), m.

    Rows are outer TL, TR, BR, BL, then inner TL, TR, BR, BL. The camera must be before the front plane.
    """
    distance = -camera.x - 0.5 * size.depth
    share = size.depth / (size.depth + max(distance, 1e-6))
    points = np.empty((8, 2))
    for row, (half, sense) in enumerate(((0.5 * size.outer, 1.0), (0.5 * size.inner, -1.0))):
        left, top = (_outline_edge(-half, c, share, -sense) for c in (camera.y, camera.z))
        right, bottom = (_outline_edge(half, c, share, sense) for c in (camera.y, camera.z))
        points[4 * row : 4 * row + 4] = ((left, top), (right, top), (right, bottom), (left, bottom))
    return points


@dataclass(frozen=True, slots=True, eq=False)
class GateView:
    """One gate as found in one image, in continuous image coordinates.

    `outer` and `inner` are the corners TL, TR, BR, BL of the outer outline and of the hole, shape (4, 2),
    NaN where a corner is cut off, hidden or uncertain; None if none of the four is known. They are
    corners of the *silhouette* (see the module's head), not of one face of the ring. `complete` tells
    that all four outer corners are known; `area_px` is the area of the outer outline, with unknown
    corners as the fitted pose puts them; `sigma_px` is the estimated sd of a corner along each axis.

    `sides`, shape (8, 4), are the straight stretches (x, y, x, y) that were found, NaN where none was:
    outer top, right, bottom, left, then inner, each clockwise. A cut gate has more sides than corners.
    """

    outer: NDArray[np.float64] | None
    inner: NDArray[np.float64] | None
    complete: bool
    area_px: float
    sigma_px: float
    sides: NDArray[np.float64] | None = None

    def corners(self) -> NDArray[np.float64]:
        """Return outer TL, TR, BR, BL, inner TL, TR, BR, BL, shape (8, 2), NaN where unknown."""
        unknown = np.full((4, 2), np.nan)
        outer = unknown if self.outer is None else self.outer
        inner = unknown if self.inner is None else self.inner
        return np.concatenate((outer, inner))
