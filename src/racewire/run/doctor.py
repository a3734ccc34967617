"""`racewire doctor`: can this machine run racewire, and if not, why."""

import os
import platform
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from racewire.core.errors import RacewireError
from racewire.run.ports import LOCALHOST
from racewire.run.progress import compiling
from racewire.run.race import RaceConfig, warm_up
from racewire.wires import WIRES

_LIBRARIES = ("numpy", "numba", "opencv-python-headless", "simplejpeg", "pymavlink", "mcap", "typer", "rich")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: whether it is as it should be, and what was seen."""

    name: str
    ok: bool
    seen: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings."""

    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.ok for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the findings as JSON types."""
        seen = {finding.name: {"ok": finding.ok, "seen": finding.seen} for finding in self.findings}
        return {"healthy": self.healthy, "findings": seen}

    def render(self) -> Table:
        """Return the findings for a terminal."""
        table = Table(box=None, show_header=False)
        for finding in self.findings:
            mark = "[green]ok[/]" if finding.ok else "[red]wrong[/]"
            table.add_row(mark, finding.name, finding.seen)
        return table


def diagnose(*, warm: bool, console: Console) -> Report:
    """Look at the machine; `warm` also compiles and caches every kernel."""
    findings = [_python(), _libraries(), _cache(), *_ports()]
    if warm:
        findings.append(_warm(console))
    return Report(tuple(findings))


def _python() -> Finding:
    return Finding(
        "python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.platform()}"
    )


def _libraries() -> Finding:
    seen: list[str] = []
    missing: list[str] = []
    for name in _LIBRARIES:
        try:
            seen.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Finding("libraries", ok=False, seen=f"missing: {', '.join(missing)}")
    return Finding("libraries", ok=True, seen=", ".join(seen))


def _cache() -> Finding:
    """Look where kernels are cached: beside the source, or in the user's folder if that is read-only."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(chosen) if chosen else Path(__file__).parent.parent
    if _writable(folder):
        return Finding("kernel cache", ok=True, seen=str(folder))
    if chosen:
        return Finding("kernel cache", ok=False, seen=f"NUMBA_CACHE_DIR {folder} is not writable")
    return Finding("kernel cache", ok=True, seen="the user's cache folder")


def _writable(folder: Path) -> bool:
    """Tell whether files can be made in a folder, which is made if it is not there, as Numba does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _ports() -> list[Finding]:
    """Look whether the default ports of each wire are free."""
    findings: list[Finding] = []
    for name, kind in WIRES.items():
        numbers = sorted({port for c in kind.ports for port in (c.sim, c.pilot)})
        taken = [number for number in numbers if not _free(number)]
        seen = "free" if not taken else f"taken: UDP {', '.join(map(str, taken))}; use --port-base"
        findings.append(Finding(f"ports of {name}", not taken, seen))
    return findings


def _free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((LOCALHOST, port))
        except OSError:
            return False
    return True


def _warm(console: Console) -> Finding:
    started = time.perf_counter()
    try:
        with compiling(console):
            warm_up(RaceConfig(wire="aigp"))
            warm_up(RaceConfig(wire="raw"))
    except RacewireError as error:
        return Finding("kernels", ok=False, seen=str(error))
    return Finding("kernels", ok=True, seen=f"compiled and cached in {time.perf_counter() - started:.1f} s")
