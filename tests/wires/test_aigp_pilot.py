"""The pilot's end of the AIGP wire, opposite the simulator's end or plain pymavlink."""

import dataclasses
import math

import pytest
from pymavlink.dialects.v20 import common

from racewire.core.frames import Rot, Vec
from racewire.core.messages import (
    Ack,
    Collision,
    Heartbeat,
    Image,
    Imu,
    RaceStatus,
    StickCommand,
    Track,
    TrackGate,
)
from racewire.wires.aigp_pilot import AigpPilot
from racewire.wires.aigp_sim import AigpSim
from racewire.wires.base import AT_ONCE, Malformed, WireSetup
from racewire.wires.profile import load_profile

MS, S = 10**6, 10**9
UNIX = 1_780_000_000 * S
ZERO = Vec(0.0, 0.0, 0.0)
LOCAL = 7 * 3600 * S
"""Local time at boot time 0."""


def ends(profile="3364-vq1"):
    setup = WireSetup(profile=load_profile(profile), unix_from_boot_ns=UNIX)
    return AigpSim(setup), AigpPilot(setup)


def server(message):
    return message.pack(common.MAVLink(None, srcSystem=1, srcComponent=200))


def imu(t_ns):
    return Imu(t_ns=t_ns, specific_force=Vec(0.0, 0.0, -9.81), rates=ZERO)


def carry(sim, pilot, message, sent, latency=0):
    """Send at boot time `sent`; return what the pilot reads `latency` later."""
    out = []
    for channel, data in sim.send(message, sent):
        out += pilot.receive(channel, data, LOCAL + sent + latency)
    return out


def converse(sim, pilot, start, end, latency):
    """Let both sessions speak for themselves, IMU every 10 ms, one-way `latency` both ways."""
    for t in range(start, end, 10 * MS):
        carry(sim, pilot, imu(t), t, latency)
        if pilot.due() <= LOCAL + t:
            for channel, data in pilot.wake(LOCAL + t):
                sim.receive(channel, data, t + latency)
            for channel, data in sim.wake(t + latency):
                pilot.receive(channel, data, LOCAL + t + 2 * latency)


def test_heartbeats_at_5_and_time_requests_at_10_hz():
    _, pilot = ends()
    assert pilot.due() == AT_ONCE
    link = common.MAVLink(None)
    seen, now = [], LOCAL
    while now < LOCAL + 2 * S:
        for _, data in pilot.wake(now):
            packet = link.decode(bytearray(data))
            seen.append((packet.get_type(), now - LOCAL))
            if packet.get_type() == "TIMESYNC":
                assert (packet.tc1, packet.ts1) == (now, 0)
        assert pilot.due() > now
        now = pilot.due()
    assert [t for name, t in seen if name == "HEARTBEAT"] == [k * 200 * MS for k in range(10)]
    assert [t for name, t in seen if name == "TIMESYNC"] == [k * 100 * MS for k in range(20)]


def test_a_late_wake_sends_one_of_each_not_a_burst():
    _, pilot = ends()
    pilot.wake(0)
    assert len(pilot.wake(30 * S)) == 2
    assert 30 * S < pilot.due() <= 30 * S + 100 * MS


def test_the_boot_clock_is_found_through_symmetric_latency():
    sim, pilot = ends()
    assert pilot.boot_from_local_ns is None
    converse(sim, pilot, 0, 2 * S, 3 * MS)
    assert abs(pilot.boot_from_local_ns + LOCAL) <= 1000


def test_frames_are_dated_at_their_exposure_through_timesync():
    sim, pilot = ends()
    converse(sim, pilot, 0, 2 * S, 3 * MS)
    (image,) = carry(sim, pilot, Image(t_ns=2 * S, frame_id=0, jpeg=b"jpeg" * 900), 2 * S + 4 * MS, 25 * MS)
    assert abs(image.t_ns - 2 * S) <= 1000
    assert image.jpeg == b"jpeg" * 900


def test_frames_are_dated_38_ms_before_their_arrival_while_no_time_request_was_answered():
    sim, pilot = ends()
    carry(sim, pilot, imu(S), S)
    (image,) = carry(sim, pilot, Image(t_ns=2 * S, frame_id=0, jpeg=b"x"), 2 * S, 50 * MS)
    assert image.t_ns == 2 * S + 50 * MS - 38 * MS


