"""`racewire conformance`: which rules of the wire does a simulator keep, seen from the pilot's end.

It arms the vehicle and, once a race is on, flies it for two seconds; whoever else flies there should not.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from racewire.run.conformance_probe import Probe
from racewire.run.conformance_rules import RULES, Point
from racewire.run.conformance_video import video
from racewire.run.ports import LOCALHOST
from racewire.wires.profile import load_profile

_COLOURS = {"pass": "green", "FAIL": "red", "not seen": "yellow"}


@dataclass(frozen=True, slots=True)
class ConformanceConfig:
    """The arguments of `racewire conformance`."""

    build: str
    host: str = LOCALHOST
    bind: str = LOCALHOST
    port_base: int = 0
    wait_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Conformance:
    """All points."""

    build: str
    host: str
    points: tuple[Point, ...]

    @property
    def kept(self) -> bool:
        """Whether no point failed."""
        return all(point.passed is not False for point in self.points)

    def as_json(self) -> dict[str, Any]:
        """Return the points as JSON types."""
        points = [
            {
                "name": point.name,
                "section": point.section,
                "wanted": point.wanted,
                "seen": point.seen,
                "verdict": point.verdict.lower(),
            }
            for point in self.points
        ]
        return {"kept": self.kept, "build": self.build, "host": self.host, "points": points}

    def render(self) -> Table:
        """Return the points for a terminal."""
        counts = Counter(point.verdict for point in self.points)
        caption = ", ".join(f"{counts[word]} {word}" for word in _COLOURS)
        table = Table(title=f"{self.host} against build {self.build}", caption=caption, box=None)
        for heading in ("", "point", "wanted", "seen", "spec"):
            table.add_column(heading, overflow="fold")
        for point in self.points:
            mark = f"[{_COLOURS[point.verdict]}]{point.verdict}[/]"
            table.add_row(mark, point.name, point.wanted, point.seen, f"aigp.md {point.section}")
        return table


def check(config: ConformanceConfig, console: Console) -> Conformance:
    """Listen to, arm and fly the simulator at `config.host`; return what was found.

    Raises
    ------
    ConfigError
        If there is no such build, or a port is taken.
    RunError
        If no simulator was heard.
    """
    profile = load_profile(config.build)
    identity = profile.identity
    probe = Probe(config.port_base, config.bind, config.host, (identity.system, identity.component))
    with console.status("") as status:
        hearing = probe.run(status.update, config.wait_s)
    points = [point for rule in (*RULES, video) for point in rule(hearing, profile)]
    return Conformance(config.build, config.host, tuple(points))
