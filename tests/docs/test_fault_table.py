"""The manual of faults against the code it was made from."""

import runpy
import tomllib
from pathlib import Path

from racewire.core.config import parse
from racewire.run.conditions import Conditions

DOCS = Path(__file__).parents[2] / "docs"


def test_the_table_is_what_the_code_says():
    maker = runpy.run_path(str(DOCS / "fault_table.py"))
    assert (DOCS / "faults.md").read_text(encoding="utf-8") == maker["page"]()
    keys = [row.split("`")[1] for row in maker["rows"](Conditions)]
    for key in ("telemetry.low", "clock.steps[].by_ms", "links.command.reorder", "motor.after_go_s"):
        assert key in keys


def test_the_example_is_a_faults_file():
    page = (DOCS / "faults.md").read_text(encoding="utf-8")
    example = page.split("```toml\n")[1].split("```")[0]
    conditions = parse(Conditions, tomllib.loads(example), "docs/faults.md")
    assert conditions.wind.north == -4.0
    assert conditions.clock.steps_ns() == ((20_000_000_000, -250_000_000),)
    assert (conditions.telemetry.low, conditions.links.command.loss) == (0.15, 0.02)
