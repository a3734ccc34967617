"""The pilot's end: a pilot and its end of the wire, as one node.

The pilot's host has a clock of its own: the loop's plus `clock_ns`. A camera frame reaches the pilot
`vision_ns` after it arrived: the declared compute time of lockstep. In real time nothing is declared
and looking takes what it takes. Of the frames that come while it looks, only the latest is kept.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from racewire.core.clock import NS_PER_S, Nanos
from racewire.core.messages import FlightCommand, FromVehicle, Image, RaceStatus
from racewire.pilots.base import Pilot
from racewire.run.node import earliest
from racewire.run.trace import Trace
from racewire.wires.base import Datagram, Malformed, Wire

HOST_CLOCK_NS = 7 * 3600 * NS_PER_S
"""How far the pilot's clock is ahead of the loop's in an embedded run: never equal, so never relied on."""


class _Arrived(NamedTuple):
    """A frame, and when it came."""

    at: Nanos
    image: Image


class PilotNode:
    """The node."""

    def __init__(
        self,
        pilot: Pilot,
        wire: Wire,
        timed: Callable[[str, Nanos], None],
        *,
        vision_ns: Nanos | None = None,
        clock_ns: Nanos = HOST_CLOCK_NS,
        trace: Trace | None = None,
    ) -> None:
        """Join the parts; `timed` is told how long the pilot took, by stage."""
        self.pilot = pilot
        self.wire = wire
        self.counters: Counter[str] = Counter()
        self.frames = 0
        self.race: RaceStatus | None = None
        self.last_received: Nanos | None = None
        self._timed = timed
        self._vision = vision_ns
        self._clock = clock_ns
        self._trace = trace
        self._looking: _Arrived | None = None
        self._looked: Nanos = 0
        self._next: _Arrived | None = None

    def due(self) -> Nanos | None:
        """Return when to wake it next."""
        looked = self._looked if self._looking else None
        pilot, wire = self.pilot.due(), self.wire.due()
        return earliest(
            looked,
            None if pilot is None else pilot - self._boot_from_loop(),
            None if wire is None else wire - self._clock,
        )

    def wake(self, now: Nanos) -> list[Datagram]:
        """Let the pilot look at a frame, or act on its own pace; let the session speak."""
        out: list[Datagram] = []
        if self._looking is not None and self._looked <= now:
            arrived, image = self._looking
            self._look(self._next, now)
            self.frames += 1
            if self._trace is not None:
                self._trace.frame_taken(image.jpeg, arrived)
            out += self._step("pilot_image", [image], now)
        due = self.pilot.due()
        if due is not None and due - self._boot_from_loop() <= now:
            out += self._step("pilot_tick", [], now)
        due = self.wire.due()
        if due is not None and due - self._clock <= now:
            out += self.wire.wake(now + self._clock)
        return out

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Datagram]:
        """Give the pilot what arrived; a frame waits for the declared time."""
        inbox: list[FromVehicle] = []
        self.last_received = now
        for message in self.wire.receive(channel, data, now + self._clock):
            if isinstance(message, Malformed):
                self.counters[f"malformed {message.reason}"] += 1
            elif isinstance(message, Image):
                self._take(_Arrived(now, message))
            elif not isinstance(message, FlightCommand):
                if isinstance(message, RaceStatus):
                    self.race = message
                inbox.append(message)  # type: ignore[arg-type]
        return self._step("pilot_tick", inbox, now) if inbox else []

    def _take(self, frame: _Arrived) -> None:
        """Look at a frame, or keep it for when the one before has been looked at."""
        if self._looking is None or self._vision is None:
            self.counters["frames skipped"] += self._looking is not None
            self._look(frame, frame.at)
        else:
            self.counters["frames skipped"] += self._next is not None
            self._next = frame

    def _look(self, frame: _Arrived | None, now: Nanos) -> None:
        self._looking, self._next = frame, None
        self._looked = now + (self._vision or 0)

    def _step(self, stage: str, inbox: Sequence[FromVehicle], now: Nanos) -> list[Datagram]:
        started = time.perf_counter_ns()
        outbox = self.pilot.step(now + self._boot_from_loop(), inbox)
        took = time.perf_counter_ns() - started
        self._timed(stage, took)
        sent = now if self._vision is not None else now + took
        out: list[Datagram] = []
        for message in outbox:
            datagrams = self.wire.send(message, now + self._clock)
            if self._trace is not None and isinstance(message, FlightCommand):
                self._trace.command_sent((data for _, data in datagrams), sent)
            out += datagrams
        return out

    def _boot_from_loop(self) -> Nanos:
        """Return the offset of the vehicle's boot clock from the loop's, as the wire can tell it."""
        offset = self.wire.boot_from_local_ns
        return self._clock + (offset if offset is not None else 0)
