"""What goes wrong in the simulated world does so as configured, repeats, and starts over with a reset."""

import dataclasses
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from racewire.core.frames import Pose, Rot, Vec
from racewire.core.messages import Arm, Attitude, Heartbeat, Imu, LocalPosition, RateCommand, Track
from racewire.race.events import Finished, Started
from racewire.race.referee import Phase
from racewire.race.rules import load_rules
from racewire.sensors.imu import ImuNoise
from racewire.sim.faults import Mishaps, MotorLoss, SlowTelemetry, Wind, WorldFaults
from racewire.sim.simulator import RaceStart, SimConfig, Simulator, Truth
from racewire.sim.upsets import Air, crippled
from racewire.sim.world import VehicleInWorld
from racewire.vehicles import load_vehicle

MS = 10**6
S = 10**9
RATES = {"truth": 100, "image": 30, "imu": 120, "attitude": 120, "local_position": 97, "heartbeat": 10}
NOISE = ImuNoise(accel_noise=0.05, accel_bias=0.03, gyro_noise=0.005, gyro_bias=0.003)
GUSTY = Wind(north=-2.0, east=1.0, gust=1.5, gust_s=0.5)


def make(course, seed=1, **faults):
    rates = {name: Fraction(rate) for name, rate in RATES.items()}
    config = SimConfig(load_rules(), rates, imu=NOISE, start=RaceStart(), faults=WorldFaults(**faults))
    return Simulator(course, load_vehicle("racer"), config, seed)


def of(outputs, *kinds):
    return [item for item in outputs if isinstance(item, kinds)]


def fly(sim, zero=0, until=7 * S):
    """Arm at once, go up and forwards at GO; return all outputs until then."""
    sim.command(Arm(t_ns=0, arm=True))
    out = sim.advance(zero + 4200 * MS)
    sim.command(RateCommand(t_ns=0, thrust=0.4, rates=Vec(0.0, 0.0, 0.0)))
    return out + sim.advance(zero + until)


def truth(outputs):
    return of(outputs, Truth)[-1].motion


def moved(output, by):
    """Return an output with all its times moved."""
    times = {
        f.name: getattr(output, f.name) + by
        for f in dataclasses.fields(output)
        if f.name in ("t_ns", "start_ns") and getattr(output, f.name) is not None
    }
    return dataclasses.replace(output, **times)


EVERYTHING = {
    "wind": GUSTY,
    "motor": MotorLoss(after_go_s=0.5, motor="back_right"),
    "telemetry": SlowTelemetry(low=0.15, high=0.5, hold_s=0.3),
    "mishaps": Mishaps(disarm_after_go_s=2.5, track_delay_s=0.7),
}


