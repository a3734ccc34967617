"""Video frames sent again: the copies of the newest frame, spread evenly over the frame period.

The original sends every frame several times, 2 to 14 by build, and 7.5 on average in one. With c copies
on average, frame k is sent floor((k + 1) c) - floor(k c) times. Source: spec aigp.md, section 2.
"""

from collections import deque
from collections.abc import Sequence
from fractions import Fraction

from racewire.core.clock import NS_PER_S, Nanos, exact_rate


class Resend:
    """The copies still to be sent; those of an older frame end where a newer one begins."""

    def __init__(self, copies: float, rate_hz: Fraction) -> None:
        """Send each frame `copies` times on average (at least 1), `rate_hz` frames a second."""
        self._copies = exact_rate(copies)
        self._rate = rate_hz
        self._frames = 0
        self._datagrams: Sequence[bytes] = ()
        self._times: deque[Nanos] = deque()

    def began(self, datagrams: Sequence[bytes], now: Nanos) -> None:
        """Take the datagrams of a frame that was sent for the first time at `now`."""
        k = self._frames
        self._frames += 1
        count = int((k + 1) * self._copies) - int(k * self._copies)
        step = NS_PER_S * self._rate.denominator
        self._times = deque(now + i * step // (count * self._rate.numerator) for i in range(1, count))
        self._datagrams = datagrams

    def due(self) -> Nanos | None:
        """Return when the next copy leaves, None if there is none."""
        return self._times[0] if self._times else None

    def wake(self, now: Nanos) -> Sequence[bytes]:
        """Return the datagrams of the copy that is due; one copy, however late."""
        late = False
        while self._times and self._times[0] <= now:
            self._times.popleft()
            late = True
        return self._datagrams if late else ()
