import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from racewire.core.clock import NS_PER_MS, NS_PER_S
from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.core.messages import (
    Ack,
    Arm,
    Attitude,
    Collision,
    Heartbeat,
    Image,
    Imu,
    LocalPosition,
    Odometry,
    RaceStatus,
    RateCommand,
    Track,
)
from racewire.pilots.gate_pilot import GatePilot, see

PAD: Rot[Ned, Frd] = Rot.from_euler(0.0, math.radians(-17.8), 0.0)
FORCE = PAD.inverse() @ Vec(0.0, 0.0, -9.81)
ZERO = Vec(0.0, 0.0, 0.0)
NOTHING = struct.pack("<I", 0)


def imu(t_ns, force=FORCE, rates=ZERO):
    return Imu(t_ns=t_ns, specific_force=force, rates=rates)


def race(t_ns, start_ns, finish_ns=None, gate=0):
    return RaceStatus(t_ns=t_ns, start_ns=start_ns, finish_ns=finish_ns, active_gate=gate, last_gate_ns=None)


def on_the_pad(pilot, until_ms, start_ms=2000, *, frames=True):
    """Let a pilot live on the pad, in steps of 4 ms; yield the time in ms and what it sent."""
    for t in range(0, until_ms, 4):
        now, inbox = t * NS_PER_MS, []
        if t % 8 == 0:
            inbox.append(imu(now))
        if t % 100 == 0:
            inbox.append(Heartbeat(t_ns=now, armed=t >= 200))
        if t % 248 == 0 and t > 300:
            inbox.append(race(now, start_ms * NS_PER_MS))
        if frames and t % 32 == 0:
            inbox.append(Image(t_ns=now - 20 * NS_PER_MS, frame_id=t // 32, jpeg=NOTHING))
        yield t, inbox, pilot.step(now, inbox)


def commands(out):
    return [message for message in out if isinstance(message, RateCommand)]


def test_no_thrust_before_go_and_thrust_after(pilot):
    for t, _, out in on_the_pad(pilot, 2400):
        for command in commands(out):
            if t < 2020:
                assert command.thrust == 0.0
                assert command.rates == ZERO
            elif t > 2100:
                assert command.thrust > 0.1


def test_one_command_for_every_frame_and_sixty_a_second_in_between(pilot):
    last = 0
    for t, inbox, out in on_the_pad(pilot, 3500):
        sent = commands(out)
        assert len(sent) <= 1
        if any(isinstance(message, Image) for message in inbox):
            assert len(sent) == 1
        if sent:
            assert t - last <= 1000 / 60
            last = t
    assert 3500 - last < 20


def test_it_is_never_silent_even_if_nothing_arrives(pilot):
    for _ in on_the_pad(pilot, 2500):
        pass
    now, sent = 2500 * NS_PER_MS, 0
    while now < 12_500 * NS_PER_MS:
        now = max(now, pilot.due())
        sent += len(commands(pilot.step(now, [])))
        now += 1
    assert sent >= 600


def test_arming_is_asked_for_until_confirmed(pilot):
    asked = [
        t for t in range(0, 3000, 5) for message in pilot.step(t * NS_PER_MS, []) if isinstance(message, Arm)
    ]
    assert asked == [0, 1000, 2000]


def test_lost_after_thirty_frames_then_it_searches_and_goes_on_commanding(pilot):
    phases = {}
    headings = set()
    for t, _, out in on_the_pad(pilot, 6000):
        phases.setdefault(pilot.status().phase, t)
        headings |= {command.rates.z > 0.0 for command in commands(out)} if t > 4000 else set()
    assert 2020 <= phases["flying"] <= 2030
    assert phases["lost"] - phases["flying"] == pytest.approx(1000, abs=70)
    assert len(headings) == 2  # the nose goes both ways


def test_without_any_frames_it_is_lost_as_well(pilot):
    phases = {}
    for t, _, _ in on_the_pad(pilot, 3600, frames=False):
        phases.setdefault(pilot.status().phase, t)
    assert phases["lost"] - phases["flying"] == pytest.approx(1060, abs=80)


def test_pose_and_track_are_not_read(params, world):
    def told(t):
        now = t * NS_PER_MS
        return [
            Attitude(t_ns=now, ned_from_frd=Rot.from_euler(1.0, 1.0, 1.0), rates=Vec(9.0, 9.0, 9.0)),
            LocalPosition(t_ns=now, position=Vec(50.0, 50.0, 50.0), velocity=Vec(9.0, 9.0, 9.0)),
            Odometry(
                t_ns=now,
                position=Vec(7.0, 7.0, 7.0),
                ned_from_frd=Rot.from_euler(0.5, 0.5, 2.0),
                velocity=Vec(5.0, 5.0, 5.0),
                rates=Vec(1.0, 2.0, 3.0),
            ),
            Track(t_ns=now, gates=()),
        ]

    honest, tempted = world.make(params), world.make(params)
    for t, inbox, out in on_the_pad(honest, 3000):
        assert tempted.step(t * NS_PER_MS, [*told(t), *inbox]) == out


def test_a_step_of_the_clock_at_the_first_message_is_borne(pilot):
    host = 7 * 3600 * NS_PER_S
    pilot.step(host, [])
    sent = [len(commands(out)) for _, _, out in on_the_pad(pilot, 400)]
    assert sum(sent) >= 24


def test_found_disarmed_it_falls_silent_and_asks_again(pilot):
    for _ in on_the_pad(pilot, 3000):
        pass
    assert pilot.status().phase in ("flying", "lost")
    out = pilot.step(3000 * NS_PER_MS, [Heartbeat(t_ns=0, armed=False)])
    assert any(isinstance(message, Arm) for message in out)
    out = pilot.step(3020 * NS_PER_MS, [])
    assert commands(out)[0].thrust == 0.0


def test_the_finish_is_a_hover(pilot):
    for _ in on_the_pad(pilot, 3000):
        pass
    pilot.step(3000 * NS_PER_MS, [race(3000 * NS_PER_MS, 2000 * NS_PER_MS, finish_ns=NS_PER_S, gate=6)])
    assert pilot.status().phase == "finished"
    assert pilot.status().gate == 6


def test_a_clock_that_begins_again_is_a_new_life(pilot):
    for _ in on_the_pad(pilot, 3000):
        pass
    pilot.step(3010 * NS_PER_MS, [imu(5 * NS_PER_MS)])
    assert pilot.status().phase == "waiting for data"


def test_a_blow_is_not_integrated(pilot):
    for _ in on_the_pad(pilot, 2600):
        pass
    before = pilot.status().speed
    pilot.step(2608 * NS_PER_MS, [imu(2608 * NS_PER_MS, Vec(-8000.0, 100.0, 300.0))])
    pilot.step(2616 * NS_PER_MS, [imu(2616 * NS_PER_MS)])
    assert pilot.status().speed == pytest.approx(before, abs=0.5)


HUGE = (0.0, -1.0, 1e-300, 1e5, -1e9, 1e30, math.inf, -math.inf, math.nan)


def draw(rng, now):
    """Return a message that no sane vehicle sends."""

    def number():
        return (
            float(rng.choice(HUGE))
            if rng.random() < 0.3
            else float(10.0 ** rng.uniform(-3, 2) * rng.standard_normal())
        )

    def vec():
        return Vec(number(), number(), number())

    t_ns = int(now + rng.integers(-300, 50) * NS_PER_MS)
    corners = np.array([number() for _ in range(16)]).reshape(1, 8, 2)
    if rng.random() < 0.7:  # a square somewhere, of some size
        centre, half = rng.uniform((0, 0), (640, 360)), rng.uniform(2, 300)
        square = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1))) * half
        corners = np.concatenate((centre + square, centre + square / 1.8))[None]
        corners[0, rng.random(8) < 0.2] = np.nan
    return (
        lambda: imu(t_ns, vec(), vec()),
        lambda: imu(now, FORCE + vec() * 1e-2, ZERO),
        lambda: Image(t_ns=t_ns, frame_id=0, jpeg=struct.pack("<I", 1) + corners.tobytes()),
        lambda: Heartbeat(t_ns=t_ns, armed=bool(rng.random() < 0.95)),
        lambda: race(t_ns, int(now + rng.integers(-2000, 200) * NS_PER_MS), gate=int(rng.integers(0, 9))),
        lambda: Collision(t_ns=t_ns, with_gate=True, impulse=number()),
        lambda: Ack(t_ns=t_ns, command=400, accepted=True),
    )[rng.integers(0, 7)]()


