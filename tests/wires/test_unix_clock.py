"""UNIX time by boot time, and its steps."""

from racewire.wires.unix_clock import UnixClock

BOOT = 1_780_000_000_000_000_000
S = 10**9


def test_without_steps_it_is_boot_time_and_a_fixed_offset():
    clock = UnixClock(BOOT)
    assert [clock.at(t) - t for t in (0, 1, 7 * S)] == [BOOT] * 3


def test_steps_add_up_from_their_times_on_whatever_their_order():
    clock = UnixClock(BOOT, ((9 * S, -5 * S), (2 * S, S)))
    assert [clock.at(t) - t - BOOT for t in (0, 2 * S - 1, 2 * S, 9 * S - 1, 9 * S)] == [0, 0, S, S, -4 * S]