def test_messages_without_a_time_get_the_boot_time_of_their_arrival():
    sim, pilot = ends()
    converse(sim, pilot, 0, S, 0)
    for message in (Heartbeat(t_ns=0, armed=True), Collision(t_ns=0, with_gate=True, impulse=2.0)):
        (read,) = carry(sim, pilot, message, 3 * S)
        assert abs(read.t_ns - 3 * S) <= 1000
    sim.send(Ack(t_ns=0, command=400, accepted=True), 3 * S)
    ((channel, data),) = sim.wake(4 * S)
    (ack,) = pilot.receive(channel, data, LOCAL + 4 * S)
    assert (ack.command, ack.accepted) == (400, True)
    assert abs(ack.t_ns - 4 * S) <= 1000


def test_an_unsupported_command_reads_as_not_accepted():
    _, pilot = ends()
    (ack,) = pilot.receive("mavlink", server(common.MAVLink_command_ack_message(511, 3)), 0)
    assert not ack.accepted


def test_a_simulator_that_restarts_is_followed():
    sim, pilot = ends()
    converse(sim, pilot, 100 * S, 103 * S, MS)
    fresh, _ = ends()
    for t in range(0, S, 10 * MS):  # its boot clock begins again, 103 s later on ours
        for channel, data in fresh.send(imu(t), t):
            pilot.receive(channel, data, LOCAL + 103 * S + t)
    assert abs(pilot.boot_from_local_ns + LOCAL + 103 * S) <= 2 * MS


def gate(gate_id=0):
    q = Rot.from_euler(0.0, 0.0, math.pi)
    return TrackGate(
        gate_id=gate_id, position=Vec(-23.25, -0.5, -0.25), ned_from_gate=q, width=2.75, height=2.75
    )


@pytest.mark.parametrize("gates", [1, 6, 17])
def test_the_burst_gives_one_track_and_a_second_burst_another(gates):
    sim, pilot = ends()
    sent = Track(t_ns=0, gates=tuple(gate(i) for i in range(gates)))
    for at in (S, 60 * S):
        (track,) = carry(sim, pilot, sent, at)
        assert [(g.gate_id, g.position, g.width, g.height) for g in track.gates] == [
            (g.gate_id, g.position, g.width, g.height) for g in sent.gates
        ]
        assert all(a.ned_from_gate.angle_to(gate().ned_from_gate) < 1e-6 for a in track.gates)


def test_a_track_survives_the_loss_of_any_three_copies_in_four():
    for kept in range(4):
        sim, pilot = ends()
        burst = sim.send(Track(t_ns=0, gates=(gate(),)), 0)
        transfer, copy = divmod(kept, 2)
        handshakes, chunks = (
            burst[4 * transfer : 4 * transfer + 2],
            burst[4 * transfer + 2 : 4 * transfer + 4],
        )
        out = []
        for channel, data in (handshakes[copy], chunks[copy]):
            out += pilot.receive(channel, data, 0)
        assert [type(m) for m in out] == [Track]


NAN = math.nan


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (server(common.MAVLink_highres_imu_message(1, NAN, *[0] * 12, 63)), "telemetry not finite"),
        (server(common.MAVLink_highres_imu_message(2**63, *[0] * 13, 63)), "stamp out of range"),
        (server(common.MAVLink_attitude_message(1, 0, math.inf, 0, 0, 0, 0)), "telemetry not finite"),
        (server(common.MAVLink_local_position_ned_message(1, 0, 0, 0, NAN, 0, 0)), "telemetry not finite"),
        (
            server(common.MAVLink_odometry_message(1, 1, 12, 0, 0, 0, [0] * 4, *[0] * 6, [0] * 21, [0] * 21)),
            "not a rotation",
        ),
        (server(common.MAVLink_actuator_output_status_message(1, 15, [NAN] * 32)), "telemetry not finite"),
        (server(common.MAVLink_collision_message(0, 1001, 0, 1, 0, 0, NAN)), "telemetry not finite"),
        (server(common.MAVLink_encapsulated_data_message(0, [1, *[255] * 252])), "stamp out of range"),
        (server(common.MAVLink_data_transmission_handshake_message(0, 99999, 0, 0, 1, 253, 1)), "track size"),
        (b"garbage", "no MAVLink packet"),
    ],
)
def test_what_cannot_be_is_a_counted_value(data, reason):
    _, pilot = ends()
    assert pilot.receive("mavlink", data, 3) == [
        Malformed(t_ns=3, channel="mavlink", reason=reason, size=len(data))
    ]
    assert pilot.counters == {f"malformed: {reason}": 1}
    assert pilot.boot_from_local_ns is None


