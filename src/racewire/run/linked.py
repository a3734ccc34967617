"""A node behind simulated links, for real time: what lockstep's heap does, done at one end.

Datagrams to and from the node wait here until their link lets them arrive, or are lost.
"""

import heapq
from collections.abc import Mapping

from racewire.core.clock import Nanos
from racewire.run.link import SimulatedLink
from racewire.run.node import Node, earliest
from racewire.wires.base import Datagram

_IN, _OUT = 0, 1


class LinkedNode:
    """`node`, with `down` links on what it sends and `up` links on what it receives."""

    def __init__(
        self, node: Node, down: Mapping[str, SimulatedLink], up: Mapping[str, SimulatedLink]
    ) -> None:
        self._node = node
        self._links = {_IN: up, _OUT: down}
        self._waiting: list[tuple[Nanos, int, int, str, bytes]] = []
        self._sequence = 0

    def due(self) -> Nanos | None:
        """Return when the node or a waiting datagram is due."""
        return earliest(self._node.due(), self._waiting[0][0] if self._waiting else None)

    def wake(self, now: Nanos) -> list[Datagram]:
        """Let the node act; return what it sent that has come through by now."""
        due = self._node.due()
        if due is not None and due <= now:
            self._hold(_OUT, self._node.wake(now), now)
        return self._release(now)

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Datagram]:
        """Put a datagram for the node on its way; return what has come through by now."""
        self._hold(_IN, [Datagram(channel, data)], now)
        return self._release(now)

    def _hold(self, way: int, datagrams: list[Datagram], now: Nanos) -> None:
        for channel, data in datagrams:
            for at in self._links[way][channel].arrivals(now):
                heapq.heappush(self._waiting, (at, self._sequence, way, channel, data))
                self._sequence += 1

    def _release(self, now: Nanos) -> list[Datagram]:
        out: list[Datagram] = []
        while self._waiting and self._waiting[0][0] <= now:
            _, _, way, channel, data = heapq.heappop(self._waiting)
            if way == _IN:
                self._hold(_OUT, self._node.receive(channel, data, now), now)
            else:
                out.append(Datagram(channel, data))
        return out
