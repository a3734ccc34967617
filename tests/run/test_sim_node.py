"""The simulator's end of the wire: bad bytes change nothing, frames and commands go their way."""

import math
import struct
from dataclasses import replace

import numpy as np
import pytest
from pymavlink.dialects.v20 import common

from racewire.core.messages import Arm, Attitude, Image
from racewire.race.events import RaceEvent
from racewire.run.assembly import load_world, make_simulator, make_wire
from racewire.run.camera import InlineCamera
from racewire.run.conditions import Conditions, Frames
from racewire.run.record import RunHash
from racewire.run.sim_node import SimNode
from racewire.sim.simulator import RaceStart
from racewire.wires import WIRES
from racewire.wires.base import Role

MS = 10**6
S = 10**9
NOT_FINITE = (math.nan, math.inf, -math.inf)


class Story:
    """An observer that keeps everything."""

    def __init__(self):
        self.truths, self.events, self.datagrams = [], [], []

    def truth(self, truth):
        self.truths.append(truth)

    def event(self, event: RaceEvent):
        self.events.append(event)

    def received(self, channel, data, now):
        self.datagrams.append(("up", channel, data, now))

    def sent(self, channel, data, now):
        self.datagrams.append(("down", channel, data, now))


def make(wire="aigp", conditions=None, declared_ns=0, **more):
    """Return a node and the story it tells; its frames are numbers."""
    world = load_world("vq1", None, wire, None)
    conditions = conditions or Conditions()
    story = Story()
    node = SimNode(
        make_simulator(world, conditions, RaceStart(settle_s=0.1), 0),
        make_wire(world, Role.SIM),
        InlineCamera(lambda shot: b"\xff\xd8 %d" % shot.frame_id, declared_ns),
        [story],
        timed=lambda _stage, _took: None,
        frames=conditions.frames,
        **more,
    )
    return node, story


def pilot(wire="aigp"):
    return make_wire(load_world("vq1", None, wire, None), Role.PILOT)


def target(thrust, roll=0.0, pitch=0.0, yaw=0.0):
    """Return SET_ATTITUDE_TARGET with sticks, as any MAVLink program would write it."""
    message = common.MAVLink_set_attitude_target_message(
        0, 1, 200, 128, [1, 0, 0, 0], roll, pitch, yaw, thrust
    )
    return message.pack(common.MAVLink(None, srcSystem=255))


def sticks(throttle, roll=0.0, pitch=0.0, yaw=0.0):
    return struct.pack("<ffff", throttle, roll, pitch, yaw)


COMMANDS = {"aigp": ("mavlink", target), "raw": ("command", sticks)}


def ready(wire):
    """Return a node that races, with a valid command in force, and its story."""
    node, story = make(wire)
    now = 10 * MS
    channel, write = COMMANDS[wire]
    if wire == "aigp":
        for _, data in pilot().send(Arm(t_ns=0, arm=True), now):
            node.receive("mavlink", data, now)
        now += 3200 * MS
    node.receive(channel, write(0.3, 0.1, 0.0, -0.1), now)
    node.wake(now + 20 * MS)
    return node, story, now + 20 * MS


@pytest.mark.parametrize("wire", COMMANDS)
@pytest.mark.parametrize("bad", [*NOT_FINITE, 1e30, -1e30, 75.0])
@pytest.mark.parametrize("axis", range(4))
def test_a_command_not_finite_or_absurd_is_counted_and_the_last_one_kept(wire, bad, axis):
    node, story, now = ready(wire)
    kept = story.truths[-1].command
    assert kept[0] == pytest.approx(0.3)
    values = [0.5, 0.2, 0.2, 0.2]
    values[axis] = bad
    channel, write = COMMANDS[wire]
    for k in range(5):
        node.receive(channel, write(*values), now + k * MS)
    node.wake(now + 200 * MS)
    assert sum(n for name, n in node.counters.items() if name.startswith("malformed")) == 5
    assert {t.command for t in story.truths if t.t_ns >= now} == {kept}
    motion = story.truths[-1].motion
    for vector in (motion.position, motion.velocity, motion.rates, motion.specific_force):
        assert np.isfinite(vector.array()).all()


@pytest.mark.parametrize("wire", COMMANDS)
def test_garbage_is_counted_and_changes_nothing(wire):
    node, story, now = ready(wire)
    rng = np.random.default_rng(0)
    kept = story.truths[-1].command
    for k in range(300):
        data = rng.integers(0, 256, rng.integers(0, 300), np.uint8).tobytes()
        node.receive(list(COMMANDS.values())[k % 2][0], data, now)
    node.wake(now + 100 * MS)
    assert sum(node.counters.values()) >= 250
    assert story.truths[-1].command == kept


def test_telemetry_leaves_on_time_and_is_read_at_the_other_end():
    node, story = make("raw")
    end = pilot("raw")
    read = []
    while (due := node.due()) <= S:
        for channel, data in node.wake(due):
            read += end.receive(channel, data, due)
    stamps = [m.t_ns for m in read if isinstance(m, Attitude)]
    assert stamps == pytest.approx([k * S / 120 for k in range(121)], abs=1)
    assert len([m for m in read if isinstance(m, Image)]) == 31
    assert all(way == "down" for way, *_ in story.datagrams)


def test_a_frame_leaves_the_declared_time_after_its_exposure():
    node, story = make("raw", declared_ns=8 * MS)
    while (due := node.due()) <= 200 * MS:
        node.wake(due)
    sent = [now for _, channel, _, now in story.datagrams if channel == "video"]
    assert sent == [k * S // 30 + 8 * MS for k in range(6)]
    assert node.frames == 6


def test_the_configured_share_of_frames_is_lost_and_counted():
    node, story = make("raw", Conditions(frames=Frames(loss=0.3)))
    while (due := node.due()) <= 10 * S:
        node.wake(due)
    sent = sum(channel == "video" for _, channel, _, _ in story.datagrams)
    assert sent == node.frames
    assert sent + node.counters["frames lost"] == 301
    assert node.counters["frames lost"] == pytest.approx(90, abs=30)


def test_video_that_never_starts_leaves_the_rest_alone():
    node, story = make("raw", Conditions(frames=Frames(no_start=1.0)))
    while (due := node.due()) <= S:
        node.wake(due)
    assert {channel for _, channel, _, _ in story.datagrams} == {"telemetry"}


def test_every_observer_is_told_everything():
    node, story = make("aigp")
    late = Story()
    node.observe(late)
    node.receive("mavlink", b"garbage", 5 * MS)
    node.wake(50 * MS)
    assert late.truths == story.truths != []
    assert late.datagrams == story.datagrams
    assert ("up", "mavlink", b"garbage", 5 * MS) in story.datagrams
    assert node.last_received == 5 * MS


def test_a_hash_of_the_node_repeats():
    digests = []
    for noise in (0.0, 0.0, 0.01):
        conditions = Conditions(imu=replace(Conditions().imu, accel_noise=noise))
        node, _ = make("aigp", conditions)
        digest = RunHash()
        node.observe(digest)
        node.wake(300 * MS)
        digests.append(digest.hexdigest())
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("wire", WIRES)
def test_nothing_is_heard_before_something_came(wire):
    node, _ = make(wire)
    node.wake(10 * MS)
    assert node.last_received is None
