"""Chunked video: split and joined, with loss, duplication, reorder, restarts and lies."""

import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.wires.base import Rejected
from racewire.wires.video import FRAME_BUFFER_DEPTH, MOST_BYTES, Frame, Reassembler, split

HEADER = struct.Struct("<IHHIIQ")
FRAME_NS = 33_333_333


def frame(frame_id, size=3000, start=10**18):
    rng = np.random.default_rng(frame_id)
    return Frame(frame_id, start + frame_id * FRAME_NS, rng.bytes(size))


def receiver():
    counters = Counter()
    return Reassembler(counters), counters


def deliver(video, datagrams):
    return [out for data in datagrams if (out := video.receive(data)) is not None]


def test_the_header_is_as_documented():
    first, last = split(Frame(7, 123_456_789, bytes(2000)))
    assert len(first) == 1400
    assert HEADER.unpack_from(first) == (7, 0, 2, 2000, 1376, 123_456_789)
    assert HEADER.unpack_from(last) == (7, 1, 2, 2000, 624, 123_456_789)
    assert len(last) == 24 + 624


@pytest.mark.parametrize("size", [1, 1375, 1376, 1377, 2752, 40_000, MOST_BYTES])
def test_a_frame_comes_out_as_it_went_in(size):
    video, counters = receiver()
    sent = frame(3, size)
    assert deliver(video, split(sent)) == [sent]
    assert not counters
    assert video.held_bytes == 0


@given(seed=st.integers(0, 10_000))
def test_frames_that_come_mixed_up_and_many_times_come_out_once_each_in_order(seed):
    """Chunks of three neighbouring frames in any order, each up to three times."""
    rng = np.random.default_rng(seed)
    frames = [frame(i, 500 + 1500 * i) for i in range(3)]
    chunks = [data for f in frames for data in split(f) for _ in range(rng.integers(1, 4))]
    rng.shuffle(chunks)
    video, counters = receiver()
    out = deliver(video, chunks)
    ids = [f.frame_id for f in out]
    assert ids == sorted(set(ids))
    assert all(f == frames[f.frame_id] for f in out)
    assert len(out) + counters["video frames late"] == 3


def test_a_frame_sent_fourteen_times_comes_out_once():
    video, counters = receiver()
    frames = [frame(i) for i in range(20)]
    assert deliver(video, [data for f in frames for _ in range(14) for data in split(f)]) == frames
    assert counters["video chunks repeated"] == 20 * 13 * 3


def test_a_lost_chunk_costs_its_frame_alone():
    video, counters = receiver()
    frames = [frame(i) for i in range(30)]
    chunks = [
        data for f in frames for data in split(f) if (f.frame_id, HEADER.unpack_from(data)[1]) != (10, 1)
    ]
    assert [f.frame_id for f in deliver(video, chunks)] == [i for i in range(30) if i != 10]
    assert counters["video frames lost"] == 1


def test_a_partial_frame_is_given_up_after_so_many_newer_ones():
    for newer in (FRAME_BUFFER_DEPTH - 1, FRAME_BUFFER_DEPTH):
        video, counters = receiver()
        first, *rest = split(frame(0))
        deliver(video, [first, *(split(frame(i + 1))[0] for i in range(newer))])
        assert [f.frame_id for f in deliver(video, rest)] == ([0] if newer < FRAME_BUFFER_DEPTH else [])
        assert counters["video frames lost"] == (newer >= FRAME_BUFFER_DEPTH)


def test_a_frame_complete_only_after_a_newer_one_is_dropped():
    video, counters = receiver()
    first, *rest = split(frame(0))
    assert deliver(video, [first, *split(frame(1)), *rest]) == [frame(1)]
    assert counters["video frames late"] == 1


def test_a_new_run_restarts_at_zero_with_a_newer_clock():
    video, counters = receiver()
    old = [frame(i) for i in range(5)]
    new = [frame(i, start=10**18 + 10**10) for i in range(5)]
    assert deliver(video, [data for f in old + new for data in split(f)]) == old + new
    assert counters["video restarts"] == 1


def test_a_new_run_is_recognised_even_if_the_clock_went_back():
    video, _ = receiver()
    old = [frame(i) for i in range(500)]
    new = [frame(i, start=10**17) for i in range(5)]
    assert deliver(video, [data for f in old + new for data in split(f)]) == old + new


def test_a_stray_frame_number_does_not_blind_the_receiver():
    video, _ = receiver()
    frames = [frame(i) for i in range(20)]
    stray = split(Frame(4_000_000_000, 10**18, bytes(3000)))[0]
    chunks = [data for f in frames for data in split(f)]
    out = deliver(video, [*chunks[:30], stray, *chunks[30:]])
    assert [f.frame_id for f in out] == list(range(20))


def test_old_frames_are_stale():
    video, counters = receiver()
    deliver(video, [data for i in range(20, 40) for data in split(frame(i))])
    assert deliver(video, split(frame(5))) == []
    assert counters["video chunks stale"] == 3
    assert counters["video frames lost"] == 0


def chunk(frame_id=0, index=0, total=2, size=2000, payload=1376, unix_ns=10**18, sent=1376):
    return HEADER.pack(frame_id, index, total, size, payload, unix_ns) + bytes(sent)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "too short"),
        (bytes(24), "too short"),
        (chunk(total=0), "chunk number"),
        (chunk(index=2), "chunk number"),
        (chunk(total=65_535), "chunk number"),
        (chunk(size=0), "frame size"),
        (chunk(size=MOST_BYTES + 1), "frame size"),
        (chunk(size=4_000_000_000), "frame size"),
        (chunk(payload=1375), "payload size"),
        (chunk(payload=4_000_000_000), "payload size"),
        (chunk(sent=100), "payload size"),
        (chunk(size=1000), "frame size"),
        (chunk(total=1, size=2000), "frame size"),
    ],
)
def test_a_header_that_cannot_be_is_refused(data, why):
    video, _ = receiver()
    with pytest.raises(Rejected, match=why):
        video.receive(data)


def test_a_chunk_that_disagrees_with_its_frame_is_refused_and_the_frame_survives():
    video, _ = receiver()
    first, second, third = split(frame(0))
    video.receive(first)
    for lie in (
        chunk(total=9, size=3000),
        chunk(total=3, size=3001),
        chunk(total=3, size=3000, unix_ns=10**17),
    ):
        with pytest.raises(Rejected, match="disagrees"):
            video.receive(lie)
    assert deliver(video, [second, third]) == [frame(0)]


def test_memory_is_bounded():
    video, _ = receiver()
    for i in range(2000):
        video.receive(chunk(frame_id=i, total=700, size=900_000, unix_ns=10**18 + i))
        assert len(video._frames) <= FRAME_BUFFER_DEPTH
        assert video.held_bytes <= FRAME_BUFFER_DEPTH * 1376
    for index in range(650):
        video.receive(chunk(frame_id=1999, index=index, total=700, size=900_000, unix_ns=10**18 + 1999))
    assert video.held_bytes <= MOST_BYTES + FRAME_BUFFER_DEPTH * 1376
