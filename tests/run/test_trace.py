"""Photon to command: frames and commands are followed by their bytes, each counted once."""

import pytest

from racewire.core.budget import Budget
from racewire.run.assembly import LIMITS_MS
from racewire.run.trace import STAGES, Trace

MS = 10**6


@pytest.fixture
def added():
    return []


@pytest.fixture
def trace(added):
    return Trace(lambda stage, duration: added.append((stage, duration)))


def test_a_frame_is_followed_to_its_command(trace, added):
    trace.frame_sent(b"jpeg", 100 * MS, 103 * MS)
    trace.frame_taken(b"jpeg", 124 * MS)
    trace.command_sent([b"datagram"], 129 * MS)
    trace.command_arrived(b"datagram", 130 * MS)
    assert added == [
        ("exposure_to_sent", 3 * MS),
        ("sent_to_pilot", 21 * MS),
        ("pilot_to_command", 5 * MS),
        ("command_to_motors", 1 * MS),
    ]
    assert [stage for stage, _ in added] == list(STAGES)
    assert trace.totals_ns == [30 * MS]


def test_only_the_first_command_after_a_frame_counts(trace):
    trace.frame_sent(b"jpeg", 0, 0)
    trace.frame_taken(b"jpeg", 10 * MS)
    trace.command_sent([b"first"], 11 * MS)
    trace.command_sent([b"second"], 21 * MS)
    for data in (b"second", b"first", b"first"):
        trace.command_arrived(data, 30 * MS)
    assert trace.totals_ns == [30 * MS]


def test_what_is_lost_counts_nowhere(trace, added):
    trace.frame_sent(b"lost", 0, 0)
    trace.command_sent([b"c0"], 5 * MS)
    trace.frame_sent(b"taken", 10 * MS, 10 * MS)
    trace.frame_taken(b"never sent", 11 * MS)
    trace.command_sent([b"c1"], 12 * MS)
    trace.frame_taken(b"taken", 20 * MS)
    trace.command_sent([b"lost too"], 21 * MS)
    trace.command_arrived(b"c0", 22 * MS)
    trace.command_arrived(b"c1", 22 * MS)
    assert trace.totals_ns == []
    assert [stage for stage, _ in added] == [
        "exposure_to_sent",
        "exposure_to_sent",
        "sent_to_pilot",
        "pilot_to_command",
    ]


def test_a_frame_taken_again_is_the_same_frame(trace):
    trace.frame_sent(b"jpeg", 0, 0)
    for now in (10 * MS, 12 * MS):
        trace.frame_taken(b"jpeg", now)
        trace.command_sent([b"c%d" % now], now)
        trace.command_arrived(b"c%d" % now, now)
    assert trace.totals_ns == [10 * MS]


def test_memory_stays_bounded(trace):
    for k in range(10_000):
        trace.frame_sent(b"%d" % k, k, k)
        trace.frame_taken(b"%d" % k, k)
        trace.command_sent([b"c%d" % k], k)
    for k in range(10_000):
        trace.frame_sent(b"lost %d" % k, k, k)
    assert len(trace._sent) <= 64
    assert len(trace._commands) <= 64
    trace.command_arrived(b"c9999", 9999)
    assert len(trace.totals_ns) == 1


def test_the_report_has_percentiles_in_ms_and_none_without_a_sample(trace):
    assert trace.report() == {"p50": None, "p99": None, "max": None}
    trace.totals_ns = [k * MS for k in range(1, 102)]
    assert trace.report() == {"p50": 51.0, "p99": 100.0, "max": 101.0}


def test_every_part_is_a_stage_of_the_budget():
    trace = Trace(Budget(LIMITS_MS).add)
    trace.frame_sent(b"jpeg", 0, 1)
    trace.frame_taken(b"jpeg", 2)
    trace.command_sent([b"c"], 3)
    trace.command_arrived(b"c", 4)
    assert set(STAGES) <= set(LIMITS_MS)
