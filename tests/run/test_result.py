"""The result: the JSON contract, one line for a person, a file that is whole or not there."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from racewire.core.errors import ConfigError
from racewire.run.assembly import LIMITS_MS
from racewire.run.race import RaceConfig, prepare
from racewire.run.result import write_json

CONTRACT = {
    "finished",
    "gates_passed",
    "gates_total",
    "race_time_s",
    "limit_s",
    "disqualified",
    "collisions",
    "map",
    "log_hash",
    "realtime_factor",
    "frames",
    "photon_to_command_ms",
    "stages",
    "log",
}


@pytest.fixture(scope="module")
def result():
    """Return the result of a race that has not begun."""
    _, run = prepare(RaceConfig(seed=3))
    return run.result()


def test_it_has_every_key_of_the_contract(result):
    record = json.loads(json.dumps(result.as_json()))
    assert set(record) >= CONTRACT
    assert set(record["photon_to_command_ms"]) == {"p50", "p99", "max"}
    assert set(record["stages"]) == set(LIMITS_MS)
    for stage in record["stages"].values():
        assert set(stage) >= {"mean", "p99", "worst", "misses"}


def test_before_the_race_it_says_so(result):
    assert not result.finished
    assert (result.gates_passed, result.gates_total) == (0, 6)
    assert result.race_time_s is None
    assert result.limit_s == 5.7
    assert (result.map, result.pilot, result.vehicle) == ("none", "gate", "racer")
    assert (result.course, result.wire, result.seed) == ("vq1", "aigp", 3)
    assert result.log is None


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"finished": True, "gates_passed": 6, "race_time_s": 18.44845}, "finished: 6/6 gates in 18.448 s"),
        ({"disqualified": True, "reason": "Early Start 7 ms"}, "disqualified: 0/6 gates: Early Start 7 ms"),
        ({"gates_passed": 4, "reason": "Time limit 480 s"}, "not finished: 4/6 gates: Time limit 480 s"),
        ({"gates_passed": 2}, "not finished: 2/6 gates"),
    ],
)
def test_the_headline(result, fields, line):
    assert replace(result, **fields).headline() == line


def test_a_person_reads_everything_that_counts(result):
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(
        replace(
            result,
            finished=True,
            race_time_s=11.4,
            photon_to_command_ms={"p50": 27.2, "p99": 27.5, "max": 28.0},
            log="run.mcap",
        ).render()
    )
    text = console.export_text()
    for part in ("finished: 0/6", "2.00 x the time-optimal 5.7 s", "p99 27.5 ms", "run.mcap", *LIMITS_MS):
        assert part in text


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "result.json"
    write_json(path, {"finished": False})
    write_json(path, {"finished": True})
    assert json.loads(path.read_text(encoding="utf-8")) == {"finished": True}
    assert [p.name for p in tmp_path.iterdir()] == ["result.json"]


def test_a_file_that_cannot_be_written_is_named_and_the_old_one_stays(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere/result\.json: No such file or directory"):
        write_json(tmp_path / "nowhere" / "result.json", {})
    path = tmp_path / "result.json"
    write_json(path, {"finished": True})
    with pytest.raises(TypeError):
        write_json(path, {"finished": object()})
    assert json.loads(path.read_text(encoding="utf-8")) == {"finished": True}
