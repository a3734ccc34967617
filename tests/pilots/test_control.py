import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.clock import NS_PER_MS
from racewire.core.frames import Rot, Vec
from racewire.pilots.control import Command, Controller, Kinematics

LEVEL = Rot.from_euler(0.0, 0.0, 0.0)
STILL = Vec(0.0, 0.0, 0.0)
HOVER = Vec(0.0, 0.0, -9.81)


@pytest.fixture
def controller(params):
    return Controller(params.control, params.airframe)


def at_rest(attitude=LEVEL, velocity=STILL):
    return Kinematics(0, Vec(0.0, 0.0, 0.0), velocity, attitude, HOVER, Vec(0.0, 0.0, 0.0))


def test_hover_is_hover(controller):
    command = controller.command(at_rest(), Vec(0.0, 0.0, 0.0), 0.0)
    assert command.thrust == pytest.approx(0.266, abs=1e-6)
    assert command.rates.norm() < 1e-9


@pytest.mark.parametrize(
    ("accel", "heading", "sign"),
    [
        (Vec(0.0, 3.0, 0.0), 0.0, (1, 0, 0)),  # to the right: right wing down
        (Vec(0.0, -3.0, 0.0), 0.0, (-1, 0, 0)),
        (Vec(3.0, 0.0, 0.0), 0.0, (0, -1, 0)),  # forward: nose down
        (Vec(-3.0, 0.0, 0.0), 0.0, (0, 1, 0)),
        (Vec(0.0, 0.0, 0.0), 0.5, (0, 0, 1)),  # a heading to the right: turn right
        (Vec(0.0, 0.0, 0.0), -0.5, (0, 0, -1)),
    ],
)
def test_signs(controller, accel, heading, sign):
    rates = controller.command(at_rest(), accel, heading).rates
    for rate, wanted in zip((rates.x, rates.y, rates.z), sign, strict=True):
        assert math.copysign(1.0, rate) == wanted if wanted else abs(rate) < 1e-9


def test_up_is_more_thrust_and_down_is_less(controller):
    up = controller.command(at_rest(), Vec(0.0, 0.0, -4.0), 0.0).thrust
    down = controller.command(at_rest(), Vec(0.0, 0.0, 4.0), 0.0).thrust
    assert down < 0.266 < up


def test_signs_hold_at_any_heading(controller):
    state = at_rest(Rot.from_euler(0.0, 0.0, math.radians(130.0)))
    right = state.attitude @ Vec(0.0, 3.0, 0.0)
    rates = controller.command(state, right, math.radians(130.0)).rates
    assert rates.x > 0.5
    assert abs(rates.y) < 1e-6
    assert abs(rates.z) < 1e-6


def test_drag_is_flown_against(controller):
    # at 8 m/s level with no acceleration wanted, the vehicle leans into the wind
    rates = controller.command(at_rest(velocity=Vec(8.0, 0.0, 0.0)), Vec(0.0, 0.0, 0.0), 0.0).rates
    assert rates.y < -0.5


def test_the_loop_settles_on_the_wanted_acceleration(controller, params):
    state = at_rest(Rot.from_euler(0.5, 0.3, -0.4))
    wanted = Vec(3.0, -2.0, -1.0)
    attitude, command = state.attitude, None
    for _ in range(200):
        command = controller.command(at_rest(attitude), wanted, 0.7)
        turn = command.rates * 0.01
        attitude = attitude @ Rot.exp(turn.x, turn.y, turn.z)
    curve = params.airframe
    thrust = np.interp(command.thrust, curve.thrust_command, curve.thrust_accel)
    accel = attitude @ Vec(0.0, 0.0, -float(thrust)) + Vec(0.0, 0.0, 9.81)
    assert (accel - wanted).norm() < 0.05
    assert attitude.euler()[2] == pytest.approx(0.7, abs=0.01)


def test_the_tilt_is_limited_and_lift_kept(controller, params):
    attitude = LEVEL
    for _ in range(300):
        command = controller.command(at_rest(attitude), Vec(80.0, 0.0, 0.0), 0.0)
        turn = command.rates * 0.01
        attitude = attitude @ Rot.exp(turn.x, turn.y, turn.z)
    assert attitude.euler()[1] == pytest.approx(-math.radians(params.control.largest_tilt_deg), abs=0.01)
    curve = params.airframe
    thrust = np.interp(command.thrust, curve.thrust_command, curve.thrust_accel)
    assert float(thrust) * math.cos(attitude.euler()[1]) == pytest.approx(9.81, abs=0.2)


finite = st.floats(-1e4, 1e4)
angles = st.floats(-math.pi, math.pi)


@given(finite, finite, finite, angles, angles, angles, angles)
def test_whatever_is_wanted_the_command_is_within_limits(params, ax, ay, az, roll, pitch, yaw, heading):
    controller = Controller(params.control, params.airframe)
    attitude = Rot.from_euler(roll, pitch / 2.0, yaw)
    command = controller.command(
        at_rest(attitude, Vec(ax / 100.0, ay / 100.0, az / 100.0)), Vec(ax, ay, az), heading
    )
    assert 0.0 <= command.thrust <= 1.0
    for rate in (command.rates.x, command.rates.y, command.rates.z):
        assert abs(rate) <= params.airframe.largest_rate


@given(finite, finite, angles, angles, angles)
def test_the_mirror_image_is_flown_by_the_mirrored_command(params, ax, ay, roll, yaw, heading):
    # mirrored left to right: roll, yaw and everything east change sign
    controller = Controller(params.control, params.airframe)
    accel = Vec(ax / 1e3, ay / 1e3, 0.0)
    one = controller.command(at_rest(Rot.from_euler(roll / 4.0, 0.2, yaw)), accel, heading)
    other = controller.command(
        at_rest(Rot.from_euler(-roll / 4.0, 0.2, -yaw)), Vec(accel.x, -accel.y, 0.0), -heading
    )
    assert other.thrust == pytest.approx(one.thrust, abs=1e-9)
    assert other.rates.x == pytest.approx(-one.rates.x, abs=1e-6)
    assert other.rates.y == pytest.approx(one.rates.y, abs=1e-6)
    assert abs(other.rates.z) == pytest.approx(abs(one.rates.z), abs=1e-6)


def test_the_state_is_carried_over_the_commands_on_their_way(controller, params):
    lag = round((params.control.link_ms + params.airframe.rate_delay_ms) * NS_PER_MS)
    roll = Command(0.266, Vec(2.0, 0.0, 0.0))
    pitch = Command(0.266, Vec(0.0, -1.0, 0.0))
    controller.note(0, roll)
    controller.note(10 * NS_PER_MS, pitch)
    now = 20 * NS_PER_MS
    state = Kinematics(lag, Vec(0.0, 0.0, 0.0), Vec(4.0, 0.0, 0.0), LEVEL, HOVER, Vec(2.0, 0.0, 0.0))
    ahead = controller.ahead(state, now)
    # 10 ms of the first command's rate, then 10 ms of the second's
    wanted = Rot.exp(0.02, 0.0, 0.0) @ Rot.exp(0.0, -0.01, 0.0)
    assert ahead.t_ns == now + lag
    assert ahead.attitude.angle_to(wanted) < 1e-9
    assert ahead.position.x == pytest.approx(0.08, abs=1e-3)


def test_an_old_state_is_not_carried_without_end(controller, params):
    state = at_rest(velocity=Vec(10.0, 0.0, 0.0))
    ahead = controller.ahead(state, 10_000 * NS_PER_MS)
    assert ahead.position.x <= 10.0 * params.control.longest_ms / 1e3 + 1e-6
