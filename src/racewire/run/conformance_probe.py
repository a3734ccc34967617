"""The client of `racewire conformance`: listens, arms, waits for GO, flies a few small rates, resets.

It sits where a pilot sits and speaks plain MAVLink by the generated dialect, without our own wires, so that
it is a second reading of the wire. It sends no thrust before GO. Everything heard is kept with the time
of its arrival (UNIX, ns) for `conformance_rules` to judge. Source: spec aigp.md, sections 1 and 2.
"""

import importlib
import math
import selectors
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos, nanos
from racewire.core.errors import RunError
from racewire.run.ports import pilot_ports
from racewire.run.sockets import close_channels, open_channels

LISTEN_S = 4.0
ACK_S = 2.0
GO_S = 15.0
CLIMB_S, TURN_S, SETTLE_S = 0.35, 0.5, 1.5
CLIMB, HOVER, TURN = 0.4, 0.28, 0.3
"""Thrust to leave the pad, thrust near hovering, and the stick (or rad/s) commanded on each axis."""

AXES = ("roll", "pitch", "yaw")
STATUS = struct.Struct("<BQqqIq")
VIDEO = struct.Struct("<IHHIIQ")

_COMMAND_NS = 20 * NS_PER_MS
_TIMESYNC_NS = 100 * NS_PER_MS
_HEARTBEAT_NS = 500 * NS_PER_MS
_WAIT_S = 0.002
_BATCH = 512
_SLOWEST = 8.0
_KEPT_FRAMES = 3


class Heard(NamedTuple):
    """A message and when it came."""

    t_ns: Nanos
    message: Any


class Chunk(NamedTuple):
    """A video datagram: when it came, its size, and its header's fields."""

    t_ns: Nanos
    size: int
    frame_id: int
    chunk: int
    total: int
    jpeg_size: int
    payload: int
    stamp_ns: Nanos


@dataclass(slots=True)
class Hearing:
    """All that was heard, by message name, and when each step of the script was taken."""

    messages: dict[str, list[Heard]] = field(default_factory=dict[str, list[Heard]])
    chunks: list[Chunk] = field(default_factory=list[Chunk])
    pictures: dict[int, dict[int, bytes]] = field(default_factory=dict[int, dict[int, bytes]])
    marks: dict[str, Nanos] = field(default_factory=dict[str, Nanos])
    framing: set[int] = field(default_factory=set[int])

    def of(self, name: str, begin: str = "listen", end: str = "end") -> list[Heard]:
        """Return the messages called `name` that came between two marks; none if a mark is missing."""
        if begin not in self.marks or end not in self.marks:
            return []
        low, high = self.marks[begin], self.marks[end]
        return [heard for heard in self.messages.get(name, []) if low <= heard.t_ns < high]

    def seconds(self, begin: str, end: str) -> float:
        """Return the time between two marks, s."""
        return (self.marks[end] - self.marks[begin]) / NS_PER_S


