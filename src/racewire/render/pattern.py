"""What is on a surface: the mixture t of its dark and its light colour, 0 to 1, along a run of pixels.

`lines` and `texels` read z, u, v from the rows 0 to 2 of a run's scratch memory (see `shade`) and write
t into row 3. A piece's plane gives u/z, v/z and 1/z, and so how much of a texture lies in one pixel.
"""

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel
from racewire.render.texture import LEVELS, SIZE, STRIDE

CHUNK = 32
"""Pixels at most that share a mip level."""

LEVEL_START = np.array([sum((SIZE >> j) ** 2 for j in range(i)) for i in range(LEVELS)], np.int64)


@kernel
def lines(
    plane: NDArray[np.float64], piece: int, half: float, first: int, last: int, scratch: NDArray[np.float32]
) -> None:
    """Pattern of lines at whole u and v, `half` wide to either side: the part of a pixel that they cover."""
    p = np.uintp(piece)
    zx, zy = np.float32(plane[p, 0]), np.float32(plane[p, 1])
    ux, uy = np.float32(plane[p, 3]), np.float32(plane[p, 4])
    vx, vy = np.float32(plane[p, 6]), np.float32(plane[p, 7])
    h, whole = np.float32(half), np.float32(1.0)
    # Adding and taking away 1.5 * 2**23 rounds a float32 to the nearest whole number.
    magic = np.float32(12582912.0)
    for x in range(np.uintp(first), np.uintp(last)):
        z, u, v = scratch[0, x], scratch[1, x], scratch[2, x]
        wu = max(abs(ux - u * zx), abs(uy - u * zy)) * z + np.float32(1e-9)
        wv = max(abs(vx - v * zx), abs(vy - v * zy)) * z + np.float32(1e-9)
        du = abs(u - ((u + magic) - magic))
        dv = abs(v - ((v + magic) - magic))
        ru, rv = np.float32(0.5) * wu, np.float32(0.5) * wv
        tu = max(min(h, du + ru) - max(-h, du - ru), np.float32(0.0)) / wu
        tv = max(min(h, dv + rv) - max(-h, dv - rv), np.float32(0.0)) / wv
        tu = tu if wu < whole else h + h
        tv = tv if wv < whole else h + h
        scratch[3, x] = tu + tv - tu * tv


@kernel
def level_of(plane: NDArray[np.float64], piece: int, z: float, u: float, v: float) -> int:
    """Return the mip level whose texels are about a pixel wide here."""
    p = np.uintp(piece)
    a = abs(plane[p, 3] - u * plane[p, 0]) + abs(plane[p, 6] - v * plane[p, 0])
    b = abs(plane[p, 4] - u * plane[p, 1]) + abs(plane[p, 7] - v * plane[p, 1])
    texels = 0.5 * (a + b) * z * SIZE
    level = 0
    while texels > 1.25 and level < LEVELS - 1:
        texels *= 0.5
        level += 1
    return level


@kernel
def locate(
    texture: int, level: int, first: int, last: int, scratch: NDArray[np.float32], words: NDArray[np.int32]
) -> None:
    """Write where (u, v) lies in the atlas, and how far between the texels right and down, 0 to 255."""
    start = np.int32(texture * STRIDE + LEVEL_START[level])
    half, low = np.int32(128), np.int32(255)
    shift, eight = np.int32(8 - level), np.int32(8)
    mask = np.int32((SIZE >> level) - 1)
    scale = np.float32(256 * (SIZE >> level))
    for x in range(np.uintp(first), np.uintp(last)):
        p = np.int32(np.int32(scratch[1, x] * scale) - half)
        q = np.int32(np.int32(scratch[2, x] * scale) - half)
        i, j = np.int32(np.int32(p >> eight) & mask), np.int32(np.int32(q >> eight) & mask)
        words[0, x] = np.int32(np.int32(np.int32(j << shift) + i) + start)
        words[1, x] = np.int32(p & low)
        words[2, x] = np.int32(q & low)


@kernel
def fetch(atlas: NDArray[np.uint32], first: int, last: int, words: NDArray[np.int32]) -> None:
    """Replace places in the atlas by what stands there."""
    for x in range(np.uintp(first), np.uintp(last)):
        words[0, x] = np.int32(atlas[np.uintp(words[0, x])])


@kernel
def mix(first: int, last: int, words: NDArray[np.int32], scratch: NDArray[np.float32]) -> None:
    """Interpolate between the four texels of a word."""
    byte, part, one = np.int32(255), np.float32(1.0 / 256.0), np.float32(1.0 / 255.0)
    for x in range(np.uintp(first), np.uintp(last)):
        w = words[0, x]
        a, b = np.int32(w & byte), np.int32(np.int32(w >> np.int32(8)) & byte)
        c, d = np.int32(np.int32(w >> np.int32(16)) & byte), np.int32(np.int32(w >> np.int32(24)) & byte)
        i, j = np.float32(words[1, x]) * part, np.float32(words[2, x]) * part
        upper = np.float32(a) + i * np.float32(np.int32(b - a))
        lower = np.float32(c) + i * np.float32(np.int32(d - c))
        scratch[3, x] = (upper + j * (lower - upper)) * one


@kernel
def texels(
    plane: NDArray[np.float64],
    piece: int,
    atlas: NDArray[np.uint32],
    texture: int,
    first: int,
    last: int,
    words: NDArray[np.int32],
    scratch: NDArray[np.float32],
) -> None:
    """Pattern of a texture from the atlas, between the four nearest texels of one level."""
    x = first
    while x < last:
        stop = min(x + CHUNK, last)
        level = level_of(plane, piece, scratch[0, x], scratch[1, x], scratch[2, x])
        locate(texture, level, x, stop, scratch, words)
        x = stop
    fetch(atlas, first, last, words)
    mix(first, last, words, scratch)
