import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.vehicles.ground import leaves, stopped_at, supported_velocity

FLAT = (0.0, 0.0, -1.0)
GRAVITY = (0.0, 0.0, 9.81)
small = st.floats(-5.0, 5.0)


def slide(v, a, n=FLAT, friction=0.5, slow=0.05, h=1e-3):
    return supported_velocity(*v, *a, *n, friction, slow, h)


def slope(angle_deg):
    """The normal of a surface that falls to the north by `angle_deg`."""
    angle = math.radians(angle_deg)
    return (math.sin(angle), 0.0, -math.cos(angle))


def test_at_rest_it_stays():
    assert slide((0.0, 0.0, 0.0), GRAVITY) == (0.0, 0.0, 0.0, True)
    assert not leaves(0.0, 0.0, 0.0, *GRAVITY, *FLAT, 1e-3)


@pytest.mark.parametrize(("angle_deg", "holds"), [(26.0, True), (27.0, False)])
def test_friction_holds_up_to_its_angle(angle_deg, holds):
    # the angle whose tangent is 0.5 is 26.57 degrees
    vn, ve, vd, still = slide((0.0, 0.0, 0.0), GRAVITY, slope(angle_deg))
    assert still is holds
    assert (vn > 0.0) is not holds
    assert ve == 0.0
    assert (vd > 0.0) is not holds


def test_sliding_is_braked_by_friction_times_weight():
    vn, ve, vd, still = slide((3.0, 4.0, 0.0), GRAVITY)
    assert (vn, ve, vd) == pytest.approx((3.0 - 0.6 * 4.905e-3, 4.0 - 0.8 * 4.905e-3, 0.0), abs=1e-15)
    assert not still


def test_sliding_ends_and_never_turns_back():
    v = (0.3, 0.0, 0.0)
    steps = 0
    while v[0] > 0.0 and steps < 1000:
        *v, still = slide(v, GRAVITY, slow=1e-6)
        steps += 1
    assert still
    assert steps == math.ceil(0.3 / (0.5 * 9.81e-3))


def test_a_pull_beyond_friction_sets_it_moving_by_the_rest():
    assert slide((0.0, 0.0, 0.0), (6.0, 0.0, 9.81)) == pytest.approx((1e-3 * (6.0 - 4.905), 0.0, 0.0, False))


def test_thrust_beyond_gravity_lifts_it():
    assert leaves(0.0, 0.0, 0.0, 0.0, 0.0, -1e-6, *FLAT, 1e-3)
    assert not leaves(0.0, 0.0, 0.0, 0.0, 0.0, 1e-6, *FLAT, 1e-3)


def test_it_stops_at_the_surface_and_is_free_to_move_off():
    assert stopped_at(1.0, 2.0, 3.0, *FLAT) == (1.0, 2.0, 0.0)
    assert stopped_at(1.0, 2.0, -3.0, *FLAT) == (1.0, 2.0, -3.0)


@given(small, small, small, small, small, small, st.floats(-80.0, 80.0))
def test_what_stays_keeps_to_the_surface(vn, ve, vd, an, ae, ad, angle_deg):
    n = slope(angle_deg)
    vn, ve, vd, _ = slide((vn, ve, vd), (an, ae, ad), n)
    assert vn * n[0] + ve * n[1] + vd * n[2] == pytest.approx(0.0, abs=1e-12)


@given(small, small)
def test_friction_alone_never_speeds_it_up(vn, ve):
    wn, we, _, _ = slide((vn, ve, 0.0), GRAVITY)
    assert math.hypot(wn, we) <= math.hypot(vn, ve)
