"""Real time: one `selectors` loop over all sockets and the nodes' wake-up times.

The same nodes as in lockstep, paced by the machine's monotonic clock. A stall longer than
`STALL_NS` (a stopped process, a suspended machine) is taken out of the loop's clock, so time stands
still for it instead of coming in a burst.
"""

import selectors
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos
from racewire.run.node import Node, earliest
from racewire.run.sockets import UdpChannel
from racewire.wires.base import Datagram

STALL_NS = 250 * NS_PER_MS
_LONGEST_WAIT_NS = 50 * NS_PER_MS
_BATCH = 256


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A node with its sockets by channel."""

    node: Node
    channels: Mapping[str, UdpChannel]


Ready: TypeAlias = Callable[[Nanos], None]
"""What to call, with the loop's clock, when a socket is readable."""


class Loop:
    """The loop. Its clock starts at 0 and never goes back."""

    def __init__(self, endpoints: list[Endpoint]) -> None:
        """Watch every socket of `endpoints`; the caller keeps owning and closes them."""
        self._endpoints = endpoints
        self._selector = selectors.SelectSelector()
        for endpoint in endpoints:
            for channel in endpoint.channels.values():
                self.watch(channel.socket, partial(self._drain, endpoint, channel))
        self._zero = time.perf_counter_ns()
        self.now: Nanos = 0
        self.stalls = 0

    def watch(self, sock: socket.socket, ready: Ready | None = None) -> None:
        """Also wake up when `sock` is readable, and call `ready` then.

        Without `ready`, whoever owns the socket drains it in its node's `wake`.
        """
        self._selector.register(sock, selectors.EVENT_READ, ready)

    def forget(self, sock: socket.socket) -> None:
        """Watch `sock` no longer; before it is closed."""
        self._selector.unregister(sock)

    def run(self, done: Callable[[Nanos], bool]) -> None:
        """Run until `done(now)`, asked after every turn, says so."""
        while not done(self._tick()):
            for endpoint in self._endpoints:
                due = endpoint.node.due()
                if due is not None and due <= self.now:
                    self._send(endpoint, endpoint.node.wake(self.now))
            wait = self._wait_ns()
            for key, _ in self._selector.select(wait / NS_PER_S):
                ready = cast("Ready | None", key.data)
                if ready is not None:
                    ready(self._tick())

    def close(self) -> None:
        """Stop watching."""
        self._selector.close()

    def _tick(self) -> Nanos:
        now = time.perf_counter_ns() - self._zero
        if now - self.now > STALL_NS + _LONGEST_WAIT_NS:
            self.stalls += 1
            self._zero += now - self.now
            now = self.now
        self.now = max(now, self.now)
        return self.now

    def _wait_ns(self) -> Nanos:
        due = earliest(*(endpoint.node.due() for endpoint in self._endpoints))
        now = time.perf_counter_ns() - self._zero
        if due is None:
            return _LONGEST_WAIT_NS
        return max(0, min(due - now, _LONGEST_WAIT_NS))

    def _drain(self, endpoint: Endpoint, channel: UdpChannel, _: Nanos) -> None:
        for data in channel.receive(_BATCH):
            self._send(endpoint, endpoint.node.receive(channel.port.channel, data, self._tick()))

    @staticmethod
    def _send(endpoint: Endpoint, datagrams: list[Datagram]) -> None:
        for name, data in datagrams:
            endpoint.channels[name].send(data)
