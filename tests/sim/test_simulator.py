"""The simulator: sensors on time, arming, countdown, GO, and what no command can do to it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racewire.core.clock import tick_time
from racewire.core.errors import ConfigError
from racewire.core.frames import Vec
from racewire.core.messages import (
    Arm,
    Attitude,
    Collision,
    Heartbeat,
    Imu,
    LocalPosition,
    MotorOutput,
    Odometry,
    RaceStatus,
    RateCommand,
    Reset,
    StickCommand,
    Track,
)
from racewire.race.events import Collided, Disqualified, Finished, GatePassed, OutOfBounds, Started
from racewire.race.referee import Phase
from racewire.race.rules import load_rules
from racewire.sensors.imu import ImuNoise
from racewire.sim.simulator import Exposure, RaceStart, SimConfig, Simulator, Truth
from racewire.vehicles import load_vehicle
from racewire.world.course import load_course

MS = 10**6
S = 10**9
RATES = {
    "truth": 100,
    "image": 30,
    "imu": 120,
    "attitude": 120,
    "local_position": 97,
    "odometry": 75,
    "motors": 97,
    "race_status": 4,
    "heartbeat": 10,
}
NOISE = ImuNoise(accel_noise=0.05, accel_bias=0.03, gyro_noise=0.005, gyro_bias=0.003)


def make(course, *, seed=0, vehicle="racer", rates=RATES, **config):
    exact = {name: Fraction(str(rate)) for name, rate in rates.items()}
    config = {"imu": ImuNoise(), "start": RaceStart(), **config}
    return Simulator(course, load_vehicle(vehicle), SimConfig(load_rules(), exact, **config), seed)


def push(thrust, p=0.0, q=0.0, r=0.0):
    return RateCommand(t_ns=0, thrust=thrust, rates=Vec(p, q, r))


def of(outputs, *kinds):
    return [item for item in outputs if isinstance(item, kinds)]


def arm(sim):
    sim.command(Arm(t_ns=0, arm=True))


def race(sim, at_ns=500 * MS):
    """Arm at `at_ns` and wait for GO; return all outputs until then."""
    out = sim.advance(at_ns)
    arm(sim)
    return out + sim.advance(at_ns + 4 * S)


def last_command(sim, now):
    return of(sim.advance(now), Truth)[-1].command


@pytest.fixture
def sim(course):
    return make(course)


def test_on_the_vq1_pad_the_imu_reads_what_was_published():
    sim = make(load_course("vq1"))
    samples = of(sim.advance(S), Imu)
    assert len(samples) == 121
    for sample in samples:
        assert sample.specific_force.array() == pytest.approx((-2.999, 0.0, -9.340), abs=1e-3)
        assert sample.rates == Vec(0.0, 0.0, 0.0)


def test_every_topic_comes_at_the_exact_times_of_its_rate(course):
    sim = make(course, rates={**RATES, "imu": 62.9})
    out = sim.advance(2 * S)
    kinds = {
        "truth": (Truth, 100),
        "image": (Exposure, 30),
        "imu": (Imu, Fraction(629, 10)),
        "attitude": (Attitude, 120),
        "local_position": (LocalPosition, 97),
        "odometry": (Odometry, 75),
        "motors": (MotorOutput, 97),
        "race_status": (RaceStatus, 4),
        "heartbeat": (Heartbeat, 10),
    }
    for kind, rate in kinds.values():
        stamps = [item.t_ns for item in of(out, kind)]
        assert stamps == [t for k in range(len(stamps) + 1) if (t := tick_time(k, rate)) <= 2 * S]
    assert [e.frame_id for e in of(out, Exposure)] == list(range(61))


def test_outputs_come_in_order_of_time(course):
    stamps = [item.t_ns for item in race(make(course))]
    assert stamps == sorted(stamps)


def test_a_topic_without_a_rate_is_not_made_and_an_unknown_one_is_an_error(course):
    out = make(course, rates={"imu": 100}).advance(S)
    assert not of(out, Attitude, Odometry, Exposure, RaceStatus)
    with pytest.raises(ConfigError, match="no sensor measures 'sonar'"):
        make(course, rates={"sonar": 10}).advance(S)


@settings(max_examples=12)
@given(st.lists(st.integers(0, 700 * MS), max_size=40), st.integers(0, 3))
def test_outputs_do_not_depend_on_how_time_is_cut_up(course, cuts, seed):
    whole, cut = (make(course, seed=seed, imu=NOISE, start=RaceStart(settle_s=0.1)) for _ in range(2))
    for sim in (whole, cut):
        arm(sim)
    pieces = [item for now in sorted({*cuts, 700 * MS}) for item in cut.advance(now)]
    assert pieces == whole.advance(700 * MS)


def test_due_names_the_next_output_and_nothing_comes_before_it(sim):
    for _ in range(200):
        due = sim.due()
        early = sim.advance(due - 1)
        assert of(early, Imu, Attitude, Exposure, Truth, RaceStatus, Heartbeat) == []
        assert any(item.t_ns == due for item in sim.advance(due))


def test_a_command_takes_effect_when_it_comes_not_before(course):
    sim = make(course)
    race(sim)
    sim.command(push(0.9))
    first = of(sim.advance(sim.due()), Truth)
    assert all(t.motion.velocity.norm() < 1e-9 for t in first)
    later = of(sim.advance(5 * S), Truth)
    assert later[-1].motion.velocity.norm() > 3.0


def test_commands_before_arming_are_ignored_and_not_kept(sim):
    sim.advance(100 * MS)
    sim.command(push(0.9))
    assert last_command(sim, 600 * MS) == (0.0, 0.0, 0.0, 0.0)
    arm(sim)
    assert last_command(sim, 700 * MS) == (0.0, 0.0, 0.0, 0.0)
    assert sim.race.phase is Phase.WAITING


def test_arming_settles_counts_down_and_goes(sim):
    out = race(sim, 500 * MS)
    track = of(out, Track)
    assert [(t.t_ns, len(t.gates)) for t in track] == [(500 * MS, 3)]
    statuses = of(out, RaceStatus)
    assert all(s.start_ns is None for s in statuses if s.t_ns < 1500 * MS)
    assert all(s.start_ns == 4500 * MS for s in statuses if s.t_ns >= 1500 * MS)
    assert of(out, Started) == [Started(4500 * MS)]
    assert sim.race.phase is Phase.RACING
    assert not sim.over
    assert [h.armed for h in of(out, Heartbeat)] == [t * 100 * MS > 500 * MS for t in range(46)]
    motors = of(out, MotorOutput)
    assert {m.front_left for m in motors if m.t_ns < 500 * MS} == {0.0}
    assert {m.back_right for m in motors if m.t_ns > 500 * MS} == {0.05}


def test_arming_again_changes_nothing(sim):
    race(sim)
    arm(sim)
    assert of(sim.advance(9 * S), Started, Track) == []
    assert sim.race.start_ns == 4500 * MS


def test_a_race_may_start_by_the_clock(course):
    sim = make(course, start=RaceStart(on_arm=False, after_s=2.0))
    arm(sim)
    out = sim.advance(5 * S)
    assert of(out, Started) == [Started(5 * S)]
    assert [t.t_ns for t in of(out, Track)] == [1 * S]


def test_or_when_it_is_told_to_and_only_then(course):
    sim = make(course, start=RaceStart(on_arm=False))
    arm(sim)
    assert of(sim.advance(6 * S), Started) == []
    sim.start()
    assert of(sim.advance(11 * S), Started) == [Started(10 * S)]


def test_thrust_before_go_is_an_early_start(sim):
    sim.advance(500 * MS)
    arm(sim)
    sim.advance(3000 * MS)
    sim.command(push(0.3))
    (event,) = of(sim.advance(3100 * MS), Disqualified)
    assert event == Disqualified(3001 * MS, "Early Start 1499 ms")
    assert sim.over
    assert sim.verdict.disqualified
    assert sim.verdict.reason == "Early Start 1499 ms"
    assert not sim.verdict.finished


def test_zero_thrust_before_go_is_none(sim):
    sim.advance(500 * MS)
    arm(sim)
    for now in range(600, 4600, 100):
        sim.advance(now * MS)
        sim.command(push(0.0))
    assert sim.race.phase is Phase.RACING


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("axis", range(4))
def test_a_command_that_is_not_finite_leaves_the_last_one_in_force(course, bad, axis):
    sim = make(course)
    race(sim)
    sim.command(push(0.4, 0.1, 0.2, 0.3))
    sim.advance(4600 * MS)
    broken = [0.9, 1.0, 1.0, 1.0]
    broken[axis] = bad
    sim.command(push(*broken))
    sim.command(StickCommand(t_ns=0, throttle=broken[0], roll=broken[1], pitch=broken[2], yaw=broken[3]))
    truth = of(sim.advance(4800 * MS), Truth)
    assert {t.command for t in truth} == {(0.4, 0.1, 0.2, 0.3)}
    assert np.isfinite(truth[-1].motion.position.array()).all()


@pytest.mark.parametrize("absurd", [1e30, -1e30, 1e300, -1e300])
def test_an_absurd_command_leaves_the_state_finite(course, absurd):
    sim = make(course)
    race(sim)
    sim.command(push(absurd, absurd, -absurd, absurd))
    for t in of(sim.advance(6 * S), Truth):
        m = t.motion
        for vector in (m.position, m.velocity, m.rates, m.specific_force):
            assert np.isfinite(vector.array()).all()


def test_sticks_go_through_the_vehicles_curve(course):
    sim = make(course)
    race(sim)
    sim.command(StickCommand(t_ns=0, throttle=0.5, roll=0.2, pitch=-0.1, yaw=0.4))
    rates = load_vehicle("racer").sticks_to_rates(0.2, -0.1, 0.4)
    assert last_command(sim, 4600 * MS) == (0.5, rates.x, rates.y, rates.z)


def test_disarming_stops_the_motors_and_not_the_race(sim):
    race(sim)
    sim.command(push(0.9))
    sim.advance(4700 * MS)
    sim.command(Arm(t_ns=0, arm=False))
    out = sim.advance(5000 * MS)
    assert {t.command for t in of(out, Truth)} == {(0.0, 0.0, 0.0, 0.0)}
    assert {m.front_right for m in of(out, MotorOutput)} == {0.0}
    assert {h.armed for h in of(out, Heartbeat)} == {False}
    sim.command(push(0.9))
    assert last_command(sim, 5100 * MS) == (0.0, 0.0, 0.0, 0.0)
    assert sim.race.phase is Phase.RACING


def test_a_soft_reset_puts_it_back_disarmed_and_waits(sim, course):
    race(sim)
    sim.command(push(0.9))
    sim.advance(5 * S)
    sim.command(Reset(t_ns=0, hard=False))
    assert sim.race.phase is Phase.WAITING
    assert not sim.armed
    out = sim.advance(12 * S)
    first = of(out, Odometry)[0]
    assert (first.position, first.ned_from_frd) == (course.pad.position, course.pad.rotation)
    assert {o.resets for o in of(out, Odometry)} == {1}
    assert of(out, Started) == []
    assert {h.armed for h in of(out, Heartbeat)} == {False}
    assert all(s.start_ns is None for s in of(out, RaceStatus))


def test_a_hard_reset_counts_down_anew(sim):
    race(sim)
    sim.advance(5 * S)
    sim.command(Reset(t_ns=0, hard=True))
    assert not sim.armed
    out = sim.advance(10 * S)
    assert of(out, Started) == [Started(9001 * MS)]
    assert len(of(out, Track)) == 1


def shifted(sim, zero, count):
    """Return what the sensors say in the first second after `zero`, without absolute times."""
    out = sim.advance(zero + S)
    return [
        (m.t_ns - zero, m.specific_force, m.rates)
        if isinstance(m, Imu)
        else (m.t_ns - zero, m.frame_id, m.pose)
        for m in of(out, Imu, Exposure)
        if m.t_ns >= zero
    ][:count]


def test_after_a_reset_everything_is_as_at_boot_but_the_clock(course):
    fresh, used = make(course, imu=NOISE), make(course, imu=NOISE)
    race(used)
    used.command(push(0.8, 0.5))
    used.advance(5123 * MS + 456_789)
    used.command(Reset(t_ns=0, hard=False))
    assert shifted(used, 5124 * MS, 100) == shifted(fresh, 0, 100)


def test_the_clock_never_goes_back_at_a_reset(sim):
    out = race(sim)
    for k in range(5):
        sim.command(Reset(t_ns=0, hard=bool(k % 2)))
        out += sim.advance(5 * S + k * 700 * MS + k)
    stamps = [item.t_ns for item in out]
    assert stamps == sorted(stamps)


def test_out_of_bounds_is_the_pad_again_and_disarmed(sim, course):
    race(sim)
    sim.command(push(0.9))
    out = sim.advance(8 * S)
    (left,) = of(out, OutOfBounds)
    assert 5 * S < left.t_ns < 7 * S
    after = [o for o in of(out, Odometry) if o.t_ns > left.t_ns]
    assert {o.resets for o in of(out, Odometry) if o.t_ns < left.t_ns} == {0}
    assert {o.resets for o in after} == {1}
    assert {o.position for o in after} == {course.pad.position}
    assert max(o.ned_from_frd.angle_to(course.pad.rotation) for o in after) < 1e-9
    assert {h.armed for h in of(out, Heartbeat) if h.t_ns > left.t_ns} == {False}
    assert sim.race.phase is Phase.RACING
    arm(sim)
    sim.command(push(0.9))
    assert of(sim.advance(8500 * MS), Truth)[-1].motion.velocity.norm() > 3.0


def test_a_lasting_contact_is_reported_at_most_250_times_a_second(sim):
    out = sim.advance(2 * S)
    told, events = of(out, Collision), of(out, Collided)
    assert 490 <= len(told) <= 500
    assert [c.t_ns for c in told] == [e.t_ns for e in events]
    assert min(np.diff([c.t_ns for c in told])) >= 4 * MS
    assert all(not c.with_gate and c.impulse > 0.0 for c in told)


def throw(sim, north, east, speed):
    """Put the vehicle level in the air, flying north."""
    world = sim._world
    state = world.state
    state[:6] = (north, east, 0.0, speed, 0.0, -0.5)
    state[6:10] = (1.0, 0.0, 0.0, 0.0)
    world._carrier = None


def test_the_last_gate_ends_the_race(sim):
    race(sim)
    out = []
    for gate in range(3):
        throw(sim, 10.0 * (gate + 1) - 0.55, 0.0, 10.0)
        out += sim.advance(4500 * MS + (gate + 1) * 100 * MS)
        assert sim.over is (gate == 2)
    assert [e.gate for e in of(out, GatePassed)] == [0, 1, 2]
    (finish,) = of(out, Finished)
    # 0.55 m at a good 10 m/s, in the third tenth of a second
    assert finish.race_ns == pytest.approx(255 * MS, abs=2 * MS)
    assert sim.verdict.finished
    assert sim.verdict.race_time_s == finish.race_ns / 1e9
    assert (sim.verdict.gates_passed, sim.verdict.gates_total) == (3, 3)
    status = of(sim.advance(6 * S), RaceStatus)[-1]
    assert (status.finish_ns, status.active_gate) == (finish.race_ns, 3)


def test_a_gate_hit_says_so(sim):
    race(sim)
    throw(sim, 5.0, 1.05, 10.0)
    out = sim.advance(5100 * MS)
    (hit, *_) = of(out, Collision)
    assert hit.with_gate
    before = [t.motion.velocity.x for t in of(out, Truth) if t.t_ns < hit.t_ns][-1]
    # it falls meanwhile: friction against the frame adds its share
    assert hit.impulse == pytest.approx(0.83 * 1.2 * before * math.hypot(1.0, 0.4), rel=0.02)
    assert sim.verdict.collisions == 1


def test_exposures_name_the_next_gate_and_the_true_pose(sim):
    race(sim)
    throw(sim, 9.5, 0.0, 10.0)
    exposures = of(sim.advance(5 * S), Exposure)
    assert [e.active_gate for e in exposures][-1] == 1
    assert exposures[1].pose.position.x == pytest.approx(9.5 + (exposures[1].t_ns - 4.5 * S) * 1e-8, abs=0.02)


def test_speed_and_truth_are_the_state_now(sim):
    assert (sim.speed, sim.truth.motion.velocity) == (0.0, Vec(0.0, 0.0, 0.0))
    race(sim)
    throw(sim, 9.5, 0.0, 10.0)
    assert sim.speed == pytest.approx(math.hypot(10.0, 0.5))


def raw(course):
    return make(
        course, vehicle="simdrone", always_armed=True, rates={"imu": 120, "attitude": 120, "truth": 100}
    )


def test_a_vehicle_without_arming_races_from_its_first_command(course):
    sim = raw(course)
    sim.advance(S)
    assert sim.race.phase is Phase.WAITING
    sim.command(StickCommand(t_ns=0, throttle=0.8, roll=0.0, pitch=0.0, yaw=0.0))
    assert sim.race.phase is Phase.RACING
    assert sim.race.start_ns == S
    out = sim.advance(2 * S)
    assert of(out, Started) == [Started(S)]
    assert of(out, Truth)[-1].motion.velocity.norm() > 1.0


def test_a_bad_first_command_starts_nothing(course):
    sim = raw(course)
    sim.command(StickCommand(t_ns=0, throttle=math.nan, roll=0.0, pitch=0.0, yaw=0.0))
    sim.advance(S)
    assert sim.race.phase is Phase.WAITING


def test_a_vehicle_without_arming_stays_armed(course):
    sim = raw(course)
    sim.command(Arm(t_ns=0, arm=False))
    assert sim.armed
    sim.command(Reset(t_ns=0, hard=False))
    assert sim.armed
