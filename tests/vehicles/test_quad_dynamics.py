import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racewire.vehicles.quad_dynamics import QuadState
from racewire.vehicles.quadrotor import Quadrotor

G = 9.81
SILENT = ((0.0, 0.0), (1.0, 0.0))
MIRROR = {"east", "ve", "qx", "qz", "p", "r", "p_set", "r_set"}


def named(state):
    return QuadState(*state[: len(QuadState._fields)])


def changed(racer, **changes):
    return Quadrotor(dataclasses.replace(racer.params, **changes))


def put(state, **values):
    for name, value in values.items():
        state[QuadState._fields.index(name)] = value
    return state


def flown(vehicle, state, command, dt, seconds):
    state = state.copy()
    vehicle.run(state, np.array([command]), dt, round(seconds / dt))
    return state


@pytest.fixture(scope="module")
def prompt(racer):
    """The racer without delays and with steps as long as they are asked for."""
    return changed(racer, thrust_delay=0.0, rate_delay=0.0, dt_max=racer.params.rate_lag)


def test_measured_order_of_integration_is_four(prompt, pose):
    # fast enough that no body velocity passes zero, where the drag has a kink
    start = put(prompt.initial(pose(10.0, -25.0, 40.0)), vn=14.0, ve=9.0, vd=-7.0)
    command = (0.4, 0.8, -0.5, 0.6)
    steps = (4e-3, 2e-3, 1e-3)
    exact = flown(prompt, start, command, 1e-4, 0.48)
    errors = [np.abs(flown(prompt, start, command, h, 0.48)[:13] - exact[:13]).max() for h in steps]
    assert 1e-12 < errors[-1] < errors[0] < 1e-3
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order == pytest.approx(4.0, abs=0.3)


def test_free_fall_without_air(racer, pose):
    vehicle = changed(racer, thrust_curve=SILENT, drag=(0.0, 0.0, 0.0), drag_sinking=0.0, lift=0.0)
    s = named(flown(vehicle, vehicle.initial(pose(30.0, -20.0, 50.0)), (0.0, 1.0, 2.0, -1.0), 1e-3, 3.0))
    assert (s.vn, s.ve) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert (s.vd, s.down) == pytest.approx((3.0 * G, 4.5 * G), rel=1e-12)


@pytest.mark.parametrize("seconds", [0.2, 1.0, 5.0])
def test_fall_through_air_is_the_closed_form(racer, pose, seconds):
    vehicle = changed(racer, thrust_curve=SILENT)
    s = named(flown(vehicle, vehicle.initial(pose()), (0.0, 0.0, 0.0, 0.0), 1e-3, seconds))
    end = math.sqrt(G / racer.params.drag_sinking)
    assert s.vd == pytest.approx(end * math.tanh(G * seconds / end), rel=1e-8)
    assert s.down == pytest.approx(end**2 / G * math.log(math.cosh(G * seconds / end)), rel=1e-8)


@pytest.mark.parametrize(
    ("command", "climb"), [(0.5, 19.1), (0.6, 23.6), (0.8, 29.2), (1.0, 30.9), (0.1, -9.3)]
)
def test_terminal_speeds_are_the_published_ones(racer, pose, fly, command, climb):
    s = named(fly(racer, pose(), (command, 0.0, 0.0, 0.0), 20.0))
    assert -s.vd == pytest.approx(climb, rel=0.01)
    assert (s.vn, s.ve) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("lean_deg", "speed", "u", "w", "command"),
    [(20.0, 8.7, 8.20, -2.98, 0.263), (40.0, 14.7, 11.23, -9.43, 0.289), (60.0, 26.1, 13.03, -22.6, 0.487)],
)
def test_level_flight_at_a_lean_is_the_published_one(racer, pose, fly, lean_deg, speed, u, w, command):
    low, high = 0.1, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        state = fly(racer, pose(pitch_deg=-lean_deg), (middle, 0.0, 0.0, 0.0), 12.0)
        low, high = (middle, high) if named(state).vd > 0.0 else (low, middle)
    motion = racer.motion(state)
    body = motion.ned_from_frd.inverse() @ motion.velocity
    assert motion.velocity.x == pytest.approx(speed, rel=0.01)
    assert (body.x, body.z) == pytest.approx((u, w), rel=0.01)
    assert middle == pytest.approx(command, abs=0.015)


def test_full_thrust_at_75_degrees_is_the_published_flight(racer, pose, fly):
    s = named(fly(racer, pose(pitch_deg=-75.0), (1.0, 0.0, 0.0, 0.0), 20.0))
    assert s.vn == pytest.approx(36.7, rel=0.01)
    assert s.vd == pytest.approx(4.3, abs=0.2)


def test_side_slip_is_felt_as_published(racer, pose):
    state = put(racer.initial(pose()), ve=2.5)
    assert racer.motion(state).specific_force.y == pytest.approx(-0.31, abs=0.005)


