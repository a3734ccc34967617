import heapq
import math
from fractions import Fraction

import numpy as np
import pytest

from racewire.core.clock import NS_PER_MS, NS_PER_S
from racewire.core.config import load
from racewire.core.frames import Gate, Pose, Rot, Vec
from racewire.core.messages import Attitude, Image, Imu, StickCommand
from racewire.core.seeds import stream
from racewire.pilots import COMPLETION_CONFIG, load_pilot
from racewire.pilots.completion import CompletionParams, CompletionPilot
from racewire.race.rules import load_rules
from racewire.sensors.imu import ImuNoise
from racewire.sim.simulator import Exposure, RaceStart, SimConfig, Simulator
from racewire.vehicles import load_vehicle

LEVEL = Rot.identity()
G = 9.81


@pytest.fixture
def pilot(world):
    return CompletionPilot(load(CompletionParams, COMPLETION_CONFIG), look=world.eyes)


def telemetry(t_s, attitude=LEVEL, force=(0.0, 0.0, -G), rates=(0.0, 0.0, 0.0)):
    t = round(t_s * NS_PER_S)
    return [
        Attitude(t_ns=t, ned_from_frd=attitude, rates=Vec(*rates)),
        Imu(t_ns=t, specific_force=Vec(*force), rates=Vec(*rates)),
    ]


def frame(t_s, number, jpeg=b"\0\0\0\0"):
    return Image(t_ns=round(t_s * NS_PER_S), frame_id=number, jpeg=jpeg)


class Course:
    """One gate, 12 m ahead of a level drone at the origin."""

    def __init__(self, x=12.0, y=0.0, z=-1.5):
        self.gates = [self]
        self.pose = Pose(Vec(x, y, z), Rot[Gate, Gate].identity())


def show(world, course, pose=None):
    pose = pose or Pose(Vec(0.0, 0.0, 0.0), LEVEL)
    return world.snapshot(course, pose, stream(0, "test/pixels"), 0.05)


def ns(t_s):
    return round(t_s * NS_PER_S)


def test_silent_until_telemetry_then_never(pilot):
    assert pilot.due() is None
    assert pilot.step(0, []) == []
    (first,) = pilot.step(ns(0.01), telemetry(0.01))
    assert isinstance(first, StickCommand)
    now = ns(0.01)
    for _ in range(60):  # no frame comes any more: at least 30 commands a second
        assert pilot.due() - now <= NS_PER_S // 30
        now = pilot.due()
        (command,) = pilot.step(now, telemetry(now / NS_PER_S))
        assert command.t_ns == now


def test_one_command_for_every_frame(pilot):
    pilot.step(ns(0.01), telemetry(0.01))
    out = pilot.step(ns(0.02), [*telemetry(0.02), frame(0.02, 0)])
    assert len(out) == 1
    out = pilot.step(ns(0.021), [frame(0.02, 1), frame(0.02, 2), frame(0.02, 3)])
    assert len(out) == 3
    assert pilot.step(ns(0.022), telemetry(0.022)) == []


def test_frame_before_telemetry_gets_zero_throttle(pilot):
    (command,) = pilot.step(0, [frame(0.0, 0)])
    assert (command.throttle, command.roll, command.pitch, command.yaw) == (0.0, 0.0, 0.0, 0.0)


def test_frame_that_is_no_picture_is_answered_too():
    pilot = load_pilot("completion")
    pilot.step(ns(0.01), telemetry(0.01))
    (command,) = pilot.step(ns(0.02), [frame(0.02, 0, b"\xff\xd8 nonsense")])
    assert command.throttle == pytest.approx(0.55, abs=0.2)
    assert pilot.status().phase == "SEARCH"


def watch(world, pilot, course, seconds, start=0.0, blind=False):
    """Stand still, watching a gate; return the last command and the time."""
    t, number = start, 0
    command = None
    while t < start + seconds:
        t += 1 / 30
        jpeg = b"\0\0\0\0" if blind else show(world, course)
        (command,) = pilot.step(ns(t), [*telemetry(t), frame(t, number, jpeg)])
        number += 1
    return command, t


def test_sees_a_gate_and_flies_to_it(world, pilot):
    command, _ = watch(world, pilot, Course(), 0.3)
    assert pilot.status().phase == "TRACK"
    assert command.pitch < -0.1
    assert abs(command.roll) < 0.1


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_turns_and_leans_towards_the_gate(world, pilot, side):
    command, _ = watch(world, pilot, Course(y=4.0 * side), 0.3)
    assert side * command.yaw > 0.05
    assert side * command.roll > 0.05


def test_thirty_frames_without_the_gate_are_bridged_then_it_searches(world, pilot):
    _, t = watch(world, pilot, Course(), 0.3)
    _, t = watch(world, pilot, Course(), 29 / 30, start=t, blind=True)
    assert pilot.status().phase == "TRACK"
    _, t = watch(world, pilot, Course(), 3 / 30, start=t, blind=True)
    assert pilot.status().phase == "SEARCH"
    watch(world, pilot, Course(), 0.3, start=t)
    assert pilot.status().phase == "TRACK"


def test_a_second_without_any_frame_is_a_loss_too(world, pilot):
    _, t = watch(world, pilot, Course(), 0.3)
    for i in range(1, 115):
        pilot.step(ns(t + i / 100), telemetry(t + i / 100))
    assert pilot.status().phase == "SEARCH"


