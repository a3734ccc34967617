"""UDP channels: a port is ours alone or an error that names it; sending and receiving never raise."""

import socket

import pytest

from racewire.core.errors import ConfigError
from racewire.run.sockets import Port, UdpChannel, close_channels, open_channels

HERE = "127.0.0.1"


def waiting(channel, limit=100):
    """Return what arrived, once something has."""
    channel.socket.setblocking(True)
    channel.socket.settimeout(10.0)
    channel.socket.recvfrom(1, socket.MSG_PEEK)
    channel.socket.setblocking(False)
    return channel.receive(limit)


def number(channel):
    return channel.socket.getsockname()[1]


@pytest.fixture
def channel():
    """Return a function that opens a channel on a free port; all are closed at the end."""
    opened = []

    def make(peer=None, port=0, **more):
        opened.append(UdpChannel(Port("video", (HERE, port), peer, **more), "tester"))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_a_taken_port_is_an_error_that_names_role_address_port_and_channel(channel):
    taken = number(channel())
    with pytest.raises(ConfigError) as error:
        channel(port=taken)
    assert str(error.value).startswith(f"tester: cannot bind UDP {HERE}:{taken} for video: ")
    assert "in use" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_socket_that_wants_to_share_cannot(channel):
    ours = channel()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind((HERE, number(ours)))


@pytest.mark.parametrize("host", ["192.0.2.7", "no-such-host.invalid", "a" * 70 + ".b"])
def test_an_address_that_is_not_ours_is_named(host):
    with pytest.raises(ConfigError, match="tester: cannot bind UDP") as error:
        UdpChannel(Port("video", (host, 5000), None), "tester")
    assert host in str(error.value)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 70 + ".b"])
def test_a_peer_nobody_knows_is_named_before_anything_runs(host):
    with pytest.raises(ConfigError, match=f"tester: no host '{host}'"):
        UdpChannel(Port("video", (HERE, 0), (host, 5000)), "tester")


def test_all_ports_of_an_end_are_bound_or_none(channel):
    free, taken = channel(), channel()
    first = number(free)
    free.close()
    ports = [Port("mavlink", (HERE, first), None), Port("video", (HERE, number(taken)), None)]
    with pytest.raises(ConfigError, match="for video"):
        open_channels(ports, "tester")
    taken.close()
    channels = open_channels(ports, "tester")
    assert {name: number(c) for name, c in channels.items()} == {p.channel: p.bind[1] for p in ports}
    close_channels(channels)
    for port in ports:
        UdpChannel(port, "tester").close()


def test_datagrams_arrive_whole_and_in_order(channel):
    there = channel()
    here = channel((HERE, number(there)))
    sent = [b"one", b"", b"x" * 60_000, b"four"]
    for data in sent:
        here.send(data)
    received = waiting(there)
    while len(received) < 4:
        received += waiting(there)
    assert received == sent


def test_no_more_is_taken_at_once_than_asked_for(channel):
    there = channel()
    here = channel((HERE, number(there)))
    for k in range(5):
        here.send(bytes([k]))
    first = waiting(there, 3)
    assert len(first) <= 3
    rest = [] if len(first) == 5 else waiting(there)
    while len(first) + len(rest) < 5:
        rest += waiting(there)
    assert first + rest == [bytes([k]) for k in range(5)]


def test_nothing_waits_when_nothing_was_sent(channel):
    assert channel().receive(10) == []


def test_it_answers_whoever_spoke_last_if_it_follows(channel):
    follower = channel(follow=True)
    for _ in range(2):
        caller = channel((HERE, number(follower)))
        caller.send(b"hello")
        assert waiting(follower) == [b"hello"]
        follower.send(b"answer")
        assert waiting(caller) == [b"answer"]


def test_it_keeps_to_its_peer_if_it_does_not_follow(channel):
    peer = channel()
    fixed = channel((HERE, number(peer)))
    stranger = channel((HERE, number(fixed)))
    stranger.send(b"hello")
    assert waiting(fixed) == [b"hello"]
    fixed.send(b"telemetry")
    assert waiting(peer) == [b"telemetry"]
    assert stranger.receive(10) == []


def test_what_cannot_be_sent_is_counted_not_raised(channel):
    alone = channel()
    for _ in range(3):
        alone.send(b"x")
    assert alone.counters == {"no_peer": 3}
    gone = channel()
    nobody = number(gone)
    gone.close()
    speaker = channel((HERE, nobody))
    for _ in range(50):
        speaker.send(b"is anybody there")
        assert speaker.receive(10) == []
    speaker.send(b"x" * 70_000)
    assert speaker.counters["refused"] >= 1
    assert set(speaker.counters) == {"refused"}


def test_a_full_buffer_is_counted_not_waited_for(channel):
    class Full(socket.socket):
        def sendto(self, *_):
            raise BlockingIOError

    speaker = channel((HERE, 9))
    speaker.socket.close()
    speaker.socket = Full(socket.AF_INET, socket.SOCK_DGRAM)
    speaker.send(b"x")
    assert speaker.counters == {"buffer_full": 1}
