import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Frd, Optical, Rot, Vec
from racewire.sensors.camera import AIGP_CAMERA, NEAR, Camera, tilted_up

WIDE, HIGH = st.floats(0.0, 640.0), st.floats(0.0, 360.0)


def seen(forward, right, down):
    """Return where the AIGP camera sees a point given in body axes."""
    return AIGP_CAMERA.project(AIGP_CAMERA.frd_from_optical.inverse() @ Vec[Frd](forward, right, down))


def test_the_published_camera():
    c = AIGP_CAMERA
    assert (c.width, c.height, c.fx, c.fy, c.cx, c.cy) == (640, 360, 320.0, 320.0, 320.0, 180.0)
    assert c.position == Vec(0.0, 0.0, 0.0)
    assert c.matrix.tolist() == [[320.0, 0.0, 320.0], [0.0, 320.0, 180.0], [0.0, 0.0, 1.0]]


def test_the_lens_looks_twenty_degrees_up():
    axis = AIGP_CAMERA.frd_from_optical @ Vec[Optical](0.0, 0.0, 1.0)
    assert axis.array() == pytest.approx((math.cos(math.radians(20)), 0.0, -math.sin(math.radians(20))))
    assert seen(math.cos(math.radians(20)), 0.0, -math.sin(math.radians(20))) == pytest.approx((320.0, 180.0))


def test_what_is_straight_ahead_lies_below_the_centre():
    # 20 degrees below the axis: 180 + 320 tan 20 deg
    assert seen(10.0, 0.0, 0.0) == pytest.approx((320.0, 296.4704750))


def test_right_is_right_and_down_is_down():
    # at 10 m ahead: depth 10 cos 20 deg = 9.396926; a metre right is 320 / 9.396926 px
    assert seen(10.0, 1.0, 0.0) == pytest.approx((354.0536887, 296.4704750))
    # a metre down: depth 9.054906, right of it nothing, below the axis 4.359894 m
    assert seen(10.0, 0.0, 1.0) == pytest.approx((320.0, 334.0787), abs=1e-3)


def test_level_again_when_the_nose_points_down_by_as_much():
    level: Rot[Frd, Frd] = Rot.from_euler(0.0, math.radians(-20.0), 0.0)
    # a point on the horizon, seen from a body pitched down 20 degrees, is in the centre
    ahead = level.inverse() @ Vec[Frd](50.0, 0.0, 0.0)
    assert seen(ahead.x, ahead.y, ahead.z) == pytest.approx((320.0, 180.0))


@pytest.mark.parametrize(("z", "there"), [(NEAR, True), (NEAR - 1e-9, False), (0.0, False), (-3.0, False)])
def test_nothing_behind_the_lens_is_projected(z, there):
    assert (AIGP_CAMERA.project(Vec(0.1, 0.1, z)) is not None) is there


@given(WIDE, HIGH, st.floats(0.1, 300.0))
def test_a_ray_leads_back_to_its_pixel(u, v, depth):
    point = AIGP_CAMERA.ray(u, v) * depth
    assert AIGP_CAMERA.project(point) == pytest.approx((u, v), abs=1e-9)


@given(st.floats(-40.0, 40.0), st.floats(-40.0, 40.0), st.floats(0.1, 300.0))
def test_a_pixel_leads_back_to_its_ray(x, y, z):
    camera = Camera(fx=300.0, fy=310.0, cx=319.0, cy=181.5)
    u, v = camera.project(Vec(x, y, z))
    assert (camera.ray(u, v) * z).array() == pytest.approx((x, y, z), abs=1e-9)
    assert (camera.matrix @ (x, y, z) / z)[:2].tolist() == pytest.approx([u, v], abs=1e-9)


@pytest.mark.parametrize(
    ("u", "v", "inside"),
    [
        (0.0, 0.0, True),
        (639.999, 359.999, True),
        (640.0, 180.0, False),
        (320.0, 360.0, False),
        (-1e-9, 180.0, False),
        (320.0, -1e-9, False),
        (math.nan, 180.0, False),
    ],
)
def test_it_sees_its_pixels_and_nothing_else(u, v, inside):
    assert AIGP_CAMERA.sees(u, v) is inside


@given(st.floats(-math.pi / 2, math.pi / 2))
def test_the_mount_turns_about_the_right_axis(angle):
    mount = tilted_up(angle)
    assert (mount @ Vec[Optical](1.0, 0.0, 0.0)).array() == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)
    down = mount @ Vec[Optical](0.0, 1.0, 0.0)
    assert down.array() == pytest.approx((math.sin(angle), 0.0, math.cos(angle)), abs=1e-12)
