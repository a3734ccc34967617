"""Recorded conversations: what was logged comes out again, also of files that broke off."""

import pytest
from pymavlink.dialects.v20 import common

from racewire.core.errors import ConfigError
from racewire.core.seeds import stream
from racewire.run.conversation import Conversation, Spoken, export_tlog, unix_from_log
from racewire.run.record import RunLog
from racewire.run.tlog import TlogWriter

S = 10**9
UNIX = 1_780_000_000 * S


def packed(message, system=1):
    return message.pack(common.MAVLink(None, srcSystem=system))


REQUEST = packed(common.MAVLink_timesync_message(77, 0), 255)


def reply(unix_ns):
    return packed(common.MAVLink_timesync_message(unix_ns, 77))


def logged(path, boot_ns):
    log = RunLog(path)
    log.config({"wire": "aigp"})
    log.received("mavlink", REQUEST, boot_ns)
    log.sent("mavlink", reply(UNIX + 2 * S), boot_ns)
    log.sent("video", b"v" * 100, boot_ns + 1)
    log.result({})
    log.close()
    return Conversation(path)


def test_a_log_gives_its_datagrams_and_nothing_else(tmp_path):
    conversation = logged(tmp_path / "a.mcap", 2 * S)
    expected = [
        Spoken(2 * S, "up", "mavlink", REQUEST),
        Spoken(2 * S, "down", "mavlink", reply(UNIX + 2 * S)),
        Spoken(2 * S + 1, "down", "video", b"v" * 100),
    ]
    assert list(conversation) == expected
    assert list(conversation) == expected
    assert conversation.broken is None


@pytest.mark.parametrize(("boot_ns", "offset"), [(2 * S, UNIX), (UNIX + 3 * S, 0)])
def test_unix_time_comes_from_the_simulator_in_a_race_and_from_the_recorder_in_a_recording(
    tmp_path, boot_ns, offset
):
    assert unix_from_log(logged(tmp_path / "a.mcap", boot_ns)) == offset


def test_exported_packets_are_read_back_with_unix_time(tmp_path):
    path = tmp_path / "a.tlog"
    assert export_tlog(logged(tmp_path / "a.mcap", 2 * S), path) == 2
    assert list(Conversation(path)) == [
        Spoken(UNIX + 2 * S, "up", "mavlink", REQUEST),
        Spoken(UNIX + 2 * S, "down", "mavlink", reply(UNIX + 2 * S)),
    ]


def test_a_torn_tlog_says_so(tmp_path):
    path = tmp_path / "a.tlog"
    writer = TlogWriter(path)
    writer.datagram(REQUEST * 2, UNIX)
    writer.close()
    path.write_bytes(path.read_bytes()[:-1])
    conversation = Conversation(path)
    assert len(list(conversation)) == 1
    assert conversation.broken is not None
    assert "torn" in conversation.broken


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a log of 3000 datagrams in four chunks."""
    path = tmp_path_factory.mktemp("long") / "whole.mcap"
    log, noise = RunLog(path), stream(0, "noise")
    for k in range(3000):
        log.sent("video", noise.bytes(1200), k)
    log.close()
    return path.read_bytes()


@pytest.mark.parametrize("part", [0.0, 0.3, 0.7, 0.9, 0.999])
def test_a_torn_log_gives_its_first_datagrams_and_says_where_it_broke(tmp_path, whole, part):
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(whole[: 8 + int(part * (len(whole) - 8))])
    conversation = Conversation(torn)
    read = list(conversation)
    assert [s.t_ns for s in read] == list(range(len(read)))
    assert len(read) >= (part - 0.4) * 3000
    assert conversation.broken is not None
    assert conversation.broken.startswith("broken off after byte ")


def test_a_log_with_garbage_inside_ends_there_without_an_exception(tmp_path, whole):
    middle = len(whole) // 2
    broken = tmp_path / "broken.mcap"
    broken.write_bytes(whole[:middle] + bytes(50) + whole[middle + 50 :])
    conversation = Conversation(broken)
    assert 0 < len(list(conversation)) < 3000
    assert conversation.broken


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89PNG\r\n\x1a\n"])
def test_another_kind_of_file_is_refused(tmp_path, content):
    path = tmp_path / "a.mcap"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"a\.mcap: neither an MCAP log nor a \.tlog file"):
        Conversation(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.mcap"):
        Conversation(tmp_path / "none.mcap")
