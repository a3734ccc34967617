import math

from hypothesis import assume, given
from hypothesis import strategies as st

from racewire.core.frames import Rot, Vec
from racewire.sensors.camera import AIGP_CAMERA
from racewire.world.sight import Sight

metre = st.floats(-30.0, 30.0)


@given(metre, metre, metre, st.floats(-0.6, 0.6), st.floats(-math.pi, math.pi))
def test_it_agrees_with_the_real_camera(x, y, z, pitch, yaw):
    target, place = Vec(x, y, z), Vec(1.0, -2.0, 3.0)
    ned_from_frd = Rot.from_euler(0.0, pitch, yaw)
    optical = AIGP_CAMERA.frd_from_optical.inverse() @ (ned_from_frd.inverse() @ (target - place))
    uv = AIGP_CAMERA.project(optical)
    if uv is not None:
        assume(min(abs(uv[0]), abs(uv[0] - 640), abs(uv[1]), abs(uv[1] - 360)) > 1e-6)
    assert Sight().sees(place, pitch, yaw, target, 0.0) == (uv is not None and AIGP_CAMERA.sees(*uv))


@given(st.floats(3.0, 30.0), st.floats(-20.0, 20.0), st.floats(-20.0, 20.0), st.floats(0.1, 2.0))
def test_a_sphere_is_seen_only_if_every_point_of_it_is(x, y, z, size):
    seen = Sight().sees(Vec(0.0, 0.0, 0.0), 0.0, 0.0, Vec(x, y, z), size)
    around = [Vec(x, y + size, z), Vec(x, y - size, z), Vec(x, y, z + size), Vec(x, y, z - size)]
    if seen:
        assert all(Sight().sees(Vec(0.0, 0.0, 0.0), 0.0, 0.0, point, 0.0) for point in around)
