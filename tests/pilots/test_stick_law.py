import math
from dataclasses import replace

import numpy as np
import pytest

from racewire.core.config import load
from racewire.core.frames import Rot
from racewire.pilots import COMPLETION_CONFIG
from racewire.pilots.completion import CompletionParams
from racewire.pilots.stick_law import StickLaw

FLY = load(CompletionParams, COMPLETION_CONFIG).fly
STILL = np.zeros(3)
LEVEL = Rot.identity()


def sticks(wanted=(0.0, 0.0, 0.0), heading=0.0, attitude=LEVEL, velocity=STILL):
    return StickLaw(FLY).command(np.array(velocity), np.array(wanted), heading, attitude, 0.03)


def test_hover_is_the_published_throttle_and_centred_sticks():
    s = sticks()
    assert s.throttle == pytest.approx(0.55)
    assert (s.roll, s.pitch, s.yaw) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_signs_of_the_sticks():
    assert sticks(wanted=(1.0, 0.0, 0.0)).pitch < -0.05  # forward: nose down
    assert sticks(wanted=(0.0, 1.0, 0.0)).roll > 0.05  # to the right: right wing down
    assert sticks(wanted=(0.0, 0.0, -1.0)).throttle > 0.6  # up
    assert sticks(wanted=(0.0, 0.0, 1.0)).throttle < 0.5  # down
    assert sticks(heading=0.3).yaw > 0.05  # to the right: clockwise


def test_left_is_the_mirror_of_right():
    right, left = sticks(wanted=(2.0, 1.5, 0.0), heading=0.2), sticks(wanted=(2.0, -1.5, 0.0), heading=-0.2)
    assert (left.roll, left.yaw) == pytest.approx((-right.roll, -right.yaw))
    assert (left.throttle, left.pitch) == pytest.approx((right.throttle, right.pitch))


def test_world_velocity_is_turned_to_the_nose():
    east = Rot.from_euler(0.0, 0.0, math.pi / 2)
    s = sticks(wanted=(0.0, 1.0, 0.0), heading=math.pi / 2, attitude=east)
    assert s.pitch < -0.05
    assert s.roll == pytest.approx(0.0, abs=1e-6)


def test_shortest_way_round():
    almost_west = Rot.from_euler(0.0, 0.0, math.radians(179.0))
    assert sticks(heading=math.radians(-179.0), attitude=almost_west).yaw > 0.0


def test_thrust_makes_up_for_tilt():
    tilted = Rot.from_euler(0.0, math.radians(-30.0), 0.0)
    assert sticks(attitude=tilted).throttle == pytest.approx(0.1 + 0.45 / math.cos(math.radians(30.0)))


def test_integral_runs_on_the_given_clock_and_is_bounded():
    slow, fast = StickLaw(FLY), StickLaw(FLY)
    up = np.array((0.0, 0.0, -0.5))
    for _ in range(10):
        a = slow.command(STILL, up, 0.0, LEVEL, 0.02)
    for _ in range(5):
        b = fast.command(STILL, up, 0.0, LEVEL, 0.04)
    assert a.throttle == pytest.approx(b.throttle)
    for _ in range(10_000):
        a = slow.command(STILL, up, 0.0, LEVEL, 0.1)
    most = (9.81 + 0.5 * FLY.velocity_gain + FLY.integral_limit) / 9.81
    assert a.throttle <= 0.1 + 0.45 * most + 1e-9


def test_commands_stay_in_range():
    for wanted in ((1e3, -1e3, -1e3), (-1e3, 1e3, 1e3)):
        for attitude in (LEVEL, Rot.from_euler(2.5, 1.2, -3.0)):
            s = sticks(wanted=wanted, heading=9.0, attitude=attitude)
            assert 0.0 <= s.throttle <= 1.0
            assert max(abs(s.roll), abs(s.pitch), abs(s.yaw)) <= FLY.stick_limit


@pytest.mark.parametrize("bad", [{"idle_throttle": 0.6}, {"full_stick": (0.0, 1.0, 1.0)}])
def test_impossible_parameters_are_refused(bad):
    with pytest.raises(ValueError, match=r"throttle|stick"):
        replace(FLY, **bad)
