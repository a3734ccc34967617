"""One simulator after another behind one set of sockets, on a clock that can pause, step and start over.

A *life* is everything that a fresh process would have: simulator, wire, links, random streams, and a
boot clock that begins at 0. Ending one and beginning the next is therefore the same as starting a new
process, down to the log hash. The boot clock is the loop's clock minus the moment of the boot and minus
the time spent paused; while it is paused, time stands still: nothing moves and no telemetry leaves,
but what a pilot sends is taken in and answered.
"""

from collections.abc import Callable
from dataclasses import dataclass

from racewire.core.clock import Nanos
from racewire.run.node import Node
from racewire.run.record import RunHash
from racewire.run.sim_node import SimNode
from racewire.wires.base import Datagram


@dataclass(frozen=True, slots=True)
class Life:
    """One simulator from its boot on: its node, that node behind its links, and the hash of it all."""

    sim: SimNode
    node: Node
    hash: RunHash


class Session:
    """A node that hosts a life. Times are the loop's unless they are called boot times."""

    def __init__(self, begin: Callable[[Nanos], Life], unix_ns: Nanos, *, simulated: bool = False) -> None:
        """Begin the first life at 0; `begin` makes one, given the UNIX time at its boot.

        Where time is `simulated` it advances by steps alone, and the UNIX clock starts over with the boot
        clock; in real time it runs on, so that it never goes back.
        """
        self._begin = begin
        self._unix = unix_ns
        self._simulated = simulated
        self._zero: Nanos = 0
        self._frozen: Nanos | None = 0 if simulated else None
        self._out: list[Datagram] = []
        self.lives = 1
        self.life = begin(unix_ns)

    @property
    def paused(self) -> bool:
        """Whether time stands still."""
        return self._frozen is not None

    def boot(self, now: Nanos) -> Nanos:
        """Return the boot time at `now`."""
        return now - self._zero if self._frozen is None else self._frozen

    def pause(self, now: Nanos) -> None:
        """Let time stand still from `now` on."""
        self._frozen = self.boot(now)

    def resume(self, now: Nanos) -> None:
        """Let time go on at `now`."""
        if self._frozen is not None:
            self._zero, self._frozen = now - self._frozen, None

    def step(self, by: Nanos) -> None:
        """Let time take a step of `by`, at once, and stand still again; what that sends leaves next.

        Raises
        ------
        ValueError
            If time does not stand still.
        """
        if self._frozen is None:
            raise ValueError("time must stand still before it can step: pause first")
        end = self._frozen + by
        while (due := self.life.node.due()) is not None and due <= end:
            self._frozen = max(due, self._frozen)
            self._out += self.life.node.wake(self._frozen)
        self._frozen = end

    def restart(self, now: Nanos) -> None:
        """End this life and begin the next, at boot time 0."""
        boot = self.boot(now)
        if not self._simulated:
            self._unix += boot
        self._zero += boot
        if self._frozen is not None:
            self._frozen = 0
        self._out.clear()
        self.lives += 1
        self.life = self._begin(self._unix)

    def due(self) -> Nanos | None:
        """Return when to wake it next."""
        due = self.life.node.due()
        if self._out:
            return self._zero
        if self._frozen is None:
            return None if due is None else due + self._zero
        return self._zero if due is not None and due <= self._frozen else None

    def wake(self, now: Nanos) -> list[Datagram]:
        """Let the life do what is due; return the datagrams to send."""
        out, self._out = self._out, []
        due = self.life.node.due()
        boot = self.boot(now)
        if due is not None and due <= boot:
            out += self.life.node.wake(boot)
        return out

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Datagram]:
        """Give the life a datagram; return the datagrams to send."""
        return self.life.node.receive(channel, data, self.boot(now))
