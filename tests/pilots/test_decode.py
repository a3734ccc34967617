import cv2
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.seeds import stream
from racewire.pilots.decode import decode

PICTURE = cv2.GaussianBlur(
    stream(0, "test/picture").integers(0, 256, (48, 64, 3)).astype(np.uint8), (7, 7), 0
)
JPEG = cv2.imencode(".jpg", PICTURE)[1].tobytes()


def test_picture_comes_back_as_bgr():
    picture = decode(JPEG)
    assert picture.shape == (48, 64, 3)
    assert np.abs(picture.astype(int) - PICTURE).mean() < 6.0


def test_grey_picture_gets_three_channels():
    grey = decode(cv2.imencode(".jpg", PICTURE[..., 0])[1].tobytes())
    assert grey.shape == (48, 64, 3)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_picture_give_none(data):
    assert decode(data) is None
    assert decode(b"\xff\xd8" + data) is None


@given(st.integers(0, len(JPEG) - 1), st.binary(min_size=1, max_size=4))
def test_damaged_picture_never_raises(at, patch):
    picture = decode(JPEG[:at] + patch + JPEG[at + len(patch) :])
    assert picture is None or picture.dtype == np.uint8


def test_half_a_picture_is_none():
    assert decode(JPEG[: len(JPEG) // 2]) is None


def test_huge_picture_is_refused_before_it_is_unpacked():
    header = bytearray(JPEG)
    at = header.find(b"\xff\xc0")
    header[at + 5 : at + 9] = b"\x7f\xff\x7f\xff"
    assert decode(bytes(header)) is None
