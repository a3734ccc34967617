"""What every row of the wire registry keeps: round trips, calm under any bytes, bounded memory."""

import dataclasses
import math
import struct
import sys
from collections import deque
from fractions import Fraction
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common

from racewire.core.frames import Rot, Vec
from racewire.core.messages import (
    Ack,
    Arm,
    Attitude,
    AttitudeCommand,
    Collision,
    Heartbeat,
    Image,
    Imu,
    LocalPosition,
    MotionCommand,
    MotorCommand,
    MotorOutput,
    Odometry,
    RaceStatus,
    RateCommand,
    Reset,
    StickCommand,
    Track,
    TrackGate,
)
from racewire.core.topics import TOPIC_OF, TOPICS
from racewire.wires import WIRES
from racewire.wires.base import Malformed, Role, WireSetup
from racewire.wires.profile import load_profile, profile_names

S = 10**9
LOCAL = 7 * 3600 * S
BATCH = 20_000

BUILDS = [("aigp", name) for name in profile_names()] + [("raw", profile_names()[0])]
ENDS = [(wire, build, role) for wire, build in BUILDS for role in Role]
builds = pytest.mark.parametrize(("wire", "build"), BUILDS, ids=str)
ends = pytest.mark.parametrize(("wire", "build", "role"), ENDS, ids=lambda p: getattr(p, "value", str(p)))

number = st.floats(-500.0, 500.0, width=32)
rate = st.floats(-19.0, 19.0, width=32)
unit = st.floats(0.0, 1.0, width=32)
stick = st.floats(-1.0, 1.0, width=32)
vector = st.builds(Vec, number, number, number)
rates = st.builds(Vec, rate, rate, rate)
angle = st.floats(-3.1, 3.1)
rotation = st.builds(Rot.from_euler, angle, st.floats(-1.5, 1.5), angle)
time = st.integers(0, 10**15)
maybe = st.none() | time
gates = st.builds(
    TrackGate,
    gate_id=st.integers(0, 65_535),
    position=vector,
    ned_from_gate=rotation,
    width=number,
    height=number,
)

FROM_VEHICLE = {
    Heartbeat: st.builds(Heartbeat, t_ns=time, armed=st.booleans()),
    Imu: st.builds(Imu, t_ns=time, specific_force=vector, rates=rates),
    Attitude: st.builds(Attitude, t_ns=st.integers(0, 4 * 10**15), ned_from_frd=rotation, rates=rates),
    LocalPosition: st.builds(LocalPosition, t_ns=time, position=vector, velocity=vector),
    Odometry: st.builds(
        Odometry,
        t_ns=time,
        position=vector,
        ned_from_frd=rotation,
        velocity=vector,
        rates=rates,
        resets=st.integers(0, 255),
    ),
    MotorOutput: st.builds(
        MotorOutput, t_ns=time, front_left=unit, front_right=unit, back_left=unit, back_right=unit
    ),
    RaceStatus: st.builds(
        RaceStatus,
        t_ns=time,
        start_ns=maybe,
        finish_ns=maybe,
        active_gate=st.integers(0, 2**32 - 1),
        last_gate_ns=maybe,
    ),
    Track: st.builds(Track, t_ns=time, gates=st.lists(gates, max_size=20).map(tuple)),
    Collision: st.builds(Collision, t_ns=time, with_gate=st.booleans(), impulse=number),
    Image: st.builds(
        Image,
        t_ns=time,
        frame_id=st.integers(0, 2**32 - 1),
        jpeg=st.binary(min_size=0, max_size=5000).map(lambda b: b"\xff\xd8" + b),
    ),
    Ack: st.builds(Ack, t_ns=time, command=st.integers(0, 65_535), accepted=st.booleans()),
}
TO_VEHICLE = {
    Heartbeat: st.builds(Heartbeat, t_ns=time),
    Arm: st.builds(Arm, t_ns=time, arm=st.booleans()),
    Reset: st.builds(Reset, t_ns=time, hard=st.booleans()),
    RateCommand: st.builds(RateCommand, t_ns=time, thrust=unit, rates=rates),
    StickCommand: st.builds(StickCommand, t_ns=time, throttle=unit, roll=stick, pitch=stick, yaw=stick),
    AttitudeCommand: st.builds(AttitudeCommand, t_ns=time, ned_from_frd=rotation, thrust=unit),
    MotionCommand: st.sampled_from(("position", "velocity", "acceleration", "force")).flatmap(
        lambda kind: st.builds(
            MotionCommand, t_ns=time, yaw=st.none() | number, yaw_rate=number, **{kind: vector}
        )
    ),
    MotorCommand: st.builds(
        MotorCommand, t_ns=time, front_left=unit, front_right=unit, back_left=unit, back_right=unit
    ),
}
CARRIED = {
    ("aigp", Role.SIM): set(FROM_VEHICLE),
    ("aigp", Role.PILOT): {Heartbeat, Arm, Reset, RateCommand, AttitudeCommand, MotionCommand, MotorCommand},
    ("raw", Role.SIM): {Imu, Attitude, Image},
    ("raw", Role.PILOT): {StickCommand},
}


