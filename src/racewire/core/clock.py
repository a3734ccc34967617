"""Time as an integer number of nanoseconds, and exact rates.

A clock reading is a `Nanos`; only `run/` reads the machine's. Tick k of a rate is computed from k by
integer arithmetic, never by adding a float period, so no rate drifts (DESIGN.md, rule 4).
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

Nanos: TypeAlias = int
"""An instant or a duration, in integer nanoseconds."""

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
NS_PER_US = 1_000


def seconds(t_ns: Nanos) -> float:
    """Return `t_ns` in seconds."""
    return t_ns / NS_PER_S


def nanos(t_s: float) -> Nanos:
    """Return `t_s` seconds, rounded to the nanosecond."""
    return round(t_s * NS_PER_S)


def tick_time(k: int, rate_hz: Fraction | int) -> Nanos:
    """Return the time of tick `k` of `rate_hz`, rounded down to the nanosecond."""
    rate = Fraction(rate_hz)
    return k * NS_PER_S * rate.denominator // rate.numerator


def exact_rate(rate_hz: float) -> Fraction:
    """Return the decimal number that `rate_hz` prints as, as an exact fraction (62.9 -> 629/10)."""
    return Fraction(str(rate_hz))


@dataclass(slots=True)
class Ticker:
    """The ticks of one exact rate, from `start_ns` on: `due` names the next, `advance` takes it."""

    rate_hz: Fraction | int
    start_ns: Nanos = 0
    k: int = 0
    due: Nanos = field(init=False)

    def __post_init__(self) -> None:
        """Place the first tick.

        Raises
        ------
        ValueError
            If the rate is not positive.
        """
        if self.rate_hz <= 0:
            message = f"a rate must be positive, not {self.rate_hz} Hz"
            raise ValueError(message)
        self.due = self.start_ns + tick_time(self.k, self.rate_hz)

    def advance(self) -> Nanos:
        """Take the tick that is due: return its time and move on to the next."""
        now = self.due
        self.k += 1
        self.due = self.start_ns + tick_time(self.k, self.rate_hz)
        return now

    def skip_to(self, now: Nanos) -> int:
        """Drop every tick before `now` but the latest; return how many were dropped."""
        rate = Fraction(self.rate_hz)
        latest = (now - self.start_ns) * rate.numerator // (NS_PER_S * rate.denominator)
        dropped = max(0, latest - self.k)
        if dropped:
            self.k = latest
            self.due = self.start_ns + tick_time(self.k, self.rate_hz)
        return dropped
