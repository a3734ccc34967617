"""What a person sees while a race runs: gate, speed and time, on a terminal, ten times a second."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from racewire.core.clock import Nanos, seconds
from racewire.core.jit import watching_compilation
from racewire.pilots.base import Pilot
from racewire.sim.simulator import Simulator

_PERIOD_S = 0.1


class Progress:
    """A line that follows the race; silent without a console or where that is not a terminal."""

    def __init__(self, console: Console | None) -> None:
        self.console = console
        self._live = Live(console=console, transient=True) if console and console.is_terminal else None
        self._next = 0.0

    def __enter__(self) -> Self:
        """Take the line."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the line back."""
        if self._live is not None:
            self._live.stop()

    def say(self, text: str) -> None:
        """Print a line above."""
        if self.console is not None:
            self.console.print(text, highlight=False)

    def show(self, simulator: Simulator, pilot: Pilot | None, now: Nanos) -> None:
        """Show the race, if it is time to."""
        if self._live is None or time.perf_counter() < self._next:
            return
        self._next = time.perf_counter() + _PERIOD_S
        race, total = simulator.race, len(simulator.geometry.planes)
        clock = 0.0 if race.start_ns is None else seconds(now - race.start_ns)
        bar = "#" * race.gates_passed + "." * (total - race.gates_passed)
        text = f"gate {race.gates_passed}/{total} [{bar}]  {simulator.speed:5.1f} m/s  {clock:7.2f} s"
        text += f"  {race.phase.value}"
        if pilot is not None:
            status = pilot.status()
            text += f"  pilot: {status.phase} {status.remark}"
        self._live.update(Text(text))


class Compilation:
    """Whether kernels had to be compiled, and how long that took (ns); said once, when it begins."""

    def __init__(self, console: Console | None) -> None:
        self.took_ns: Nanos = 0
        self._console = console
        self._since: Nanos = 0

    def started(self) -> None:
        """Note that the compiler runs."""
        if self._console is not None and not self.took_ns:
            self._console.print("compiling (once: the next start is quick)", highlight=False)
            self.took_ns = 1
        self._since = time.perf_counter_ns()

    def ended(self) -> None:
        """Note that it is done."""
        self.took_ns += time.perf_counter_ns() - self._since


@contextmanager
def compiling(console: Console | None) -> Generator[Compilation]:
    """Watch the compiler, and tell `console` when it begins."""
    compilation = Compilation(console)
    with watching_compilation(compilation.started, compilation.ended):
        yield compilation
