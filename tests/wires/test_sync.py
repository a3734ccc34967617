"""The pilot's clocks: offsets found through latency, jitter and steps."""

import numpy as np

from racewire.wires.sync import BestOfWindow, PilotClock

MS, S = 10**6, 10**9
BOOT = 5000 * S  # boot time minus local time
UNIX = 1_780_000_000 * S  # UNIX minus local


def exchange(clock, now, up, down, unix=UNIX):
    """One TIMESYNC exchange begun at `now`; the reply's arrival."""
    clock.requested(now)
    assert clock.replied(now + up + unix, now, now + up + down)
    return now + up + down


def test_offsets_are_exact_with_symmetric_latency():
    clock = PilotClock()
    for k in range(20):
        now = k * 100 * MS
        clock.stamped(now + BOOT, now + 2 * MS)
        exchange(clock, now, 2 * MS, 2 * MS)
    assert clock.boot_from_local_ns == BOOT
    assert clock.unix_from_local_ns == UNIX


def test_offsets_are_within_half_the_jitter():
    clock, rng = PilotClock(), np.random.default_rng(1)
    for k in range(600):
        now = k * 10 * MS
        up, down, late = (int(x) for x in MS + rng.integers(0, 3 * MS, 3))
        clock.stamped(now + BOOT, now + late)
        if k % 10 == 0:
            exchange(clock, now, up, down)
    assert abs(clock.boot_from_local_ns - BOOT) < MS // 2
    assert abs(clock.unix_from_local_ns - UNIX) < MS


def test_the_exchange_with_the_least_round_trip_counts():
    clock = PilotClock()
    exchange(clock, 0, 20 * MS, 0)  # 10 ms wrong
    exchange(clock, 100 * MS, MS, MS)
    exchange(clock, 200 * MS, 0, 30 * MS)  # 15 ms wrong
    assert clock.unix_from_local_ns == UNIX


def test_nothing_is_known_before_anything_came():
    clock = PilotClock(38 * MS)
    assert (clock.boot_from_local_ns, clock.unix_from_local_ns) == (None, None)
    assert clock.boot(123) == 123
    assert clock.exposed(UNIX, 1000 * MS) == 962 * MS


def test_without_time_requests_the_least_latency_stays_in_the_offset():
    clock = PilotClock()
    for late in (9 * MS, 4 * MS, 6 * MS):
        clock.stamped(BOOT, late)
    assert clock.boot_from_local_ns == BOOT - 4 * MS


def test_a_frame_is_dated_through_both_offsets():
    clock = PilotClock(38 * MS)
    clock.stamped(BOOT + 1000 * MS, 1001 * MS)
    exchange(clock, 1100 * MS, MS, MS)
    exposed, arrived = 2000 * MS, 2027 * MS
    assert clock.exposed(UNIX + exposed, arrived) == BOOT + exposed


def test_a_frame_from_the_future_or_the_distant_past_is_dated_by_its_arrival():
    clock = PilotClock(38 * MS)
    clock.stamped(BOOT, 0)
    exchange(clock, 0, 0, 0)
    for stamp in (UNIX + 2 * S + 1, UNIX + S - 1, 0, 2**64 - 1):
        assert clock.exposed(stamp, 2 * S) == BOOT + 2 * S - 38 * MS


def test_a_reply_to_nobody_is_refused():
    clock = PilotClock()
    clock.requested(1000)
    assert not clock.replied(UNIX, 999, 2000)
    assert not clock.replied(UNIX, 1000, 500)
    assert clock.replied(UNIX, 1000, 2000)
    assert not clock.replied(UNIX, 1000, 2000)


def test_a_simulator_that_restarts_is_followed_at_once():
    clock = PilotClock()
    for k in range(100):
        clock.stamped(BOOT + k * 10 * MS, k * 10 * MS)
    clock.stamped(0, 1000 * MS)
    assert clock.boot_from_local_ns == -1000 * MS


def test_one_stamp_from_the_future_does_no_lasting_harm():
    clock = PilotClock()
    clock.stamped(BOOT, 0)
    clock.stamped(1 << 62, 10 * MS)
    clock.stamped(BOOT + 20 * MS, 20 * MS)
    assert clock.boot_from_local_ns == BOOT


def test_a_clock_that_drifts_is_followed():
    """200 ppm over two minutes is 24 ms; what is remembered for 5 s is off by at most 1 ms."""
    clock = PilotClock()
    for k in range(12_000):
        now = k * 10 * MS
        clock.stamped(now + BOOT - now // 5000, now)
    assert abs(clock.boot_from_local_ns - (BOOT - now // 5000)) <= MS


def test_a_step_of_the_unix_clock_is_followed_at_once():
    clock = PilotClock()
    for k in range(10):
        exchange(clock, k * 100 * MS, MS, MS)
    exchange(clock, 1000 * MS, 3 * MS, 3 * MS, UNIX - 3600 * S)
    assert clock.unix_from_local_ns == UNIX - 3600 * S


def test_memory_is_bounded():
    clock, window = PilotClock(), BestOfWindow()
    for k in range(5000):
        clock.requested(k)
        window.add(k * 10 * MS, -k, k)
    assert len(clock._outstanding) <= 64
    assert len(window._buckets) <= 10
