import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racewire.core.frames import Vec
from racewire.vehicles.quad_dynamics import QuadState
from racewire.vehicles.quad_flight import VECTOR_SIZE
from racewire.vehicles.quadrotor import Quadrotor

G = 9.81
IDLE = 0.35
NAMED = len(QuadState._fields)
PAD_DEG = -17.8


def named(state):
    return QuadState(*state[:NAMED])


@pytest.fixture(scope="module")
def airless(racer):
    """The racer without drag and lift, so that a fall with thrust has a closed form."""
    return Quadrotor(
        dataclasses.replace(racer.params, drag=(0.0, 0.0, 0.0), drag_sinking=0.0, lift=0.0, rate_lag=0.05)
    )


@pytest.fixture
def pad(racer, pose):
    """The racer on the VQ1 pad, and the pad's normal."""
    place = pose(pitch_deg=PAD_DEG, yaw_deg=180.0)
    return racer.initial(place), place.rotation @ Vec(0.0, 0.0, -1.0)


@pytest.mark.parametrize("dt", [1e-3, 2.5e-3, 7e-3, 1.0 / 120.0, 0.013, 0.02, 0.1])
def test_thrust_acts_15_ms_after_its_command(airless, pose, dt):
    state = airless.initial(pose())
    thrust = 25.8
    for k in range(1, 12):
        airless.step(state, np.array((0.5, 0.0, 0.0, 0.0)), dt)
        t = k * dt
        on = max(0.0, t - 0.015)
        assert named(state).vd == pytest.approx(G * t - IDLE * (t - on) - thrust * on, abs=2e-8)


@pytest.mark.parametrize("dt", [1e-3, 2.5e-3, 7e-3, 1.0 / 120.0, 0.013, 0.02, 0.1])
def test_rates_act_10_ms_after_their_command(airless, pose, dt):
    state = airless.initial(pose())
    for k in range(1, 12):
        airless.step(state, np.array((0.3, 2.0, -1.0, 0.5)), dt)
        rise = -math.expm1(-max(0.0, k * dt - 0.010) / airless.params.rate_lag)
        s = named(state)
        assert (s.p, s.q, s.r) == pytest.approx((2.0 * rise, -rise, 0.5 * rise), abs=1e-7)


def test_a_short_pulse_arrives_late_and_as_short(airless, pose):
    state = airless.initial(pose())
    commands = np.zeros((40, 4))
    commands[3, 0] = 0.5  # one millisecond of thrust
    speeds = []
    for command in commands:
        airless.step(state, command, 1e-3)
        speeds.append(named(state).vd)
    gained = np.diff([0.0, *speeds])
    assert np.argmin(gained) == 3 + 15
    assert gained[18] == pytest.approx((G - 25.8) * 1e-3)
    assert np.delete(gained, 18) == pytest.approx((G - IDLE) * 1e-3)


@pytest.mark.parametrize(("largest", "tolerance"), [((2.0, 2.0, 1.0), 2e-5), ((29.0, 29.0, 19.0), 2e-2)])
def test_steps_of_any_length_fly_the_same_path(racer, pose, largest, tolerance):
    # the first rates stay within the angular-acceleration limits, where the rate loop has no kink
    rng = np.random.default_rng(4)
    bound = np.array(largest)
    commands = rng.uniform((0.1, *-bound), (0.8, *bound), (20, 4))
    ends = []
    for dt, steps in ((20e-3, 1), (10e-3, 2), (4e-3, 5), (1e-3, 20), (0.2e-3, 100)):
        state = racer.initial(pose(5.0, -10.0, 20.0))
        racer.run(state, commands, dt, steps)
        ends.append(state[:NAMED])
    for end in ends[:-1]:
        assert end == pytest.approx(ends[-1], abs=tolerance)


