"""JPEG to pixels, for what arrives on a wire: bounded, and never an exception.

The size is read from the header before anything is allocated, so that a hostile datagram cannot ask
for gigabytes. The result is BGR, uint8.
"""

from typing import Any, cast

import numpy as np
import simplejpeg
from numpy.typing import NDArray

Image = NDArray[np.uint8]
"""BGR picture, shape (height, width, 3)."""

LARGEST_PX = 4_000_000
"""Pictures with more pixels than this are refused."""

_codec = cast("Any", simplejpeg)


def decode(jpeg: bytes) -> Image | None:
    """Return the picture, shape (height, width, 3), or None if the bytes are not a JPEG of sane size."""
    try:
        height, width, _, _ = _codec.decode_jpeg_header(jpeg)
        if not 0 < height * width <= LARGEST_PX:
            return None
        return cast("Image", _codec.decode_jpeg(jpeg, colorspace="BGR"))
    except (ValueError, TypeError, MemoryError):
        return None
