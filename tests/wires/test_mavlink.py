"""The MAVLink codec: one datagram at a time, whatever is in it."""

import pytest
from pymavlink.dialects.v20 import common

from racewire.wires.mavlink import Codec


def beat(link=None, **options):
    link = link or common.MAVLink(None, srcSystem=9, srcComponent=7)
    return common.MAVLink_heartbeat_message(2, 12, 193, 0, 4, 3).pack(link, **options)


def names(data):
    packets = Codec(1, 200).decode(data)
    return [m.get_type() for m in packets.messages], packets.fault


def test_sequence_numbers_rise_and_wrap():
    codec = Codec(1, 200)
    sent = [codec.encode("timesync", tc1=1, ts1=0) for _ in range(258)]
    assert [data[4] for data in sent] == [*range(256), 0, 1]
    assert {data[5:7] for data in sent} == {bytes([1, 200])}


def test_one_packet():
    assert names(beat()) == (["HEARTBEAT"], "")


def test_several_packets_in_a_datagram():
    codec = Codec(1, 200)
    data = beat() + codec.encode("timesync", tc1=1, ts1=0) + beat()
    assert names(data) == (["HEARTBEAT", "TIMESYNC", "HEARTBEAT"], "")


def test_mavlink_1():
    data = beat(force_mavlink1=True)
    assert data[0] == 0xFE
    assert names(data + beat()) == (["HEARTBEAT", "HEARTBEAT"], "")


def test_a_signed_packet_is_read_as_if_it_were_not():
    link = common.MAVLink(None, srcSystem=9)
    link.signing.secret_key, link.signing.sign_outgoing = bytes(32), True
    data = beat(link)
    assert len(data) == len(beat()) + 13
    assert names(data + beat()) == (["HEARTBEAT", "HEARTBEAT"], "")


@pytest.mark.parametrize("garbage", [b"\0", b"\0" * 100, b"hello \xfe\xfd world \xfd", bytes(range(200))])
def test_a_packet_after_garbage_is_found_and_the_garbage_noted(garbage):
    messages, fault = names(garbage + beat())
    assert messages == ["HEARTBEAT"]
    assert fault


def test_a_torn_packet_is_noted_and_forgotten():
    codec = Codec(1, 200)
    whole = beat()
    for cut in range(1, len(whole)):
        packets = codec.decode(whole[:cut])
        assert (packets.messages, packets.fault) == ([], "torn packet")
        assert codec.decode(whole[cut:]).messages == []
    assert names(whole + whole[:9]) == (["HEARTBEAT"], "torn packet")


def test_every_flipped_bit_is_noticed():
    whole = beat()
    for i in range(8 * len(whole)):
        data = bytearray(whole)
        data[i // 8] ^= 1 << i % 8
        messages, fault = names(bytes(data))
        header = 7 <= i // 8 <= 9  # another message number: its checksum cannot be known
        assert messages == []
        assert fault or header


def test_a_packet_with_unknown_incompatible_flags_is_refused():
    data = bytearray(beat())
    data[2] = 0x02
    assert names(bytes(data))[1] == "incompatible packet"


def test_a_message_of_another_dialect_is_passed_over():
    unknown = b"\xfd\x02\0\0\0\x01\x01\xff\xff\x7f" + b"ab" + b"\0\0"
    assert names(unknown + beat()) == (["HEARTBEAT"], "")


def test_nothing_is_a_fault():
    assert names(b"") == ([], "no MAVLink packet")


def test_work_is_bounded():
    """A datagram full of packet starts is given up after a few, one full of packets after many."""
    messages, fault = names(b"\xfd\x01\0\0\0\0\0\0\0\0\0\0\0" * 4000 + beat())
    assert (messages, fault) == ([], "checksum")
    assert len(names(beat() * 3000)[0]) == 64


def test_an_unknown_name_is_our_bug():
    with pytest.raises(AttributeError):
        Codec(1, 200).encode("no_such_message")