def test_a_long_step_is_its_substeps_bit_for_bit(racer, pose):
    one, many = racer.initial(pose(5.0, -10.0, 20.0)), racer.initial(pose(5.0, -10.0, 20.0))
    racer.run(one, np.array([(0.5, 2.0, 1.0, -1.0)]), 0.015625, 64)  # after 1 s all commands act
    racer.run(many, np.array([(0.5, 2.0, 1.0, -1.0)]), 0.015625, 64)
    racer.run(one, np.array([(0.5, 2.0, 1.0, -1.0)]), 2.0**-6, 10)
    racer.run(many, np.array([(0.5, 2.0, 1.0, -1.0)]), 2.0**-9, 80)
    assert one[:NAMED].tobytes() == many[:NAMED].tobytes()


def test_loop_and_batch_are_the_single_step_bit_for_bit(racer, pose):
    rng = np.random.default_rng(5)
    rows, steps, dt = 37, 13, 1.3e-3
    starts = np.stack([racer.initial(pose(*rng.uniform(-180, 180, 3))) for _ in range(rows)])
    starts[:, 3:6] = rng.uniform(-20, 20, (rows, 3))
    batch = starts.copy()
    rounds = [rng.uniform((0, -30, -30, -20), (1, 30, 30, 20), (rows, 4)) for _ in range(6)]
    rounds[2][5] = np.nan
    rounds[3][7, 2] = np.inf
    for commands in rounds:
        racer.step_batch(batch, commands, dt, steps)
    for i, start in enumerate(starts):
        single, loop = start.copy(), start.copy()
        racer.run(loop, np.array([commands[i] for commands in rounds]), dt, steps)
        for commands in rounds:
            for _ in range(steps):
                racer.step(single, commands[i], dt)
        assert single.tobytes() == batch[i].tobytes(), i
        assert single.tobytes() == loop.tobytes(), i


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", range(4))
def test_a_command_that_is_not_finite_leaves_the_one_before_in_force(racer, pose, bad, field):
    good = np.array((0.4, 1.0, -2.0, 0.5))
    broken = good * 0.5
    broken[field] = bad
    one, other = racer.initial(pose()), racer.initial(pose())
    for k in range(60):
        racer.step(one, good, 1e-3)
        racer.step(other, broken if k > 20 else good, 1e-3)
    assert one.tobytes() == other.tobytes()


@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.floats()] * 4), min_size=1, max_size=30), st.floats(1e-4, 0.1))
def test_the_state_stays_finite_under_any_command(racer, pose, commands, dt):
    state = racer.initial(pose(pitch_deg=-10.0))
    normal = Vec(0.0, 0.0, -1.0)
    for k, command in enumerate(commands):
        if k % 3 == 2:
            racer.step_supported(state, np.array(command), dt, normal)
        else:
            racer.step(state, np.array(command), dt)
    s = named(state)
    assert np.isfinite(state[:NAMED]).all()
    assert 0.35 <= s.thrust <= 52.0
    assert max(abs(s.p), abs(s.q)) <= 29.2
    assert abs(s.r) <= 19.5


def test_on_the_pad_it_rests_and_the_imu_reads_the_published_force(racer, pad):
    state, normal = pad
    before = state.copy()
    for _ in range(300):
        racer.step_supported(state, np.array((0.0, 3.0, -3.0, 3.0)), 1e-3, normal)
    assert state[:13].tobytes() == before[:13].tobytes()
    motion = racer.motion(state)
    felt = motion.ned_from_frd.inverse() @ Vec(0.0, 0.0, -G)
    assert (felt.x, felt.y, felt.z) == pytest.approx((-2.999, 0.0, -9.340), abs=0.001)


@pytest.mark.parametrize(("command", "lifts"), [(0.255, False), (0.260, True)])
def test_it_lifts_off_where_thrust_overcomes_gravity_along_the_normal(racer, pad, command, lifts):
    # that is at 9.340 m/s^2, command 0.2571
    state, normal = pad
    for _ in range(300):
        racer.step_supported(state, np.array((command, 0.0, 0.0, 0.0)), 1e-3, normal)
    motion = racer.motion(state)
    rise = motion.velocity.dot(normal)
    assert (rise > 0.01) is lifts
    if not lifts:
        assert rise == pytest.approx(0.0, abs=1e-12)
        assert motion.position.dot(normal) == pytest.approx(0.0, abs=1e-12)


