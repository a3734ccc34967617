"""SET_ATTITUDE_TARGET by type_mask and build."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Rot, Vec
from racewire.core.messages import AttitudeCommand, MotorCommand
from racewire.wires import setpoint
from racewire.wires.base import Rejected
from racewire.wires.profile import load_profile, profile_names
from racewire.wires.setpoint import read_thrust, write_attitude, write_setpoint

OLDS = [load_profile(name) for name in ("3364-vq1", "3379-vq2", "3385-vq2")]
LATES = [load_profile(name) for name in ("3390-vq2", "3391-vq2", "3391-vq1")]
OLD, LATE = OLDS[0], LATES[1]
old_builds = pytest.mark.parametrize("profile", OLDS)
late_builds = pytest.mark.parametrize("profile", LATES)
all_builds = pytest.mark.parametrize("profile", OLDS + LATES)
NONE = (0.0, 0.0, 0.0, 0.0)
NAN, INF = math.nan, math.inf


def command(profile, mask, q, rates, thrust=0.5):
    return setpoint.read_setpoint(profile, mask, q, rates, thrust, 7)


def read_setpoint(profile, mask, q, rates):
    """The true body rates."""
    read = command(profile, mask, q, rates)
    assert (read.t_ns, read.thrust) == (7, 0.5)
    return read.rates


def near(v, expected):
    return (v.x, v.y, v.z) == pytest.approx(expected)


def quaternion(roll, pitch, yaw):
    q = Rot.from_euler(roll, pitch, yaw)
    return (q.w, q.x, q.y, q.z)


@all_builds
def test_mask_128_is_a_stick_right_nose_up_clockwise(profile):
    assert near(read_setpoint(profile, 128, NONE, (1.0, 0.4, 0.4)), (2.55, 0.96, 0.85))
    assert near(read_setpoint(profile, 128, NONE, (-1.0, -0.4, -0.4)), (-2.55, -0.96, -0.85))


@late_builds
def test_mask_144_is_rad_per_second_mirrored_with_the_measured_gains(profile):
    assert near(read_setpoint(profile, 144, NONE, (-1.0, -1.0, -1.0)), (0.975, 0.972, 0.892))


@old_builds
def test_old_builds_do_not_know_bit_16(profile):
    assert near(read_setpoint(profile, 144, NONE, (1.0, 0.4, 0.4)), (2.55, 0.96, 0.85))


@old_builds
@pytest.mark.parametrize("mask", [7, 3, 16, 19, 0])
def test_old_builds_fly_the_quaternions_angles_as_rates(profile, mask):
    rates = read_setpoint(profile, mask, quaternion(0.1, 0.2, 0.3), (NAN, NAN, NAN))
    assert near(rates, (-0.25, 0.48, -0.684))


def held(profile, mask, roll, pitch, yaw):
    """The true roll, pitch, yaw (deg) that a quaternion made of those angles (deg) asks to hold."""
    read = command(profile, mask, quaternion(*map(math.radians, (roll, pitch, yaw))), (NAN, NAN, NAN))
    assert isinstance(read, AttitudeCommand)
    assert read.thrust == 0.5
    return tuple(map(math.degrees, read.ned_from_frd.euler()))


@late_builds
@pytest.mark.parametrize("mask", [7, 3, 16, 19, 0])
def test_late_builds_hold_the_quaternion_mirrored_at_yaw_0(profile, mask):
    assert held(profile, mask, 18, 0, 0) == pytest.approx((-18, 0, 0))  # + roll banks left
    assert held(profile, mask, 0, 0, 30) == pytest.approx((0, 0, -30))  # + yaw turns left
    assert held(profile, mask, 0, -10, 0) == pytest.approx((0, -10, 0))  # - pitch is nose down


@late_builds
def test_late_builds_take_the_tilt_before_the_yaw_at_yaw_180(profile):
    roll, pitch, yaw = held(profile, 7, 0, 6.5, 180)
    assert (roll, pitch, abs(yaw)) == pytest.approx((0, -6.5, 180), abs=1e-6)
    roll, pitch, yaw = held(profile, 7, -18, 0, 180)
    assert (roll, pitch, abs(yaw)) == pytest.approx((-18, 0, 180), abs=1e-6)


@late_builds
@given(roll=st.floats(-1.5, 1.5), pitch=st.floats(-1.5, 1.5), yaw=st.floats(-3.1, 3.1))
def test_an_attitude_that_our_end_writes_is_the_one_that_is_held(profile, roll, pitch, yaw):
    wanted = Rot.from_euler(roll, pitch, yaw)
    mask, q = write_attitude(profile, wanted)
    assert command(profile, mask, q, (0.0, 0.0, 0.0)).ned_from_frd.angle_to(wanted) < 1e-6


@old_builds
def test_old_builds_hold_no_attitude(profile):
    assert write_attitude(profile, Rot.identity()) is None


@all_builds
def test_with_all_ignored_nothing_stabilises(profile):
    assert command(profile, 135, NONE, (NAN, NAN, NAN), 0.25) == MotorCommand(
        t_ns=7, front_left=0.25, front_right=0.25, back_left=0.25, back_right=0.25
    )


def test_a_mask_nobody_reported_can_be_refused():
    for key, mask in (("other_rates", 129), ("other_quaternion", 1)):
        strict = dataclasses.replace(OLD.commands, **{key: "refused"})
        with pytest.raises(Rejected, match="type_mask"):
            command(dataclasses.replace(OLD, commands=strict), mask, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


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
    for profile in (OLD, LATE):
        with pytest.raises(Rejected, match="rotation"):
            command(profile, 7, q, (0.0, 0.0, 0.0))


@all_builds
@pytest.mark.parametrize("mask", [128, 7, 135])
def test_a_thrust_that_is_absurd_is_refused_with_every_meaning(profile, mask):
    with pytest.raises(Rejected, match="absurd"):
        command(profile, mask, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.5)


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
