"""JPEG: what goes in comes out, and bad bytes are None."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racewire.render import jpeg
from racewire.render.renderer import Renderer
from racewire.sensors.camera import AIGP_CAMERA

SMALL = np.arange(48 * 64 * 3, dtype=np.uint8).reshape(48, 64, 3) // 3


@pytest.fixture(scope="module")
def picture(make):
    return Renderer(make.small_course(), AIGP_CAMERA).render(make.pose_at(0.0, 0.0, 0.0, pitch_deg=-17.8), 0)


def test_a_frame_comes_back_in_its_colours(picture):
    data = jpeg.encode(picture)
    back = jpeg.decode(data)
    assert back.shape == picture.shape
    assert np.abs(back.astype(int) - picture).mean() < 2.0
    assert len(data) < 40_000
    assert np.array_equal(back, cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR))


def test_subsampling_is_420_and_the_tables_are_the_standard_ones_of_quality_85(picture):
    data = jpeg.encode(picture)
    frame = data[data.index(b"\xff\xc0") + 4 :]
    assert [frame[7 + 3 * k] for k in range(3)] == [0x22, 0x11, 0x11]
    standard_luminance = bytes((5, 3, 4, 4, 4, 3, 5, 4))
    table = data[data.index(b"\xff\xdb") + 5 :]
    assert table[:8] == standard_luminance


def test_quality_is_size_for_faithfulness(picture):
    assert len(jpeg.encode(picture, 50)) < len(jpeg.encode(picture)) < len(jpeg.encode(picture, 95))


def test_a_part_of_a_picture_can_be_encoded(picture):
    assert jpeg.decode(jpeg.encode(picture[10:90:2, 20:200])).shape == (40, 180, 3)


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"\xff\xd8", b"\xff\xd8\xff\xd9", b"hello" * 100, bytes(4000)]
)
def test_what_is_no_jpeg_is_none(data):
    assert jpeg.decode(data) is None


@given(st.integers(0, 2**32 - 1))
def test_a_cut_picture_is_none(seed):
    data = jpeg.encode(SMALL)
    assert jpeg.decode(data[: seed % (len(data) - 2)]) is None


@settings(max_examples=150)
@given(st.binary(max_size=400), st.integers(0, 700), st.booleans())
def test_bad_bytes_never_raise(noise, place, insert):
    data = jpeg.encode(SMALL)
    place %= len(data)
    bad = data[:place] + noise + data[place + (0 if insert else len(noise)) :]
    image = jpeg.decode(bad)
    assert image is None or image.dtype == np.uint8


@pytest.mark.parametrize(("height", "width"), [(65535, 65535), (4097, 64), (64, 4097), (0, 64), (64, 0)])
def test_a_picture_that_claims_to_be_huge_or_empty_is_refused(monkeypatch, height, width):
    def never(*_args, **_kwargs):
        raise AssertionError("decoded")

    monkeypatch.setattr(jpeg.simplejpeg, "decode_jpeg", never)
    data = bytearray(jpeg.encode(SMALL))
    start = data.index(b"\xff\xc0") + 5
    data[start : start + 4] = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    assert jpeg.decode(bytes(data)) is None
