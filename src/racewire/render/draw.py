"""A band of rows of the image, from a view to bytes.

Every row is drawn by itself: nearest pieces per sample, then one colour for each piece in a pixel,
weighted by its samples; then the ribbon's light on top. So any division into bands gives the same bytes, and
bands may be drawn at the same time on several threads: all scratch memory is the call's own.
"""

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel
from racewire.render.mesh import LINED
from racewire.render.raster import SAMPLE_X, SAMPLE_Y, SAMPLES, classify, clear, cover, fill, span
from racewire.render.shade import ROWS, flood, glow, lines, pack, paint, place, texels


@kernel
def colour_run(
    piece: int,
    first: int,
    last: int,
    y: int,
    plane: NDArray[np.float64],
    bounds: NDArray[np.float64],
    face: NDArray[np.int32],
    material: NDArray[np.int32],
    texture: NDArray[np.int32],
    colours: NDArray[np.float32],
    background: NDArray[np.float32],
    atlas: NDArray[np.uint8],
    columns: NDArray[np.float32],
    scratch: NDArray[np.float32],
    row: NDArray[np.float32],
) -> None:
    """Colour the pixels `first` to `last` of a row with one piece, or with the background (-1)."""
    if piece < 0:
        flood(background, first, last, row)
        return
    f = face[piece]
    place(plane[piece], bounds[piece], columns, first, last, y, scratch)
    if material[f] == LINED:
        lines(plane[piece], colours[f, 10], first, last, scratch)
    else:
        texels(plane[piece], atlas, texture[f], first, last, scratch)
    paint(colours[f], first, last, scratch, row)


@kernel
def draw_band(
    top: int,
    bottom: int,
    edges: NDArray[np.float64],
    edge_count: NDArray[np.int64],
    bounds: NDArray[np.float64],
    plane: NDArray[np.float64],
    face: NDArray[np.int32],
    counts: NDArray[np.int64],
    material: NDArray[np.int32],
    texture: NDArray[np.int32],
    colours: NDArray[np.float32],
    background: NDArray[np.float32],
    atlas: NDArray[np.uint8],
    reach: NDArray[np.float32],
    image: NDArray[np.uint8],
) -> None:
    """Draw the rows `top` to `bottom` of `image` (height, width, 3), BGR."""
    width = image.shape[1]
    depth = np.empty((SAMPLES, width), np.float32)
    ids = np.empty((SAMPLES, width), np.int32)
    mixed = np.empty(width, np.int32)
    change = np.empty(width, np.int32)
    row = np.empty((3, width), np.float32)
    blend = np.empty(3, np.float32)
    scratch = np.zeros((ROWS, width), np.float32)
    columns = np.arange(width).astype(np.float32)
    flat = image.reshape(-1)
    for y in range(top, bottom):
        clear(depth, ids)
        for p in range(counts[0]):
            if bounds[p, 0] >= y + 1 or bounds[p, 1] <= y:
                continue
            for s in range(SAMPLES):
                sy = y + SAMPLE_Y[s]
                first, last = span(edges[p], edge_count[p], sy, SAMPLE_X[s], width)
                if first < last:
                    base = plane[p, 0] * SAMPLE_X[s] + plane[p, 1] * sy + plane[p, 2]
                    fill(depth, ids, columns, s, first, last, base, plane[p, 0], p)
        classify(ids, mixed, change)
        x = 0
        while x < width:
            if mixed[x] == 0:
                stop = x + 1
                while stop < width and change[stop] == 0:
                    stop += 1
                colour_run(
                    ids[0, x], x, stop, y, plane, bounds, face, material, texture, colours,
                    background, atlas, columns, scratch, row,
                )
                x = stop
            else:
                blend[0] = blend[1] = blend[2] = np.float32(0.0)
                for s in range(SAMPLES):
                    p = ids[s, x]
                    share = np.float32(0.0)
                    seen = False
                    for k in range(SAMPLES):
                        if ids[k, x] == p:
                            share += np.float32(0.25)
                            seen = seen or k < s
                    if not seen:
                        colour_run(
                            p, x, x + 1, y, plane, bounds, face, material, texture, colours,
                            background, atlas, columns, scratch, row,
                        )
                        for c in range(3):
                            blend[c] += share * row[c, x]
                for c in range(3):
                    row[c, x] = blend[c]
                x += 1
        for p in range(counts[0], counts[1]):
            if bounds[p, 0] >= y + 1 or bounds[p, 1] <= y:
                continue
            left, right = width, 0
            for s in range(SAMPLES):
                sy = y + SAMPLE_Y[s]
                first, last = span(edges[p], edge_count[p], sy, SAMPLE_X[s], width)
                if first < last:
                    left, right = min(left, first), max(right, last)
                    base = plane[p, 0] * SAMPLE_X[s] + plane[p, 1] * sy + plane[p, 2]
                    cover(depth, scratch[4], columns, s, first, last, base, plane[p, 0])
            if left < right:
                f = face[p]
                place(plane[p], bounds[p], columns, left, right, y, scratch)
                glow(plane[p], colours[f], reach[0], reach[1], left, right, scratch, row)
        pack(row, flat, y)
