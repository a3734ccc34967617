"""Where an image is gate-red: the mask, and the signal whose edges are measured.

Red straddles the end of the hue circle, so the mask is two hue ranges with a least saturation and
value: the bounds hold for frames of the real simulator (spec 4.4) and are those of OpenCV's HSV
(hue 0-180, the others 0-255), tested in integers without building an HSV image. The signal
`R - (G + B) / 5` is linear in the pixel, so an antialiased edge crosses half its height exactly where
half the pixel is covered. It leans on brightness, which a JPEG keeps sharp, more than on colour, which
4:2:0 halves: with `/ 2` in its place the corners of rendered frames scatter twice as much.
"""

from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel


@dataclass(frozen=True, slots=True)
class RedBounds:
    """Bounds of gate-red, OpenCV HSV: hue at most `hue_low` or at least `hue_high`, others at least.

    A pixel as bright in red as `glare` (0-255), whatever its hue, belongs to the gate if gate-red is
    within `reach` px of it: white lettering, and where the ribbon shines over a gate.
    """

    hue_low: int
    hue_high: int
    saturation: int
    value: int
    glare: int
    reach: int


def _classify(
    image: NDArray[np.uint8],
    bounds: tuple[int, int, int, int, int],
    red: NDArray[np.uint8],
    bright: NDArray[np.uint8],
) -> None:
    low, high, saturation, value, glare = bounds
    over = 180 - high
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            red[i, j], bright[i, j] = 0, 0
            r = np.int32(image[i, j, 2])
            if r < value:
                continue
            b, g = np.int32(image[i, j, 0]), np.int32(image[i, j, 1])
            if r >= glare:
                bright[i, j] = 255
            chroma = r - min(b, g)
            if r < max(b, g) or 255 * chroma < saturation * r:
                continue
            if 30 * (g - b) <= low * chroma and 30 * (b - g) <= over * chroma:
                red[i, j], bright[i, j] = 255, 255


_classify_kernel = kernel(_classify)


def red_mask(image: NDArray[np.uint8], bounds: RedBounds) -> NDArray[np.uint8]:
    """Return 255 where the BGR `image`, shape (h, w, 3), is a gate's and 0 elsewhere, shape (h, w)."""
    red, bright = np.empty(image.shape[:2], np.uint8), np.empty(image.shape[:2], np.uint8)
    limits = (bounds.hue_low, bounds.hue_high, bounds.saturation, bounds.value, bounds.glare)
    _classify_kernel(image, limits, red, bright)
    side = 2 * bounds.reach + 1
    near = cv2.dilate(red, np.ones((side, side), np.uint8))
    return cast("NDArray[np.uint8]", cv2.bitwise_and(bright, near))


def _redness(image: NDArray[np.uint8], x: float, y: float) -> float:
    height, width = image.shape[0], image.shape[1]
    x = min(max(x - 0.5, 0.0), width - 1.001)
    y = min(max(y - 0.5, 0.0), height - 1.001)
    j, i = int(x), int(y)
    fx, fy = x - j, y - i
    top, bottom = 0.0, 0.0
    for c, weight in ((0, -0.2), (1, -0.2), (2, 1.0)):
        top += weight * ((1.0 - fx) * image[i, j, c] + fx * image[i, j + 1, c])
        bottom += weight * ((1.0 - fx) * image[i + 1, j, c] + fx * image[i + 1, j + 1, c])
    return (1.0 - fy) * top + fy * bottom


redness = kernel(_redness)
"""Kernel: R - (G + B) / 5 at the continuous image point (x, y), between pixels bilinear."""