class Probe:
    """One run of the script."""

    def __init__(self, base: int, bind: str, host: str, target: tuple[int, int]) -> None:
        """Bind the pilot's ports, to speak to the simulator at `host` as MAVLink system `target`.

        Raises
        ------
        ConfigError
            If a port is taken.
        """
        self._channels = open_channels(pilot_ports("aigp", base, bind, host), "conformance")
        self._dialect: Any = importlib.import_module("pymavlink.dialects.v20.common")
        self._link = self._dialect.MAVLink(None, srcSystem=255, srcComponent=190)
        self._target = target
        self._began = time.time_ns()
        self._zero = time.perf_counter_ns()
        self._next: dict[str, Nanos] = {}
        self._thrust: float | None = None
        self._sticks = (0.0, 0.0, 0.0)
        self.hearing = Hearing()

    def run(self, told: Callable[[str], None], wait_s: float) -> Hearing:
        """Go through the script, telling each step; return what was heard.

        Raises
        ------
        RunError
            If nothing was heard within `wait_s` seconds.
        """
        try:
            with selectors.DefaultSelector() as self._selector:
                for channel in self._channels.values():
                    self._selector.register(channel.socket, selectors.EVENT_READ)
                told("waiting for a simulator")
                self._until(lambda: bool(self.hearing.messages), wait_s)
                if not self.hearing.messages:
                    raise RunError(f"no MAVLink on UDP port {self._channels['mavlink'].port.bind[1]}")
                self._script(told)
        finally:
            close_channels(self._channels)
        return self.hearing

    def _script(self, told: Callable[[str], None]) -> None:
        told("listening on the pad")
        self._mark("listen")
        self._for(LISTEN_S)
        told("arming, without thrust")
        self._thrust = 0.0
        self._for(0.2)
        self._mark("arm")
        self._command(400, 1.0)
        self._until(lambda: bool(self.hearing.of("COMMAND_ACK", "arm", "now")), ACK_S)
        told("waiting for GO")
        self._until(self._is_go, GO_S)
        if self._is_go():
            told("a command that is not finite, then a few small rates")
            self._mark("go")
            self._send_target(math.nan, (math.nan, math.nan, math.nan))
            self._for(SETTLE_S / 3)
            self._mark("fly")
            self._thrust = CLIMB
            self._for_its_own(CLIMB_S)
            self._thrust = HOVER
            for index, axis in enumerate(AXES):
                self._sticks = (TURN * (index == 0), TURN * (index == 1), TURN * (index == 2))
                self._mark(axis)
                self._for_its_own(TURN_S)
        self._mark("flown")
        told("resetting")
        self._thrust, self._sticks = 0.0, (0.0, 0.0, 0.0)
        self._command(31000, 0.0)
        self._for(SETTLE_S)
        self._mark("rest")
        self._for(SETTLE_S)
        self._mark("end")
        self._command(400, 0.0)

    def _is_go(self) -> bool:
        """Say whether the last race status says that the race is on."""
        statuses = self.hearing.messages.get("RACE_STATUS", [])
        if not statuses:
            return False
        _, boot_ms, start_ms, *_ = STATUS.unpack_from(statuses[-1].message)
        return boot_ms >= start_ms >= 0

    def _mark(self, name: str) -> None:
        self.hearing.marks[name] = self._now()

    def _for(self, seconds: float) -> None:
        self._until(lambda: False, seconds)

    def _for_its_own(self, seconds: float) -> None:
        """Go on for so many seconds of the simulator's clock, which may be slow; not for ever."""
        begun = self._boot_us()
        self._until(lambda: self._boot_us() - begun >= 1e6 * seconds, _SLOWEST * seconds)

    def _boot_us(self) -> int:
        heard = self.hearing.messages.get("HIGHRES_IMU", [])
        return heard[-1].message.time_usec if heard else 0

    def _until(self, done: Callable[[], bool], seconds: float) -> None:
        """Listen and send what is due, until it is done or the time is over."""
        end = self._now() + nanos(seconds)
        while self._now() < end:
            self._selector.select(_WAIT_S)
            for channel in self._channels.values():
                for data in channel.receive(_BATCH):
                    (self._hear if channel.port.channel == "mavlink" else self._see)(data)
            self.hearing.marks["now"] = self._now() + 1
            if done():
                return
            self._send_due()

    def _hear(self, data: bytes) -> None:
        now = self._now()
        self.hearing.framing.add(data[0] if data else 0)
        for message in self._parsed(data):
            name = message.get_type()
            if name == "ENCAPSULATED_DATA" and message.data[0] == 1:
                self._keep("RACE_STATUS", Heard(now, bytes(message.data)))
            else:
                self._keep(name, Heard(now, message))

    def _parsed(self, data: bytes) -> list[Any]:
        try:
            return self._link.parse_buffer(data) or []
        except self._dialect.MAVError:
            return []

    def _keep(self, name: str, heard: Heard) -> None:
        self.hearing.messages.setdefault(name, []).append(heard)

    def _see(self, data: bytes) -> None:
        if len(data) < VIDEO.size:
            return
        chunk = Chunk(self._now(), len(data), *VIDEO.unpack_from(data))
        self.hearing.chunks.append(chunk)
        pictures = self.hearing.pictures
        if chunk.frame_id in pictures or len(pictures) < _KEPT_FRAMES:
            pictures.setdefault(chunk.frame_id, {})[chunk.chunk] = data[VIDEO.size :]

    def _send_due(self) -> None:
        now = self._now()
        if self._is_due("timesync", now, _TIMESYNC_NS):
            self._send(self._dialect.MAVLink_timesync_message(now, 0))
        if self._is_due("heartbeat", now, _HEARTBEAT_NS):
            self._send(self._dialect.MAVLink_heartbeat_message(6, 8, 0, 0, 0, 3))
        if self._thrust is not None and self._is_due("target", now, _COMMAND_NS):
            self._send_target(self._thrust, self._sticks)

    def _is_due(self, name: str, now: Nanos, period: Nanos) -> bool:
        if now < self._next.get(name, 0):
            return False
        self._next[name] = now + period
        return True

    def _send_target(self, thrust: float, sticks: tuple[float, float, float]) -> None:
        no_rotation = [1.0, 0.0, 0.0, 0.0]
        self._send(
            self._dialect.MAVLink_set_attitude_target_message(
                0, *self._target, 128, no_rotation, *sticks, thrust
            )
        )

    def _command(self, number: int, param1: float) -> None:
        self._send(self._dialect.MAVLink_command_long_message(*self._target, number, 0, param1, *[0.0] * 6))

    def _send(self, message: Any) -> None:  # noqa: ANN401 - a message of the generated dialect
        self._channels["mavlink"].send(message.pack(self._link))
        self._link.seq = (self._link.seq + 1) % 256

    def _now(self) -> Nanos:
        return self._began + time.perf_counter_ns() - self._zero
