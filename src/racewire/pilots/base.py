"""What a pilot is: messages in, messages out, at its own pace.

A pilot sees only messages. It has no clock but the `now` it is given, no simulation flag, and does
no I/O, so feeding it a recorded inbox gives the recorded outbox.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from racewire.core.clock import Nanos
from racewire.core.messages import FromVehicle, ToVehicle


@dataclass(frozen=True, slots=True)
class PilotStatus:
    """What a pilot would tell an onlooker: its phase, gates passed, estimated speed (m/s), a remark."""

    phase: str
    gate: int
    speed: float
    remark: str = ""


class Pilot(Protocol):
    """A program that flies.

    `now` is the time on the vehicle's boot clock, the clock of every message's `t_ns`, as well as
    the wire can tell it; before the first message from the vehicle it is arbitrary, and it may step
    once when that message comes.
    """

    def step(self, now: Nanos, inbox: Sequence[FromVehicle]) -> Sequence[ToVehicle]:
        """Take the messages that arrived, in order, and return those to send."""
        ...

    def due(self) -> Nanos | None:
        """Return when to be stepped next even if nothing arrives."""
        ...

    def status(self) -> PilotStatus:
        """Return what to show."""
        ...