def test_on_the_pad_friction_lets_go_before_the_thrust_lifts(racer, pad):
    state, normal = pad
    # 0.8 of the 4.1 m/s^2 left on the pad holds the 3.0 of the slope; 0.8 of 1.0 does not
    for command, slides in ((0.175, False), (0.245, True)):
        for _ in range(100):
            racer.step_supported(state, np.array((command, 0.0, 0.0, 0.0)), 1e-3, normal)
        v = racer.motion(state).velocity
        assert (v.x < -0.01) is slides  # downhill is where it faces, south
        assert (v.z > 0.001) is slides


def test_lifted_off_it_flies_as_in_free_flight(racer, pad):
    state, normal = pad
    for _ in range(50):
        racer.step_supported(state, np.array((0.6, 0.0, 0.0, 0.0)), 1e-3, normal)
    free = state.copy()
    racer.step_supported(state, np.array((0.6, 1.0, 0.0, 0.0)), 1e-3, normal)
    racer.step(free, np.array((0.6, 1.0, 0.0, 0.0)), 1e-3)
    assert state.tobytes() == free.tobytes()


def test_a_slide_on_the_ground_is_braked_to_a_stop(racer, pose):
    state = racer.initial(pose())
    state[3] = 2.0
    travelled = 2.0**2 / (2.0 * racer.params.friction * (G - IDLE))
    for _ in range(2000):
        racer.step_supported(state, np.zeros(4), 1e-3, Vec(0.0, 0.0, -1.0))
    s = named(state)
    assert (s.vn, s.ve, s.vd) == (0.0, 0.0, 0.0)
    assert s.north == pytest.approx(travelled, rel=0.03)  # drag and the last 5 cm/s take their share
    assert (s.east, s.down) == (0.0, 0.0)


def test_motion_has_the_specific_force_of_free_flight(racer, pose, fly):
    state = fly(racer, pose(10.0, -30.0, 50.0), (0.45, 0.5, -0.3, 0.2), 0.8)
    middle = racer.motion(state)
    before, after = state.copy(), state.copy()
    racer.step(after, np.array((0.45, 0.5, -0.3, 0.2)), 1e-5)
    slope = (racer.motion(after).velocity - racer.motion(before).velocity) * 1e5
    felt = middle.ned_from_frd.inverse() @ (slope - Vec(0.0, 0.0, G))
    assert middle.specific_force.array() == pytest.approx(felt.array(), abs=1e-3)


@pytest.mark.parametrize("dt", [0.0, -1e-3, math.nan, math.inf, 1.5])
def test_an_impossible_step_is_refused(racer, pose, dt):
    state, command = racer.initial(pose()), np.zeros(4)
    calls = (
        lambda: racer.step(state, command, dt),
        lambda: racer.step_supported(state, command, dt, Vec(0.0, 0.0, -1.0)),
        lambda: racer.run(state, command[None], dt, 1),
        lambda: racer.step_batch(state[None], command[None], dt, 1),
    )
    for call in calls:
        with pytest.raises(ValueError, match="dt must be"):
            call()


def test_a_wrong_shape_is_refused_by_name(racer):
    states, commands = np.zeros((3, VECTOR_SIZE)), np.zeros((3, 4))
    with pytest.raises(ValueError, match="states must"):
        racer.step_batch(states[:, :-1].copy(), commands, 1e-3, 1)
    with pytest.raises(ValueError, match="commands must"):
        racer.step_batch(states, commands[:2], 1e-3, 1)
    with pytest.raises(ValueError, match="state must"):
        racer.run(states[0].astype(np.float32), commands, 1e-3, 1)
    with pytest.raises(ValueError, match="commands must"):
        racer.run(states[0], np.zeros((2, 3)), 1e-3, 1)
