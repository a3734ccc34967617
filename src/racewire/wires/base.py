"""What every wire offers: bytes in, messages out, and no I/O (sans-IO).

A wire object is one end of a link. `run/` owns the sockets and the clocks: it hands in datagrams by
channel together with `now`, the local clock of that end in ns (the simulator's boot clock, or any
monotonic clock of the pilot's host), and sends the datagrams it gets back. Whatever bytes arrive,
nothing is raised: what cannot be read is a `Malformed` value, and counted.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import NamedTuple, Protocol

from racewire.core.clock import Nanos
from racewire.core.messages import Message
from racewire.wires.profile import BuildProfile
from racewire.wires.raw_config import RawConfig, load_raw_config

LATEST_NS: Nanos = 1 << 62
"""No stamp on a wire may lie beyond this: it fits a signed 64-bit integer with room to add."""

AT_ONCE: Nanos = -(1 << 62)
"""A due time that is past on every clock."""

Reencode = Callable[[bytes, int], bytes]
"""`reencode(jpeg, limit)`: the same picture as a JPEG of at most `limit` bytes, or b"" if it cannot."""


class Datagram(NamedTuple):
    """One datagram of a channel: "mavlink" or "video" (aigp); "telemetry", "command", "video" (raw)."""

    channel: str
    data: bytes


class Role(Enum):
    """The two ends of a link."""

    SIM = "sim"
    PILOT = "pilot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """Bytes that mean nothing here: when (local clock), where, why, and how many bytes arrived.

    The reasons of one wire are a short fixed list, so they may serve as keys of a counter.
    """

    t_ns: Nanos
    channel: str
    reason: str
    size: int


class Rejected(ValueError):  # noqa: N818 - a verdict on received bytes; it never leaves the package
    """Raised by the codecs inside this package, turned into `Malformed` by the session."""


class Wire(Protocol):
    """One end of a link."""

    @property
    def counters(self) -> Mapping[str, int]:
        """What was dropped and why, since the start; the keys are a short fixed list."""
        ...

    @property
    def boot_from_local_ns(self) -> Nanos | None:
        """Offset of the vehicle's boot clock from the local one; None while unknown, 0 at the simulator."""
        ...

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Message | Malformed]:
        """Take one datagram; return what it says."""
        ...

    def send(self, message: Message, now: Nanos) -> list[Datagram]:
        """Return the datagrams that say `message`; none if this end of this wire does not carry it."""
        ...

    def due(self) -> Nanos | None:
        """Return when to be woken next (local clock), None if only the peer can cause anything."""
        ...

    def wake(self, now: Nanos) -> list[Datagram]:
        """Return the session's own datagrams that are due: heartbeats, time requests, replies, acks."""
        ...


@dataclass(slots=True)
class Faults:
    """The counters of one end, and the making of `Malformed` values."""

    counters: Counter[str] = field(default_factory=Counter[str])

    def malformed(self, reason: str, channel: str, data: bytes, now: Nanos) -> Malformed:
        """Count a datagram, or one message in it, that means nothing."""
        self.counters[f"malformed: {reason}"] += 1
        return Malformed(t_ns=now, channel=channel, reason=reason, size=len(data))


@dataclass(frozen=True, slots=True)
class ChannelPorts:
    """The UDP ports that the two ends bind for a channel; each sends to the other's.

    The pilot's end may also answer whoever sent to it last, as the known clients do.
    """

    channel: str
    sim: int
    pilot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WireSetup:
    """What the ends of all wires are made from; each takes what it needs.

    `unix_from_boot_ns` is the UNIX time at boot time 0, known to the simulator's end alone, and
    `unix_steps` the (boot time, by how much) at which that clock steps; `reencode`
    shrinks frames that are too large for one datagram (raw wire, simulator's end).
    """

    profile: BuildProfile
    raw: RawConfig = field(default_factory=load_raw_config)
    unix_from_boot_ns: Nanos = 0
    unix_steps: tuple[tuple[Nanos, Nanos], ...] = ()
    reencode: Reencode | None = None


@dataclass(frozen=True, slots=True)
class WireKind:
    """One row of the registry: how to make each end, and the ports they use by default.

    `rates` gives the topics that a simulator must make for this wire, with their exact rates in Hz;
    those of one rate are due at the same times.
    """

    sim: Callable[[WireSetup], Wire]
    pilot: Callable[[WireSetup], Wire]
    rates: Callable[[WireSetup], dict[str, Fraction]]
    ports: tuple[ChannelPorts, ...]

    def make(self, role: Role, setup: WireSetup) -> Wire:
        """Return a fresh end of this wire."""
        return self.sim(setup) if role is Role.SIM else self.pilot(setup)
