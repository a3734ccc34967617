import cv2
import numpy as np

from racewire.core.seeds import stream
from racewire.pilots.redness import RedBounds, red_mask

BOUNDS = RedBounds(hue_low=12, hue_high=170, saturation=110, value=110, glare=256, reach=0)


def test_mask_is_two_hue_ranges_of_opencv():
    image = stream(0, "test/colours").integers(0, 256, (200, 200, 3)).astype(np.uint8)
    hue, saturation, value = cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2HSV).astype(int))
    red = ((hue <= 12) | (hue >= 170)) & (saturation >= 110) & (value >= 110)
    mask = red_mask(image, BOUNDS) > 0
    # OpenCV rounds hue and saturation; only pixels at a bound may differ
    at_bound = (np.abs(hue - 12) <= 1) | (np.abs(hue - 170) <= 1) | (np.abs(saturation - 110) <= 1)
    assert red.sum() > 1000
    assert not np.any((mask != red) & ~at_bound)


def test_both_ends_of_the_hue_circle_are_red():
    image = np.array([[(40, 60, 240), (60, 40, 240), (40, 200, 240), (240, 40, 60)]], np.uint8)
    assert (red_mask(image, BOUNDS) > 0).tolist() == [[True, True, False, False]]


def test_glare_belongs_to_the_gate_only_near_red():
    image = np.zeros((1, 20, 3), np.uint8)
    image[0, :5] = (40, 50, 240)
    image[0, 5:12] = (255, 250, 255)
    bounds = RedBounds(hue_low=12, hue_high=170, saturation=110, value=110, glare=160, reach=3)
    assert np.flatnonzero(red_mask(image, bounds)[0]).tolist() == list(range(8))
