"""Colour of one piece along a run of pixels, in three passes: place, pattern, paint.

`place` finds z and the texture coordinates at the pixel centres, a pattern turns these into the
mixture t of dark and light (0 to 1), `paint` turns t into colour. Each pass is plain arithmetic in
float32 over rows, without calls of the mathematics library, so every machine gets the same bits.
"""

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel
from racewire.render.texture import LEVELS, SIZE, STRIDE

CHUNK = 16
"""Pixels that share a mip level; chunks begin at whole multiples, whatever the run."""

LEVEL_START = np.array([sum((SIZE >> j) ** 2 for j in range(i)) for i in range(LEVELS)], np.int64)

ROWS = 5
Z, U, V, T, HITS = range(ROWS)
"""Rows of a run's scratch: depth, texture coordinates, mixture, share of the samples."""


@kernel
def place(
    plane: NDArray[np.float64],
    bounds: NDArray[np.float64],
    columns: NDArray[np.float32],
    first: int,
    last: int,
    y: float,
    out: NDArray[np.float32],
) -> None:
    """Write z, u and v at the centres of the pixels `first` to `last` of row `y` into `out`."""
    least, most = np.float32(bounds[2]), np.float32(bounds[3])
    iz, iz_x = np.float32(plane[0] * 0.5 + plane[1] * (y + 0.5) + plane[2]), np.float32(plane[0])
    iu, iu_x = np.float32(plane[3] * 0.5 + plane[4] * (y + 0.5) + plane[5]), np.float32(plane[3])
    iv, iv_x = np.float32(plane[6] * 0.5 + plane[7] * (y + 0.5) + plane[8]), np.float32(plane[6])
    one = np.float32(1.0)
    for x in range(np.uintp(first), np.uintp(last)):
        column = columns[x]
        inverse = iz + iz_x * column
        inverse = least if inverse < least else inverse
        inverse = most if inverse > most else inverse
        z = one / inverse
        out[0, x] = z
        out[1, x] = (iu + iu_x * column) * z
        out[2, x] = (iv + iv_x * column) * z


@kernel
def lines(
    plane: NDArray[np.float64], half: float, first: int, last: int, out: NDArray[np.float32]
) -> None:
    """Pattern of lines at whole u and v, `half` wide to either side: the part of a pixel's footprint covered."""
    zx, zy = np.float32(plane[0]), np.float32(plane[1])
    ux, uy = np.float32(plane[3]), np.float32(plane[4])
    vx, vy = np.float32(plane[6]), np.float32(plane[7])
    h, whole = np.float32(half), np.float32(1.0)
    # Adding and taking away 1.5 * 2**23 rounds a float32 to the nearest whole number.
    magic = np.float32(12582912.0)
    for x in range(np.uintp(first), np.uintp(last)):
        z, u, v = out[0, x], out[1, x], out[2, x]
        wu = max(abs(ux - u * zx), abs(uy - u * zy)) * z + np.float32(1e-9)
        wv = max(abs(vx - v * zx), abs(vy - v * zy)) * z + np.float32(1e-9)
        du = abs(u - ((u + magic) - magic))
        dv = abs(v - ((v + magic) - magic))
        ru, rv = np.float32(0.5) * wu, np.float32(0.5) * wv
        tu = max(min(h, du + ru) - max(-h, du - ru), np.float32(0.0)) / wu
        tv = max(min(h, dv + rv) - max(-h, dv - rv), np.float32(0.0)) / wv
        tu = tu if wu < whole else h + h
        tv = tv if wv < whole else h + h
        out[3, x] = tu + tv - tu * tv


@kernel
def level_of(plane: NDArray[np.float64], z: float, u: float, v: float) -> int:
    """Return the mip level whose texels are about a pixel wide here."""
    a = abs(plane[3] - u * plane[0]) + abs(plane[6] - v * plane[0])
    b = abs(plane[4] - u * plane[1]) + abs(plane[7] - v * plane[1])
    texels = 0.5 * (a + b) * z * SIZE
    level = 0
    while texels > 1.25 and level < LEVELS - 1:
        texels *= 0.5
        level += 1
    return level


