"""The result of a race, as `--json` prints it and as a person reads it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from racewire.core.budget import Budget
from racewire.core.errors import ConfigError
from racewire.run.assembly import World
from racewire.run.record import RunHash
from racewire.run.sim_node import SimNode
from racewire.run.trace import Trace


@dataclass(frozen=True, slots=True)
class RaceResult:
    """The verdict, and how the run went. The fields are the JSON contract of DESIGN.md section 3.

    `limit_s` is the time-optimal bound the course file carries, None where it carries none; `map`
    names the course map the pilot was given. Stage times are in ms of wall time, except the parts of
    photon to command, which are in the run's own time.
    """

    finished: bool
    gates_passed: int
    gates_total: int
    race_time_s: float | None
    limit_s: float | None
    disqualified: bool
    reason: str
    collisions: int
    map: str
    log_hash: str
    realtime_factor: float
    frames: int
    photon_to_command_ms: dict[str, float | None]
    stages: dict[str, dict[str, float]]
    log: str | None
    course: str
    build: str
    wire: str
    pilot: str
    vehicle: str
    seed: int
    counters: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return asdict(self)

    def headline(self) -> str:
        """Return the verdict in one line."""
        if self.finished:
            return f"finished: {self.gates_passed}/{self.gates_total} gates in {self.race_time_s:.3f} s"
        why = "disqualified" if self.disqualified else "not finished"
        return f"{why}: {self.gates_passed}/{self.gates_total} gates{': ' * bool(self.reason)}{self.reason}"

    def render(self) -> RenderableType:
        """Return the result for a terminal."""
        head = Text(self.headline(), style="bold green" if self.finished else "bold red")
        facts = Table.grid(padding=(0, 2))
        photon = self.photon_to_command_ms
        rows = [
            ("course, build, seed", f"{self.course}, {self.build}, {self.seed}"),
            ("pilot, vehicle, map", f"{self.pilot}, {self.vehicle}, {self.map}"),
            ("against the limit", _ratio(self.race_time_s, self.limit_s)),
            ("collisions", str(self.collisions)),
            ("frames", str(self.frames)),
            ("photon to command", " / ".join(f"{k} {v:.1f} ms" for k, v in photon.items() if v is not None)),
            ("speed", f"{self.realtime_factor:.1f} x real time"),
            ("log hash", self.log_hash[:16]),
        ]
        if self.log:
            rows.append(("log", self.log))
        for name, value in rows:
            facts.add_row(name, value or "-")
        return Group(head, facts, _stages(self.stages))


def collect(
    world: World,
    sim: SimNode,
    budget: Budget,
    run_hash: RunHash,
    seed: int,
    *,
    pilot: str = "",
    trace: Trace | None = None,
    realtime_factor: float = 1.0,
    log: Path | None = None,
    counters: dict[str, int] | None = None,
) -> RaceResult:
    """Return the result of the race as it stands at the simulator's end.

    A foreign pilot's name, map and timing are unknown there: `pilot` and `map` stay empty.
    """
    verdict = sim.simulator.verdict
    return RaceResult(
        finished=verdict.finished,
        gates_passed=verdict.gates_passed,
        gates_total=verdict.gates_total,
        race_time_s=verdict.race_time_s,
        limit_s=world.course.limit_s,
        disqualified=verdict.disqualified,
        reason=verdict.reason,
        collisions=verdict.collisions,
        map="none" if pilot else "",
        log_hash=run_hash.hexdigest(),
        realtime_factor=realtime_factor,
        frames=sim.frames,
        photon_to_command_ms=(trace or Trace(budget.add)).report(),
        stages=budget.report(),
        log=None if log is None else str(log),
        course=world.course.name,
        build=world.build_name,
        wire=world.wire,
        pilot=pilot,
        vehicle=world.vehicle,
        seed=seed,
        counters={**sim.counters, **(counters or {})},
    )


def check_folder(path: Path) -> None:
    """Refuse, before a run, a file that could not be written after it.

    Raises
    ------
    ConfigError
        If its folder does not exist.
    """
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: No such file or directory")


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write `record` to `path`, whole or not at all.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def _ratio(time_s: float | None, limit_s: float | None) -> str:
    if time_s is None or limit_s is None:
        return "-"
    return f"{time_s / limit_s:.2f} x the time-optimal {limit_s:.1f} s"


def _stages(stages: dict[str, dict[str, float]]) -> Table:
    table = Table("stage", "samples", "mean ms", "p99 ms", "worst ms", "limit ms", "misses", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, s in stages.items():
        times = [f"{s[key]:.2f}" for key in ("mean", "p99", "worst", "limit")]
        table.add_row(name, f"{s['samples']:.0f}", *times, f"{s['misses']:.0f}")
    return table
