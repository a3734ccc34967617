"""The .tlog files: read by pymavlink, torn anywhere, written from datagrams."""

import io
import struct

import pytest
from pymavlink import mavutil
from pymavlink.dialects.v20 import common

from racewire.core.errors import ConfigError
from racewire.run.tlog import StampedPacket, TlogWriter, read_tlog

UNIX = 1_780_000_000 * 10**9


def heartbeat(system, *, version_1=False):
    message = common.MAVLink_heartbeat_message(2, 12, 65, 0, 3, 3)
    return message.pack(common.MAVLink(None, srcSystem=system), force_mavlink1=version_1)


def timesync(system):
    return common.MAVLink_timesync_message(7, 8).pack(common.MAVLink(None, srcSystem=system))


def records(data):
    out, reader = [], read_tlog(io.BytesIO(data))
    while True:
        try:
            out.append(next(reader))
        except StopIteration as end:
            return out, end.value


def test_every_packet_of_a_datagram_is_a_record_that_pymavlink_reads(tmp_path):
    path = tmp_path / "a.tlog"
    writer = TlogWriter(path)
    writer.datagram(heartbeat(1) + timesync(1), UNIX)
    writer.datagram(b"noise" + heartbeat(255) + b"\xfd", UNIX + 1_999_999)
    writer.close()
    assert writer.packets == 3
    reader = mavutil.mavlink_connection(str(path))
    seen = []
    while (message := reader.recv_match()) is not None:
        seen.append((message.get_type(), message.get_srcSystem(), message._timestamp))
    reader.close()
    at = UNIX / 1e9
    later = pytest.approx(at + 0.001999, abs=1e-6)
    assert seen == [("HEARTBEAT", 1, at), ("TIMESYNC", 1, at), ("HEARTBEAT", 255, later)]


def test_what_pymavlink_writes_is_read(tmp_path):
    path = tmp_path / "b.tlog"
    with path.open("wb") as file:
        for i, packet in enumerate((heartbeat(1), heartbeat(1, version_1=True), timesync(245))):
            file.write(struct.pack(">Q", 1_780_000_000_000_000 + i) + packet)
    read, broken = records(path.read_bytes())
    assert broken is None
    assert [r.unix_ns for r in read] == [UNIX, UNIX + 1000, UNIX + 2000]
    assert [r.from_vehicle for r in read] == [True, True, False]


def test_a_file_torn_anywhere_gives_every_whole_record_and_says_where_it_broke():
    one = struct.pack(">Q", 5) + heartbeat(1)
    for size in range(2 * len(one) + 1):
        read, broken = records((one + one)[:size])
        assert len(read) == size // len(one)
        start = len(read) * len(one)
        assert broken == (None if size % len(one) == 0 else f"torn: the record at byte {start} is cut off")


def test_bytes_that_are_no_packet_end_the_reading():
    one = struct.pack(">Q", 5) + heartbeat(1)
    read, broken = records(one + struct.pack(">Q", 6) + b"hello there" * 50)
    assert read == [StampedPacket(5000, heartbeat(1))]
    assert broken == f"no MAVLink packet at byte {len(one) + 8}"


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no/such"):
        TlogWriter(tmp_path / "no" / "such.tlog")
