"""The pilot's end: its own clock, declared looking time, the latest frame, with a wire made of words."""

from types import SimpleNamespace

import pytest

from racewire.core.frames import Vec
from racewire.core.messages import Arm, Heartbeat, Image, Imu, RaceStatus, RateCommand
from racewire.run.pilot_node import PilotNode
from racewire.wires.base import Datagram, Malformed

MS = 10**6
CLOCK = 1_000_000 * MS
"""How far the pilot's host is ahead of the loop."""
OFFSET = -999_000 * MS
"""Boot minus host time."""


class WordWire:
    """Says what it holds for a datagram; sends the type's name; wakes at `due_at` on its own clock."""

    def __init__(self, means=None, due_at=None, offset=OFFSET):
        self.means = means or {}
        self.due_at = due_at
        self.boot_from_local_ns = offset
        self.counters = {}
        self.told = []

    def receive(self, _channel, data, now):
        self.told.append(now)
        return self.means.get(data, [])

    def send(self, message, now):
        self.told.append(now)
        return [Datagram("up", type(message).__name__.encode())]

    def due(self):
        return self.due_at

    def wake(self, now):
        self.told.append(now)
        self.due_at = None
        return [Datagram("up", b"session")]


class Diary:
    """A pilot that writes down its steps and answers with the messages it was given."""

    def __init__(self, due=None, answer=()):
        self.steps = []
        self.next = due
        self.answer = answer

    def step(self, now, inbox):
        self.steps.append((now, list(inbox)))
        if self.next is not None and now >= self.next:
            self.next = None
        return self.answer

    def due(self):
        return self.next

    def status(self):
        return None


def frame(number):
    return Image(t_ns=number, frame_id=number, jpeg=b"%d" % number)


FRAMES = {b"%d" % k: [frame(k)] for k in range(10)}
IMU = Imu(t_ns=3, specific_force=Vec(0.0, 0.0, -9.81), rates=Vec(0.0, 0.0, 0.0))
COMMAND = RateCommand(t_ns=0, thrust=0.5, rates=Vec(0.0, 0.0, 0.0))
BOOT = CLOCK + OFFSET
"""Boot minus loop time."""


@pytest.fixture
def make():
    def build(pilot=None, wire=None, vision_ns=5 * MS, **more):
        stages = []
        node = PilotNode(
            pilot or Diary(),
            wire or WordWire(FRAMES),
            lambda stage, _took: stages.append(stage),
            vision_ns=vision_ns,
            clock_ns=CLOCK,
            **more,
        )
        node.stages = stages
        return node

    return build


def test_messages_reach_the_pilot_at_once_with_boot_time(make):
    node = make(wire=WordWire({b"imu": [IMU, Heartbeat(t_ns=1)]}))
    node.receive("down", b"imu", 70 * MS)
    assert node.pilot.steps == [(70 * MS + BOOT, [IMU, Heartbeat(t_ns=1)])]
    assert node.wire.told == [70 * MS + CLOCK]
    assert node.stages == ["pilot_tick"]
    assert node.last_received == 70 * MS


def test_a_frame_is_looked_at_the_declared_time_after_it_came(make):
    node = make()
    assert node.receive("down", b"1", 100 * MS) == []
    assert node.due() == 105 * MS
    assert node.wake(104 * MS) == []
    assert node.pilot.steps == []
    node.wake(105 * MS)
    assert node.pilot.steps == [(105 * MS + BOOT, [frame(1)])]
    assert (node.due(), node.frames, node.stages) == (None, 1, ["pilot_image"])


def test_of_the_frames_that_come_while_it_looks_only_the_latest_is_kept(make):
    node = make(vision_ns=50 * MS)
    for k in range(4):
        node.receive("down", b"%d" % k, 10 * k * MS)
    assert node.due() == 50 * MS
    node.wake(50 * MS)
    assert node.due() == 100 * MS
    node.wake(100 * MS)
    assert node.pilot.steps == [(50 * MS + BOOT, [frame(0)]), (100 * MS + BOOT, [frame(3)])]
    assert node.counters["frames skipped"] == 2
    assert node.due() is None


