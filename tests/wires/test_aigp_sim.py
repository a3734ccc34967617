"""The simulator's end of the AIGP wire, spoken to by plain pymavlink."""

import dataclasses
import math

import pytest
from pymavlink.dialects.v20 import common

from racewire.core.frames import Rot, Vec
from racewire.core.messages import (
    Ack,
    Arm,
    Attitude,
    Collision,
    Heartbeat,
    Image,
    Imu,
    LocalPosition,
    MotionCommand,
    MotorCommand,
    Odometry,
    RateCommand,
    Reset,
    Track,
    TrackGate,
)
from racewire.wires.aigp_sim import AigpSim
from racewire.wires.base import Malformed, WireSetup
from racewire.wires.profile import load_profile

MS, S = 10**6, 10**9
UNIX = 1_780_000_000 * S
ZERO = Vec(0.0, 0.0, 0.0)
LEVEL = Rot.identity()


def sim(profile="3364-vq1"):
    return AigpSim(WireSetup(profile=load_profile(profile), unix_from_boot_ns=UNIX))


def client(message):
    return message.pack(common.MAVLink(None, srcSystem=255))


def command(number, param1=0.0):
    return client(common.MAVLink_command_long_message(1, 200, number, 0, param1, 0, 0, 0, 0, 0, 0))


def target(mask=128, rates=(0.0, 0.0, 0.0), thrust=0.0, q=(1.0, 0.0, 0.0, 0.0)):
    return client(common.MAVLink_set_attitude_target_message(0, 1, 200, mask, q, *rates, thrust))


def motion(mask, frame=1, **values):
    fields = dict.fromkeys(("x", "y", "z", "vx", "vy", "vz", "afx", "afy", "afz", "yaw", "yaw_rate"), 0.0)
    return client(
        common.MAVLink_set_position_target_local_ned_message(
            time_boot_ms=0,
            target_system=1,
            target_component=200,
            coordinate_frame=frame,
            type_mask=mask,
            **fields | values,
        )
    )


def motors(fl, fr, bl, br, rest=(0.0,) * 4, group=0):
    return client(
        common.MAVLink_set_actuator_control_target_message(0, group, 1, 200, [fl, fr, bl, br, *rest])
    )


def changed(profile="3364-vq1", /, **commands):
    """The simulator's end with other options; `track` and the like go before the commands."""
    build = load_profile(profile)
    own = {key: commands.pop(key) for key in list(commands) if hasattr(build, key)}
    build = dataclasses.replace(build, commands=dataclasses.replace(build.commands, **commands), **own)
    return AigpSim(WireSetup(profile=build, unix_from_boot_ns=UNIX))


def read(datagrams):
    link = common.MAVLink(None)
    return [link.decode(bytearray(data)) for channel, data in datagrams if channel == "mavlink"]


def test_nothing_is_due_before_anything_was_asked():
    assert sim().due() is None


@pytest.mark.parametrize(
    ("number", "param1", "says", "result"),
    [
        (400, 1.0, Arm(t_ns=5 * S, arm=True), 0),
        (400, 0.0, Arm(t_ns=5 * S, arm=False), 0),
        (31000, 1.0, Reset(t_ns=5 * S, hard=True), 0),
        (31000, 0.0, Reset(t_ns=5 * S, hard=False), 0),
        (22, 5.0, None, 0),
        (511, 0.0, None, 3),
    ],
)
def test_commands_are_acked_after_83_ms(number, param1, says, result):
    wire = sim()
    assert wire.receive("mavlink", command(number, param1), 5 * S) == ([says] if says else [])
    assert wire.due() == 5 * S + 83 * MS
    assert wire.wake(5 * S + 83 * MS - 1) == []
    (ack,) = read(wire.wake(5 * S + 83 * MS))
    assert (ack.command, ack.result) == (number, result)
    assert wire.due() is None


def test_the_vehicles_own_ack_takes_its_time_too():
    wire = sim()
    assert wire.send(Ack(t_ns=0, command=400, accepted=False), 0) == []
    (ack,) = read(wire.wake(83 * MS))
    assert (ack.command, ack.result) == (400, 2)


def test_timesync_is_answered_at_once_with_unix_time_and_the_echo():
    wire = sim()
    assert wire.receive("mavlink", client(common.MAVLink_timesync_message(77, 0)), 3 * S) == []
    assert wire.due() == 3 * S
    (reply,) = read(wire.wake(3 * S))
    assert (reply.tc1, reply.ts1) == (UNIX + 3 * S, 77)


