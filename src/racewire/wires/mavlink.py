"""The one door to pymavlink: dialect messages to bytes, and one datagram to dialect messages.

Uses the generated MAVLink 2 classes of the `common` dialect. No stream state is kept: each datagram
is read by itself, with several packets, torn packets or garbage in it, MAVLink 1 as well as 2, and
signed packets as if they were not signed. Only the sending sequence number is remembered.
"""

import importlib
from functools import cache
from typing import Any, NamedTuple, TypeAlias

Packet: TypeAlias = Any
"""A message object of the generated dialect, its fields as attributes. pymavlink has no types of use."""

_MAGIC_1, _MAGIC_2 = 0xFE, 0xFD
_SIGNED = 0x01
_CHECKSUM, _SIGNATURE = 2, 13
_NONE = "no MAVLink packet"
_MOST_PACKETS = 64
_MOST_FAULTS = 4


class Packets(NamedTuple):
    """What a datagram held: dialect messages in order, and the first fault found, "" if none."""

    messages: list[Packet]
    fault: str


class Codec:
    """Both directions for one sender."""

    def __init__(self, system: int, component: int) -> None:
        """Send as MAVLink system `system`, component `component`."""
        self._dialect = _dialect()
        self._link = self._dialect.MAVLink(None, srcSystem=system, srcComponent=component)
        self._known = frozenset(self._dialect.mavlink_map)

    def encode(self, name: str, **fields: object) -> bytes:
        """Return the packet of the message `name` (lower case), with the next sequence number."""
        message = getattr(self._dialect, f"MAVLink_{name}_message")(**fields)
        packet: bytes = message.pack(self._link)
        self._link.seq = (self._link.seq + 1) % 256
        return packet

    def decode(self, data: bytes) -> Packets:
        """Return the messages in one datagram; the work is bounded whatever it holds."""
        messages: list[Packet] = []
        fault = "" if data else _NONE
        faults = 0
        at = 0
        while at < len(data) and len(messages) < _MOST_PACKETS and faults < _MOST_FAULTS:
            start = _next_magic(data, at)
            reason = _NONE if start != at else ""
            if start < len(data):
                size = packet_size(data, start)
                if size is None:
                    reason = "torn packet"
                    at = start + 1
                else:
                    message = self._read(data[start : start + size])
                    if isinstance(message, str):
                        reason = message
                        at = start + 1
                    else:
                        at = start + size
                        if message is not None:
                            messages.append(message)
            else:
                at = start
            if reason:
                fault = fault or reason
                faults += 1
        return Packets(messages, fault)

    def _read(self, frame: bytes) -> Packet | str | None:
        """Return the message in a frame, why it is none, or None if the dialect does not know it."""
        number = frame[5] if frame[0] == _MAGIC_1 else int.from_bytes(frame[7:10], "little")
        if frame[0] == _MAGIC_2 and frame[2] & ~_SIGNED:
            return "incompatible packet"
        if number not in self._known:
            return None
        try:
            return self._link.decode(bytearray(frame))
        except self._dialect.MAVError:
            return "checksum"


def _next_magic(data: bytes, at: int) -> int:
    """Return where the next packet may start, from `at` on; the end if nowhere."""
    found = [i for i in (data.find(_MAGIC_1, at), data.find(_MAGIC_2, at)) if i >= 0]
    return min(found, default=len(data))


def split_packets(data: bytes) -> list[bytes]:
    """Return the whole packets in a datagram as they are, of any dialect, without checking their sums."""
    packets: list[bytes] = []
    at = _next_magic(data, 0)
    while at < len(data):
        size = packet_size(data, at)
        if size is None:
            at += 1
        else:
            packets.append(data[at : at + size])
            at += size
        at = _next_magic(data, at)
    return packets


def packet_size(data: bytes, start: int) -> int | None:
    """Return the size of the packet whose header begins at `start`, None if it is cut off."""
    left = len(data) - start
    if left < 8:
        return None
    size = data[start + 1] + (6 if data[start] == _MAGIC_1 else 10) + _CHECKSUM
    if data[start] == _MAGIC_2 and data[start + 2] & _SIGNED:
        size += _SIGNATURE
    return size if size <= left else None


@cache
def _dialect() -> Any:  # noqa: ANN401 - see Packet
    return importlib.import_module("pymavlink.dialects.v20.common")
