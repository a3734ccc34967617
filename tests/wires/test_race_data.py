"""Race status and track: every field of spec 1.5 and 1.6, and what may not come in."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.frames import Rot, Vec
from racewire.core.messages import RaceStatus, Track, TrackGate
from racewire.wires.base import Rejected
from racewire.wires.race_data import (
    TrackReceiver,
    read_status,
    read_track,
    write_chunks,
    write_status,
    write_track,
)

MS = 10**6


def status(**changes):
    fields = {"t_ns": 0, "start_ns": None, "finish_ns": None, "active_gate": 0, "last_gate_ns": None}
    return RaceStatus(**{**fields, **changes})


def test_before_the_race_every_time_is_minus_one():
    data = write_status(status(t_ns=9_470 * MS + 999_999))
    assert struct.unpack_from("<BQqqIq", data) == (1, 9470, -1, -1, 0, -1)
    assert (len(data), set(data[37:])) == (253, {0})


def test_countdown_race_and_finish():
    data = write_status(
        status(
            t_ns=70_000 * MS,
            start_ns=13_460 * MS,
            finish_ns=52_349_807_739,
            active_gate=6,
            last_gate_ns=52_349_807_739,
        )
    )
    assert struct.unpack_from("<BQqqIq", data) == (1, 70_000, 13_460, 52_349_807_739, 6, 52_349_807_739)


def test_go_is_never_shown_before_it_is():
    """Live means boot ms >= start ms in one packet; rounding must not make that true early."""
    start = 13_460 * MS + 1
    for t in (start - 1, start, start + MS):
        _, now, shown, *_ = struct.unpack_from("<BQqqIq", write_status(status(t_ns=t, start_ns=start)))
        assert t >= start or now < shown


times = st.none() | st.integers(0, 10**15)


@given(t=st.integers(0, 10**15), start=times, finish=times, gate=st.integers(0, 2**32 - 1), last=times)
def test_status_comes_back_to_the_millisecond(t, start, finish, gate, last):
    sent = status(t_ns=t, start_ns=start, finish_ns=finish, active_gate=gate, last_gate_ns=last)
    back = read_status(write_status(sent))
    assert 0 <= t - back.t_ns < MS
    assert (back.start_ns is None) == (start is None)
    assert start is None or 0 <= back.start_ns - start < MS
    assert (back.finish_ns, back.active_gate, back.last_gate_ns) == (finish, gate, last)


@pytest.mark.parametrize(
    ("now", "start", "finish", "last"),
    [(2**63, -1, -1, -1), (0, -2, -1, -1), (0, 2**62, -1, -1), (0, -1, -5, -1), (0, -1, -1, -(2**63))],
)
def test_times_that_cannot_be_are_refused(now, start, finish, last):
    with pytest.raises(Rejected, match="out of range"):
        read_status(struct.pack("<BQqqIq", 1, now, start, finish, 0, last).ljust(253, b"\0"))


def course(gates):
    return Track(
        t_ns=5,
        gates=tuple(
            TrackGate(
                gate_id=i,
                position=Vec(-23.5 * i, -0.5, 4.0),
                ned_from_gate=Rot.from_euler(0.0, 0.0, math.pi),
                width=2.75,
                height=2.75,
            )
            for i in range(gates)
        ),
    )


def test_the_body_of_six_gates_is_230_bytes_in_one_chunk():
    body = write_track(course(6))
    assert len(body) == 230
    assert struct.unpack_from("<H", body) == (6,)
    gate_id, *numbers = struct.unpack_from("<H9f", body, 2 + 38)
    half = math.sqrt(0.5)
    assert gate_id == 1
    assert numbers == pytest.approx([-23.5, -0.5, 4.0, half, 0, 0, half, 2.75, 2.75], abs=1e-6)
    (chunk,) = write_chunks(body, 1)
    assert len(chunk) == 253
    assert struct.unpack_from("<BH", chunk) == (2, 1)
    assert chunk[3:233] == body


def test_seventeen_gates_take_three_chunks_of_at_most_250_bytes():
    body = write_track(course(17))
    chunks = write_chunks(body, 0)
    assert len(chunks) == 3
    assert b"".join(chunk[3:] for chunk in chunks)[: len(body)] == body


@given(order=st.permutations(range(3)), twice=st.integers(0, 2))
def test_chunks_may_come_in_any_order_and_twice(order, twice):
    body = write_track(course(17))
    chunks = write_chunks(body, 4)
    receiver = TrackReceiver()
    receiver.announce(4, len(body), 3, 0)
    out = [receiver.chunk(twice, chunks[twice])] + [receiver.chunk(i, chunks[i]) for i in order]
    assert [o for o in out if o] == [body]
    back = read_track(body, 7)
    assert back.t_ns == 7
    assert [(g.gate_id, g.position) for g in back.gates] == [
        (g.gate_id, g.position) for g in course(17).gates
    ]
    assert all(g.ned_from_gate.angle_to(Rot.from_euler(0.0, 0.0, math.pi)) < 1e-6 for g in back.gates)


def test_a_chunk_nobody_announced_is_passed_over():
    receiver = TrackReceiver()
    (chunk,) = write_chunks(write_track(course(6)), 0)
    assert receiver.chunk(0, chunk) is None
    receiver.announce(0, 230, 1, 0)
    assert receiver.chunk(9, chunk) is None
    assert receiver.chunk(0, chunk) == write_track(course(6))


@pytest.mark.parametrize(("size", "count"), [(0, 0), (230, 0), (230, 2), (251, 1), (250_000, 1000), (0, 1)])
def test_an_announcement_that_cannot_be_is_refused(size, count):
    with pytest.raises(Rejected, match="track size"):
        TrackReceiver().announce(0, size, count, 0)


def test_announcements_are_bounded():
    receiver = TrackReceiver()
    for transfer in range(5000):
        receiver.announce(transfer, 750, 3, 0)
    assert len(receiver._open) <= 4


@pytest.mark.parametrize("later", [100 * MS, 60_000 * MS])
def test_a_later_burst_is_not_mixed_with_what_is_left_of_an_earlier_one(later):
    """A repeated announcement keeps what came; a new one of the same size begins anew."""
    body, receiver = write_track(course(17)), TrackReceiver()
    first, second, third = write_chunks(body, 0)
    receiver.announce(0, len(body), 3, 0)
    receiver.chunk(0, first)
    receiver.chunk(1, second)
    receiver.announce(0, len(body), 3, later)
    assert receiver.chunk(2, third) == (body if later < 1000 * MS else None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\1",
        b"\1\0",
        write_track(course(2))[:-1],
        struct.pack("<H", 3) + write_track(course(2))[2:],
        struct.pack("<HH9f", 1, 0, *[0.0] * 9),  # a nulled record
        struct.pack("<HH9f", 1, 0, math.nan, 0, 0, 1, 0, 0, 0, 1, 1),
        struct.pack("<HH9f", 1, 0, 0, 0, 0, 1, 0, 0, 0, math.inf, 1),
    ],
)
def test_a_track_that_cannot_be_is_refused(body):
    with pytest.raises(Rejected):
        read_track(body, 0)
