"""JPEG, as the camera stream carries it: baseline, 4:2:0, standard tables.

Pictures are BGR uint8. Decoding takes bytes from a wire: what cannot be decoded is None.
"""

import numpy as np
import simplejpeg
from numpy.typing import NDArray

MAX_SIDE = 4096
"""Wider or higher pictures are refused before any memory is taken for them, px."""


def encode(image: NDArray[np.uint8], quality: int = 85) -> bytes:
    """Compress a BGR picture, shape (height, width, 3)."""
    pixels = np.ascontiguousarray(image)
    return simplejpeg.encode_jpeg(pixels, quality=quality, colorspace="BGR", colorsubsampling="420")


def decode(jpeg: bytes) -> NDArray[np.uint8] | None:
    """Return the BGR picture, or None if the bytes are not a JPEG that can be read."""
    try:
        height, width = (int(side) for side in simplejpeg.decode_jpeg_header(jpeg)[:2])
        if not (0 < height <= MAX_SIDE and 0 < width <= MAX_SIDE):
            return None
        return simplejpeg.decode_jpeg(jpeg, colorspace="BGR")
    except (ValueError, RuntimeError, TypeError, MemoryError):
        return None