@pytest.mark.parametrize("seed", range(6))
def test_whatever_arrives_the_commands_are_finite_and_in_range(params, world, seed):
    rng = np.random.default_rng(seed)
    pilot = world.make(params)
    for _ in on_the_pad(pilot, 2300):
        pass
    now, flown = 2300 * NS_PER_MS, 0
    for _ in range(600):
        now += int(rng.integers(1, 15)) * NS_PER_MS
        inbox = [draw(rng, now) for _ in range(rng.integers(0, 4))]
        if rng.random() < 0.8:
            inbox.append(imu(now))
        for command in commands(pilot.step(now, inbox)):
            flown += command.thrust > 0.0
            assert 0.0 <= command.thrust <= 1.0
            assert abs(command.rates.x) <= params.airframe.largest_rate
            assert abs(command.rates.y) <= params.airframe.largest_rate
            assert abs(command.rates.z) <= params.airframe.largest_rate
        assert math.isfinite(pilot.status().speed)
    assert flown > 0


@pytest.mark.parametrize("jpeg", [b"", b"\xff\xd8\xff", bytes(5000), b"not a picture"])
def test_what_is_no_picture_shows_no_gate(jpeg):
    assert see(jpeg, 0.0) == []


def test_a_whole_race_is_flown_and_flown_the_same_again(params, world):
    course = world.course("random:1")
    runs = [world.fly(course, world.make(params), seed=3) for _ in range(2)]
    verdict = runs[0].verdict
    assert verdict.finished
    assert verdict.gates_passed == 6
    assert verdict.collisions == 0
    assert verdict.race_time_s < 20.0
    assert runs[0].commands == runs[1].commands