def test_a_timesync_reply_is_not_answered():
    wire = sim()
    wire.receive("mavlink", client(common.MAVLink_timesync_message(77, 5)), 0)
    assert wire.due() is None
    assert wire.counters["messages ignored"] == 1


def test_answers_waiting_are_bounded():
    wire = sim()
    for _ in range(1000):
        wire.receive("mavlink", command(400, 1.0), 0)
        wire.receive("mavlink", client(common.MAVLink_timesync_message(1, 0)), 0)
    assert len(wire.wake(S)) == 128
    assert wire.counters["answers dropped"] == 2 * (1000 - 64)


def test_a_client_heartbeat_is_a_heartbeat():
    beat = client(common.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    assert sim().receive("mavlink", beat, 9) == [Heartbeat(t_ns=9)]


def test_a_setpoint_becomes_true_rates_by_the_builds_rule():
    (old,) = sim().receive("mavlink", target(128, (1.0, 0.4, -0.4), 0.5), 7)
    assert (old.t_ns, old.thrust) == (7, 0.5)
    assert (old.rates.x, old.rates.y, old.rates.z) == pytest.approx((2.55, 0.96, -0.85), rel=1e-6)
    (late,) = sim("3391-vq2").receive("mavlink", target(144, (1.0, -1.0, 1.0), 0.5), 7)
    assert (late.rates.x, late.rates.y, late.rates.z) == pytest.approx((-0.975, 0.972, -0.892), rel=1e-6)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (target(rates=(math.nan, 0.0, 0.0)), "command not finite"),
        (target(rates=(0.0, math.inf, 0.0)), "command not finite"),
        (target(thrust=math.nan), "command not finite"),
        (target(thrust=1.5), "command absurd"),
        (target(rates=(0.0, 0.0, -1e30)), "command absurd"),
        (motion(4095), "type_mask not supported"),
        (motion(3527, vx=math.nan), "command not finite"),
        (motion(3576, z=1e9), "command absurd"),
        (motion(3527 & ~1024, yaw=math.inf), "command not finite"),
        (motors(0.1, 0.2, math.nan, 0.4), "command not finite"),
        (motors(0.1, 0.2, 0.3, 2.0), "command absurd"),
        (target(mask=7, q=(0.0, 0.0, 0.0, 0.0)), "not a rotation"),
        (command(400, math.nan), "command not finite"),
        (b"hello", "no MAVLink packet"),
        (target()[:-1], "torn packet"),
        (target()[:-1] + b"\0", "checksum"),
    ],
)
def test_what_cannot_be_flown_is_a_counted_value_and_nothing_else(data, reason):
    wire = sim()
    assert wire.receive("mavlink", data, 3) == [
        Malformed(t_ns=3, channel="mavlink", reason=reason, size=len(data))
    ]
    assert wire.counters == {f"malformed: {reason}": 1}
    assert wire.due() is None


def test_a_good_command_beside_a_bad_one_counts():
    bad, good = target(thrust=math.nan), target(thrust=0.25)
    out = sim().receive("mavlink", bad + good + b"\xfd", 0)
    assert [type(m) for m in out] == [Malformed, RateCommand, Malformed]


LATE_FLIES = ["3390-vq2", "3391-vq2", "3391-vq1"]
OLD_BUILDS = ["3364-vq1", "3379-vq2", "3385-vq2"]
VALUES = {"x": 1.0, "y": 2.0, "z": 3.0, "vx": 4.0, "vy": 5.0, "vz": 6.0}
VALUES |= {"afx": 7.0, "afy": 8.0, "afz": 9.0, "yaw": 0.5}
MODES = {
    3576: {"position": Vec(1.0, 2.0, 3.0)},
    3527: {"velocity": Vec(4.0, 5.0, 6.0)},
    3135: {"acceleration": Vec(7.0, 8.0, 9.0)},
    3647: {"force": Vec(7.0, 8.0, 9.0)},
}


@pytest.mark.parametrize("build", LATE_FLIES)
@pytest.mark.parametrize("frame", [1, 7, 8, 9, 200])
@pytest.mark.parametrize("mask", MODES)
def test_a_position_target_is_ned_in_every_frame_and_its_mask_says_what_counts(build, frame, mask):
    (read,) = sim(build).receive("mavlink", motion(mask, frame, **VALUES), 5)
    assert read == MotionCommand(t_ns=5, **MODES[mask])


