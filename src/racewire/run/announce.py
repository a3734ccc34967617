"""What the referee saw, in words, and a key that starts a race."""

import sys
import threading

from racewire.core.clock import seconds
from racewire.race.events import (
    Collided,
    Disqualified,
    Finished,
    GateMissed,
    GatePassed,
    OutOfBounds,
    RaceEvent,
    Started,
    TimedOut,
)


def describe(event: RaceEvent, gates: int) -> str | None:
    """Return what to say of an event on a course of that many gates; None of a contact."""
    match event:
        case Started():
            return "GO"
        case GatePassed():
            return f"gate {event.gate + 1}/{gates} at {seconds(event.race_ns):.3f} s"
        case GateMissed():
            return f"gate {event.gate + 1} missed: {event.right:+.2f} m right, {event.down:+.2f} m down"
        case OutOfBounds():
            return "out of bounds: back to the start, disarmed"
        case Disqualified():
            return f"disqualified: {event.reason}"
        case TimedOut():
            return "time limit reached"
        case Finished():
            return f"finished in {seconds(event.race_ns):.3f} s"
        case Collided():
            return None


class Keyboard:
    """Notices a line typed on standard input, without waiting for one."""

    def __init__(self) -> None:
        self._typed = threading.Event()
        threading.Thread(target=self._read, name="keyboard", daemon=True).start()

    def pressed(self) -> bool:
        """Tell whether Enter was pressed since the last call."""
        typed = self._typed.is_set()
        self._typed.clear()
        return typed

    def _read(self) -> None:
        while sys.stdin.readline():
            self._typed.set()