def test_it_hovers_at_the_measured_command(racer, pose, fly):
    state = fly(racer, pose(), (0.266, 0.0, 0.0, 0.0), 0.1)
    assert racer.motion(state).specific_force.z == pytest.approx(-G, abs=0.01)
    later = fly(racer, state, (0.266, 0.0, 0.0, 0.0), 2.0)
    assert named(later).vd == pytest.approx(named(state).vd, abs=0.02)
    assert named(fly(racer, state, (0.270, 0.0, 0.0, 0.0), 2.0)).vd < -0.1
    assert named(fly(racer, state, (0.262, 0.0, 0.0, 0.0), 2.0)).vd > 0.3


@settings(max_examples=20)
@given(
    st.tuples(*[st.floats(-30.0, 30.0)] * 3),
    st.tuples(*[st.floats(-180.0, 180.0)] * 3),
    st.tuples(*[st.floats(-8.0, 8.0)] * 3),
)
def test_without_thrust_energy_never_rises(racer, pose, velocity, angles, rates):
    vehicle = changed(racer, thrust_curve=SILENT)
    vn, ve, vd = velocity
    state = put(vehicle.initial(pose(*angles)), vn=vn, ve=ve, vd=vd)
    command = np.array((0.0, *rates))

    def energy():
        s = named(state)
        return 0.5 * (s.vn**2 + s.ve**2 + s.vd**2) - G * s.down

    before = energy()
    for _ in range(200):
        vehicle.step(state, command, 5e-3)
        after = energy()
        assert after <= before + 1e-9 * abs(before)
        before = after


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), *[st.floats(-30.0, 30.0)] * 3), min_size=1, max_size=8),
    st.tuples(st.floats(-20.0, 20.0), st.floats(-20.0, 20.0), st.floats(-20.0, 20.0)),
)
def test_mirrored_roll_and_yaw_fly_the_mirrored_path(racer, pose, commands, velocity):
    vn, ve, vd = velocity
    one = put(racer.initial(pose(20.0, -10.0, 30.0)), vn=vn, ve=ve, vd=vd)
    other = put(racer.initial(pose(-20.0, -10.0, -30.0)), vn=vn, ve=-ve, vd=vd)
    racer.run(one, np.array(commands), 1e-3, 30)
    racer.run(other, np.array(commands) * (1.0, -1.0, 1.0, -1.0), 1e-3, 30)
    a, b = named(one), named(other)
    for name in QuadState._fields:
        sign = -1.0 if name in MIRROR else 1.0
        assert getattr(a, name) == sign * getattr(b, name), name


@pytest.mark.parametrize("axis", range(3))
def test_angular_acceleration_is_limited(prompt, pose, axis):
    command = [0.3, 0.0, 0.0, 0.0]
    command[1 + axis] = 100.0
    state = flown(prompt, prompt.initial(pose()), tuple(command), 1e-3, 0.010)
    rates = rates_of(state)
    assert rates[axis] == pytest.approx((902.0, 946.0, 398.0)[axis] * 0.010, rel=1e-9)
    assert [rates[i] for i in range(3) if i != axis] == [0.0, 0.0]


@pytest.mark.parametrize("axis", range(3))
def test_rates_settle_on_the_command_or_the_limit(racer, pose, fly, axis):
    limit = (29.2, 29.2, 19.5)[axis]
    for wanted, got in ((1.5, 1.5), (-1.5, -1.5), (1e9, limit), (-1e9, -limit)):
        command = [0.3, 0.0, 0.0, 0.0]
        command[1 + axis] = wanted
        assert rates_of(fly(racer, pose(), command, 0.5))[axis] == pytest.approx(got, rel=1e-9)


def test_full_rate_steps_rise_as_fast_as_published(racer, pose, fly):
    # 90 % of the step within 35 to 67 ms, the delay included
    for axis, limit in enumerate((29.2, 29.2, 19.5)):
        command = [0.3, 0.0, 0.0, 0.0]
        command[1 + axis] = limit
        assert rates_of(fly(racer, pose(), command, 0.035))[axis] < 0.9 * limit
        assert rates_of(fly(racer, pose(), command, 0.067))[axis] > 0.9 * limit


def test_gain_scales_the_settled_rate(racer, pose, fly):
    vehicle = changed(racer, rate_gain=(0.975, 0.97, 0.89))
    state = fly(vehicle, pose(), (0.3, 1.0, -2.0, 1.0), 0.5)
    assert rates_of(state) == pytest.approx((0.975, -1.94, 0.89), rel=1e-9)


@given(st.tuples(*[st.floats(-30.0, 30.0)] * 3))
def test_attitude_stays_a_unit_quaternion(racer, pose, rates):
    state = racer.initial(pose(10.0, 20.0, 30.0))
    racer.run(state, np.array([(0.5, *rates)]), 8e-3, 100)
    s = named(state)
    assert math.hypot(s.qw, s.qx, s.qy, s.qz) == pytest.approx(1.0, abs=1e-14)


def rates_of(state):
    s = named(state)
    return s.p, s.q, s.r