@pytest.mark.parametrize("build", OLD_BUILDS)
@pytest.mark.parametrize("mask", MODES)
def test_a_position_target_has_no_thrust_on_old_builds(build, mask):
    (read,) = sim(build).receive("mavlink", motion(mask, **VALUES), 5)
    assert read == MotionCommand(t_ns=5, thrust=0.0, **MODES[mask])


def test_the_yaw_of_a_position_target_is_mirrored_unless_the_option_says_otherwise():
    data = motion(3527 & ~1024 & ~2048, yaw=0.5, yaw_rate=0.25)
    for wire, sign in ((sim("3391-vq1"), -1), (changed("3391-vq1", target_yaw_sign=1.0), 1)):
        (read,) = wire.receive("mavlink", data, 5)
        assert (read.yaw, read.yaw_rate) == (0.5 * sign, 0.25 * sign)


def test_position_targets_can_be_refused():
    (read,) = changed(position_target="refused").receive("mavlink", motion(3576), 5)
    assert read.reason == "position target not supported"


@pytest.mark.parametrize("build", OLD_BUILDS + LATE_FLIES)
def test_actuator_controls_are_fl_fr_bl_br_and_nothing_else_counts(build):
    (read,) = sim(build).receive("mavlink", motors(0.25, 0.5, 0.75, 1.0, (9.0, math.nan, 0.0, -5.0), 199), 5)
    assert read == MotorCommand(t_ns=5, front_left=0.25, front_right=0.5, back_left=0.75, back_right=1.0)


def test_without_heartbeats_nothing_is_refused_by_default():
    out = sim().receive("mavlink", target() + motion(3576) + motors(0, 1, 0, 0) + command(400, 1.0), 9 * S)
    assert [type(m).__name__ for m in out] == ["RateCommand", "MotionCommand", "MotorCommand", "Arm"]


