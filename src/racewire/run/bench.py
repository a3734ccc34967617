"""`racewire bench`: the figures of DESIGN.md section 4 that exist so far, as a table or JSON.

Each figure is measured several times; the median is its value. How each is taken stands in
`bench_compute` (this process), `bench_telemetry` (a simulator in a process of its own) and `bench_wire`
(whole races in real time, and first frames).
"""

import os
import platform
import statistics
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from racewire.core.errors import ConfigError
from racewire.run.bench_compute import COMPUTE
from racewire.run.bench_measure import Measure
from racewire.run.bench_telemetry import TELEMETRY
from racewire.run.bench_wire import WIRE

MEASURES: tuple[Measure, ...] = (*COMPUTE, *TELEMETRY, *WIRE)
"""Everything that is measured, in order."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: its median, unit, extremes, how often it was measured, and the bar it is held to."""

    value: float
    unit: str
    min: float
    max: float
    repeats: int
    bar: str


@dataclass(frozen=True, slots=True)
class BenchReport:
    """All figures, and the machine they were measured on."""

    machine: dict[str, Any]
    figures: dict[str, Figure]

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON types (DESIGN.md section 3)."""
        figures = {
            name: {"value": f.value, "unit": f.unit, "min": f.min, "max": f.max, "repeats": f.repeats}
            for name, f in self.figures.items()
        }
        return {"machine": self.machine, "figures": figures}

    def render(self) -> Table:
        """Return the report for a terminal."""
        table = Table("figure", "median", "min", "max", "unit", "bar", box=None)
        for column in table.columns[1:4]:
            column.justify = "right"
        for name, f in self.figures.items():
            table.add_row(name, _short(f.value), _short(f.min), _short(f.max), f.unit, f.bar)
        return table


def bench(*, only: str | None, repeats: int, console: Console) -> BenchReport:
    """Measure every figure whose name begins with `only`.

    Raises
    ------
    ConfigError
        If there is none.
    """
    chosen = [m for m in MEASURES if only is None or any(name.startswith(only) for name in m.figures)]
    if not chosen:
        names = ", ".join(name for m in MEASURES for name in m.figures)
        raise ConfigError(f"--only {only}: no figure begins so; there are {names}")
    figures: dict[str, Figure] = {}
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=sum(m.times(repeats) for m in chosen))
        for measure in chosen:
            progress.update(task, description=f"measuring {next(iter(measure.figures))}")
            samples: list[dict[str, float]] = []
            for _ in range(measure.times(repeats)):
                samples.append(dict(measure.sample()))
                progress.advance(task)
            for name, (unit, bar) in measure.figures.items():
                if only is not None and not name.startswith(only):
                    continue
                values = [sample[name] for sample in samples]
                figures[name] = Figure(
                    statistics.median(values), unit, min(values), max(values), len(values), bar
                )
    return BenchReport(_machine(), figures)


def _machine() -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load_1min": load,
        "system": platform.platform(),
        "python": platform.python_version(),
        "racewire": version("racewire"),
        "numba": version("numba"),
        "numpy": version("numpy"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _short(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.2f} M"
    return f"{value / 1e3:.1f} k" if value >= 1e4 else f"{value:.3g}"
