"""The rules of the video that `racewire conformance` judges; see `conformance_rules`.

The picture's size and sampling are read from the JPEG's own start-of-frame segment. Source: spec aigp.md,
section 2.
"""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterator

from racewire.core.clock import NS_PER_S
from racewire.run.conformance_probe import VIDEO, Chunk, Hearing
from racewire.run.conformance_rules import RATE_TOLERANCE, Point, unseen
from racewire.wires.profile import BuildProfile

_PAYLOAD = 1376
_BASELINE = 0xC0
_NO_LENGTH = (0x01, *range(0xD0, 0xD9))
_DAY_NS = 86_400 * NS_PER_S


def video(h: Hearing, p: BuildProfile) -> Iterator[Point]:
    """Check datagrams, headers, pictures, rate, stamps and copies."""
    chunks = [c for c in h.chunks if c.t_ns < h.marks["flown"]]  # a reset may begin the ids anew
    if not chunks:
        yield unseen("video", "2", "640x360 JPEG in datagrams of 1400 B")
        return
    sized = all(c.size == 24 + _PAYLOAD or c.chunk == c.total - 1 for c in chunks)
    yield Point("datagrams", "2", "1400 B, the last shorter", f"{max(c.size for c in chunks)} B", sized)
    agreeing = all(
        c.payload == c.size - VIDEO.size and c.chunk < c.total == math.ceil(c.jpeg_size / _PAYLOAD)
        for c in chunks
    )
    yield Point("headers", "2", "fit size and number", "they do" if agreeing else "they do not", agreeing)
    firsts = {c.frame_id: c for c in reversed(chunks)}
    ids = sorted(firsts)
    steps = Counter(b - a for a, b in itertools.pairwise(ids))
    lost = sum(count for step, count in steps.items() if step != 1)
    yield Point("frame ids", "2", "one after another", f"{lost} gaps in {len(ids)}", lost <= 0.05 * len(ids))
    span = (max(c.t_ns for c in firsts.values()) - min(c.t_ns for c in firsts.values())) / NS_PER_S
    rate = (len(ids) - 1) / span if span else 0.0
    wanted = p.rates["image"]
    yield Point(
        "frame rate", "2", f"{wanted:g} Hz", f"{rate:.1f} Hz", abs(rate - wanted) <= RATE_TOLERANCE * wanted
    )
    late = [(c.t_ns - c.stamp_ns) for c in firsts.values()]
    middle = statistics.median(late)
    yield Point("stamps", "2", "UNIX ns", f"{middle / 1e6:.1f} ms before arrival", abs(middle) < _DAY_NS)
    rising = all(firsts[a].stamp_ns < firsts[b].stamp_ns for a, b in itertools.pairwise(ids))
    yield Point("stamps rise with the frame id", "2", "always", "always" if rising else "not always", rising)
    yield _copies(chunks, p)
    yield from _picture(h)


def _copies(chunks: list[Chunk], p: BuildProfile) -> Point:
    """Compare how often a chunk comes with the build's factor, without the first and last frames."""
    seen = Counter((c.frame_id, c.chunk) for c in chunks)
    ids = sorted({c.frame_id for c in chunks})[1:-2]
    counts = [seen[frame, 0] for frame in ids if (frame, 0) in seen]
    wanted = f"{p.video_copies:g} times"
    if not counts:
        return unseen("each frame is sent", "2", wanted)
    copies = statistics.fmean(counts)
    return Point(
        "each frame is sent",
        "2",
        wanted,
        f"{copies:.1f} times",
        abs(copies - p.video_copies) <= 0.25 * p.video_copies,
    )


def _picture(h: Hearing) -> Iterator[Point]:
    wanted = "640x360, baseline, 4:2:0"
    for parts in h.pictures.values():
        jpeg = b"".join(parts[i] for i in sorted(parts))
        frame = start_of_frame(jpeg)
        if frame is not None:
            kind, width, height, sampling = frame
            fits = (kind, width, height, sampling) == (_BASELINE, 640, 360, (0x22, 0x11, 0x11))
            name = "baseline" if kind == _BASELINE else f"SOF {kind:02x}"
            colours = "4:2:0" if sampling == (0x22, 0x11, 0x11) else str(sampling)
            yield Point("picture", "2", wanted, f"{width}x{height}, {name}, {colours}", fits)
            return
    yield Point("picture", "2", wanted, "no JPEG", passed=False)


def start_of_frame(jpeg: bytes) -> tuple[int, int, int, tuple[int, ...]] | None:
    """Return marker, width, height and sampling factors of a JPEG's frame header, None if it has none."""
    at = 2
    if not jpeg.startswith(b"\xff\xd8"):
        return None
    while at + 4 <= len(jpeg) and jpeg[at] == 0xFF:
        marker = jpeg[at + 1]
        if marker in _NO_LENGTH:
            at += 2
            continue
        size = int.from_bytes(jpeg[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            body = jpeg[at + 4 : at + 2 + size]
            if len(body) < 6 or len(body) < 6 + 3 * body[5]:
                return None
            height, width = int.from_bytes(body[1:3], "big"), int.from_bytes(body[3:5], "big")
            return marker, width, height, tuple(body[7 + 3 * i] for i in range(body[5]))
        at += 2 + size
    return None