def test_looking_longer_than_the_frame_period_does_not_blind_it(make):
    node = make(vision_ns=40 * MS)
    for k in range(10):
        now = 33 * k * MS
        while node.due() is not None and node.due() <= now:
            node.wake(node.due())
        node.receive("down", b"%d" % k, now)
    seen = [inbox[0].frame_id for _, inbox in node.pilot.steps]
    assert len(seen) == 7
    assert [now - BOOT for now, _ in node.pilot.steps] == [40 * k * MS for k in range(1, 8)]


def test_in_real_time_the_latest_frame_is_looked_at_at_once(make):
    node = make(vision_ns=None)
    for k in range(3):
        node.receive("down", b"%d" % k, 10 * MS)
    assert node.due() == 10 * MS
    node.wake(10 * MS)
    assert node.pilot.steps == [(10 * MS + BOOT, [frame(2)])]
    assert node.counters["frames skipped"] == 2


def test_the_pilots_own_pace_is_on_the_boot_clock(make):
    node = make(pilot=Diary(due=30 * MS + BOOT, answer=(COMMAND,)))
    assert node.due() == 30 * MS
    assert node.wake(29 * MS) == []
    assert node.wake(30 * MS) == [Datagram("up", b"RateCommand")]
    assert node.pilot.steps == [(30 * MS + BOOT, [])]


def test_the_session_speaks_on_the_hosts_clock(make):
    node = make(wire=WordWire(due_at=20 * MS + CLOCK))
    assert node.due() == 20 * MS
    assert node.wake(19 * MS) == []
    assert node.wake(20 * MS) == [Datagram("up", b"session")]
    assert node.wire.told == [20 * MS + CLOCK]


def test_before_the_boot_clock_is_known_the_hosts_stands_for_it(make):
    node = make(pilot=Diary(due=CLOCK), wire=WordWire(offset=None))
    assert node.due() == 0
    node.wake(5 * MS)
    assert node.pilot.steps == [(5 * MS + CLOCK, [])]


def test_the_earliest_of_all_that_waits_is_due(make):
    node = make(pilot=Diary(due=50 * MS + BOOT), wire=WordWire(FRAMES, due_at=20 * MS + CLOCK))
    node.receive("down", b"1", 10 * MS)
    assert node.due() == 15 * MS
    node.wake(15 * MS)
    assert node.due() == 20 * MS
    assert node.wake(20 * MS) == [Datagram("up", b"session")]


def test_answers_leave_with_what_caused_them(make):
    node = make(pilot=Diary(answer=(COMMAND, Arm(t_ns=0, arm=True))), wire=WordWire({b"imu": [IMU]}))
    assert node.receive("down", b"imu", 0) == [Datagram("up", b"RateCommand"), Datagram("up", b"Arm")]


def test_bad_bytes_are_counted_and_never_reach_the_pilot(make):
    bad = Malformed(t_ns=0, channel="down", reason="truncated", size=3)
    node = make(wire=WordWire({b"bad": [bad, IMU, bad]}))
    node.receive("down", b"bad", 0)
    assert node.counters["malformed truncated"] == 2
    assert node.pilot.steps == [(BOOT, [IMU])]
    node.receive("down", b"nothing", 1)
    assert len(node.pilot.steps) == 1


def test_the_last_race_status_is_remembered(make):
    statuses = [
        RaceStatus(t_ns=k, start_ns=None, finish_ns=None, active_gate=k, last_gate_ns=None) for k in range(2)
    ]
    node = make(wire=WordWire({b"two": statuses}))
    assert node.race is None
    node.receive("down", b"two", 0)
    assert node.race == statuses[1]


def test_frames_and_commands_are_traced(make):
    seen = []
    trace = SimpleNamespace(
        frame_taken=lambda jpeg, at: seen.append((jpeg, at)),
        command_sent=lambda datagrams, at: seen.append((list(datagrams), at)),
    )
    node = make(pilot=Diary(answer=(COMMAND, Arm(t_ns=0, arm=True))), trace=trace)
    node.receive("down", b"1", 10 * MS)
    node.wake(15 * MS)
    assert seen == [(b"1", 10 * MS), ([b"RateCommand"], 15 * MS)]