def test_magnetometer_and_pressures_may_be_nan():
    sim, pilot = ends()
    (read,) = carry(sim, pilot, imu(S), S)
    assert isinstance(read, Imu)


def test_unknown_race_data_is_passed_over():
    _, pilot = ends()
    data = server(common.MAVLink_encapsulated_data_message(0, [9] * 253))
    assert pilot.receive("mavlink", data, 0) == []
    assert pilot.counters == {"messages ignored": 1}


def test_an_answer_to_another_clients_time_request_is_passed_over():
    _, pilot = ends()
    assert pilot.receive("mavlink", server(common.MAVLink_timesync_message(UNIX, 12345)), 10**6) == []
    assert pilot.counters == {"timesync not ours": 1}


def test_bad_video_is_a_counted_value():
    _, pilot = ends()
    (refused,) = pilot.receive("video", b"x", 5)
    assert refused == Malformed(t_ns=5, channel="video", reason="video datagram too short", size=1)


def test_sticks_are_not_carried():
    _, pilot = ends()
    assert pilot.send(StickCommand(t_ns=0, throttle=0, roll=0, pitch=0, yaw=0), 0) == []


def test_a_stale_packet_of_an_earlier_race_leaves_no_trace():
    """Seed 001: packets of an earlier session wait in the socket's buffer."""
    sim, pilot = ends()
    stale = RaceStatus(t_ns=1157 * S, start_ns=1100 * S, finish_ns=None, active_gate=2, last_gate_ns=None)
    carry(sim, pilot, stale, 0)
    converse(sim, pilot, 0, S, MS)
    assert abs(pilot.boot_from_local_ns + LOCAL) <= 1000


@pytest.mark.parametrize("profile", ["3364-vq1", "3385-vq2", "3391-vq1"])
def test_a_frame_sent_many_times_is_one_frame(profile):
    sim, pilot = ends(profile)
    seen = carry(sim, pilot, Image(t_ns=0, frame_id=0, jpeg=b"jpeg" * 900), 0)
    while sim.due() is not None:
        at = sim.due()
        for channel, data in sim.wake(at):
            seen += pilot.receive(channel, data, LOCAL + at)
    assert [type(message) for message in seen] == [Image]
    copies = {"3364-vq1": 14, "3385-vq2": 7, "3391-vq1": 2}[profile]
    assert pilot.counters == {"video chunks repeated": 3 * (copies - 1)}


def test_a_copy_makes_up_for_a_chunk_that_was_lost():
    sim, pilot = ends("3391-vq1")
    first = sim.send(Image(t_ns=0, frame_id=0, jpeg=b"jpeg" * 900), 0)
    assert [m for channel, data in first[1:] for m in pilot.receive(channel, data, LOCAL)] == []
    again = sim.wake(sim.due())
    (image,) = [m for channel, data in again for m in pilot.receive(channel, data, LOCAL + 20 * MS)]
    assert image.jpeg == b"jpeg" * 900


def test_a_nulled_track_is_none():
    setup = WireSetup(profile=dataclasses.replace(load_profile("3385-vq2"), track="nulled"))
    sim, pilot = AigpSim(setup), AigpPilot(setup)
    gate = TrackGate(gate_id=0, position=ZERO, ned_from_gate=Rot.identity(), width=2.72, height=2.72)
    assert carry(sim, pilot, Track(t_ns=0, gates=(gate,) * 6), S) == []
    assert pilot.counters == {"tracks nulled": 2}
