"""`racewire decode`: a recorded conversation as rows, each message field by field.

MAVLink messages have the dialect's names and fields; the bodies of ENCAPSULATED_DATA, video headers and
the raw wire's datagrams have the names of the spec. A track that arrived in full is one more row,
`TRACK`. What means nothing is a row too, named `MALFORMED`. Source: spec aigp.md, sections 1 to 3.
"""

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from racewire.core.clock import Nanos
from racewire.run.conversation import DOWN, Spoken
from racewire.wires.base import Rejected
from racewire.wires.mavlink import Codec, Packet, split_packets
from racewire.wires.race_data import STATUS, TRACK, TrackReceiver

_STATUS = struct.Struct("<BQqqIq")
_STATUS_FIELDS = (
    "type",
    "sim_boot_time_ms",
    "race_start_boot_time_ms",
    "race_finish_time_ns",
    "active_gate_index",
    "last_gate_race_time",
)
_CHUNK = struct.Struct("<BH")
_CHUNK_FIELDS = ("type", "transfer_id")
_GATE = struct.Struct("<H9f")
_GATE_FIELDS = ("id", "n", "e", "d", "qw", "qx", "qy", "qz", "width", "height")
_VIDEO = struct.Struct("<IHHIIQ")
_VIDEO_FIELDS = ("frame_id", "chunk_id", "total_chunks", "jpeg_size", "payload_size", "sim_time_ns")
_RAW_TELEMETRY = struct.Struct("<4f3f3fd")
_RAW_TELEMETRY_FIELDS = ("qw", "qx", "qy", "qz", "p", "q", "r", "ax", "ay", "az", "t_sim")
_RAW_COMMAND = struct.Struct("<ffff")
_RAW_COMMAND_FIELDS = ("throttle", "roll", "pitch", "yaw")
_JPEG = b"\xff\xd8"


@dataclass(frozen=True, slots=True)
class Row:
    """One message: the log's time, way and channel, who sent it ("system/component"), name and fields."""

    t_ns: Nanos
    way: str
    channel: str
    sender: str
    message: str
    size: int
    fields: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON types; numbers that are not finite as strings."""
        return {
            "t_ns": self.t_ns,
            "way": self.way,
            "channel": self.channel,
            "sender": self.sender,
            "message": self.message,
            "size": self.size,
            "fields": _plain(self.fields),
        }

    def text(self) -> str:
        """Return the fields in one line; zeros at the end of a list are left out."""
        return " ".join(f"{name}={_short(value)}" for name, value in self.fields.items())


class Decoder:
    """Turns datagrams into rows; remembers only the chunks of a track under way."""

    def __init__(self) -> None:
        self._codec = Codec(0, 0)
        self._track = TrackReceiver()

    def rows(self, conversation: Iterable[Spoken]) -> Iterator[Row]:
        """Yield the rows of datagrams, in their order."""
        for spoken in conversation:
            if spoken.channel == "mavlink":
                yield from self._mavlink(spoken)
            else:
                message, fields = _datagram(spoken.channel, spoken.data)
                yield Row(*spoken[:3], "", message, len(spoken.data), fields)

    def _mavlink(self, spoken: Spoken) -> Iterator[Row]:
        t_ns, way, channel, data = spoken
        packets, fault = self._codec.decode(data)
        for packet in packets:
            sender = f"{packet.get_srcSystem()}/{packet.get_srcComponent()}"
            size = len(packet.get_msgbuf())
            name = str(packet.get_type())
            yield Row(t_ns, way, channel, sender, name, size, _fields(packet))
            if way == DOWN:
                body = self._take_track(packet, t_ns)
                if body is not None:
                    yield Row(t_ns, way, channel, sender, "TRACK", len(body), _track(body))
        if fault:
            yield _malformed(spoken, fault)
        elif not packets:
            yield _malformed(spoken, f"{len(split_packets(data))} packets the dialect does not know")

    def _take_track(self, packet: Packet, t_ns: Nanos) -> bytes | None:
        """Take a packet of a track transfer; return the body that it completes."""
        if packet.get_type() == "DATA_TRANSMISSION_HANDSHAKE":
            try:
                self._track.announce(packet.width, packet.size, packet.packets, t_ns)
            except Rejected:
                return None  # its row shows the numbers
        elif packet.get_type() == "ENCAPSULATED_DATA" and packet.data[0] == TRACK:
            return self._track.chunk(packet.seqnr, bytes(packet.data))
        return None


def _fields(packet: Packet) -> dict[str, Any]:
    fields: dict[str, Any] = packet.to_dict()
    del fields["mavpackettype"]
    if packet.get_type() == "ENCAPSULATED_DATA":
        data = bytes(fields.pop("data"))
        if data[0] == STATUS:
            fields |= _unpacked(_STATUS, _STATUS_FIELDS, data)
        elif data[0] == TRACK:
            fields |= _unpacked(_CHUNK, _CHUNK_FIELDS, data)
            fields["body"] = data[_CHUNK.size :].hex()
        else:
            fields["data"] = data.hex()
    return fields


def _datagram(channel: str, data: bytes) -> tuple[str, dict[str, Any]]:
    """Return name and fields of a datagram that is not MAVLink."""
    if channel == "telemetry" and len(data) == _RAW_TELEMETRY.size:
        return "RAW_TELEMETRY", _unpacked(_RAW_TELEMETRY, _RAW_TELEMETRY_FIELDS, data)
    if channel == "command" and len(data) == _RAW_COMMAND.size:
        return "RAW_COMMAND", _unpacked(_RAW_COMMAND, _RAW_COMMAND_FIELDS, data)
    if channel == "video":
        if len(data) > _VIDEO.size:
            header = _unpacked(_VIDEO, _VIDEO_FIELDS, data)
            if header["payload_size"] == len(data) - _VIDEO.size:
                return "VIDEO_CHUNK", header
        if data.startswith(_JPEG):
            return "RAW_JPEG", {"jpeg_size": len(data)}
    return "MALFORMED", {"reason": f"no datagram of channel {channel}", "data": data[:32].hex()}


def _track(body: bytes) -> dict[str, Any]:
    """Return the gates of a track; those that are there, if its count is wrong."""
    whole = (len(body) - 2) // _GATE.size
    gates = [_unpacked(_GATE, _GATE_FIELDS, body, 2 + i * _GATE.size) for i in range(max(0, whole))]
    return {"count": int.from_bytes(body[:2], "little"), "gates": gates}


def _malformed(spoken: Spoken, reason: str) -> Row:
    t_ns, way, channel, data = spoken
    return Row(t_ns, way, channel, "", "MALFORMED", len(data), {"reason": reason, "data": data[:32].hex()})


def _unpacked(layout: struct.Struct, names: tuple[str, ...], data: bytes, at: int = 0) -> dict[str, Any]:
    return dict(zip(names, layout.unpack_from(data, at), strict=True))


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of any message
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return value


def _short(value: Any) -> str:  # noqa: ANN401 - any field of any message
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, dict):
        return (
            "{" + " ".join(f"{n}={_short(item)}" for n, item in cast("dict[str, Any]", value).items()) + "}"
        )
    if isinstance(value, list | tuple):
        whole = list(cast("Sequence[Any]", value))
        shown = list(whole)
        while len(shown) > 1 and shown[-1] == 0:
            shown.pop()
        return "[" + " ".join(map(_short, shown)) + (" 0.." if len(shown) < len(whole) else "") + "]"
    return str(value)
