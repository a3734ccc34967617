"""The simulator's UNIX clock: boot time plus an offset, fixed unless the clock is told to step.

The machine's own clock is read once, at boot, so setting it back changes nothing on the wire. TIMESYNC
replies and video stamps show this clock. Times in ns.
"""

from bisect import bisect_right
from itertools import accumulate

from racewire.core.clock import Nanos


class UnixClock:
    """UNIX time by boot time."""

    def __init__(self, at_boot_ns: Nanos, steps: tuple[tuple[Nanos, Nanos], ...] = ()) -> None:
        """Read `at_boot_ns` at boot; `steps` are (boot time, by how much), in any order."""
        ordered = sorted(steps)
        self._times = [at for at, _ in ordered]
        self._offsets = [at_boot_ns, *(at_boot_ns + by for by in accumulate(by for _, by in ordered))]

    def at(self, boot: Nanos) -> Nanos:
        """Return the UNIX time at the boot time `boot`."""
        return boot + self._offsets[bisect_right(self._times, boot)]
