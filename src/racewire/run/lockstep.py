"""Lockstep: simulated time, as fast as the machine allows, the same bytes twice.

One heap of datagrams in flight, ordered by arrival time and then by the order they were sent in, and
the two nodes' own wake-up times. At equal times deliveries come first, then the simulator, then the
pilot. No clock of the machine is read, so load changes nothing.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping

from racewire.core.clock import Nanos
from racewire.run.link import SimulatedLink
from racewire.run.node import Node
from racewire.wires.base import Datagram

_NEVER = 1 << 62


class Lockstep:
    """Simulator and pilot on one simulated clock."""

    def __init__(
        self, simulator: Node, pilot: Node, down: Mapping[str, SimulatedLink], up: Mapping[str, SimulatedLink]
    ) -> None:
        """Join the two ends: `down` links by channel towards the pilot, `up` towards the simulator."""
        self._nodes = (simulator, pilot)
        self._links = (down, up)
        self._flight: list[tuple[Nanos, int, int, str, bytes]] = []
        self._sequence = 0
        self.now: Nanos = 0

    def run(self, done: Callable[[Nanos], bool]) -> None:
        """Run until `done(now)`, asked after every event, says so."""
        simulator, pilot = self._nodes
        while not done(self.now):
            arrival = self._flight[0][0] if self._flight else _NEVER
            sim_due = _or_never(simulator.due())
            pilot_due = _or_never(pilot.due())
            now = min(arrival, sim_due, pilot_due)
            if now == _NEVER:
                return
            self.now = now = max(now, self.now)
            if arrival <= now:
                _, _, end, channel, data = heapq.heappop(self._flight)
                self._send(end, self._nodes[end].receive(channel, data, now))
            elif sim_due <= now:
                self._send(0, simulator.wake(now))
            else:
                self._send(1, pilot.wake(now))

    def _send(self, end: int, datagrams: Iterable[Datagram]) -> None:
        """Put on their way the datagrams that node `end` (0 simulator, 1 pilot) sent."""
        links = self._links[end]
        for channel, data in datagrams:
            for at in links[channel].arrivals(self.now):
                heapq.heappush(self._flight, (at, self._sequence, 1 - end, channel, data))
                self._sequence += 1


def _or_never(t: Nanos | None) -> Nanos:
    return _NEVER if t is None else t
