"""The arguments of `racewire sim`: when races start, and what is refused before any port is bound."""

import math
import os

import pytest
from rich.console import Console

from racewire.core.errors import ConfigError
from racewire.run.serve import ServeConfig, parse_start, serve
from racewire.sim.simulator import RaceStart

PORT_BASE = 15_000 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""Ports of this test process's own, below those that the system gives away."""


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("on-arm", RaceStart()),
        ("key", RaceStart(on_arm=False)),
        ("after:5", RaceStart(on_arm=False, after_s=5.0)),
        ("after:0", RaceStart(on_arm=False, after_s=0.0)),
        ("after:2.5", RaceStart(on_arm=False, after_s=2.5)),
        ("after:1e3", RaceStart(on_arm=False, after_s=1000.0)),
    ],
)
def test_when_races_start(text, start):
    assert parse_start(text) == start


@pytest.mark.parametrize(
    "text",
    ["", "arm", "after", "after:", "after:soon", "after:-1", "after:nan", "after:inf", "After:5", "key:1"],
)
def test_anything_else_is_refused_with_the_choices(text):
    with pytest.raises(ConfigError) as error:
        parse_start(text)
    assert str(error.value) == f"--start {text}: must be on-arm, after:SECONDS or key"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"course": "vq9"}, "no course 'vq9'"),
        ({"build": "1234"}, "no build profile '1234'"),
        ({"wire": "smoke"}, "no wire 'smoke': choose aigp, raw"),
        ({"vehicle": "tank"}, "vehicle 'tank' is unknown"),
        ({"start": "now"}, "--start now"),
        ({"faults": "nowhere.toml"}, "nowhere.toml"),
        ({"port_base": 60_000}, "--port-base 60000"),
        ({"time_limit_s": math.inf}, "--time-limit inf"),
        ({"time_limit_s": math.nan}, "--time-limit nan"),
        ({"time_limit_s": -1.0}, "--time-limit -1"),
        ({"result": "nowhere/result.json"}, "nowhere/result.json: No such file or directory"),
        ({"peer": "no-such-host.invalid"}, "no host 'no-such-host.invalid'"),
    ],
)
def test_what_cannot_be_served_is_named_at_once(tmp_path, changes, says):
    if "result" in changes:
        changes = {"result": tmp_path / changes["result"]}
    config = ServeConfig(**{"port_base": PORT_BASE, **changes})
    with pytest.raises(ConfigError) as error:
        serve(config, Console(quiet=True))
    assert says in str(error.value)
    assert "\n" not in str(error.value)
