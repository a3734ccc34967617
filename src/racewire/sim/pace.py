"""When a topic is due on a machine that is too slow: the build's rate times a share that changes.

Every topic of one rate gets the same times, since the share is drawn for the machine as a whole. Times
are integer nanoseconds on the boot clock.
"""

from collections.abc import Mapping
from fractions import Fraction

from racewire.core.clock import NS_PER_S, Nanos, Ticker, nanos
from racewire.core.seeds import stream
from racewire.sim.faults import SlowTelemetry

SLOWED = ("imu", "attitude", "local_position", "odometry", "motors")
"""The topics that follow the machine's speed; the others have timers of their own."""


class Load:
    """The share of the usual rate that the machine manages, by time."""

    def __init__(self, slow: SlowTelemetry, run_seed: int, start_ns: Nanos) -> None:
        """Draw from the stream `telemetry/load` of run `run_seed`, beginning at `start_ns`."""
        self._slow = slow
        self._start = start_ns
        self._hold = nanos(slow.hold_s)
        self._draws = stream(run_seed, "telemetry/load")
        self._drawn = 0
        self._share = 1.0

    def share(self, t_ns: Nanos) -> float:
        """Return the share at `t_ns`, which never goes back."""
        while self._drawn * self._hold <= t_ns - self._start:
            self._share = float(self._draws.uniform(self._slow.low, self._slow.high))
            self._drawn += 1
        return self._share


class LoadedTicker:
    """What `core.clock.Ticker` is, at the load's share of `rate_hz`."""

    def __init__(self, rate_hz: Fraction, load: Load, start_ns: Nanos) -> None:
        """Be due first at `start_ns`."""
        self._period = NS_PER_S / float(rate_hz)
        self._load = load
        self.due: Nanos = start_ns

    def advance(self) -> Nanos:
        """Take the tick that is due: return its time and move on to the next."""
        now = self.due
        self.due = now + round(self._period / self._load.share(now))
        return now


def tickers(
    rates: Mapping[str, Fraction], slow: SlowTelemetry, run_seed: int, start_ns: Nanos
) -> dict[str, Ticker | LoadedTicker]:
    """Return the ticker of each topic, given its usual rate in Hz, first due at `start_ns`."""
    load = Load(slow, run_seed, start_ns)
    return {
        name: LoadedTicker(rate, load, start_ns) if slow.slow and name in SLOWED else Ticker(rate, start_ns)
        for name, rate in rates.items()
    }
