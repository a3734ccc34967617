"""What the referee saw: small frozen records, each with its time on the boot clock.

Lengths in m, impulses in kg m/s, `race_ns` counted from GO. A collision becomes a message to the
pilot; the rest is for the log, the screen and the result.
"""

from dataclasses import dataclass
from typing import TypeAlias

from racewire.core.clock import Nanos


@dataclass(frozen=True, slots=True)
class Started:
    """GO."""

    t_ns: Nanos


@dataclass(frozen=True, slots=True)
class GatePassed:
    """The active gate was passed; where in the opening (right and down of its centre), and when."""

    t_ns: Nanos
    gate: int
    race_ns: Nanos
    right: float
    down: float


@dataclass(frozen=True, slots=True)
class GateMissed:
    """The active gate's plane was crossed forwards outside the opening; where."""

    t_ns: Nanos
    gate: int
    right: float
    down: float


@dataclass(frozen=True, slots=True)
class Collided:
    """Contact with a gate, or with the environment (`gate` is None), reported in every step it lasts."""

    t_ns: Nanos
    gate: int | None
    impulse: float


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """The vehicle left the flight volume: it is to be put back to the start, disarmed."""

    t_ns: Nanos


@dataclass(frozen=True, slots=True)
class Disqualified:
    """The race ended for breaking a rule."""

    t_ns: Nanos
    reason: str


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The race ended at the time limit."""

    t_ns: Nanos


@dataclass(frozen=True, slots=True)
class Finished:
    """The last gate was passed."""

    t_ns: Nanos
    race_ns: Nanos


RaceEvent: TypeAlias = (
    Started | GatePassed | GateMissed | Collided | OutOfBounds | Disqualified | TimedOut | Finished
)