def test_where_heartbeats_are_required_commands_need_one_of_the_last_second():
    wire = changed(heartbeat_required=True)
    beat = client(common.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
    for data in (target(), motion(3576), motors(0, 1, 0, 0), command(400, 1.0)):
        (refused,) = wire.receive("mavlink", data, 0)
        assert refused.reason == "no client heartbeat"
    (ack,) = read(wire.wake(S))
    assert (ack.command, ack.result) == (400, 1)
    wire.receive("mavlink", beat, 5 * S)
    assert isinstance(wire.receive("mavlink", target(), 6 * S)[0], RateCommand)
    assert isinstance(wire.receive("mavlink", command(400, 1.0), 6 * S)[0], Arm)
    assert isinstance(wire.receive("mavlink", target(), 6 * S + 1)[0], Malformed)


def test_the_reset_command_can_be_without_effect_but_is_acked():
    wire = changed(reset="no_effect")
    assert wire.receive("mavlink", command(31000, 1.0), 0) == []
    (ack,) = read(wire.wake(83 * MS))
    assert (ack.command, ack.result) == (31000, 0)


def test_telemetry_can_come_twice_with_a_sequence_number_of_its_own():
    wire = changed(duplicate_every=3)
    sent = [wire.send(Imu(t_ns=t, specific_force=ZERO, rates=ZERO), t) for t in range(6)]
    assert [len(datagrams) for datagrams in sent] == [1, 1, 2, 1, 1, 2]
    first, second = sent[2]
    assert first.data[10:-2] == second.data[10:-2]
    packets = read([datagram for datagrams in sent for datagram in datagrams])
    assert [p.get_seq() for p in packets] == list(range(8))


def test_thrust_just_over_one_is_one():
    (flown,) = sim().receive("mavlink", target(thrust=1.05), 0)
    assert flown.thrust == 1.0


def test_other_messages_are_passed_over():
    wire = sim()
    assert wire.receive("mavlink", client(common.MAVLink_param_request_list_message(1, 200)), 0) == []
    assert wire.counters == {"messages ignored": 1}


def test_nothing_is_expected_on_the_video_port():
    (refused,) = sim().receive("video", b"x", 0)
    assert refused.reason == "nothing is expected here"


POSE = [
    Attitude(t_ns=0, ned_from_frd=LEVEL, rates=ZERO),
    LocalPosition(t_ns=0, position=ZERO, velocity=ZERO),
    Odometry(t_ns=0, position=ZERO, ned_from_frd=LEVEL, velocity=ZERO, rates=ZERO),
    Track(t_ns=0, gates=()),
]


@pytest.mark.parametrize("message", POSE, ids=lambda m: type(m).__name__)
def test_the_pose_is_blocked_in_round_two_and_streamed_in_round_one(message):
    assert sim("3391-vq2").send(message, 0) == []
    if not isinstance(message, Track):
        assert len(sim("3364-vq1").send(message, 0)) == 1


def test_the_pad_is_flooded_with_collisions_as_they_come():
    wire = sim()
    sent = [wire.send(Collision(t_ns=t, with_gate=False, impulse=0.1), t) for t in range(250)]
    assert all(len(datagrams) == 1 for datagrams in sent)


def test_a_nulled_track_has_its_gates_number_and_zeros():
    gate = TrackGate(gate_id=3, position=Vec(1.0, 2.0, 3.0), ned_from_gate=LEVEL, width=2.72, height=2.72)
    packets = read(changed("3385-vq2", track="nulled").send(Track(t_ns=0, gates=(gate,) * 6), 0))
    assert packets[0].size == 230
    assert bytes(packets[2].data) == bytes([2, 0, 0, 6, 0]) + bytes(248)


def test_the_track_burst_is_two_transfers_with_every_packet_twice():
    gate = TrackGate(gate_id=3, position=ZERO, ned_from_gate=LEVEL, width=2.72, height=2.72)
    packets = read(sim().send(Track(t_ns=0, gates=(gate,) * 17), 0))
    seen = [
        ("handshake", p.width) if p.get_type() == "DATA_TRANSMISSION_HANDSHAKE" else (p.data[1], p.seqnr)
        for p in packets
    ]
    one = [[("handshake", t)] * 2 + [(t, i) for i in range(3) for _ in range(2)] for t in (0, 1)]
    assert seen == one[0] + one[1]
    first = packets[0]
    assert (first.type, first.size, first.height, first.packets) == (0, 648, 0, 3)
    assert (first.payload, first.jpg_quality) == (253, 1)
    assert [p.get_seq() for p in packets] == list(range(16))


def test_video_is_stamped_with_unix_time_in_datagrams_of_1400_bytes():
    datagrams = sim().send(Image(t_ns=4 * S, frame_id=2, jpeg=bytes(30_000)), 5 * S)
    assert {channel for channel, _ in datagrams} == {"video"}
    assert [len(data) for _, data in datagrams[:-1]] == [1400] * (len(datagrams) - 1)
    assert int.from_bytes(datagrams[0].data[16:24], "little") == UNIX + 4 * S


def test_stamps_are_whole_microseconds_since_boot():
    (imu,) = read(sim().send(Imu(t_ns=1_234_567_891, specific_force=ZERO, rates=ZERO), 0))
    assert imu.time_usec == 1_234_567
    (attitude,) = read(sim().send(Attitude(t_ns=1_234_567_891, ned_from_frd=LEVEL, rates=ZERO), 0))
    assert attitude.time_boot_ms == 1234


def test_what_a_pilot_says_is_not_sent_to_it():
    assert sim().send(Arm(t_ns=0, arm=True), 0) == []


@pytest.mark.parametrize(
    ("build", "copies"),
    [("3364-vq1", [14, 14]), ("3385-vq2", [7, 8]), ("3391-vq1", [2, 2]), ("3391-vq2", [2, 2])],
)
def test_every_frame_is_sent_again_over_the_frame_period(build, copies):
    wire, period = sim(build), S // 30
    counts, frame, now = [], 0, 0
    while frame < 2:
        first = wire.send(Image(t_ns=now, frame_id=frame, jpeg=bytes(3000)), now)
        seen, ends = 1, now + period
        while wire.due() is not None and wire.due() < ends:
            at = wire.due()
            assert at - now == pytest.approx(seen * period / copies[frame], abs=2)
            assert wire.wake(at) == first
            seen += 1
        counts.append(seen)
        frame, now = frame + 1, ends
    assert counts == copies
    assert wire.due() is None


def test_a_late_copy_is_one_copy_and_none_comes_after_a_newer_frame():
    wire = sim("3364-vq1")
    wire.send(Image(t_ns=0, frame_id=0, jpeg=b"old"), 0)
    assert len(wire.wake(20 * MS)) == 1
    newer = wire.send(Image(t_ns=25 * MS, frame_id=1, jpeg=b"new"), 25 * MS)
    assert wire.due() > 25 * MS
    assert wire.wake(30 * MS) == newer


def test_the_clock_is_the_boot_clock():
    assert sim().boot_from_local_ns == 0
