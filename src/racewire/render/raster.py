"""One image row at a time: which piece is nearest at each of four samples of every pixel.

The samples lie on a rotated grid inside the pixel, so that near-level and near-upright edges get
four steps each. Depth is 1/z (0 is infinitely far); a piece is named by its row in the view, -1 is
nothing. The row is then divided into segments: one pixel in which the samples differ, or as many as
agree. A row's buffers stay in the first-level cache.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel

SAMPLES = 4
SAMPLE_X = np.array((0.375, 0.875, 0.125, 0.625))
SAMPLE_Y = np.array((0.125, 0.375, 0.625, 0.875))
"""Where the samples lie in a pixel. A piece has those that are in it, or on its left or upper edge."""


@kernel
def clear(depth: NDArray[np.float32], names: NDArray[np.float32]) -> None:
    """Empty the buffers of a row, both (SAMPLES, width): nothing, at infinity."""
    for s in range(np.uintp(depth.shape[0])):
        for x in range(np.uintp(depth.shape[1])):
            depth[s, x] = np.float32(0.0)
            names[s, x] = np.float32(-1.0)


@kernel
def in_rows(
    bounds: NDArray[np.float64], first: int, last: int, top: int, bottom: int, out: NDArray[np.int32]
) -> int:
    """List and count those of the pieces `first` to `last` that reach into the rows `top` to `bottom`."""
    n = 0
    for p in range(np.uintp(first), np.uintp(last)):
        if bounds[p, 0] < bottom and bounds[p, 1] > top:
            out[n] = np.int32(p)
            n += 1
    return n


@kernel
def span(
    edges: NDArray[np.float64], piece: int, count: int, y: float, shift: float, width: int
) -> tuple[int, int]:
    """Return the first pixel whose sample at (shift, `y`) a piece covers, and the one after the last."""
    p = np.uintp(piece)
    left, right = np.inf, -np.inf
    for e in range(np.uintp(count)):
        if edges[p, e, 0] <= y < edges[p, e, 1]:
            x = edges[p, e, 2] + (y - edges[p, e, 0]) * edges[p, e, 3]
            left, right = min(left, x), max(right, x)
    if not left < right:
        return 0, 0
    first = math.ceil(max(left, -1.0) - shift)
    last = math.ceil(min(right, width + 1.0) - shift)
    return max(first, 0), min(last, width)


@kernel
def fill(
    depth: NDArray[np.float32],
    names: NDArray[np.float32],
    columns: NDArray[np.float32],
    s: int,
    first: int,
    last: int,
    base: float,
    slope: float,
    piece: int,
) -> None:
    """Put `piece`, whose 1/z is base + slope * column, into sample row `s` wherever it is nearest."""
    row = np.uintp(s)
    start, step, name = np.float32(base), np.float32(slope), np.float32(piece)
    zero, one = np.float32(0.0), np.float32(1.0)
    for x in range(np.uintp(first), np.uintp(last)):
        old, older = depth[row, x], names[row, x]
        gain = start + step * columns[x] - old
        # Arithmetic, since a choice between old and new becomes a masked store, slow on some processors.
        near = one if gain > zero else zero
        depth[row, x] = old + near * gain
        names[row, x] = older + near * (name - older)


@kernel
def cover(
    depth: NDArray[np.float32],
    columns: NDArray[np.float32],
    s: int,
    first: int,
    last: int,
    base: float,
    slope: float,
    share: NDArray[np.float32],
) -> None:
    """Add a quarter to `share` wherever a see-through piece is nearer than what sample row `s` holds."""
    row = np.uintp(s)
    start, step = np.float32(base), np.float32(slope)
    for x in range(np.uintp(first), np.uintp(last)):
        near = start + step * columns[x] > depth[row, x]
        share[x] += np.float32(0.25) if near else np.float32(0.0)


@kernel
def divide(
    names: NDArray[np.float32],
    width: int,
    marks: NDArray[np.uint8],
    words: NDArray[np.uint64],
    out: NDArray[np.int32],
) -> int:
    """Write where the segments of a row begin, and its width, into `out`; return how many there are.

    `marks` (at least one for each pixel) is scratch memory and `words` the same bytes, eight together.
    """
    end = np.uintp(width)
    for x in range(end):
        a = names[0, x]
        marks[x] = np.uint8((a != names[1, x]) | (a != names[2, x]) | (a != names[3, x]))
    before = marks[0]
    marks[0] = np.uint8(1)
    for x in range(np.uintp(1), end):
        here = marks[x]
        marks[x] = np.uint8(here | before | np.uint8(names[0, x] != names[0, x - np.uintp(1)]))
        before = here
    n = 0
    for w in range(np.uintp(words.shape[0])):
        if words[w] != np.uint64(0):
            for x in range(np.uintp(8) * w, min(np.uintp(8) * w + np.uintp(8), end)):
                if marks[x] != np.uint8(0):
                    out[n] = np.int32(x)
                    n += 1
    out[n] = np.int32(width)
    return n


@kernel
def present(names: NDArray[np.float32], x: int, piece: int) -> int:
    """Return the first sample of pixel `x` that holds `piece`, or SAMPLES."""
    column, name = np.uintp(x), np.float32(piece)
    for s in range(np.uintp(SAMPLES)):
        if names[s, column] == name:
            return int(s)
    return SAMPLES
