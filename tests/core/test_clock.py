from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racewire.core.clock import NS_PER_S, Ticker, exact_rate, nanos, seconds, tick_time


def test_thirty_hertz_never_drifts():
    assert tick_time(1, 30) == 33_333_333
    assert tick_time(30, 30) == NS_PER_S
    assert tick_time(30 * 3600 * 24, 30) == 86_400 * NS_PER_S


def test_decimal_rates_are_exact():
    assert exact_rate(62.9) == Fraction(629, 10)
    assert tick_time(629, exact_rate(62.9)) == 10 * NS_PER_S


@given(st.integers(0, 10_000), st.integers(1, 1000), st.integers(1, 20))
def test_ticks_rise_and_stay_within_a_nanosecond_of_the_rate(k, numerator, denominator):
    rate = Fraction(numerator, denominator)
    assert tick_time(k, rate) < tick_time(k + 1, rate)
    assert abs(Fraction(tick_time(k, rate)) - Fraction(k * NS_PER_S) / rate) < 1


def test_ticker_names_and_takes_its_ticks():
    ticker = Ticker(4, start_ns=10)
    assert [ticker.advance() for _ in range(3)] == [10, 10 + NS_PER_S // 4, 10 + NS_PER_S // 2]
    assert ticker.due == 10 + 3 * NS_PER_S // 4


def test_skipping_keeps_the_latest_missed_tick():
    ticker = Ticker(10)
    assert ticker.skip_to(NS_PER_S + 5) == 10
    assert ticker.due == NS_PER_S
    assert ticker.skip_to(NS_PER_S) == 0


def test_a_rate_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        Ticker(0)


def test_seconds_and_back():
    assert nanos(seconds(123_456_789)) == 123_456_789
