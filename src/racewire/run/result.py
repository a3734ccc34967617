"""The result of a race, as `--json` prints it and as a person reads it."""

from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


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
    disqualified: str | None
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
        why = f"disqualified: {self.disqualified}" if self.disqualified else "not finished"
        return f"{why}: {self.gates_passed}/{self.gates_total} gates"

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
