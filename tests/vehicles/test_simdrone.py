"""The drone of seed 000's wire: its sticks by their literal signs, its hover, its thrust map."""

import numpy as np
import pytest

from racewire.vehicles.quad_params import pack, thrust_of


def flown(simdrone, pose, throttle, roll, pitch, yaw, seconds=0.25):
    """The motion after holding the sticks, from level flight facing north."""
    rates = simdrone.sticks_to_rates(roll, pitch, yaw)
    state = simdrone.initial(pose())
    simdrone.run(state, np.array([(throttle, rates.x, rates.y, rates.z)]), 1e-3, round(seconds * 1000))
    return simdrone.motion(state)


def test_throttle_055_hovers(simdrone, pose):
    motion = flown(simdrone, pose, 0.55, 0.0, 0.0, 0.0, 5.0)
    assert motion.specific_force.z == pytest.approx(-9.81, abs=0.01)
    assert abs(motion.velocity.z) < 0.15  # what it fell before the first thrust came
    assert flown(simdrone, pose, 0.50, 0.0, 0.0, 0.0, 1.0).velocity.z > 0.5
    assert flown(simdrone, pose, 0.60, 0.0, 0.0, 0.0, 1.0).velocity.z < -0.5


def test_thrust_is_affine_above_idle(simdrone):
    numbers = pack(simdrone.params)
    commands = np.linspace(0.1, 1.0, 10)
    thrusts = [thrust_of(numbers, c) for c in commands]
    assert np.diff(thrusts) == pytest.approx(2.18, abs=1e-9)
    assert thrust_of(numbers, 0.0) == 0.0


def test_roll_minus_one_is_left(simdrone, pose):
    motion = flown(simdrone, pose, 0.55, -1.0, 0.0, 0.0)
    roll, pitch, yaw = motion.ned_from_frd.euler()
    assert roll < -0.5  # left wing down
    assert (pitch, yaw) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert motion.velocity.y < -0.1  # to the west
    assert motion.velocity.x == pytest.approx(0.0, abs=1e-9)


def test_pitch_minus_one_is_nose_down(simdrone, pose):
    motion = flown(simdrone, pose, 0.55, 0.0, -1.0, 0.0)
    _, pitch, _ = motion.ned_from_frd.euler()
    assert pitch < -0.5
    assert motion.velocity.x > 0.1  # and so forward, to the north
    assert motion.velocity.y == pytest.approx(0.0, abs=1e-9)


def test_yaw_minus_one_is_counter_clockwise_seen_from_above(simdrone, pose):
    motion = flown(simdrone, pose, 0.55, 0.0, 0.0, -1.0)
    _, _, yaw = motion.ned_from_frd.euler()
    assert yaw < -0.5  # from north towards west
    assert (motion.velocity.x, motion.velocity.y) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_a_full_stick_is_the_full_rate_and_more_is_no_more(simdrone):
    full = simdrone.params.stick_rates
    assert simdrone.sticks_to_rates(1.0, 1.0, 1.0).array() == pytest.approx(full)
    assert simdrone.sticks_to_rates(-1.0, -1.0, -1.0).array() == pytest.approx(-np.array(full))
    assert simdrone.sticks_to_rates(7.0, -7.0, 7.0).array() == pytest.approx((full[0], -full[1], full[2]))
    assert simdrone.sticks_to_rates(0.5, -0.25, 0.1).array() == pytest.approx(
        (0.5 * full[0], -0.25 * full[1], 0.1 * full[2])
    )


def test_a_stick_that_is_not_a_number_is_left_for_the_vehicle_to_refuse(simdrone):
    assert np.isnan(simdrone.sticks_to_rates(np.nan, 0.0, 0.0).x)
