"""What `racewire decode` prints: the rows of a log as a table or as JSON lines, then one line about it.

A log may have a million rows, so they are printed as they are read, in tables of a few hundred.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from racewire.core.clock import Nanos, seconds
from racewire.run.conversation import UP, Conversation, export_tlog
from racewire.run.decode import Decoder, Row

_TABLE_ROWS = 400


@dataclass(frozen=True, slots=True)
class DecodeConfig:
    """The arguments of `racewire decode`: which messages (all if none), how many rows (all if 0)."""

    log: Path
    messages: tuple[str, ...] = ()
    limit: int = 0
    tlog: Path | None = None


def show(config: DecodeConfig, console: Console) -> None:
    """Print the rows as a table, how many of each message there are, and where the file broke, if it did.

    Raises
    ------
    ConfigError
        If the log cannot be read, or the `.tlog` not be written.
    """
    view = _View(config)
    rows = view.rows()
    first: Nanos | None = None
    while batch := list(islice(rows, _TABLE_ROWS)):
        header = first is None
        first = batch[0].t_ns if first is None else first
        console.print(_table(batch, first, header=header))
    left_out = view.matching - view.shown
    if left_out:
        console.print(f"{left_out} more rows; --limit 0 shows all", highlight=False)
    counts = ", ".join(f"{name} {n}" for name, n in sorted(view.counts.items()))
    console.print(f"{sum(view.counts.values())} messages: {counts}", highlight=False)
    if view.exported is not None:
        console.print(f"{view.exported} packets written to {config.tlog}", highlight=False)
    if view.broken:
        console.print(f"{config.log}: {view.broken}", highlight=False)


def show_json(config: DecodeConfig, write: Callable[[str], object]) -> None:
    """Write each row as a line of JSON, and as the last line the counts and where the file broke.

    Raises
    ------
    ConfigError
        If the log cannot be read, or the `.tlog` not be written.
    """
    view = _View(config)
    for row in view.rows():
        write(json.dumps(row.as_json()) + "\n")
    summary = {
        "log": str(config.log),
        "messages": dict(sorted(view.counts.items())),
        "rows_shown": view.shown,
        "rows_matching": view.matching,
        "exported_packets": view.exported,
        "broken": view.broken,
    }
    write(json.dumps(summary) + "\n")


class _View:
    """The rows asked for, and what was counted on the way."""

    def __init__(self, config: DecodeConfig) -> None:
        self._config = config
        self._conversation = Conversation(config.log)
        self._wanted = {name.upper() for name in config.messages}
        self.counts: Counter[str] = Counter()
        self.matching = 0
        self.shown = 0
        self.broken: str | None = None
        self.exported: int | None = None

    def rows(self) -> Iterator[Row]:
        """Yield the rows to show; once they are out, the other fields are right."""
        for row in Decoder().rows(self._conversation):
            self.counts[row.message] += 1
            if self._wanted and row.message not in self._wanted:
                continue
            self.matching += 1
            if not self._config.limit or self.matching <= self._config.limit:
                self.shown += 1
                yield row
        self.broken = self._conversation.broken
        if self._config.tlog is not None:
            self.exported = export_tlog(self._conversation, self._config.tlog)


def _table(rows: list[Row], first: Nanos, *, header: bool) -> Table:
    table = Table(box=None, show_header=header, pad_edge=False)
    table.add_column("time, s", justify="right", width=13, no_wrap=True)
    table.add_column("way", width=4)
    table.add_column("from", width=7)
    table.add_column("message", width=28, no_wrap=True)
    table.add_column("bytes", justify="right", width=5)
    table.add_column("fields", overflow="fold")
    for row in rows:
        way = Text(row.way, style="cyan" if row.way == UP else "")
        time = f"{seconds(row.t_ns - first):.6f}"
        table.add_row(time, way, row.sender, row.message, str(row.size), Text(row.text()))
    return table
