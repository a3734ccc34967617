"""Rows of a conversation: names and values of every kind of datagram."""

import json
import math
import struct

import pytest
from pymavlink.dialects.v20 import common
from rich.console import Console

from racewire.core.frames import Rot, Vec
from racewire.core.messages import Track, TrackGate
from racewire.run.conversation import Spoken
from racewire.run.decode import Decoder
from racewire.run.decode_view import DecodeConfig, show, show_json
from racewire.run.record import RunLog
from racewire.wires.aigp_sim import AigpSim
from racewire.wires.base import WireSetup
from racewire.wires.profile import load_profile


def packed(message, system=1, component=200):
    return message.pack(common.MAVLink(None, srcSystem=system, srcComponent=component))


def rows(*datagrams):
    return list(Decoder().rows(Spoken(i, *datagram) for i, datagram in enumerate(datagrams)))


def mavlink(data, way="down"):
    return (way, "mavlink", data)


def test_a_mavlink_message_has_the_dialects_names_and_values():
    message = common.MAVLink_command_long_message(1, 200, 400, 0, 1.0, 0, 0, 0, 0, 0, 0.5)
    (row,) = rows(mavlink(packed(message, 255, 190), "up"))
    assert (row.way, row.channel, row.sender, row.message) == ("up", "mavlink", "255/190", "COMMAND_LONG")
    assert (row.fields["command"], row.fields["param1"], row.fields["param7"]) == (400, 1.0, 0.5)
    assert "command=400" in row.text()


def test_two_packets_of_a_datagram_are_two_rows_with_their_sizes():
    beat = packed(common.MAVLink_heartbeat_message(2, 12, 65, 0, 3, 3))
    ack = packed(common.MAVLink_command_ack_message(400, 0))
    assert [(r.message, r.size) for r in rows(mavlink(beat + ack))] == [
        ("HEARTBEAT", len(beat)),
        ("COMMAND_ACK", len(ack)),
    ]


def test_race_status_is_unpacked():
    body = struct.pack("<BQqqIq", 1, 1500, 4200, -1, 3, 77).ljust(253, b"\0")
    (row,) = rows(mavlink(packed(common.MAVLink_encapsulated_data_message(0, body))))
    assert row.fields == {
        "seqnr": 0,
        "type": 1,
        "sim_boot_time_ms": 1500,
        "race_start_boot_time_ms": 4200,
        "race_finish_time_ns": -1,
        "active_gate_index": 3,
        "last_gate_race_time": 77,
    }


@pytest.mark.parametrize("gates", [1, 17])
def test_a_track_that_arrived_is_one_more_row_a_transfer(gates):
    gate = TrackGate(
        gate_id=3,
        position=Vec(1.0, 2.0, -3.0),
        ned_from_gate=Rot.identity(),
        width=2.72,
        height=2.72,
    )
    sim = AigpSim(WireSetup(profile=load_profile("3364-vq1")))
    burst = [("down", *d) for d in sim.send(Track(t_ns=0, gates=(gate,) * gates), 0)]
    tracks = [row for row in rows(*burst) if row.message == "TRACK"]
    assert len(tracks) == 2
    for track in tracks:
        assert track.fields["count"] == gates
        assert len(track.fields["gates"]) == gates
        seen = track.fields["gates"][-1]
        assert (seen["id"], seen["n"], seen["e"], seen["d"]) == (3, 1.0, 2.0, -3.0)


def test_a_video_datagram_shows_its_header():
    data = struct.pack("<IHHIIQ", 7, 1, 3, 3000, 5, 10**18) + b"12345"
    (row,) = rows(("down", "video", data))
    assert row.message == "VIDEO_CHUNK"
    assert row.fields == {
        "frame_id": 7,
        "chunk_id": 1,
        "total_chunks": 3,
        "jpeg_size": 3000,
        "payload_size": 5,
        "sim_time_ns": 10**18,
    }


def test_the_raw_wire_is_unpacked():
    telemetry = struct.pack("<4f3f3fd", 1, 0, 0, 0, 0.5, 0, 0, 0, 0, -9.75, 2.5)
    command = struct.pack("<ffff", 0.5, -0.25, 0, 1)
    seen = rows(
        ("down", "telemetry", telemetry), ("up", "command", command), ("down", "video", b"\xff\xd8" * 20)
    )
    assert [row.message for row in seen] == ["RAW_TELEMETRY", "RAW_COMMAND", "RAW_JPEG"]
    assert (seen[0].fields["p"], seen[0].fields["az"], seen[0].fields["t_sim"]) == (0.5, -9.75, 2.5)
    assert seen[1].fields == {"throttle": 0.5, "roll": -0.25, "pitch": 0.0, "yaw": 1.0}
    assert seen[2].fields == {"jpeg_size": 40}


@pytest.mark.parametrize(
    ("channel", "data", "reason"),
    [
        ("mavlink", b"hello", "no MAVLink packet"),
        ("mavlink", bytes([0xFD, 0, 0, 0, 0, 1, 1, 0xFF, 0xFF, 0xFF, 0, 0]), "1 packets the dialect"),
        ("video", b"x", "no datagram of channel video"),
        ("telemetry", b"x" * 47, "no datagram of channel telemetry"),
        ("else", b"", "no datagram of channel else"),
    ],
)
def test_what_means_nothing_is_a_row(channel, data, reason):
    (row,) = rows(("up", channel, data))
    assert row.message == "MALFORMED"
    assert row.fields["reason"].startswith(reason)
    assert row.size == len(data)


def a_log(path):
    log = RunLog(path)
    for k in range(5):
        log.sent("mavlink", packed(common.MAVLink_command_ack_message(400, k)), k)
        log.sent("mavlink", packed(common.MAVLink_timesync_message(k, k)), k)
    imu = common.MAVLink_highres_imu_message(1, 0, 0, 0, 0, 0, 0, *[math.nan] * 7, 63)
    log.sent("mavlink", packed(imu), 9)
    log.close()
    return path


def test_json_lines_are_json_and_the_last_is_about_the_log(tmp_path):
    lines = []
    config = DecodeConfig(a_log(tmp_path / "a.mcap"), ("command_ack", "Highres_IMU"), 4)
    show_json(config, lines.append)
    *shown, summary = map(json.loads, lines)
    assert [line["fields"]["result"] for line in shown] == [0, 1, 2, 3]
    assert (summary["rows_shown"], summary["rows_matching"], summary["broken"]) == (4, 6, None)
    assert summary["messages"] == {"COMMAND_ACK": 5, "HIGHRES_IMU": 1, "TIMESYNC": 5}
    show_json(DecodeConfig(config.log), lines.append)
    assert "NaN" not in "".join(lines)


def test_the_table_shows_fields_counts_and_the_break(tmp_path):
    path = a_log(tmp_path / "a.mcap")
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(path.read_bytes()[:-20])
    console = Console(width=200, record=True, file=(tmp_path / "out").open("w"))
    show(DecodeConfig(torn, ("COMMAND_ACK",), 2, tmp_path / "a.tlog"), console)
    console.file.close()
    text = console.export_text()
    assert "command=400 result=1" in text
    assert "result=2" not in text
    assert "3 more rows" in text
    assert "11 packets written" in text
    assert "broken off after byte" in text.splitlines()[-1]
