"""SET_ATTITUDE_TARGET by type_mask and build."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Rot, Vec
from racewire.wires.base import Rejected
from racewire.wires.profile import load_profile, profile_names
from racewire.wires.setpoint import read_setpoint, read_thrust, write_setpoint

OLD, LATE = load_profile("3364-vq1"), load_profile("3391-vq2")
NONE = (0.0, 0.0, 0.0, 0.0)
NAN, INF = math.nan, math.inf


def near(v, expected):
    return (v.x, v.y, v.z) == pytest.approx(expected)


def quaternion(roll, pitch, yaw):
    q = Rot.from_euler(roll, pitch, yaw)
    return (q.w, q.x, q.y, q.z)


@pytest.mark.parametrize("profile", [OLD, LATE])
def test_mask_128_is_a_stick_right_nose_up_clockwise(profile):
    assert near(read_setpoint(profile, 128, NONE, (1.0, 0.4, 0.4)), (2.55, 0.96, 0.85))
    assert near(read_setpoint(profile, 128, NONE, (-1.0, -0.4, -0.4)), (-2.55, -0.96, -0.85))


def test_mask_144_is_rad_per_second_mirrored_with_the_measured_gains():
    assert near(read_setpoint(LATE, 144, NONE, (-1.0, -1.0, -1.0)), (0.975, 0.972, 0.892))


@pytest.mark.parametrize("mask", [7, 3, 16, 19])
def test_old_builds_fly_the_quaternions_angles_as_rates(mask):
    rates = read_setpoint(OLD, mask, quaternion(0.1, 0.2, 0.3), (NAN, NAN, NAN))
    assert near(rates, (-0.25, 0.48, -0.684))


@pytest.mark.parametrize(("profile", "mask"), [(OLD, 144), (OLD, 135), (LATE, 7), (LATE, 135), (LATE, 0)])
def test_other_masks_are_not_supported(profile, mask):
    with pytest.raises(Rejected, match="type_mask"):
        read_setpoint(profile, mask, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_rate_that_is_not_finite_is_refused(bad):
    for mask, profile in ((128, OLD), (144, LATE)):
        for axis in range(3):
            rates = tuple(bad if i == axis else 0.0 for i in range(3))
            with pytest.raises(Rejected, match="not finite"):
                read_setpoint(profile, mask, NONE, rates)


def test_an_absurd_rate_is_refused_and_a_large_one_saturates():
    assert near(read_setpoint(OLD, 128, NONE, (59.0, -59.0, 59.0)), (29.2, -29.2, 19.5))
    assert near(read_setpoint(LATE, 144, NONE, (-59.0, 59.0, -59.0)), (29.2, -29.2, 19.5))
    with pytest.raises(Rejected, match="absurd"):
        read_setpoint(OLD, 128, NONE, (60.1, 0.0, 0.0))


@pytest.mark.parametrize("q", [NONE, (NAN, 0.0, 0.0, 0.0), (INF, 0.0, 0.0, 1.0)])
def test_a_quaternion_that_is_no_rotation_is_refused(q):
    with pytest.raises(Rejected, match="rotation"):
        read_setpoint(OLD, 7, q, (0.0, 0.0, 0.0))


@pytest.mark.parametrize(("sent", "flown"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.05, 1.0), (-0.05, 0.0)])
def test_thrust_slightly_outside_is_clamped(sent, flown):
    assert read_thrust(sent, 0.1) == flown


@pytest.mark.parametrize("thrust", [1.2, -0.2, 100.0, NAN, INF, -INF])
def test_thrust_far_outside_is_refused(thrust):
    with pytest.raises(Rejected, match=r"absurd|finite"):
        read_thrust(thrust, 0.1)


@pytest.mark.parametrize("name", profile_names())
@given(p=st.floats(-29.0, 29.0), q=st.floats(-29.0, 29.0), r=st.floats(-19.0, 19.0))
def test_what_our_end_writes_is_flown_as_wanted(name, p, q, r):
    profile = load_profile(name)
    mask, rates = write_setpoint(profile, Vec(p, q, r))
    assert near(read_setpoint(profile, mask, NONE, rates), (p, q, r))


@pytest.mark.parametrize("profile", [OLD, LATE])
def test_what_is_not_finite_is_written_for_the_vehicle_to_judge(profile):
    mask, rates = write_setpoint(profile, Vec(NAN, INF, 0.0))
    with pytest.raises(Rejected, match=r"finite|absurd"):
        read_setpoint(profile, mask, NONE, rates)