def make(wire, build, role):
    return WIRES[wire].make(role, setup_of(build))


@cache
def setup_of(build):
    return WireSetup(profile=load_profile(build), unix_from_boot_ns=1_780_000_000 * S)


def other(role):
    return Role.PILOT if role is Role.SIM else Role.SIM


def carried(wire, build, role):
    """The message types that this end sends."""
    profile = setup_of(build).profile
    old = wire == "aigp" and role is Role.PILOT and build in ("3364-vq1", "3379-vq2", "3385-vq2")
    left_out = {AttitudeCommand, MotionCommand} if old else set()
    return {t for t in CARRIED[wire, role] - left_out if wire == "raw" or profile.sends(TOPIC_OF[t])}


def numbers(value):
    """Every number in a message, flattened, with the rotation left out."""
    if isinstance(value, Rot | bytes):
        return []
    if dataclasses.is_dataclass(value):
        return [
            n for f in dataclasses.fields(value) if f.name != "t_ns" for n in numbers(getattr(value, f.name))
        ]
    if isinstance(value, tuple):
        return [n for item in value for n in numbers(item)]
    return [math.nan if value is None else value]


def rotations(value):
    if isinstance(value, Track):
        return [gate.ned_from_gate for gate in value.gates]
    return [value.ned_from_frd] if hasattr(value, "ned_from_frd") else []


def carry(wire, build, role, messages):
    """Send from `role` to a fresh other end; return what it reads of the last message's type."""
    sender, receiver = make(wire, build, role), make(wire, build, other(role))
    datagrams = [datagram for message in messages for datagram in sender.send(message, 0)]
    datagrams += sender.wake(S) if role is Role.SIM else []
    read = [message for channel, data in datagrams for message in receiver.receive(channel, data, LOCAL)]
    assert not any(isinstance(message, Malformed) for message in read)
    return [message for message in read if isinstance(message, type(messages[-1]))]


@ends
@pytest.mark.parametrize("kind", list({**FROM_VEHICLE, **TO_VEHICLE}), ids=lambda t: t.__name__)
def test_every_message_comes_back_or_is_not_carried(wire, build, role, kind):
    source = FROM_VEHICLE if role is Role.SIM else TO_VEHICLE

    @settings(max_examples=15)
    @given(st.data())
    def run(data):
        sent = data.draw({**FROM_VEHICLE, **TO_VEHICLE, **source}[kind])
        if kind not in carried(wire, build, role):
            assert make(wire, build, role).send(sent, 0) == []
            return
        before = []
        if wire == "raw" and kind in (Imu, Attitude):
            before = [
                Imu(t_ns=sent.t_ns, specific_force=Vec(0.0, 0.0, 0.0), rates=sent.rates),
                Attitude(t_ns=sent.t_ns, ned_from_frd=Rot.identity(), rates=sent.rates),
            ]
        read = carry(wire, build, role, [*before, sent])[-1]
        got, wanted = numbers(read), numbers(sent)
        if wire == "raw" and kind is Image:
            got, wanted = [], []  # the number of a frame is not on this wire
        if kind is RaceStatus:
            wanted[0] = math.ceil(wanted[0] / 10**6) * 10**6 if sent.start_ns is not None else math.nan
        assert got == pytest.approx(wanted, rel=2e-6, abs=2e-3 if kind is Odometry else 1e-6, nan_ok=True)
        pairs = zip(rotations(read), rotations(sent), strict=True)
        assert all(a.angle_to(b) < 2e-6 for a, b in pairs)
        if kind is Image:
            assert read.jpeg == sent.jpeg
        elif kind in (Imu, Odometry, MotorOutput, Attitude, LocalPosition, RaceStatus):
            resolution = 10**6 if kind in (Attitude, LocalPosition, RaceStatus) else 1000
            assert 0 <= sent.t_ns - read.t_ns < resolution or (
                wire == "raw" and abs(sent.t_ns - read.t_ns) < 1000
            )

    run()


