"""Chunked JPEG video over UDP: a frame to datagrams and back.

A datagram is a 24-byte little-endian header, `<IHHIIQ`: frame_id, chunk_id, total_chunks, jpeg_size,
payload_size, sim_time_ns (UNIX), then up to 1376 bytes of the JPEG. Frames may lose chunks, arrive
mixed and many times over; ids restart at 0 with each run. Source: spec aigp.md, section 2.
"""

import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from racewire.core.clock import Nanos
from racewire.wires.base import Rejected

PAYLOAD = 1376
FRAME_BUFFER_DEPTH = 8
"""A frame that is not complete is given up once this many newer frames have begun."""

MOST_BYTES = 1 << 20
MOST_CHUNKS = 4096

_HEADER = struct.Struct("<IHHIIQ")
_RESTART_GAP = 64


class Frame(NamedTuple):
    """One frame, stamped with the simulator's UNIX clock."""

    frame_id: int
    unix_ns: Nanos
    jpeg: bytes


def split(frame: Frame) -> list[bytes]:
    """Return the datagrams of a frame, in order."""
    frame_id, unix_ns, jpeg = frame
    pieces = [jpeg[i : i + PAYLOAD] for i in range(0, len(jpeg), PAYLOAD)]
    return [
        _HEADER.pack(frame_id % (1 << 32), i, len(pieces), len(jpeg), len(piece), unix_ns) + piece
        for i, piece in enumerate(pieces)
    ]


@dataclass(slots=True)
class _Partial:
    """A frame under way; without chunks once it was delivered or given up."""

    total: int
    size: int
    unix_ns: Nanos
    chunks: dict[int, bytes] = field(default_factory=dict[int, bytes])
    received: int = 0
    done: bool = False


class Reassembler:
    """Joins chunks to frames. Holds at most `FRAME_BUFFER_DEPTH` frames of at most `MOST_BYTES`.

    Frames come out once each and in rising order: one that is complete only after a newer one is
    dropped, as it would tell a pilot about the past.
    """

    def __init__(self, counters: Counter[str]) -> None:
        """Count frames lost, late and repeated in `counters`."""
        self._counters = counters
        self._frames: dict[int, _Partial] = {}

    @property
    def held_bytes(self) -> int:
        """Bytes of unfinished frames."""
        return sum(partial.received for partial in self._frames.values())

    def receive(self, data: bytes) -> Frame | None:
        """Take a datagram; return the frame that it completes.

        Raises
        ------
        Rejected
            If the datagram is no chunk, or does not fit the frame's other chunks.
        """
        if len(data) <= _HEADER.size:
            raise Rejected("video datagram too short")
        frame_id, chunk, total, size, payload, unix_ns = _HEADER.unpack_from(data)
        if payload != len(data) - _HEADER.size:
            raise Rejected("video payload size")
        if not 1 <= total <= MOST_CHUNKS or chunk >= total:
            raise Rejected("video chunk number")
        if not total <= size <= MOST_BYTES:
            raise Rejected("video frame size")
        partial = self._place(frame_id, _Partial(total, size, unix_ns))
        if partial is None:
            self._counters["video chunks stale"] += 1
            return None
        if (partial.total, partial.size, partial.unix_ns) != (total, size, unix_ns):
            raise Rejected("video header disagrees")
        if partial.done or chunk in partial.chunks:
            self._counters["video chunks repeated"] += 1
            return None
        return self._add(frame_id, partial, chunk, data[_HEADER.size :])

    def _place(self, frame_id: int, fresh: _Partial) -> _Partial | None:
        """Return the frame that a chunk belongs to, None if its time has passed."""
        frames = self._frames
        if frames:
            newest = max(frames)
            if frame_id <= newest and (
                fresh.unix_ns > frames[newest].unix_ns or newest - frame_id > _RESTART_GAP
            ):
                frames.clear()
                self._counters["video restarts"] += 1
        if frame_id not in frames:
            frames[frame_id] = fresh
            if len(frames) > FRAME_BUFFER_DEPTH:
                oldest = min(frames)
                lost = not frames.pop(oldest).done and oldest != frame_id
                self._counters["video frames lost"] += lost
        return frames.get(frame_id)

    def _add(self, frame_id: int, partial: _Partial, chunk: int, payload: bytes) -> Frame | None:
        partial.chunks[chunk] = payload
        partial.received += len(payload)
        complete = len(partial.chunks) == partial.total
        if partial.received > partial.size or (complete and partial.received != partial.size):
            _empty(partial)
            raise Rejected("video frame size")
        if not complete:
            return None
        jpeg = b"".join(partial.chunks[i] for i in range(partial.total))
        _empty(partial)
        if any(other.done for newer, other in self._frames.items() if newer > frame_id):
            self._counters["video frames late"] += 1
            return None
        return Frame(frame_id, partial.unix_ns, jpeg)


def _empty(partial: _Partial) -> None:
    partial.chunks.clear()
    partial.received = 0
    partial.done = True
