"""Every sign of the wire, as a pilot would read it aloud: what the true motion shows as in the packet."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Rot, Vec
from racewire.wires.profile import load_profile, profile_names
from racewire.wires.signs import Signs, gate_from_published, published_gate

BUILDS = [name for name in profile_names() if name != "general"]
every_build = pytest.mark.parametrize("signs", [load_profile(n).signs for n in BUILDS], ids=BUILDS)
LEVEL_NORTH = Rot.from_euler(0.0, 0.0, 0.0)
angle = st.floats(-3.0, 3.0)
number = st.floats(-50.0, 50.0)
vector = st.builds(Vec, number, number, number)
rotation = st.builds(Rot.from_euler, angle, st.floats(-1.5, 1.5), angle)


def close(a, b):
    return a == pytest.approx(b, abs=1e-9)


@every_build
def test_at_rest_the_accelerometer_reads_minus_g_down(signs):
    assert signs.specific_force_to_wire(Vec(0.0, 0.0, -9.81)) == (0.0, 0.0, -9.81)


@every_build
def test_speeding_up_forward_reads_plus_x(signs):
    assert signs.specific_force_to_wire(Vec(2.0, 0.0, 0.0))[0] == 2.0


@every_build
def test_rolling_right_reads_minus_on_the_gyro(signs):
    assert signs.gyro_to_wire(Vec(1.0, 0.0, 0.0)) == (-1.0, 0.0, 0.0)


@every_build
def test_nose_rising_reads_minus_on_the_gyro(signs):
    assert signs.gyro_to_wire(Vec(0.0, 1.0, 0.0)) == (0.0, -1.0, 0.0)


@every_build
def test_turning_right_reads_minus_on_the_gyro(signs):
    assert signs.gyro_to_wire(Vec(0.0, 0.0, 1.0)) == (0.0, 0.0, -1.0)


@every_build
def test_right_wing_down_is_plus_roll_in_attitude(signs):
    assert close(signs.attitude_to_wire(Rot.from_euler(0.3, 0.0, 0.0)), (0.3, 0.0, 0.0))


@every_build
def test_nose_down_on_the_pad_is_plus_pitch_in_attitude(signs):
    pitch = math.radians(-17.8)
    assert close(signs.attitude_to_wire(Rot.from_euler(0.0, pitch, 0.0)), (0.0, -pitch, 0.0))


@every_build
def test_heading_east_is_minus_ninety_degrees_in_attitude(signs):
    assert close(signs.attitude_to_wire(Rot.from_euler(0.0, 0.0, math.pi / 2)), (0.0, 0.0, -math.pi / 2))


@every_build
def test_attitude_and_odometry_rates_are_the_wire_gyro(signs):
    rates = Vec(0.1, -0.2, 0.3)
    assert signs.attitude_rates_to_wire(rates) == signs.gyro_to_wire(rates) == (-0.1, 0.2, -0.3)
    assert signs.odometry_rates_to_wire(rates) == (-0.1, 0.2, -0.3)


@every_build
def test_right_wing_down_is_minus_x_in_the_quaternion(signs):
    q = signs.quaternion_to_wire(Rot.from_euler(0.4, 0.0, 0.0))
    assert close((q.w, q.x, q.y, q.z), (math.cos(0.2), -math.sin(0.2), 0.0, 0.0))


@every_build
def test_nose_up_is_plus_y_in_the_quaternion(signs):
    q = signs.quaternion_to_wire(Rot.from_euler(0.0, 0.4, 0.0))
    assert close((q.w, q.x, q.y, q.z), (math.cos(0.2), 0.0, math.sin(0.2), 0.0))


@every_build
def test_heading_east_is_minus_z_in_the_quaternion(signs):
    q = signs.quaternion_to_wire(Rot.from_euler(0.0, 0.0, 0.4))
    assert close((q.w, q.x, q.y, q.z), (math.cos(0.2), 0.0, 0.0, -math.sin(0.2)))


@every_build
def test_flying_ahead_level_is_plus_vx_and_climbing_minus_vz(signs):
    v = signs.velocity_to_wire(Vec(5.0, 0.0, -1.0), LEVEL_NORTH)
    assert close((v.x, v.y, v.z), (5.0, 0.0, -1.0))


@every_build
def test_side_slip_from_a_yaw_has_its_sign_turned_in_odometry(signs):
    """Nose 0.2 rad to the right of the path: the body slips left, vy is true -, on the wire +."""
    attitude, velocity = Rot.from_euler(0.0, 0.0, 0.2), Vec(5.0, 0.0, 0.0)
    true = attitude.inverse() @ velocity
    wire = signs.velocity_to_wire(velocity, attitude)
    assert true.y < -0.9
    assert close((wire.x, wire.y), (true.x, -true.y))


@every_build
def test_translation_to_the_right_keeps_its_sign_at_heading_180(signs):
    """Heading south and sliding west is sliding right: + in truth and + on the wire."""
    wire = signs.velocity_to_wire(Vec(0.0, -3.0, 0.0), Rot.from_euler(0.0, 0.0, math.pi))
    assert close((wire.x, wire.y, wire.z), (0.0, 3.0, 0.0))


@every_build
def test_stick_right_up_clockwise_is_plus_in_the_packet(signs):
    assert signs.stick_to_wire((0.1, 0.2, 0.3)) == (0.1, 0.2, 0.3)


@every_build
def test_physical_rates_are_mirrored_on_all_axes(signs):
    assert signs.physical_to_wire(Vec(0.1, 0.2, 0.3)) == (-0.1, -0.2, -0.3)
    assert signs.physical_from_wire(-0.1, -0.2, -0.3) == Vec(0.1, 0.2, 0.3)


def test_gates_of_vq1_published_at_yaw_ninety_are_flown_through_to_the_south():
    flown = gate_from_published(math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)) @ Vec(1.0, 0.0, 0.0)
    assert close((flown.x, flown.y, flown.z), (-1.0, 0.0, 0.0))


def test_the_published_x_axis_runs_across_the_opening():
    """A gate flown through to the south is published with its x axis to the east: the pilot's left."""
    across = Rot.from_quaternion(*published_gate(Rot.from_euler(0.0, 0.0, math.pi))) @ Vec(1.0, 0.0, 0.0)
    assert close((across.x, across.y, across.z), (0.0, 1.0, 0.0))