def test_a_slow_imu_and_late_frames_are_borne(params, world):
    run = world.fly(
        world.course("vq1"), world.make(params), seed=1, imu_hz=Fraction("62.9"), image_ms=120, limit_s=30.0
    )
    assert run.verdict.finished
    assert run.verdict.collisions == 0
    assert run.verdict.race_time_s < 20.0


def test_blind_for_three_seconds_it_waits_looks_around_and_goes_on(params, world):
    pilot, phases = world.make(params), []

    def observe(now, sim, out):
        if not phases or phases[-1] != pilot.status().phase:
            phases.append(pilot.status().phase)

    run = world.fly(
        world.course("random:2"), pilot, observe=observe, blind=lambda t: 8.0 < t < 11.0, limit_s=40.0
    )
    assert phases[:5] == ["waiting for data", "waiting for start", "flying", "lost", "flying"]
    assert run.verdict.finished


def test_pushed_past_a_gate_it_comes_back_for_it(params, world):
    pushed = []

    def observe(now, sim, out):
        if now > 7 * NS_PER_S and not pushed:
            pushed.append(now)
            sim._world.state[3:6] += (0.0, 5.0, 0.0)

    run = world.fly(world.course("vq1"), world.make(params), observe=observe, limit_s=60.0)
    assert any(type(event).__name__ == "GateMissed" for event in run.events)
    assert run.verdict.gates_passed == 6


def test_wrong_corners_and_gates_that_are_not_there_are_borne(params, world):
    rng = np.random.default_rng(1)

    def wild(jpeg, roll):
        views = world.eyes(jpeg, roll)
        for view in views:
            if view.outer is not None and rng.random() < 0.15:
                view.outer[rng.integers(4)] += 15.0 * rng.standard_normal(2)
        if rng.random() < 0.1:
            half = rng.uniform(10, 60)
            square = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1))) * half
            ghost = np.concatenate((square, square / 1.8)) + rng.uniform((100, 60), (540, 300))
            views.append(world.view_of(ghost))
        return views

    run = world.fly(world.course("random:3"), GatePilot(params, look=wild), limit_s=40.0)
    assert run.verdict.finished
    assert run.verdict.collisions == 0


def test_out_of_bounds_and_back_on_the_pad_it_races_on(params, world):
    thrown = []

    def observe(now, sim, out):
        if now > 6 * NS_PER_S and not thrown:
            thrown.append(now)
            sim._world.state[3:6] += (0.0, 0.0, -500.0)

    run = world.fly(world.course("random:1"), world.make(params), observe=observe, limit_s=40.0)
    assert any(type(event).__name__ == "OutOfBounds" for event in run.events)
    assert run.verdict.finished


def test_a_pilot_has_the_cameras_eyes_by_default(params):
    assert GatePilot(params)._look is see