def test_search_sinks_and_sweeps_the_heading(pilot):
    commands = []
    for i in range(1, 400):
        out = pilot.step(ns(i / 40), [*telemetry(i / 40), frame(i / 40, i)])
        commands += [out[0]]
    assert commands[20].throttle < 0.55
    assert max(c.yaw for c in commands) > 0.1
    assert min(c.yaw for c in commands) < -0.1


def test_lost_gate_is_carried_on_by_the_accelerometer(world, pilot):
    _, t = watch(world, pilot, Course(), 0.3)
    before = pilot.status().remark
    for i in range(1, 60):  # 2 m/s^2 forward for 0.5 s, unseen
        pilot.step(ns(t + i / 120), telemetry(t + i / 120, force=(2.0, 0.0, -G)))
    assert before == "gate 12 m ahead"
    assert pilot.status().speed == pytest.approx(1.0, abs=0.15)


def test_new_run_starts_over(world, pilot):
    watch(world, pilot, Course(), 0.3, start=50.0)
    assert pilot.status().phase == "TRACK"
    pilot.step(ns(0.1), telemetry(0.1))
    assert pilot.status().phase == "SEARCH"
    assert pilot.status().gate == 0


def test_commands_stay_finite_whatever_arrives(world, pilot):
    rng = stream(2, "test/garbage")
    odd = [math.nan, math.inf, -math.inf, 1e300, -1e300, 0.0, 1.0]
    t = 0.0
    for number in range(400):
        t += rng.uniform(-0.01, 0.05)
        values = [float(rng.choice(odd)) if rng.random() < 0.3 else float(rng.normal()) for _ in range(3)]
        attitude = Rot.from_euler(*rng.uniform(-3.0, 3.0, 3))
        inbox = telemetry(max(t, 0.0), attitude, force=tuple(values), rates=tuple(rng.permutation(values)))
        gates = 300.0 * rng.standard_normal((int(rng.integers(0, 4)), 8, 2)) + 320.0
        jpeg = len(gates).to_bytes(4, "little") + gates.tobytes()
        inbox.append(frame(max(t, 0.0), number, jpeg))
        rng.shuffle(inbox)
        for command in pilot.step(ns(max(t, 0.0)), inbox):
            sticks = (command.throttle, command.roll, command.pitch, command.yaw)
            assert all(map(math.isfinite, sticks))
            assert 0.0 <= command.throttle <= 1.0
            assert max(map(abs, sticks)) <= 1.0


def test_config_that_does_not_fit_names_its_key(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(COMPLETION_CONFIG.read_text().replace("hover_throttle", "hover_trottle"))
    with pytest.raises(Exception, match=r"hover_trottle.*hover_throttle"):
        load_pilot("completion", path)


def race(world, pilot, course, seed, loss=0.02, image_ms=26, limit_s=60):
    """Fly in lockstep, every frame dated by the newest telemetry as the raw wire does."""
    rates = {"imu": Fraction(120), "attitude": Fraction(120), "image": Fraction(30)}
    noise = ImuNoise(accel_noise=0.05, accel_bias=0.03, gyro_noise=0.005, gyro_bias=0.003)
    config = SimConfig(load_rules(), rates, noise, RaceStart(on_arm=False), always_armed=True)
    sim = Simulator(course, load_vehicle("simdrone"), config, seed)
    pixels, luck = stream(seed, "test/pixels"), stream(seed, "test/loss")
    heap, commands, count, now, newest = [], [], 0, 0, 0

    def push(t, item):
        nonlocal count
        count += 1
        heapq.heappush(heap, (t, count, item))

    while now < limit_s * NS_PER_S and not sim.over:
        due = [sim.due(), pilot.due(), heap[0][0] if heap else None]
        now = max(now, min(t for t in due if t is not None))
        for item in sim.advance(now):
            if isinstance(item, Exposure) and luck.random() >= loss:
                push(
                    now + image_ms * NS_PER_MS,
                    (item.frame_id, world.snapshot(course, item.pose, pixels, 0.3)),
                )
            elif isinstance(item, Imu | Attitude):
                push(now + NS_PER_MS, item)
        inbox = []
        while heap and heap[0][0] <= now:
            item = heapq.heappop(heap)[2]
            if isinstance(item, StickCommand):
                sim.command(item)
            elif isinstance(item, tuple):
                inbox.append(Image(t_ns=newest, frame_id=item[0], jpeg=item[1]))
            else:
                newest = item.t_ns
                inbox.append(item)
        if inbox or (pilot.due() is not None and pilot.due() <= now):
            for command in pilot.step(now, inbox):
                commands.append(command)
                push(now + NS_PER_MS, command)
    return sim, commands


def test_finishes_the_first_course(world, pilot):
    sim, commands = race(world, pilot, world.course("vq1"), 0)
    assert sim.verdict.finished
    assert sim.verdict.gates_passed == 6
    assert sim.verdict.collisions == 0
    gaps = np.diff([command.t_ns for command in commands])
    assert gaps.max() <= NS_PER_S / 30 + NS_PER_MS
    assert pilot.status().gate >= 5


@pytest.mark.parametrize("image_ms", [5, 60])
def test_learns_how_old_its_frames_are(world, pilot, image_ms):
    sim, _ = race(world, pilot, world.course("vq1"), 1, image_ms=image_ms, limit_s=16)
    assert sim.verdict.gates_passed >= 2


def test_same_inbox_gives_the_same_outbox(world, pilot):
    _, first = race(world, pilot, world.course("vq1"), 3, limit_s=4)
    again = CompletionPilot(load(CompletionParams, COMPLETION_CONFIG), look=world.eyes)
    _, second = race(world, again, world.course("vq1"), 3, limit_s=4)
    assert first == second
