"""`.tlog` files, as ground stations write them: a time and a MAVLink packet, one after another.

The time is 8 bytes, big-endian, microseconds since 1970 (UNIX); the packet is MAVLink 1 or 2 as it was
on the wire. There is no header and no index, so a torn file is readable up to the tear. Nothing says
which way a packet went: whoever speaks as MAVLink system 1 is taken for the vehicle.
"""

import struct
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from racewire.core.clock import NS_PER_US, Nanos
from racewire.core.errors import ConfigError
from racewire.wires.mavlink import packet_size, split_packets

_STAMP = struct.Struct(">Q")
_MAGICS = (0xFE, 0xFD)
_LONGEST = 10 + 255 + 2 + 13
_VEHICLE = 1


class StampedPacket(NamedTuple):
    """One record: UNIX time in ns, and the packet."""

    unix_ns: Nanos
    packet: bytes

    @property
    def from_vehicle(self) -> bool:
        """Whether a vehicle sent it: MAVLink system 1."""
        return self.packet[3 if self.packet[0] == _MAGICS[0] else 5] == _VEHICLE


class TlogWriter:
    """One file under way."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises
        ------
        ConfigError
            If it cannot be written.
        """
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}") from error
        self.packets = 0

    def datagram(self, data: bytes, unix_ns: Nanos) -> None:
        """Write every whole packet of a datagram of the MAVLink channel."""
        for packet in split_packets(data):
            self._file.write(_STAMP.pack(max(0, unix_ns) // NS_PER_US) + packet)
            self.packets += 1

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


def read_tlog(file: BinaryIO) -> Generator[StampedPacket, None, str | None]:
    """Yield the records of a file; return where and how it breaks off, None if it ends cleanly."""
    at = 0
    ahead = b""
    while True:
        ahead += file.read(_STAMP.size + _LONGEST - len(ahead))
        if not ahead:
            return None
        rest = ahead[_STAMP.size :]
        if rest and rest[0] not in _MAGICS:
            return f"no MAVLink packet at byte {at + _STAMP.size}"
        size = packet_size(rest, 0)
        if size is None:
            return f"torn: the record at byte {at} is cut off"
        (stamp_us,) = _STAMP.unpack_from(ahead)
        yield StampedPacket(stamp_us * NS_PER_US, rest[:size])
        ahead = rest[size:]
        at += _STAMP.size + size
