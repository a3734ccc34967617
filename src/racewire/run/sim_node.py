"""The simulator's end: the simulator, its camera and its end of the wire, as one node.

The loop's clock minus `boot_ns` is the simulator's boot clock. Commands take effect when they arrive;
bad bytes are counted and change nothing.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from racewire.core.clock import Nanos
from racewire.core.messages import FlightCommand, Image
from racewire.core.seeds import stream
from racewire.race.events import RaceEvent
from racewire.run.camera import CameraService
from racewire.run.conditions import Frames
from racewire.run.node import earliest
from racewire.run.trace import Trace
from racewire.sim.simulator import Exposure, Simulator, Truth
from racewire.wires.base import Datagram, Malformed, Wire


class SimObserver(Protocol):
    """Whoever records or shows what happens at the simulator's end. Times on the boot clock."""

    def truth(self, truth: Truth) -> None:
        """Take note of the simulator's state."""
        ...

    def event(self, event: RaceEvent) -> None:
        """Take note of what the referee saw."""
        ...

    def received(self, channel: str, data: bytes, now: Nanos) -> None:
        """Take note of a datagram from the pilot."""
        ...

    def sent(self, channel: str, data: bytes, now: Nanos) -> None:
        """Take note of a datagram to the pilot."""
        ...


class SimNode:
    """The node."""

    def __init__(
        self,
        simulator: Simulator,
        wire: Wire,
        camera: CameraService,
        observers: list[SimObserver],
        *,
        timed: Callable[[str, Nanos], None],
        trace: Trace | None = None,
        frames: Frames = Frames(),  # noqa: B008 - a frozen value
        run_seed: int = 0,
    ) -> None:
        """Join the parts; `timed` is told how long physics took, `frames` says what frames are lost."""
        self.simulator = simulator
        self.wire = wire
        self.camera = camera
        self.counters: Counter[str] = Counter()
        self.frames = 0
        self.last_received: Nanos | None = None
        self._observers = observers
        self._timed = timed
        self._trace = trace
        self._frame_loss = frames.loss
        self._luck = stream(run_seed, "frames/loss")
        self._filming = stream(run_seed, "frames/start").random() >= frames.no_start

    def observe(self, observer: SimObserver) -> None:
        """Tell `observer` too what happens from now on."""
        self._observers.append(observer)

    def due(self) -> Nanos | None:
        """Return when to wake it next."""
        return earliest(self.simulator.due(), self.camera.due(), self.wire.due())

    def wake(self, now: Nanos) -> list[Datagram]:
        """Advance the world to `now`; return telemetry, finished frames and the session's own messages."""
        out = self._advance(now)
        for frame in self.camera.ready(now):
            out += self._develop(frame.exposure, frame.jpeg, now)
        due = self.wire.due()
        if due is not None and due <= now:
            out += self.wire.wake(now)
        self._note_sent(out, now)
        return out

    def receive(self, channel: str, data: bytes, now: Nanos) -> list[Datagram]:
        """Advance the world to `now` and hand the pilot's messages to the simulator."""
        out = self._advance(now)
        for observer in self._observers:
            observer.received(channel, data, now)
        self.last_received = now
        for message in self.wire.receive(channel, data, now):
            if isinstance(message, Malformed):
                self.counters[f"malformed {message.reason}"] += 1
                continue
            self.simulator.command(message)
            if self._trace is not None and isinstance(message, FlightCommand):
                self._trace.command_arrived(data, now)
        self._note_sent(out, now)
        return out

    def _advance(self, now: Nanos) -> list[Datagram]:
        out: list[Datagram] = []
        started = time.perf_counter_ns()
        outputs = self.simulator.advance(now)
        self._timed("physics", time.perf_counter_ns() - started)
        for item in outputs:
            if isinstance(item, Exposure):
                if self._filming:
                    self.camera.expose(item)
            elif isinstance(item, Truth):
                for observer in self._observers:
                    observer.truth(item)
            elif isinstance(item, RaceEvent):
                for observer in self._observers:
                    observer.event(item)
            else:
                out += self.wire.send(item, now)
        return out

    def _develop(self, exposure: Exposure, jpeg: bytes, now: Nanos) -> list[Datagram]:
        if self._frame_loss and self._luck.random() < self._frame_loss:
            self.counters["frames lost"] += 1
            return []
        self.frames += 1
        if self._trace is not None:
            self._trace.frame_sent(jpeg, exposure.t_ns, now)
        return self.wire.send(Image(t_ns=exposure.t_ns, frame_id=exposure.frame_id, jpeg=jpeg), now)

    def _note_sent(self, out: list[Datagram], now: Nanos) -> None:
        for observer in self._observers:
            for channel, data in out:
                observer.sent(channel, data, now)
