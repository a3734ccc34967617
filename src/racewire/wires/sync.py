"""The pilot's clocks: boot time of the vehicle, and exposure time of a frame, from what arrives.

Three clocks meet at a pilot (spec aigp.md, sections 1.3, 1.4, 2): its own (local, any monotonic
clock), the vehicle's boot clock (telemetry stamps) and the simulator's UNIX clock (TIMESYNC, video).
A boot stamp minus its arrival is the offset less the latency, so the largest is the best; half the
least TIMESYNC round trip stands for the latency that remains. The UNIX offset is that of the TIMESYNC
exchange with the least round trip. Both forget what is older than a few seconds, and all of it when
a clock is seen to have stepped.
"""

from collections import deque

from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos

_BUCKET_NS = NS_PER_S // 2
_BUCKETS = 10
_STEP_NS = NS_PER_S // 2
_MARGIN_NS = 5 * NS_PER_MS
_OUTSTANDING = 64
_OLDEST_FRAME_NS = NS_PER_S


class BestOfWindow:
    """The sample with the highest score of the last 5 s that had samples."""

    def __init__(self) -> None:
        """Start without a sample."""
        self._buckets: deque[tuple[int, Nanos, Nanos]] = deque(maxlen=_BUCKETS)  # bucket, score, value
        self._best: tuple[Nanos, Nanos] | None = None

    def add(self, now: Nanos, score: Nanos, value: Nanos) -> None:
        """Take a sample."""
        bucket = now // _BUCKET_NS
        if self._buckets and self._buckets[-1][0] == bucket:
            if score <= self._buckets[-1][1]:
                return
            self._buckets[-1] = (bucket, score, value)
        else:
            self._buckets.append((bucket, score, value))
        _, *best = max(self._buckets, key=lambda sample: sample[1])
        self._best = (best[0], best[1])

    def best(self) -> tuple[Nanos, Nanos] | None:
        """Return (score, value) of the best sample, None before the first."""
        return self._best

    def clear(self) -> None:
        """Forget every sample."""
        self._buckets.clear()
        self._best = None


class PilotClock:
    """The offsets between the local clock, the boot clock and the simulator's UNIX clock."""

    def __init__(self, video_latency_ns: Nanos = 0) -> None:
        """Assume `video_latency_ns` from exposure to arrival while frames cannot be dated otherwise."""
        self._latency = video_latency_ns
        self._boot = BestOfWindow()  # score and value: stamp - arrival
        self._unix = BestOfWindow()  # score: -round trip; value: UNIX from local
        self._outstanding: deque[Nanos] = deque(maxlen=_OUTSTANDING)

    @property
    def boot_from_local_ns(self) -> Nanos | None:
        """Boot time minus local time, None before the first telemetry."""
        best = self._boot.best()
        if best is None:
            return None
        exchange = self._unix.best()
        return best[1] + (-exchange[0] // 2 if exchange else 0)

    @property
    def unix_from_local_ns(self) -> Nanos | None:
        """The simulator's UNIX time minus local time, None before the first TIMESYNC reply."""
        best = self._unix.best()
        return best[1] if best else None

    def boot(self, now: Nanos) -> Nanos:
        """Return the boot time at local time `now`; `now` itself while it is not known."""
        return now + (self.boot_from_local_ns or 0)

    def stamped(self, stamp: Nanos, now: Nanos) -> None:
        """Take note of telemetry with boot time `stamp` that arrived at `now`."""
        sample = stamp - now
        best = self._boot.best()
        if best is not None and sample < best[1] - _STEP_NS:  # a restart, or a long stop
            self._boot.clear()
            self._unix.clear()
        self._boot.add(now, sample, sample)

    def requested(self, now: Nanos) -> None:
        """Take note of a TIMESYNC request sent at `now`."""
        self._outstanding.append(now)

    def replied(self, server: Nanos, echo: Nanos, now: Nanos) -> bool:
        """Take a TIMESYNC reply: server time, and the echo of ours. False if we never asked."""
        if echo not in self._outstanding or echo > now:
            return False
        self._outstanding.remove(echo)
        round_trip, offset = now - echo, server - (echo + now) // 2
        best = self._unix.best()
        if best is not None and abs(offset - best[1]) > (round_trip - best[0]) // 2 + _MARGIN_NS:
            self._unix.clear()  # no latency explains that: the server's clock stepped
        self._unix.add(now, -round_trip, offset)
        return True

    def exposed(self, unix: Nanos, now: Nanos) -> Nanos:
        """Return the boot time of a frame stamped `unix` that was complete at `now`."""
        arrived = self.boot(now)
        offset = self.unix_from_local_ns
        if offset is not None:
            exposure = self.boot(unix - offset)
            if arrived - _OLDEST_FRAME_NS <= exposure <= arrived:
                return exposure
        return arrived - self._latency