@kernel
def sample(
    atlas: NDArray[np.uint8], texture: int, level: int, first: int, last: int, out: NDArray[np.float32]
) -> None:
    """Look up texels by (u, v), between the four nearest of one level, in 8-bit fixed point."""
    start = np.uintp(texture * STRIDE + LEVEL_START[level])
    shift = np.uint32(8 - level)
    mask = np.uint32((SIZE >> level) - 1)
    scale = np.float32(256 * (SIZE >> level))
    for x in range(np.uintp(first), np.uintp(last)):
        p = np.uint32(np.int32(out[1, x] * scale) + np.int32(0x10000000 - 128))
        q = np.uint32(np.int32(out[2, x] * scale) + np.int32(0x10000000 - 128))
        i0, j0 = (p >> np.uint32(8)) & mask, (q >> np.uint32(8)) & mask
        i1, j1 = (i0 + np.uint32(1)) & mask, (j0 + np.uint32(1)) & mask
        fi, fj = p & np.uint32(255), q & np.uint32(255)
        r0, r1 = start + np.uintp(j0 << shift), start + np.uintp(j1 << shift)
        a, b = np.uint32(atlas[r0 + np.uintp(i0)]), np.uint32(atlas[r0 + np.uintp(i1)])
        c, d = np.uint32(atlas[r1 + np.uintp(i0)]), np.uint32(atlas[r1 + np.uintp(i1)])
        upper = a * (np.uint32(256) - fi) + b * fi
        lower = c * (np.uint32(256) - fi) + d * fi
        mix = upper * (np.uint32(256) - fj) + lower * fj
        out[3, x] = np.float32(np.int32(mix)) * np.float32(1.0 / (255.0 * 65536.0))


@kernel
def texels(
    plane: NDArray[np.float64],
    atlas: NDArray[np.uint8],
    texture: int,
    first: int,
    last: int,
    out: NDArray[np.float32],
) -> None:
    """Pattern of a texture from the atlas."""
    x = first
    while x < last:
        stop = min((x // CHUNK + 1) * CHUNK, last)
        level = level_of(plane, out[0, x], out[1, x], out[2, x])
        sample(atlas, texture, level, x, stop, out)
        x = stop


@kernel
def paint(
    colours: NDArray[np.float32], first: int, last: int, scratch: NDArray[np.float32], row: NDArray[np.float32]
) -> None:
    """Mix dark and light by t, sink into the haze by distance; write blue, green, red of `row` (3, width)."""
    fade = colours[9]
    one = np.float32(1.0)
    for c in range(3):
        channel = np.uintp(c)
        dark, range_, haze = colours[c], colours[3 + c], colours[6 + c]
        for x in range(np.uintp(first), np.uintp(last)):
            clear = min(fade / scratch[0, x], one)
            row[channel, x] = haze + clear * (dark + range_ * scratch[3, x] - haze)


@kernel
def glow(
    plane: NDArray[np.float64],
    colours: NDArray[np.float32],
    near: float,
    full: float,
    first: int,
    last: int,
    scratch: NDArray[np.float32],
    row: NDArray[np.float32],
) -> None:
    """Add the ribbon's light to `row`, by the share of samples in scratch; clears that share."""
    ux, uy = np.float32(plane[3]), np.float32(plane[4])
    zx, zy = np.float32(plane[0]), np.float32(plane[1])
    border = np.float32(1.0) - colours[10]
    start, gain = np.float32(near), np.float32(1.0 / (full - near))
    zero, one = np.float32(0.0), np.float32(1.0)
    for x in range(np.uintp(first), np.uintp(last)):
        z, u = scratch[0, x], abs(scratch[1, x])
        w = max(abs(ux - scratch[1, x] * zx), abs(uy - scratch[1, x] * zy)) * z + np.float32(1e-9)
        line = max(min(one, u + np.float32(0.5) * w) - max(border, u - np.float32(0.5) * w), zero) / w
        sheet = np.float32(0.3) + np.float32(0.7) * u * u
        share = scratch[4, x] * max(min((z - start) * gain, one), zero)
        scratch[4, x] = zero
        for c in range(3):
            light = colours[c] * sheet + colours[3 + c] * min(line, one)
            row[c, x] += share * light


@kernel
def flood(colour: NDArray[np.float32], first: int, last: int, row: NDArray[np.float32]) -> None:
    """Write one colour, blue, green, red, into the pixels `first` to `last` of `row` (3, width)."""
    for c in range(3):
        channel = np.uintp(c)
        level = colour[c]
        for x in range(np.uintp(first), np.uintp(last)):
            row[channel, x] = level


@kernel
def pack(row: NDArray[np.float32], flat: NDArray[np.uint8], y: int) -> None:
    """Round `row` to bytes, into row `y` of an image given as its flat bytes, blue, green, red by turns."""
    width = np.uintp(row.shape[1])
    start = np.uintp(3) * width * np.uintp(y)
    half, most = np.float32(0.5), np.float32(255.0)
    for x in range(width):
        k = start + np.uintp(3) * x
        flat[k] = np.uint8(np.int32(min(row[0, x], most) + half))
        flat[k + np.uintp(1)] = np.uint8(np.int32(min(row[1, x], most) + half))
        flat[k + np.uintp(2)] = np.uint8(np.int32(min(row[2, x], most) + half))