def test_a_gate_to_climb_through_keeps_its_tilt():
    """A gate that leans back, opening forward and up, is still left the way it is flown."""
    gate = Rot.from_euler(0.0, 0.4, 1.0)
    back = gate_from_published(*published_gate(gate))
    assert back.angle_to(gate) < 1e-7


@every_build
@given(v=vector, q=rotation)
def test_every_conversion_comes_back(signs, v, q):
    assert signs.specific_force_from_wire(*signs.specific_force_to_wire(v)) == v
    assert signs.gyro_from_wire(*signs.gyro_to_wire(v)) == v
    assert signs.attitude_rates_from_wire(*signs.attitude_rates_to_wire(v)) == v
    assert signs.odometry_rates_from_wire(*signs.odometry_rates_to_wire(v)) == v
    assert signs.physical_from_wire(*signs.physical_to_wire(v)) == v
    assert signs.stick_from_wire(*signs.stick_to_wire((v.x, v.y, v.z))) == (v.x, v.y, v.z)
    assert signs.attitude_from_wire(*signs.attitude_to_wire(q)).angle_to(q) < 1e-6
    wire = signs.quaternion_to_wire(q)
    assert signs.quaternion_from_wire(wire) == q
    back = signs.velocity_from_wire(signs.velocity_to_wire(v, q), wire)
    assert close((back.x, back.y, back.z), (v.x, v.y, v.z))
    assert gate_from_published(*published_gate(q)).angle_to(q) < 1e-6


def test_a_sign_that_is_no_sign_is_refused():
    good = dict.fromkeys(Signs.__slots__, (1.0, 1.0, -1.0))
    Signs(**good)
    with pytest.raises(ValueError, match="gyro"):
        Signs(**{**good, "gyro": (1.0, 0.5, 1.0)})
