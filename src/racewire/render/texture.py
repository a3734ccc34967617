"""Surface patterns: one channel, square, drawn by us, with their mip levels in one flat array.

A texel is 0 to 1 and mixes a surface's dark and light colour. Textures wrap. All have the same size,
so texture k, level l begins at `k * STRIDE + LEVEL_START[l]`.
"""

import numpy as np
from numpy.typing import NDArray

from racewire.core.seeds import stream

SIZE = 256
"""Texels along one side of level 0, a power of two."""

LEVELS = 9
"""From 256 texels down to one."""

LEVEL_START = tuple(sum((SIZE >> j) ** 2 for j in range(i)) for i in range(LEVELS))
STRIDE = sum((SIZE >> j) ** 2 for j in range(LEVELS))

PANEL, ARTWORK, SPECKLE = range(3)
"""Index of each texture in `atlas()`."""

Texture = NDArray[np.float32]


def panel() -> Texture:
    """Return the skin of the blocks: seams, grooves, vents and small plates."""
    rng = stream(0, "look/panel")
    t = np.full((SIZE, SIZE), 0.42, np.float32)
    for _ in range(26):
        y, x = (int(v) for v in rng.integers(0, SIZE, 2))
        h, w = (int(v) for v in rng.integers(24, 120, 2))
        t[y : y + h, x : x + w] += np.float32(rng.uniform(-0.07, 0.07))
    for _ in range(34):
        y, x = (int(v) for v in rng.integers(6, SIZE - 6, 2))
        length = int(rng.integers(10, 90))
        tone = np.float32(0.05 if rng.random() < 0.55 else 0.85)
        if rng.random() < 0.5:
            t[y : y + 2, x : x + length] = tone
        else:
            t[y : y + length, x : x + 2] = tone
    for _ in range(9):
        y, x = (int(v) for v in rng.integers(8, SIZE - 24, 2))
        for k in range(int(rng.integers(1, 4))):
            t[y + 7 * k : y + 7 * k + 3, x : x + int(rng.integers(8, 22))] = 0.08
    t[:3, :] = t[-2:, :] = 0.8
    t[:, :3] = t[:, -2:] = 0.8
    t[SIZE // 2 : SIZE // 2 + 2, :] = 0.62
    return t


def artwork() -> Texture:
    """Return the face of a gate, 2.7 m square: bright borders, bars that look like lettering."""
    rng = stream(0, "look/artwork")
    t = np.full((SIZE, SIZE), 0.12, np.float32)
    bar = int(SIZE * 0.6 / 2.7)
    for side in range(4):
        view = np.rot90(t, side)
        x = bar // 2
        while x < SIZE - bar // 2:
            width = int(rng.integers(3, 13))
            if side % 2 == 0 or 90 < x < 166:
                top = int(rng.integers(14, 24))
                view[top : bar - 14, x : x + width] = np.float32(rng.uniform(0.45, 0.95))
            x += width + int(rng.integers(2, 6))
        view[:5, :] = 0.75
        view[bar - 6 : bar, bar - 6 : SIZE - bar + 6] = 0.9
    return t


def speckle() -> Texture:
    """Return the concrete of the pad: square cells from dark to light, patchy."""
    rng = stream(0, "look/speckle")
    patches = np.kron(rng.random((8, 8)), np.ones((8, 8)))
    cells = (rng.random((64, 64)) < 0.25 + 0.6 * patches) * (0.35 + 0.65 * rng.random((64, 64)))
    t = np.kron(cells, np.ones((SIZE // 64, SIZE // 64)))
    return t.astype(np.float32)


def mips(texture: Texture) -> NDArray[np.uint32]:
    """Return all levels of a texture, each half as wide as the last, one after another, shape (STRIDE,).

    A word holds a texel and its neighbours right, below, and below right, in bytes from the lowest.
    """
    levels: list[NDArray[np.uint32]] = []
    t = np.clip(texture, 0.0, 1.0)
    for _ in range(LEVELS):
        texels = np.rint(t * 255.0).astype(np.uint32)
        below = np.roll(texels, -1, axis=0)
        right, across = np.roll(texels, -1, axis=1), np.roll(below, -1, axis=1)
        levels.append((texels | right << 8 | below << 16 | across << 24).astype(np.uint32).ravel())
        if t.shape[0] > 1:
            t = 0.25 * (t[::2, ::2] + t[1::2, ::2] + t[::2, 1::2] + t[1::2, 1::2])
    return np.concatenate(levels)


def atlas() -> NDArray[np.uint32]:
    """Return every texture with its levels, shape (3 * STRIDE,)."""
    return np.concatenate([mips(panel()), mips(artwork()), mips(speckle())])