@builds
def test_the_rates_asked_of_the_simulator_are_exact_and_are_all_of_what_it_sends(wire, build):
    asked = WIRES[wire].rates(WireSetup(profile=load_profile(build)))
    assert all(isinstance(rate, Fraction) and rate > 0 for rate in asked.values())
    sent = {TOPIC_OF[t] for t in carried(wire, build, Role.SIM)}
    assert set(asked) == {name for name in sent if TOPICS[name].rate_hz}


@pytest.mark.parametrize("wire", list(WIRES))
def test_ports_are_distinct_and_cover_the_channels(wire):
    rows = WIRES[wire].ports
    numbers = [port for row in rows for port in (row.sim, row.pilot)]
    assert len(set(numbers)) == len(numbers)
    channels = {row.channel for row in rows}
    for role in Role:
        assert {channel for channel, _ in corpus(wire, profile_names()[0], role)} <= channels


@ends
def test_an_unknown_channel_is_a_counted_value(wire, build, role):
    end = make(wire, build, role)
    (refused,) = end.receive("carrier pigeon", b"coo", 5)
    assert (refused.channel, refused.size, refused.t_ns) == ("carrier pigeon", 3, 5)
    assert sum(end.counters.values()) == 1


@ends
def test_waking_moves_the_due_time_on(wire, build, role):
    end = make(wire, build, role)
    now = LOCAL
    for _ in range(50):
        end.wake(now)
        due = end.due()
        if due is None:
            break
        assert due > now
        now = due


@ends
def test_the_same_inputs_give_the_same_bytes(wire, build, role):
    assert corpus(wire, build, role) == corpus(wire, build, role)


# fuzz


def corpus(wire, build, role):
    """Datagrams as end `role` sends them: every message it carries, and its own."""
    end = make(wire, build, role)
    turn = Rot.from_euler(0.1, -0.2, 0.3)
    v = Vec(1.0, -2.0, 3.0)
    gate = TrackGate(gate_id=1, position=v, ned_from_gate=turn, width=2.7, height=2.7)
    messages = [
        Heartbeat(t_ns=S, armed=True),
        Imu(t_ns=S, specific_force=v, rates=v),
        Attitude(t_ns=S, ned_from_frd=turn, rates=v),
        LocalPosition(t_ns=S, position=v, velocity=v),
        Odometry(t_ns=S, position=v, ned_from_frd=turn, velocity=v, rates=v),
        MotorOutput(t_ns=S, front_left=0.1, front_right=0.2, back_left=0.3, back_right=0.4),
        RaceStatus(t_ns=S, start_ns=S, finish_ns=None, active_gate=1, last_gate_ns=None),
        Track(t_ns=S, gates=(gate,) * 8),
        Collision(t_ns=S, with_gate=True, impulse=1.0),
        Image(t_ns=S, frame_id=1, jpeg=b"\xff\xd8" + bytes(4000)),
        Ack(t_ns=S, command=400, accepted=True),
        Arm(t_ns=S, arm=True),
        Reset(t_ns=S, hard=True),
        RateCommand(t_ns=S, thrust=0.3, rates=v),
        StickCommand(t_ns=S, throttle=0.5, roll=0.1, pitch=0.2, yaw=0.3),
        AttitudeCommand(t_ns=S, ned_from_frd=turn, thrust=0.3),
        MotionCommand(t_ns=S, velocity=v, yaw=0.5),
        MotorCommand(t_ns=S, front_left=0.1, front_right=0.2, back_left=0.3, back_right=0.4),
    ]
    sent = [datagram for message in messages for datagram in end.send(message, S)]
    return sent + end.wake(2 * S)


