import math

import numpy as np
import pytest

from racewire.core.seeds import stream
from racewire.pilots.edges import cross_sides, fit_line, fit_sides
from racewire.pilots.redness import redness


def half_plane(x, y, angle, blur=1):
    """A picture red on the right of a line through (x, y), antialiased; `angle` of its normal."""
    v, u = np.mgrid[0:640, 0:640]
    u, v = (u + 0.5) / 8, (v + 0.5) / 8
    inside = (u - x) * math.cos(angle) + (v - y) * math.sin(angle) > 0.0
    share = inside.reshape(80, 8, 80, 8).mean(axis=(1, 3))
    kernel = np.ones(blur) / blur
    for axis in (0, 1):
        share = np.apply_along_axis(np.convolve, axis, share, kernel, "same")
    return np.rint(share[..., None] * (40, 50, 230) + (1 - share[..., None]) * (20, 20, 20)).astype(np.uint8)


@pytest.mark.parametrize("angle_deg", [0.0, 17.0, 45.0, 80.0, 200.0])
@pytest.mark.parametrize("blur", [1, 3])
def test_an_edge_is_found_to_a_few_hundredths_of_a_pixel(angle_deg, blur):
    angle = math.radians(angle_deg)
    image = half_plane(40.3, 39.8, angle, blur)
    nx, ny = math.cos(angle), math.sin(angle)
    # a square whose left side, named 3, is the edge, 0.8 px off
    left = np.array([(40.3 + 0.8 * nx, 39.8 + 0.8 * ny)] * 2)
    left += np.array([[15.0], [-15.0]]) * np.array([(-ny, nx)])
    corners = np.full((8, 2), 1e4)
    corners[3], corners[0] = left
    sides = np.empty((8, 9))
    fit_sides(image, corners, 3.0, 45.0, 0.6, 0.45, sides)
    ends = sides[3, :4].reshape(2, 2)
    assert sides[3, 4] > 0.95
    assert np.abs((ends - (40.3, 39.8)) @ (nx, ny)).max() < 0.06


def test_a_line_ignores_a_minority_of_strays():
    u = np.linspace(0.0, 1.0, 20)
    t = 0.3 + 0.5 * u + 0.02 * stream(0, "test/line").standard_normal(20)
    t[5:11] += 2.0
    inliers, a, b, sd = fit_line(u, t, 20, 0.3)
    assert inliers == 14
    assert (a, b) == (pytest.approx(0.3, abs=0.05), pytest.approx(0.5, abs=0.08))
    assert sd < 0.05


def test_a_side_without_contrast_is_not_found():
    corners = np.array([(20.0, 20.0), (60.0, 20.0), (60.0, 60.0), (20.0, 60.0)] * 2)
    sides = np.empty((8, 9))
    fit_sides(np.full((80, 80, 3), 90, np.uint8), corners, 3.0, 45.0, 0.6, 0.45, sides)
    assert np.isnan(sides[:, 0]).all()
    assert sides[:, 8] == pytest.approx(1.0)


def test_an_edge_of_the_wrong_way_round_is_not_a_side():
    image = half_plane(40.0, 40.0, math.pi)  # red on the left
    corners = np.full((8, 2), 1e4)
    corners[3], corners[0] = (40.0, 60.0), (40.0, 20.0)
    sides = np.empty((8, 9))
    fit_sides(image, corners, 3.0, 45.0, 0.6, 0.45, sides)
    assert math.isnan(sides[3, 0])


def test_sides_cross_in_corners():
    square = np.array([(10.0, 10.0), (30.0, 12.0), (28.0, 31.0), (9.0, 28.0)])
    after = np.roll(square, -1, axis=0)
    sides = np.ones((8, 9))
    sides[:4, :2], sides[:4, 2:4] = square + 0.2 * (after - square), square + 0.7 * (after - square)
    sides[4:, 0] = np.nan
    sides[4:, 5:7] = 0.0
    sides[2, 6] = 0.0  # the end of the bottom side is hidden
    corners = np.empty((8, 2))
    cross_sides(sides, corners)
    assert corners[:3] == pytest.approx(square[:3])
    assert np.isnan(corners[3:]).all()


def test_redness_is_linear_and_counts_from_pixel_edges():
    image = np.zeros((4, 4, 3), np.uint8)
    image[1, 2] = (10, 20, 200)
    peak = 200.0 - 0.2 * 30.0
    assert redness(image, 2.5, 1.5) == pytest.approx(peak)
    assert redness(image, 2.0, 1.5) == pytest.approx(0.5 * peak)
    assert redness(image, 2.5, 2.0) == pytest.approx(0.5 * peak)
    assert redness(image, -5.0, 99.0) == 0.0
