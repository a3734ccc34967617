"""A band of rows of the image, from a view to bytes.

Every row is drawn by itself: the nearest piece at each sample, then each piece's colour wherever it
has samples, weighted by their number; then the ribbon's light on top. So any division into bands
gives the same bytes, and bands may be drawn at the same time on several threads: all memory that is
written, but for the image, is the call's own.
"""

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel
from racewire.render.mesh import LINED
from racewire.render.pattern import lines, texels
from racewire.render.raster import (
    SAMPLE_X,
    SAMPLE_Y,
    SAMPLES,
    clear,
    cover,
    divide,
    fill,
    in_rows,
    present,
    span,
)
from racewire.render.shade import ROWS, flood, glow, pack, paint, place, weigh

STRIP = 8
"""Rows that share a list of pieces."""

BLOCK = 32
"""Runs are worked on in whole blocks of pixels, to suit the processor; row buffers are that much longer."""


@kernel
def find_nearest(
    y: int,
    listed: NDArray[np.int32],
    count: int,
    edges: NDArray[np.float64],
    edge_count: NDArray[np.int64],
    plane: NDArray[np.float64],
    columns: NDArray[np.float32],
    width: int,
    depth: NDArray[np.float32],
    names: NDArray[np.float32],
) -> None:
    """Fill a row's samples with the listed pieces."""
    clear(depth, names)
    for i in range(count):
        p = listed[i]
        for s in range(SAMPLES):
            sy = y + SAMPLE_Y[s]
            first, last = span(edges, p, int(edge_count[p]), sy, SAMPLE_X[s], width)
            if first < last:
                base = plane[p, 0] * SAMPLE_X[s] + plane[p, 1] * sy + plane[p, 2]
                fill(depth, names, columns, s, first, last, base, plane[p, 0], p)


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
    atlas: NDArray[np.uint32],
    columns: NDArray[np.float32],
    names: NDArray[np.float32],
    words: NDArray[np.int32],
    scratch: NDArray[np.float32],
    row: NDArray[np.float32],
) -> None:
    """Add the colour of one piece, or of nothing (-1), to the pixels `first` to `last` of a row."""
    end = first + (last - first + BLOCK - 1) // BLOCK * BLOCK
    weigh(names, piece, columns, first, last, end, scratch)
    if piece < 0:
        flood(background, first, end, scratch, row)
        return
    f = face[piece]
    place(plane, bounds, piece, columns, first, end, y, scratch)
    if material[f] == LINED:
        lines(plane, piece, colours[f, 10], first, end, scratch)
    else:
        texels(plane, piece, atlas, int(texture[f]), first, end, words, scratch)
    paint(colours, f, first, end, scratch, row)


@kernel
def add_glow(
    y: int,
    listed: NDArray[np.int32],
    count: int,
    edges: NDArray[np.float64],
    edge_count: NDArray[np.int64],
    plane: NDArray[np.float64],
    bounds: NDArray[np.float64],
    face: NDArray[np.int32],
    colours: NDArray[np.float32],
    reach: NDArray[np.float32],
    columns: NDArray[np.float32],
    width: int,
    depth: NDArray[np.float32],
    scratch: NDArray[np.float32],
    row: NDArray[np.float32],
) -> None:
    """Add the light of the listed pieces of the ribbon to a row."""
    share = scratch[4]
    for i in range(count):
        p = listed[i]
        left, right = width, 0
        for s in range(SAMPLES):
            sy = y + SAMPLE_Y[s]
            first, last = span(edges, p, int(edge_count[p]), sy, SAMPLE_X[s], width)
            if first < last:
                left, right = min(left, first), max(right, last)
                base = plane[p, 0] * SAMPLE_X[s] + plane[p, 1] * sy + plane[p, 2]
                cover(depth, columns, s, first, last, base, plane[p, 0], share)
        if left < right:
            end = left + (right - left + BLOCK - 1) // BLOCK * BLOCK
            place(plane, bounds, p, columns, left, end, y, scratch)
            glow(plane, p, colours, int(face[p]), reach[0], reach[1], left, end, scratch, row)


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
    atlas: NDArray[np.uint32],
    reach: NDArray[np.float32],
    image: NDArray[np.uint8],
) -> None:
    """Draw the rows `top` to `bottom` of `image` (height, width, 3), BGR."""
    width = image.shape[1]
    room = width + BLOCK
    flat = image.reshape(-1)
    depth = np.empty((SAMPLES, room), np.float32)
    names = np.empty((SAMPLES, room), np.float32)
    groups = np.zeros(room // 8 + 1, np.uint64)
    marks = groups.view(np.uint8)
    starts = np.empty(width + 1, np.int32)
    row = np.empty((3, room), np.float32)
    scratch = np.zeros((ROWS, room), np.float32)
    words = np.empty((3, room), np.int32)
    columns = np.empty(room, np.float32)
    for x in range(room):
        columns[x] = x
    solid = np.empty(max(counts[1], 1), np.int32)
    glowing = np.empty(max(counts[1], 1), np.int32)
    solids = glows = 0
    for y in range(top, bottom):
        if y == top or y % STRIP == 0:
            end = min(bottom, y + STRIP)
            solids = in_rows(bounds, 0, counts[0], y, end, solid)
            glows = in_rows(bounds, counts[0], counts[1], y, end, glowing)
        find_nearest(y, solid, solids, edges, edge_count, plane, columns, width, depth, names)
        segments = divide(names, width, marks, groups, starts)
        row[:] = np.float32(0.0)
        for k in range(segments):
            x = starts[k]
            for s in range(SAMPLES if starts[k + 1] == x + 1 else 1):
                p = int(names[s, x])
                if present(names, x, p) < s or (k > 0 and present(names, x - 1, p) < SAMPLES):
                    continue
                stop = k + 1
                while stop < segments and present(names, starts[stop], p) < SAMPLES:
                    stop += 1
                colour_run(
                    p,
                    x,
                    starts[stop],
                    y,
                    plane,
                    bounds,
                    face,
                    material,
                    texture,
                    colours,
                    background,
                    atlas,
                    columns,
                    names,
                    words,
                    scratch,
                    row,
                )
        add_glow(
            y,
            glowing,
            glows,
            edges,
            edge_count,
            plane,
            bounds,
            face,
            colours,
            reach,
            columns,
            width,
            depth,
            scratch,
            row,
        )
        pack(row, width, flat, y)