def random_datagrams(channels, rng, count):
    """Noise, many short and some long, half of it with the first bytes of what could be a message."""
    for _ in range(count):
        data = rng.randbytes(rng.randrange(60) ** 2 // 2)
        start = rng.choice((b"\xfd", b"\xfe", b"\xff\xd8", b"", b"", b""))
        yield rng.choice(channels), start + data


def mutated_datagrams(valid, rng, count):
    """Valid datagrams with bytes changed, cut or joined; of MAVLink most with their checksum made right."""
    for _ in range(count):
        channel, data = rng.choice(valid)
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 5)):
            at = rng.randrange(len(changed))
            changed[at] = rng.choice((0, 255, 127, changed[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
        kind = rng.random()
        if channel == "mavlink" and kind < 0.6:
            changed = checked(data, changed)
        elif kind < 0.8:
            del changed[rng.randrange(len(changed) + 1) :]
        elif kind < 0.9:
            changed += rng.choice(valid).data
        yield channel, bytes(changed)


def checked(data, changed):
    """The changed payload under the header it had, with a right checksum."""
    body = bytearray(data[:10]) + changed[10:-2]
    crc = common.x25crc(body[1:])
    crc.accumulate(bytes([common.mavlink_map[int.from_bytes(data[7:10], "little")].crc_extra]))
    return body + struct.pack("<H", crc.crc)


def footprint(root):
    """Bytes in everything an end holds, down to its containers' items."""
    seen, total, stack = set(), 0, [root]
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type) or callable(item) or type(item).__name__ == "module":
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        if isinstance(item, dict):
            stack += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | set | frozenset | deque):
            stack += item
        stack += vars(item).values() if hasattr(item, "__dict__") else []
        stack += [getattr(item, name) for name in getattr(type(item), "__slots__", ()) if hasattr(item, name)]
    return total


def sane(value, now):
    """Whether a received value is one that the rest of racewire can work with."""
    if isinstance(value, Malformed):
        return bool(value.reason) and value.t_ns == now
    assert type(value) in TOPIC_OF
    parts = [n for n in numbers(value) if isinstance(n, float) and not math.isnan(n)]
    times = [
        value.t_ns,
        *(getattr(value, name, None) or 0 for name in ("start_ns", "finish_ns", "last_gate_ns")),
    ]
    return all(map(math.isfinite, parts)) and all(abs(t) < 2**63 for t in times)


@pytest.mark.parametrize(("wire", "role"), list(CARRIED), ids=lambda p: getattr(p, "value", p))
@pytest.mark.parametrize("kind", ["random", "mutated"])
def test_twenty_thousand_hostile_datagrams_change_nothing(wire, role, kind):
    builds = [build for name, build in BUILDS if name == wire]
    for seed, build in enumerate(builds):
        attack(wire, build, role, kind, Random(seed), BATCH // len(builds))  # noqa: S311 - noise, not a secret


def attack(wire, build, role, kind, rng, count):
    end = make(wire, build, role)
    valid = corpus(wire, build, other(role))
    channels = sorted({channel for channel, _ in valid})
    source = (
        random_datagrams(channels, rng, count) if kind == "random" else mutated_datagrams(valid, rng, count)
    )
    now, sizes, malformed = LOCAL, [], 0
    for k, (channel, data) in enumerate(source):
        now += 1_000_000
        read = end.receive(channel, data, now)
        assert len(read) <= 70
        assert all(sane(value, now) for value in read)
        malformed += sum(isinstance(value, Malformed) for value in read)
        if k % 10 == 0:
            end.wake(now)
            due = end.due()
            assert due is None or due > now
        if k % (count // 4) == count // 4 - 1:
            sizes.append(footprint(end))
    assert malformed > count // 20
    assert max(sizes) < 4_000_000
    assert sizes[-1] < 2 * sizes[0] + 100_000
    assert len(end.counters) < 40
    assert sum(n for reason, n in end.counters.items() if reason.startswith("malformed")) == malformed
    fresh = make(wire, build, role)  # afterwards the end still reads what a fresh one reads
    for channel, data in valid:
        if channel != "video":
            assert kinds(end, channel, data, now + 9 * S) == kinds(fresh, channel, data, now + 9 * S)


def kinds(end, channel, data, now):
    return [type(value) for value in end.receive(channel, data, now)]
