from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Vec
from racewire.race.geometry import geometry
from racewire.world.generate import random_course

COURSE = random_course(2)
RACE = geometry(COURSE)
metre = st.floats(-30.0, 30.0)


@given(st.integers(0, 5), metre, metre, metre)
def test_a_plane_measures_in_the_gates_own_axes(index, x, y, z):
    point = COURSE.gates[index].pose @ Vec(x, y, z)
    plane = RACE.planes[index]
    measured = Vec(plane.ahead(point), plane.right(point), plane.down(point))
    assert (measured - Vec(x, y, z)).norm() < 1e-9


def test_the_flight_volume_is_the_courses():
    low, high = COURSE.low, COURSE.high
    assert RACE.inside(low)
    assert RACE.inside(high)
    for axis in (Vec(1.0, 0.0, 0.0), Vec(0.0, 1.0, 0.0), Vec(0.0, 0.0, 1.0)):
        assert not RACE.inside(low - axis * 1e-6)
        assert not RACE.inside(high + axis * 1e-6)


def test_the_limit_is_in_nanoseconds():
    assert RACE.limit_ns == 480 * 10**9
