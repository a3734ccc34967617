"""Colour of one piece along a run of pixels of a row.

`place` finds z and the texture coordinates at the pixel centres, a `pattern` turns these into the
mixture t of dark and light, `paint` turns t into colour and adds it by the share of each pixel that
`weigh` found. Plain arithmetic in float32, without a mathematics library: every machine gets the
same bits.

The scratch memory of a run has ROWS rows: z, u, v, t, the share of a see-through piece, that of a
solid one. Rows of colour are blue, green, red, 0 to 255.
"""

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel

ROWS = 6
"""Rows of a run's scratch memory."""


@kernel
def weigh(
    names: NDArray[np.float32],
    piece: int,
    columns: NDArray[np.float32],
    first: int,
    last: int,
    end: int,
    scratch: NDArray[np.float32],
) -> None:
    """Write the share of each pixel's four samples that hold `piece`; from `last` to `end` it is none."""
    name, limit = np.float32(piece), np.float32(last)
    quarter, zero = np.float32(0.25), np.float32(0.0)
    for x in range(np.uintp(first), np.uintp(end)):
        a, b = np.int32(names[0, x] == name), np.int32(names[1, x] == name)
        c, d = np.int32(names[2, x] == name), np.int32(names[3, x] == name)
        each = quarter if columns[x] < limit else zero
        scratch[5, x] = each * np.float32(np.int32(a + b + c + d))


@kernel
def place(
    plane: NDArray[np.float64],
    bounds: NDArray[np.float64],
    piece: int,
    columns: NDArray[np.float32],
    first: int,
    last: int,
    y: float,
    scratch: NDArray[np.float32],
) -> None:
    """Write z, u and v of a piece at the centres of the pixels `first` to `last` of row `y`.

    Where the piece covers only the rim of a pixel, z stays within what the piece has.
    """
    p, middle = np.uintp(piece), y + 0.5
    zx, ux, vx = np.float32(plane[p, 0]), np.float32(plane[p, 3]), np.float32(plane[p, 6])
    z0 = np.float32(plane[p, 0] * 0.5 + plane[p, 1] * middle + plane[p, 2])
    u0 = np.float32(plane[p, 3] * 0.5 + plane[p, 4] * middle + plane[p, 5])
    v0 = np.float32(plane[p, 6] * 0.5 + plane[p, 7] * middle + plane[p, 8])
    least, most, one = np.float32(bounds[p, 2]), np.float32(bounds[p, 3]), np.float32(1.0)
    for x in range(np.uintp(first), np.uintp(last)):
        column = columns[x]
        z = one / min(max(z0 + zx * column, least), most)
        scratch[0, x] = z
        scratch[1, x] = (u0 + ux * column) * z
        scratch[2, x] = (v0 + vx * column) * z


@kernel
def paint(
    colours: NDArray[np.float32],
    face: int,
    first: int,
    last: int,
    scratch: NDArray[np.float32],
    row: NDArray[np.float32],
) -> None:
    """Mix dark and light by t, sink into the haze by distance, add to `row` (3 rows) by share."""
    f, one = np.uintp(face), np.float32(1.0)
    b0, g0, r0 = colours[f, 0], colours[f, 1], colours[f, 2]
    b1, g1, r1 = colours[f, 3], colours[f, 4], colours[f, 5]
    b2, g2, r2 = colours[f, 6], colours[f, 7], colours[f, 8]
    fade = colours[f, 9]
    for x in range(np.uintp(first), np.uintp(last)):
        near = min(fade / scratch[0, x], one)
        far = scratch[5, x] * (one - near)
        near = scratch[5, x] * near
        t = near * scratch[3, x]
        row[0, x] += near * b0 + t * b1 + far * b2
        row[1, x] += near * g0 + t * g1 + far * g2
        row[2, x] += near * r0 + t * r1 + far * r2


@kernel
def flood(
    colour: NDArray[np.float32], first: int, last: int, scratch: NDArray[np.float32], row: NDArray[np.float32]
) -> None:
    """Add one colour to the pixels `first` to `last` of `row` (3 rows) by share."""
    b, g, r = colour[0], colour[1], colour[2]
    for x in range(np.uintp(first), np.uintp(last)):
        row[0, x] += scratch[5, x] * b
        row[1, x] += scratch[5, x] * g
        row[2, x] += scratch[5, x] * r


@kernel
def glow(
    plane: NDArray[np.float64],
    piece: int,
    colours: NDArray[np.float32],
    face: int,
    near: float,
    full: float,
    first: int,
    last: int,
    scratch: NDArray[np.float32],
    row: NDArray[np.float32],
) -> None:
    """Add the ribbon's light to `row` (3 rows) by the share of see-through samples, and clear that share.

    The light grows from the middle to the borders, |u| = 1, where it becomes a line; it fades in with
    the distance from `near` to `full`.
    """
    p, f = np.uintp(piece), np.uintp(face)
    zx, zy = np.float32(plane[p, 0]), np.float32(plane[p, 1])
    ux, uy = np.float32(plane[p, 3]), np.float32(plane[p, 4])
    b0, g0, r0 = colours[f, 0], colours[f, 1], colours[f, 2]
    b1, g1, r1 = colours[f, 3], colours[f, 4], colours[f, 5]
    zero, half, one = np.float32(0.0), np.float32(0.5), np.float32(1.0)
    rim, tiny = one - colours[f, 10], np.float32(1e-9)
    start, gain = np.float32(near), np.float32(1.0 / (full - near))
    middle, rise = np.float32(0.3), np.float32(0.7)
    for x in range(np.uintp(first), np.uintp(last)):
        z, u = scratch[0, x], scratch[1, x]
        wide = max(abs(ux - u * zx), abs(uy - u * zy)) * z + tiny
        reach = half * wide
        out = abs(u)
        line = min(max(min(one, out + reach) - max(rim, out - reach), zero) / wide, one)
        sheet = middle + rise * u * u
        share = scratch[4, x] * max(min((z - start) * gain, one), zero)
        scratch[4, x] = zero
        row[0, x] += share * (sheet * b0 + line * b1)
        row[1, x] += share * (sheet * g0 + line * g1)
        row[2, x] += share * (sheet * r0 + line * r1)


@kernel
def pack(row: NDArray[np.float32], width: int, flat: NDArray[np.uint8], y: int) -> None:
    """Round `row` to bytes, into row `y` of an image given as its flat bytes, blue, green, red by turns."""
    start = np.uintp(3) * np.uintp(width) * np.uintp(y)
    half, most = np.float32(0.5), np.float32(255.0)
    for x in range(np.uintp(width)):
        k = start + np.uintp(3) * x
        flat[k] = np.uint8(np.int32(min(row[0, x], most) + half))
        flat[k + np.uintp(1)] = np.uint8(np.int32(min(row[1, x], most) + half))
        flat[k + np.uintp(2)] = np.uint8(np.int32(min(row[2, x], most) + half))
