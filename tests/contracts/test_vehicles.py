"""What every vehicle of the registry must do."""

import math

import numpy as np
import pytest

from racewire.core.errors import ConfigError
from racewire.core.frames import Pose, Rot, Vec
from racewire.vehicles import VEHICLES, load_vehicle

UP = Vec(0.0, 0.0, -1.0)
PLACE = Pose(Vec(3.0, -2.0, -5.0), Rot.from_euler(0.2, -0.3, 2.5))
LEVEL = Pose(Vec(3.0, -2.0, -5.0), Rot.from_euler(0.0, 0.0, 2.5))


@pytest.fixture(params=VEHICLES)
def vehicle(request):
    return load_vehicle(request.param)


def commands(count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform((0.0, -5.0, -5.0, -3.0), (1.0, 5.0, 5.0, 3.0), (count, 4))


def fly(vehicle, state, flown, dt=1e-3):
    for command in flown:
        vehicle.step(state, command, dt)
    return state


def test_an_unknown_name_is_refused_with_the_valid_ones():
    with pytest.raises(ConfigError, match=r"'plane'.*racer, simdrone"):
        load_vehicle("plane")


def test_it_has_a_size_and_a_mass(vehicle):
    assert 0.0 < vehicle.radius < 1.0
    assert 0.0 < vehicle.mass < 100.0


def test_it_starts_at_rest_where_it_is_put(vehicle):
    state = vehicle.initial(PLACE)
    motion = vehicle.motion(state)
    assert motion.pose == PLACE
    assert motion.velocity == Vec(0.0, 0.0, 0.0)
    assert motion.rates == Vec(0.0, 0.0, 0.0)


def test_its_state_is_one_vector_with_position_and_velocity_first(vehicle):
    state = fly(vehicle, vehicle.initial(PLACE), commands(50))
    assert state.ndim == 1
    assert state.dtype == np.float64
    assert state.flags.c_contiguous
    motion = vehicle.motion(state)
    assert tuple(state[:3]) == tuple(motion.position.array())
    assert tuple(state[3:6]) == tuple(motion.velocity.array())


def test_a_copied_state_flies_on_alike(vehicle):
    state = fly(vehicle, vehicle.initial(PLACE), commands(30))
    copy = state.copy()
    fly(vehicle, vehicle.initial(PLACE), commands(10, seed=1))  # another flight of the same vehicle between
    assert fly(vehicle, copy, commands(40)).tobytes() == fly(vehicle, state, commands(40)).tobytes()


def test_two_of_a_name_are_the_same_vehicle(request, vehicle):
    twin = load_vehicle(request.node.callspec.params["vehicle"])
    one = fly(vehicle, vehicle.initial(PLACE), commands(40))
    assert one.tobytes() == fly(twin, twin.initial(PLACE), commands(40)).tobytes()


def test_it_falls_without_thrust_and_climbs_with_all_of_it(vehicle):
    for thrust, sign in ((0.0, 1.0), (1.0, -1.0)):
        state = fly(vehicle, vehicle.initial(LEVEL), [np.array((thrust, 0.0, 0.0, 0.0))] * 500)
        assert sign * vehicle.motion(state).velocity.z > 1.0


@pytest.mark.parametrize("axis", range(3))
def test_positive_rates_turn_right_nose_up_clockwise(vehicle, axis):
    command = np.zeros(4)
    command[1 + axis] = 1.0
    level = Pose(Vec(0.0, 0.0, 0.0), Rot.identity())
    state = fly(vehicle, vehicle.initial(level), [command] * 200)
    angles = vehicle.motion(state).ned_from_frd.euler()
    assert angles[axis] > 0.1
    assert [angles[i] for i in range(3) if i != axis] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_positive_sticks_are_positive_rates(vehicle):
    rates = vehicle.sticks_to_rates(0.5, 0.5, 0.5)
    assert min(rates.x, rates.y, rates.z) > 0.0
    assert vehicle.sticks_to_rates(-0.5, -0.5, -0.5) == -rates


def test_it_rests_on_level_ground_until_it_lifts(vehicle):
    state = vehicle.initial(LEVEL)
    for _ in range(100):
        vehicle.step_supported(state, np.zeros(4), 1e-3, UP)
    motion = vehicle.motion(state)
    assert motion.pose == LEVEL
    assert motion.velocity == Vec(0.0, 0.0, 0.0)
    for _ in range(200):
        vehicle.step_supported(state, np.array((1.0, 0.0, 0.0, 0.0)), 1e-3, UP)
    assert vehicle.motion(state).velocity.z < -0.5


def test_it_does_not_sink_into_what_it_falls_on(vehicle):
    state = vehicle.initial(LEVEL)
    state[5] = 4.0
    for _ in range(100):
        vehicle.step_supported(state, np.zeros(4), 1e-3, UP)
    assert state[5] == 0.0
    assert state[2] == LEVEL.position.z


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_command_that_is_not_finite_changes_nothing(vehicle, bad):
    good = np.array((0.5, 1.0, -1.0, 0.5))
    start = fly(vehicle, vehicle.initial(PLACE), [good] * 10)
    for i in range(4):
        broken = good.copy()
        broken[i] = bad
        held, kept = start.copy(), start.copy()
        assert fly(vehicle, held, [broken] * 50).tobytes() == fly(vehicle, kept, [good] * 50).tobytes()


def test_an_absurd_command_leaves_the_motion_finite(vehicle):
    state = vehicle.initial(PLACE)
    for absurd in (1e300, -1e300, 1e9, -1e9):
        fly(vehicle, state, [np.full(4, absurd)] * 100, dt=8e-3)
    motion = vehicle.motion(state)
    values = (motion.position, motion.velocity, motion.rates, motion.specific_force)
    assert all(np.isfinite(value.array()).all() for value in values)
    q = motion.ned_from_frd
    assert math.hypot(q.w, q.x, q.y, q.z) == pytest.approx(1.0, abs=1e-12)


def test_its_step_is_its_motion(vehicle):
    state = fly(vehicle, vehicle.initial(PLACE), [np.array((0.6, 0.4, -0.2, 0.3))] * 400)
    before = vehicle.motion(state)
    vehicle.step(state, np.array((0.6, 0.4, -0.2, 0.3)), 1e-5)
    after = vehicle.motion(state)
    moved = (after.position - before.position) * 1e5
    assert moved.array() == pytest.approx(before.velocity.array(), abs=1e-3)
    slope = (after.velocity - before.velocity) * 1e5
    felt = before.ned_from_frd.inverse() @ (slope - Vec(0.0, 0.0, 9.81))
    assert felt.array() == pytest.approx(before.specific_force.array(), abs=2e-3)
    turned = (before.ned_from_frd.inverse() @ after.ned_from_frd).log()
    assert np.array(turned) * 1e5 == pytest.approx(before.rates.array(), abs=1e-4)


def test_the_ceiling_on_a_step_is_told(vehicle):
    with pytest.raises(ValueError, match="dt"):
        vehicle.step(vehicle.initial(PLACE), np.zeros(4), 0.0)
