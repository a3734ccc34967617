"""A node: one end of the wire, with what lives behind it.

Both loops, lockstep and real time, drive nodes through these three calls and nothing else. `now` is
the loop's clock; a node turns it into the clock of its own end.
"""

from typing import Protocol

from racewire.core.clock import Nanos
from racewire.wires.base import Datagram


class Node(Protocol):
    """One end."""

    def due(self) -> Nanos | None:
        """Return when to wake it next, in the loop's clock."""
        ...

    def wake(self, now: Nanos) -> list[Datagram]:
        """Let it do what is due; return the datagrams to send."""
        ...

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Datagram]:
        """Give it a datagram; return the datagrams to send."""
        ...


def earliest(*times: Nanos | None) -> Nanos | None:
    """Return the earliest of the times that are not None."""
    known = [t for t in times if t is not None]
    return min(known) if known else None
