"""`racewire record`: a tap between a pilot and a simulator, which writes down what they say.

The simulator runs with its ports shifted by `sim_base`, the pilot by `pilot_base`. Towards the simulator
the tap binds what the pilot would bind; towards the pilot, what the simulator would. Every datagram is
passed on at once and as it is, then written with the UNIX time of its arrival: to an MCAP log in the
topics of `run/record.py`, and MAVLink also to a `.tlog`.
"""

import selectors
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Self

from rich.console import Console

from racewire.core.clock import NS_PER_S, Nanos, nanos, seconds
from racewire.core.errors import ConfigError
from racewire.run.ports import LOCALHOST, pilot_ports, sim_ports
from racewire.run.record import RunLog
from racewire.run.sockets import UdpChannel, close_channels, open_channels
from racewire.run.tlog import TlogWriter
from racewire.wires import WIRES

_BATCH = 256
_LONGEST_WAIT_S = 0.25


@dataclass(frozen=True, slots=True)
class TapConfig:
    """The arguments of `racewire record`; without `log` its name is made from the time."""

    wire: str = "aigp"
    host: str = LOCALHOST
    bind: str = LOCALHOST
    peer: str = LOCALHOST
    sim_base: int = 1000
    pilot_base: int = 0
    log: Path | None = None
    tlog: Path | None = None
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was written: file, duration, datagrams of each topic; and what was not passed on, by reason."""

    log: Path
    duration_s: float
    datagrams: dict[str, int]
    not_passed_on: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return asdict(self) | {"log": str(self.log)}

    def text(self) -> str:
        """Return one line for a person."""
        counts = ", ".join(f"{topic} {n}" for topic, n in self.datagrams.items()) or "no datagrams"
        lost = "".join(f"; {name}: {n}" for name, n in self.not_passed_on.items())
        return f"{self.log}: {counts} in {self.duration_s:.1f} s{lost}"


class Tap:
    """The tap; used as a context, it holds the ports and the files, and closes them in any case."""

    def __init__(self, config: TapConfig) -> None:
        """Bind every port and open the files.

        Raises
        ------
        ConfigError
            If a port is taken, a file cannot be written, or the tap would hear itself.
        """
        if config.wire not in WIRES:
            raise ConfigError(f"no wire '{config.wire}': choose {', '.join(WIRES)}")
        if config.sim_base == config.pilot_base and LOCALHOST in (config.host, config.peer):
            raise ConfigError(
                f"--sim-base and --pilot-base are both {config.sim_base}: the tap would hear itself"
            )
        self.path = config.log or Path(f"racewire-{datetime.now(UTC):%Y%m%d-%H%M%S}.mcap")
        self._config = config
        self._began = time.time_ns()
        self._zero = time.perf_counter_ns()
        self._counts: Counter[str] = Counter()
        with ExitStack() as stack:
            self._sim = self._open(
                stack, pilot_ports(config.wire, config.sim_base, config.bind, config.host), "record"
            )
            self._pilot = self._open(
                stack, sim_ports(config.wire, config.pilot_base, config.bind, config.peer), "record"
            )
            self._log = RunLog(self.path)
            stack.callback(self._log.close)
            self._tlog = TlogWriter(config.tlog) if config.tlog else None
            if self._tlog is not None:
                stack.callback(self._tlog.close)
            self._selector = stack.enter_context(selectors.DefaultSelector())
            self._log.config({"wire": config.wire, "recorded_at_unix_ns": self._began})
            self._closing = stack.pop_all()

    def __enter__(self) -> Self:
        """Return the tap."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release the ports and finish the files."""
        self._closing.close()

    def run(self, console: Console | None) -> None:
        """Pass datagrams on and write them, for the configured time or until interrupted.

        An interrupt takes effect between datagrams, so that what was passed on was also written.

        Raises
        ------
        KeyboardInterrupt
            If SIGINT or SIGTERM ended it.
        """
        for channel in (*self._sim.values(), *self._pilot.values()):
            self._selector.register(channel.socket, selectors.EVENT_READ)
        limit = self._config.duration_s
        stop = None if limit is None else self._now() + nanos(limit)
        status = console.status("waiting for datagrams") if console and console.is_terminal else None
        with ExitStack() as stack:
            if status is not None:
                stack.enter_context(status)
            interrupted = stack.enter_context(_held_interrupts())
            shown = self._now()
            while not interrupted and (stop is None or self._now() < stop):
                left = _LONGEST_WAIT_S if stop is None else seconds(max(0, stop - self._now()))
                self._selector.select(min(left, _LONGEST_WAIT_S))
                self._pass_on(self._sim, self._pilot, self._log.sent, "down")
                self._pass_on(self._pilot, self._sim, self._log.received, "up")
                if status is not None and self._now() - shown > NS_PER_S:
                    shown = self._now()
                    status.update(", ".join(f"{topic} {n}" for topic, n in sorted(self._counts.items())))
        if interrupted:
            raise KeyboardInterrupt

    def result(self) -> Recorded:
        """Return what was written so far."""
        lost: Counter[str] = Counter()
        for side, channels in (("to the simulator", self._sim), ("to the pilot", self._pilot)):
            for name, channel in channels.items():
                lost.update({f"{name} {side}: {why}": n for why, n in channel.counters.items()})
        duration = seconds(self._now() - self._began)
        return Recorded(self.path, duration, dict(sorted(self._counts.items())), dict(lost))

    def _pass_on(
        self,
        heard: Mapping[str, UdpChannel],
        told: Mapping[str, UdpChannel],
        write: Callable[[str, bytes, Nanos], None],
        way: str,
    ) -> None:
        for name, channel in heard.items():
            waiting = channel.receive(_BATCH)
            now = self._now()
            for data in waiting:
                told[name].send(data)
            for data in waiting:
                write(name, data, now)
                self._counts[f"wire/{way}/{name}"] += 1
                if self._tlog is not None and name == "mavlink":
                    self._tlog.datagram(data, now)

    def _now(self) -> Nanos:
        """Return UNIX time that never goes back, whatever is done to the machine's clock."""
        return self._began + time.perf_counter_ns() - self._zero

    @staticmethod
    def _open(stack: ExitStack, ports: list[Any], role: str) -> dict[str, UdpChannel]:
        channels = open_channels(ports, role)
        stack.callback(close_channels, channels)
        return channels


@contextmanager
def _held_interrupts() -> Generator[list[int]]:
    """Collect the numbers of interrupting signals instead of letting them interrupt."""
    caught: list[int] = []

    def catch(number: int, _frame: FrameType | None) -> None:
        caught.append(number)

    before = {number: signal.signal(number, catch) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