@pytest.mark.parametrize("faults", [{}, EVERYTHING], ids=["clean", "everything goes wrong"])
@pytest.mark.parametrize("at_ns", [100 * MS, 2 * S, 5 * S + 333_333, 25 * S], ids=str)
def test_after_a_reset_at_any_time_all_is_as_in_a_new_simulator(course, faults, at_ns):
    sim = make(course, **faults)
    fly(sim, until=max(at_ns, 4200 * MS)) if at_ns > 4200 * MS else sim.advance(at_ns)
    zero = -(-(at_ns + 1) // MS) * MS  # a reset begins with the next tick
    sim.reset()
    again = fly(sim, zero)
    assert [moved(output, -zero) for output in again] == fly(make(course, **faults))


def test_a_reset_in_contact_and_one_after_the_finish_begin_anew(course):
    """The course's three gates stand due north: a vehicle put right before them finishes."""
    sim = make(course)
    fly(sim, until=4300 * MS)
    for gate in range(3):
        sim._world.state[:6] = (10.0 * (gate + 1) - 0.05, 0.0, 0.0, 10.0, 0.0, 0.0)
        out = sim.advance(4310 * MS + gate * 10 * MS)
    assert of(out, Finished)
    sim.reset()
    zero = sim._tick
    assert [moved(o, -zero) for o in fly(sim, zero)] == fly(make(course))
    sim._world.state[:6] = (10.0, 1.15, 0.0, 0.0, 0.0, 0.0)  # inside a gate's post
    sim.advance(zero + 7001 * MS)
    assert sim.race.contact_ns == zero + 7001 * MS
    sim.reset()
    zero = sim._tick
    assert [moved(o, -zero) for o in fly(sim, zero)] == fly(make(course))


def test_the_same_seed_has_the_same_faults_and_another_others(course):
    first, again, other = (truth(fly(make(course, seed, wind=GUSTY))) for seed in (1, 1, 2))
    assert first == again
    assert (first.position - other.position).norm() > 0.01


def test_steady_wind_carries_a_vehicle_as_if_the_ground_moved(course):
    """In air that moves with w, a flight is one in still air seen from a ground that moves with -w."""
    w, dt = np.array((3.0, -2.0, 0.5)), 1e-3
    command = np.array((0.3, 0.2, -0.4, 0.1))
    vehicle = load_vehicle("racer")
    still, windy = VehicleInWorld(vehicle, course), VehicleInWorld(vehicle, course)
    start = vehicle.initial(Pose(Vec(5.0, 5.0, -10.0), Rot.from_euler(0.1, -0.2, 0.5)))
    for world in (still, windy):
        world.state = start.copy()
        world._carrier = None
    windy.state[3:6] += w
    for _ in range(1000):
        still.tick(command, dt)
        windy.tick(command, dt, w)
    assert windy.state[3:6] - w == pytest.approx(still.state[3:6], abs=1e-9)
    assert windy.state[:3] - w == pytest.approx(still.state[:3], abs=1e-9)
    assert windy.state[6:13] == pytest.approx(still.state[6:13], abs=1e-12)


def test_wind_takes_a_hovering_vehicle_along_and_leaves_one_on_the_pad(course):
    on_pad = make(course, wind=Wind(north=8.0, east=-6.0))
    assert truth(on_pad.advance(S)).velocity == Vec(0.0, 0.0, 0.0)
    calm, windy = (
        truth(fly(make(course), until=6 * S)),
        truth(fly(make(course, wind=Wind(east=8.0)), until=6 * S)),
    )
    assert windy.velocity.y - calm.velocity.y > 0.5


def test_gusts_have_the_configured_mean_deviation_and_time_constant():
    air = Air(Wind(north=2.0, gust=1.5, gust_s=0.05), 3, 1e-3)
    v = np.array([air.next() for _ in range(60_000)])
    assert v.mean(axis=0) == pytest.approx([2.0, 0.0, 0.0], abs=0.15)
    assert v.std(axis=0) == pytest.approx([1.5] * 3, rel=0.06)
    east = v[:, 1]
    assert np.mean(east[50:] * east[:-50]) / np.mean(east**2) == pytest.approx(np.exp(-1.0), abs=0.06)
    assert np.corrcoef(v.T)[0, 1] == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(
    ("motor", "roll", "pitch", "yaw"),
    [
        ("front_left", -1, -1, 1),
        ("front_right", 1, -1, -1),
        ("back_left", -1, 1, -1),
        ("back_right", 1, 1, 1),
    ],
)
def test_a_lost_motor_takes_thrust_and_turns_towards_the_gap(motor, roll, pitch, yaw):
    loss = MotorLoss(after_go_s=0.0, motor=motor, thrust=0.7, tilt_rate=3.0, yaw_rate=2.0)
    obeyed = crippled(np.array((0.5, 0.1, 0.2, 0.3)), loss)
    assert obeyed == pytest.approx((0.35, 0.1 + 3 * roll, 0.2 + 3 * pitch, 0.3 + 2 * yaw))


def test_the_motor_is_lost_at_its_time_and_the_pilots_command_stands(course):
    whole, lost = fly(make(course)), fly(make(course, motor=MotorLoss(after_go_s=1.0)))
    go = of(whole, Started)[0].t_ns
    states = list(zip(of(whole, Truth), of(lost, Truth), strict=True))
    assert all(a == b for a, b in states if a.t_ns < go + S)
    later = [(a, b) for a, b in states if a.t_ns >= go + S + 200 * MS]
    assert all(b.motion.rates.x < -1.0 for _, b in later)
    assert all(a.command == b.command for a, b in later)


def test_a_slow_machine_sends_less_at_changing_rates(course):
    slow = make(course, telemetry=SlowTelemetry(low=0.15, high=0.5, hold_s=0.5)).advance(20 * S)
    imu = [m.t_ns for m in of(slow, Imu)]
    gaps = np.diff(imu) / S
    assert 1 / 60.1 < gaps.min() < 1 / 45.0
    assert 1 / 25.0 < gaps.max() < 1 / 17.9
    assert [m.t_ns for m in of(slow, Attitude)] == imu  # one rate, one machine
    assert len(of(slow, LocalPosition)) < len(imu)
    assert len(of(slow, Heartbeat)) == 201
    assert all(a < b for a, b in pairwise(imu))


def test_the_motors_stop_without_a_word_once(course):
    sim = make(course, mishaps=Mishaps(disarm_after_go_s=1.0))
    out = fly(sim)
    go = of(out, Started)[0].t_ns
    assert {m.armed for m in of(out, Heartbeat) if m.t_ns > go + S} == {False}
    assert of(out, Truth)[-1].command == (0.0, 0.0, 0.0, 0.0)
    assert sim.race.phase is Phase.RACING
    sim.command(Arm(t_ns=0, arm=True))
    sim.advance(8 * S)
    assert sim.armed


def test_a_late_track_comes_late_and_once(course):
    early, late = fly(make(course)), fly(make(course, mishaps=Mishaps(track_delay_s=0.7)))
    assert [m.t_ns for m in of(early, Track)] == [0]
    assert [m.t_ns for m in of(late, Track)] == [700 * MS]


@pytest.mark.parametrize(
    ("make_fault", "says"),
    [
        (lambda: Wind(north=101.0), "north must be within"),
        (lambda: Wind(gust=-1.0), "gust must be"),
        (lambda: Wind(gust_s=0.0), "gust_s must be"),
        (lambda: MotorLoss(motor="left"), "motor must be one of"),
        (lambda: MotorLoss(thrust=1.1), "thrust must be a share"),
        (lambda: MotorLoss(after_go_s=-1.0), "after_go_s must not be negative"),
        (lambda: SlowTelemetry(low=0.5, high=0.2), "low and high"),
        (lambda: SlowTelemetry(low=0.0), "low and high"),
        (lambda: SlowTelemetry(hold_s=0.0), "hold_s must be positive"),
        (lambda: Mishaps(track_delay_s=-0.1), "track_delay_s must not be negative"),
        (lambda: Mishaps(disarm_after_go_s=-0.1), "disarm_after_go_s must not be negative"),
    ],
)
def test_what_cannot_be_is_refused(make_fault, says):
    with pytest.raises(ValueError, match=says):
        make_fault()
