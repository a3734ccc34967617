"""Colours, as a red detector sees them: OpenCV HSV with H <= 10 or >= 170, S > 110, V > 110."""

import cv2
import numpy as np
import pytest

from racewire.render.renderer import Renderer
from racewire.sensors.camera import AIGP_CAMERA

VIEWS = [
    (-60.0, 0.0, 0.0, 0.0, -14.0, 0.0),
    (-30.0, 1.0, -1.0, 5.0, -18.0, 2.0),
    (0.0, 0.0, 0.0, 0.0, -17.8, 0.0),
    (6.0, 2.5, -1.5, 12.0, -20.0, -8.0),
    (8.0, -3.5, -2.0, -15.0, -20.0, 22.0),
    (11.5, 0.3, -1.0, 0.0, -15.0, 0.0),
    (13.5, 0.9, -1.3, 20.0, -15.0, -4.0),
    (24.0, -2.0, 1.0, 0.0, -20.0, -10.0),
]


def red(image):
    hue, saturation, value = cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2HSV))
    return ((hue <= 10) | (hue >= 170)) & (saturation > 110) & (value > 110)


@pytest.fixture
def masks(plain, make):
    """Pixels wholly on gates, and wholly off them, from the plain look; and the picture in the real one."""

    def masks(view, ribbon):
        pose = make.pose_at(*view)
        active = 0 if ribbon else 99
        image = Renderer(make.small_course(), AIGP_CAMERA).render(pose, active)
        flat = Renderer(make.small_course(plain), AIGP_CAMERA).render(pose, 99).astype(int)
        on = np.isin(flat[:, :, 2], (120, 240)) & (flat[:, :, 0] == 0)
        near = cv2.erode(on.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        return image, on & (near | (flat[:, :, 2] == 240)), flat[:, :, 2] == 0

    return masks


@pytest.mark.parametrize("view", VIEWS)
def test_gates_are_red_at_every_distance(masks, view):
    image, on, _ = masks(view, ribbon=False)
    assert on.sum() >= 15
    assert red(image)[on].mean() > 0.99


@pytest.mark.parametrize("view", VIEWS)
def test_gates_stay_red_behind_the_ribbon(masks, view):
    image, on, _ = masks(view, ribbon=True)
    assert red(image)[on].mean() > 0.93


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_else_is_red(masks, view):
    image, _, off = masks(view, ribbon=True)
    assert not red(image)[off].any()


def test_the_ribbon_is_cyan_and_the_blocks_are_grey(masks, make):
    pose = make.pose_at(*VIEWS[2])
    renderer = Renderer(make.small_course(), AIGP_CAMERA)
    dark, lit = renderer.render(pose, 99).astype(int), renderer.render(pose, 0)
    ribbon = (lit[:, :, 0] - dark[:, :, 0] > 100) & (dark.max(axis=2) < 60)
    hue = cv2.cvtColor(lit, cv2.COLOR_BGR2HSV)[:, :, 0][ribbon]
    assert ribbon.sum() > 200
    assert np.percentile(hue, 5) >= 85
    assert np.percentile(hue, 95) <= 100
    spread = dark.max(axis=2) - dark.min(axis=2)
    _, _, off = masks(VIEWS[2], ribbon=False)
    grey = spread[off & (dark.max(axis=2) > 25)]
    assert grey.size > 5000
    assert grey.max() <= 8


def test_two_thirds_of_the_image_are_dark(make):
    image = Renderer(make.small_course(), AIGP_CAMERA).render(make.pose_at(*VIEWS[2]), 0)
    assert (cv2.cvtColor(image, cv2.COLOR_BGR2HSV)[:, :, 2] < 40).mean() > 0.6
