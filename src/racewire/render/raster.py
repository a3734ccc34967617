"""One image row at a time: which piece is nearest at each of four samples of every pixel.

The samples lie on a rotated grid inside the pixel, so that near-level and near-upright edges get
four steps each. Depth is 1/z (0 is infinitely far). A row's buffers stay in the first-level cache.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel

SAMPLES = 4
SAMPLE_X = np.array((0.375, 0.875, 0.125, 0.625))
SAMPLE_Y = np.array((0.125, 0.375, 0.625, 0.875))
"""Where the samples lie in a pixel. A piece has those samples that are in it, or on its left or upper edge."""


@kernel
def clear(depth: NDArray[np.float32], ids: NDArray[np.int32]) -> None:
    """Empty the buffers of a row, both (SAMPLES, width): nothing (-1) at infinity."""
    for s in range(np.uintp(depth.shape[0])):
        for x in range(np.uintp(depth.shape[1])):
            depth[s, x] = np.float32(0.0)
            ids[s, x] = np.int32(-1)


@kernel
def span(edges: NDArray[np.float64], count: int, y: float, shift: float, width: int) -> tuple[int, int]:
    """Return the first pixel whose sample at (shift, `y`) a convex polygon covers, and the one after the last."""
    left, right = np.inf, -np.inf
    for e in range(count):
        if edges[e, 0] <= y < edges[e, 1]:
            x = edges[e, 2] + (y - edges[e, 0]) * edges[e, 3]
            left, right = min(left, x), max(right, x)
    if not left < right:
        return 0, 0
    first = math.ceil(max(left, -1.0) - shift)
    last = math.ceil(min(right, width + 1.0) - shift)
    return max(first, 0), min(last, width)


@kernel
def fill(
    depth: NDArray[np.float32],
    ids: NDArray[np.int32],
    columns: NDArray[np.float32],
    s: int,
    first: int,
    last: int,
    base: float,
    slope: float,
    piece: int,
) -> None:
    """Put `piece`, whose 1/z is base + slope * column, into row `s` wherever it is nearest."""
    row = np.uintp(s)
    start, step, name = np.float32(base), np.float32(slope), np.int32(piece)
    for x in range(np.uintp(first), np.uintp(last)):
        inverse = start + step * columns[x]
        old = depth[row, x]
        near = inverse > old
        depth[row, x] = inverse if near else old
        ids[row, x] = name if near else ids[row, x]


@kernel
def cover(
    depth: NDArray[np.float32],
    hits: NDArray[np.float32],
    columns: NDArray[np.float32],
    s: int,
    first: int,
    last: int,
    base: float,
    slope: float,
) -> None:
    """Add a quarter to `hits` wherever a see-through piece is nearer than what sample row `s` holds."""
    row = np.uintp(s)
    start, step = np.float32(base), np.float32(slope)
    for x in range(np.uintp(first), np.uintp(last)):
        near = start + step * columns[x] > depth[row, x]
        hits[x] += np.float32(0.25) if near else np.float32(0.0)


@kernel
def classify(ids: NDArray[np.int32], mixed: NDArray[np.int32], change: NDArray[np.int32]) -> None:
    """Set `mixed` where a pixel's samples differ, and `change` where also its left neighbour does."""
    for x in range(np.uintp(ids.shape[1])):
        a = ids[0, x]
        mixed[x] = (a ^ ids[1, x]) | (a ^ ids[2, x]) | (a ^ ids[3, x])
    change[0] = 1
    for x in range(np.uintp(1), np.uintp(ids.shape[1])):
        change[x] = mixed[x] | (ids[0, x] ^ ids[0, x - np.uintp(1)])
