"""The vehicle among solid things: rest, bounces, friction, landing, lift-off."""

import numpy as np
import pytest

from racewire.core.frames import Pose, Rot, Vec
from racewire.sim.world import FRICTION, RESTITUTION, VehicleInWorld
from racewire.vehicles import VEHICLES, load_vehicle

DT = 1e-3
STILL = np.zeros(4)
LEVEL = Rot.identity()
FLOOR = 8.0
M, R, G = 0.83, 0.14, 9.81
HEIGHT = FLOOR - R
"""D of the centre of a vehicle on the floor."""


@pytest.fixture(params=VEHICLES)
def world(request, course):
    return VehicleInWorld(load_vehicle(request.param), course)


def put(world, position, velocity):
    """Throw the vehicle: level, motors off, at `position` with `velocity`."""
    state = world._vehicle.initial(Pose(Vec(*position), LEVEL))
    state[3:6] = velocity
    world.state, world._carrier = state, None


def ticks(world, command, count):
    return [world.tick(command, DT) for _ in range(count)]


def first_touch(world, command=STILL, most=5000):
    """Fly until something is touched; return the touch and the velocity just before."""
    for _ in range(most):
        before = world.state[3:6].copy()
        hit = world.tick(command, DT)
        if hit is not None:
            return hit, before
    raise AssertionError("nothing was touched")


def test_it_rests_on_the_pad_and_touches_it_all_the_time(world, course):
    start = world.state.copy()
    touches = ticks(world, STILL, 1500)
    assert world.state[:13].tolist() == start[:13].tolist()
    assert tuple(world.state[:3]) == (0.0, 0.0, 0.0)
    assert all(hit is not None and hit.gate is None for hit in touches)
    assert all(0.0 < hit.impulse < 0.05 for hit in touches)


def test_a_bounce_gives_the_impulse_of_the_velocity_reversed(world):
    put(world, (30.0, 10.0, HEIGHT - 1e-4), (0.0, 0.0, 3.0))
    hit = world.tick(STILL, DT)
    fallen = 3.0 + G * DT
    assert hit.gate is None
    # drag and idle thrust take about 1 m/s^2 of that millisecond
    assert hit.impulse == pytest.approx(M * (1.0 + RESTITUTION) * fallen, rel=5e-4)
    assert world.state[5] == pytest.approx(-RESTITUTION * fallen, rel=5e-4)
    assert world.state[2] == pytest.approx(HEIGHT, abs=1e-12)


def test_restitution_and_friction_are_what_they_are_said_to_be():
    assert (RESTITUTION, FRICTION) == (0.2, 0.4)


@pytest.mark.parametrize("slide", [3.0, -6.0])
def test_friction_brakes_along_the_surface_by_its_share_of_the_jump(world, slide):
    put(world, (30.0, 10.0, HEIGHT - 1e-4), (slide, 0.0, 2.0))
    hit = world.tick(STILL, DT)
    jump = 1.2 * (2.0 + G * DT)
    assert abs(world.state[3]) == pytest.approx(abs(slide) - 0.4 * jump, abs=3e-3)
    assert np.sign(world.state[3]) == np.sign(slide)
    assert hit.impulse == pytest.approx(M * np.hypot(jump, 0.4 * jump), rel=2e-3)


def test_friction_stops_a_slow_slide_and_never_reverses_it(world):
    put(world, (30.0, 10.0, HEIGHT - 1e-4), (0.3, -0.2, 2.0))
    world.tick(STILL, DT)
    assert world.state[3:5] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_a_hit_names_its_gate(world):
    put(world, (8.0, 1.05, 0.0), (6.0, 0.0, 0.0))
    hit, before = first_touch(world)
    assert hit.gate == 0
    assert before[0] > 5.0
    assert world.state[3] == pytest.approx(-RESTITUTION * before[0], rel=0.01)
    assert world.state[0] == pytest.approx(10.0 - 0.13 - R, abs=1e-9)


def test_it_flies_through_the_opening_untouched(world):
    put(world, (8.0, 0.0, -0.3), (12.0, 0.0, 0.0))
    assert ticks(world, STILL, 300) == [None] * 300
    assert world.state[0] > 11.0


def test_a_fall_comes_to_rest_on_the_floor(world):
    put(world, (30.0, 10.0, HEIGHT - 0.5), (1.0, 0.0, 0.0))
    ticks(world, STILL, 4000)
    rested = world.state[:6].copy()
    assert rested[2] == pytest.approx(HEIGHT, abs=1e-9)
    assert rested[3:6].tolist() == [0.0, 0.0, 0.0]
    touches = ticks(world, STILL, 500)
    assert world.state[:6].tolist() == rested.tolist()
    assert all(hit is not None for hit in touches)


def test_it_never_sinks_into_the_floor(world):
    put(world, (30.0, 10.0, HEIGHT - 2.0), (0.0, 2.0, 7.0))
    rng = np.random.default_rng(1)
    for command in rng.uniform((0.0, -3.0, -3.0, -2.0), (0.3, 3.0, 3.0, 2.0), (40, 4)):
        ticks(world, command, 50)
        assert world.state[2] <= HEIGHT + 0.0021
        assert np.isfinite(world.state[:13]).all()


def test_thrust_lifts_it_off_the_pad_and_the_contact_ends(world):
    up = np.array((0.9, 0.0, 0.0, 0.0))
    touches = ticks(world, up, 600)
    normal = Rot(*world.state[6:10]) @ Vec(0.0, 0.0, -1.0)
    assert world.state[5] < -1.0
    assert touches[0] is not None
    assert touches[-300:] == [None] * 300
    assert world.state[3] * normal.x + world.state[5] * normal.z > 1.0


def test_too_little_thrust_does_not_lift_it(world):
    weak = np.array((0.15, 0.0, 0.0, 0.0))
    assert all(hit is not None for hit in ticks(world, weak, 600))
    assert world.state[:3].tolist() == [0.0, 0.0, 0.0]


def test_reset_is_the_pad_again(world):
    start = world.state.tobytes()
    ticks(world, np.array((0.9, 1.0, 0.5, 0.2)), 700)
    assert world.state.tobytes() != start
    world.reset()
    assert world.state.tobytes() == start
    assert world.tick(STILL, DT) is not None


def test_a_flight_in_moving_air_is_one_in_still_air_seen_from_it(world):
    air = np.array((4.0, -3.0, 0.5))
    command = np.array((0.5, 0.4, -0.3, 0.2))
    put(world, (30.0, 10.0, 0.0), (1.0, 2.0, -1.0))
    for _ in range(100):
        world.tick(command, DT, air)
    windy = world.state.copy()
    put(world, (30.0, 10.0, 0.0), np.array((1.0, 2.0, -1.0)) - air)
    ticks(world, command, 100)
    assert windy[3:6] == pytest.approx(world.state[3:6] + air, abs=1e-9)
    assert windy[:3] == pytest.approx(world.state[:3] + 0.1 * air, abs=1e-9)
    assert windy[6:] == pytest.approx(world.state[6:], abs=1e-9)


def test_on_the_pad_it_is_sheltered_from_the_wind(world):
    for _ in range(300):
        world.tick(STILL, DT, np.array((20.0, 0.0, -5.0)))
    assert world.state[:6].tolist() == [0.0] * 6
