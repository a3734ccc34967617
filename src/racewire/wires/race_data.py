"""Race status and track of the AIGP simulator: the bodies of ENCAPSULATED_DATA, and their transfer.

Type 1 is the race status, every 250 ms: `<BQqqIq`, 37 bytes. Type 2 is a chunk of the track: `<BH` (2,
transfer id), then up to 250 bytes of the body, which is `<H` gate count and 38 bytes a gate, `<H9f`:
id, N, E, D, quaternion w, x, y, z, width, height. DATA_TRANSMISSION_HANDSHAKE announces a transfer.
The data field has 253 bytes, padded with zeros. Source: spec aigp.md, sections 1.5 and 1.6.
"""

import math
import struct
from collections import OrderedDict
from dataclasses import dataclass, field

from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos
from racewire.core.frames import Vec
from racewire.core.messages import RaceStatus, Track, TrackGate
from racewire.wires.base import Rejected
from racewire.wires.signs import gate_from_published, published_gate
from racewire.wires.telemetry import in_range

STATUS, TRACK = 1, 2
DATA = 253
CHUNK = 250

_STATUS = struct.Struct("<BQqqIq")
_CHUNK_HEADER = struct.Struct("<BH")
_COUNT = struct.Struct("<H")
_GATE = struct.Struct("<H9f")
_MOST_CHUNKS = 64
_OPEN_TRANSFERS = 4
_TRANSFER_NS = NS_PER_S


def write_status(status: RaceStatus) -> bytes:
    """Return the data field. The start is rounded up to the ms, so that GO is never early."""
    start = -1 if status.start_ns is None else -(-status.start_ns // NS_PER_MS)
    finish = -1 if status.finish_ns is None else status.finish_ns
    last_gate = -1 if status.last_gate_ns is None else status.last_gate_ns
    now = status.t_ns // NS_PER_MS
    return _STATUS.pack(STATUS, now, start, finish, status.active_gate, last_gate).ljust(DATA, b"\0")


def read_status(data: bytes) -> RaceStatus:
    """Return the race status of a data field.

    Raises
    ------
    Rejected
        If a time is out of range.
    """
    _, now, start, finish, active_gate, last_gate = _STATUS.unpack_from(data)
    return RaceStatus(
        t_ns=in_range(now * NS_PER_MS),
        start_ns=_known(start * NS_PER_MS, -NS_PER_MS),
        finish_ns=_known(finish, -1),
        active_gate=active_gate,
        last_gate_ns=_known(last_gate, -1),
    )


def _known(time: Nanos, unknown: Nanos) -> Nanos | None:
    return None if time == unknown else in_range(time)


def write_track(track: Track) -> bytes:
    """Return the body that lists the gates."""
    body = _COUNT.pack(len(track.gates))
    for gate in track.gates:
        at = gate.position
        q = published_gate(gate.ned_from_gate)
        body += _GATE.pack(gate.gate_id, at.x, at.y, at.z, *q, gate.width, gate.height)
    return body


def write_nulled_track(track: Track) -> bytes:
    """Return the body that tells how many gates there are, with nothing but zeros in their records."""
    return _COUNT.pack(len(track.gates)) + bytes(len(track.gates) * _GATE.size)


def is_nulled(body: bytes) -> bool:
    """Tell whether a body holds records, and nothing but zeros in them."""
    return len(body) > _COUNT.size and not any(body[_COUNT.size :])


def read_track(body: bytes, now: Nanos) -> Track:
    """Return the track of a body, valid at `now`.

    Raises
    ------
    Rejected
        If its size, a number or a quaternion cannot be.
    """
    if len(body) < _COUNT.size or len(body) != _COUNT.size + _COUNT.unpack_from(body)[0] * _GATE.size:
        raise Rejected("track size")
    gates: list[TrackGate] = []
    for gate_id, n, e, d, w, x, y, z, width, height in _GATE.iter_unpack(body[_COUNT.size :]):
        try:
            ned_from_gate = gate_from_published(w, x, y, z)
        except ValueError as error:
            raise Rejected("not a rotation") from error
        if not all(map(math.isfinite, (n, e, d, width, height))):
            raise Rejected("telemetry not finite")
        gates.append(
            TrackGate(
                gate_id=gate_id,
                position=Vec(n, e, d),
                ned_from_gate=ned_from_gate,
                width=width,
                height=height,
            )
        )
    return Track(t_ns=now, gates=tuple(gates))


def write_chunks(body: bytes, transfer: int) -> list[bytes]:
    """Return the data fields that carry a body as transfer `transfer`."""
    header = _CHUNK_HEADER.pack(TRACK, transfer)
    pieces = [body[i : i + CHUNK] for i in range(0, len(body), CHUNK)]
    return [(header + piece).ljust(DATA, b"\0") for piece in pieces]


@dataclass(slots=True)
class _Transfer:
    began: Nanos
    size: int
    count: int
    chunks: dict[int, bytes] = field(default_factory=dict[int, bytes])


class TrackReceiver:
    """Joins the chunks of announced transfers; keeps the latest few that are not complete.

    Ids are used again by every burst, so an announcement later than a second begins anew.
    """

    def __init__(self) -> None:
        """Start with nothing announced."""
        self._open: OrderedDict[int, _Transfer] = OrderedDict()

    def announce(self, transfer: int, size: int, count: int, now: Nanos) -> None:
        """Take a handshake at `now`: a transfer's id, its size in bytes, and how many chunks it has.

        Raises
        ------
        Rejected
            If the numbers do not fit one another.
        """
        if not 1 <= count <= _MOST_CHUNKS or not (count - 1) * CHUNK < size <= count * CHUNK:
            raise Rejected("track size")
        known = self._open.get(transfer)
        repeated = known is not None and (known.size, known.count) == (size, count)
        if known is None or not repeated or now - known.began > _TRANSFER_NS:
            self._open[transfer] = _Transfer(now, size, count)
            self._open.move_to_end(transfer)
        while len(self._open) > _OPEN_TRANSFERS:
            self._open.popitem(last=False)

    def chunk(self, index: int, data: bytes) -> bytes | None:
        """Take a data field of type 2; return the body once it is complete."""
        transfer = _CHUNK_HEADER.unpack_from(data)[1]
        known = self._open.get(transfer)
        if known is None or index >= known.count:
            return None
        known.chunks[index] = data[_CHUNK_HEADER.size :]
        if len(known.chunks) < known.count:
            return None
        del self._open[transfer]
        return b"".join(known.chunks[i] for i in range(known.count))[: known.size]
