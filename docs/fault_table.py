"""Makes the table of `docs/faults.md` from the code: every key of a faults file, its default and meaning.

Run `python docs/fault_table.py` after a change of `run/conditions.py` or what it holds; a test fails
until the file agrees.
"""

import ast
import dataclasses
import inspect
import textwrap
import typing
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from racewire.run.conditions import Conditions

PAGE = Path(__file__).with_name("faults.md")
HEAD = "| key | default | meaning |\n|---|---|---|\n"


def meanings(cls: type) -> dict[str, str]:
    """Return the string below each field of a dataclass."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    found = {}
    for field, below in pairwise(tree.body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            found[field.target.id] = " ".join(below.value.value.split())
    return found


def shown(value: object) -> str:
    """Return a default as TOML has it."""
    if value is None or value is dataclasses.MISSING:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def rows(cls: Any, prefix: str = "") -> Iterator[str]:  # noqa: ANN401 - a dataclass
    """Yield a row for every key below `prefix`."""
    hints, meaning = typing.get_type_hints(cls), meanings(cls)
    for field in dataclasses.fields(cls):
        name, hint = f"{prefix}{field.name}", hints[field.name]
        inner = typing.get_args(hint)[:1]
        if dataclasses.is_dataclass(hint):
            yield from rows(hint, f"{name}.")
        elif inner and dataclasses.is_dataclass(inner[0]):
            yield from rows(inner[0], f"{name}[].")
        else:
            yield f"| `{name}` | {shown(field.default)} | {meaning[field.name]} |"


def page() -> str:
    """Return the page with a fresh table."""
    text = PAGE.read_text(encoding="utf-8")
    before, _ = text.split(HEAD)
    return before + HEAD + "\n".join(rows(Conditions)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
