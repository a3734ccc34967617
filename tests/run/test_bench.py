"""The bench: the names of the contract are there, and a cheap figure comes out as promised."""

import io
import json

import pytest
from rich.console import Console

from racewire.core.errors import ConfigError
from racewire.run import bench as bench_module
from racewire.run.bench import MEASURES, bench
from racewire.run.bench_measure import Measure

CONSOLE = Console(quiet=True)
UNITS = {
    "quad_single": "steps/s",
    "quad_batch_1024": "steps/s",
    "quad_batch_16384": "steps/s",
    "camera_vq1_1t": "ms",
    "camera_vq1_2t": "ms",
    "jpeg_encode": "ms",
    "jpeg_decode": "ms",
    "race_realtime_factor": "x real time",
    "photon_to_command_p50": "ms",
    "photon_to_command_p99": "ms",
    "imu_gap_p99": "ms",
    "imu_gap_max": "ms",
    "timesync_std": "ms",
    "first_frame_warm": "s",
    "first_frame_cold": "s",
}
"""The figures of DESIGN.md, section 3, that exist."""


def test_every_figure_of_the_contract_is_measured_in_its_unit():
    units = {name: unit for measure in MEASURES for name, (unit, _) in measure.figures.items()}
    assert {name: units.get(name) for name in UNITS} == UNITS


def test_a_cheap_figure():
    report = bench(only="jpeg_decode", repeats=1, console=CONSOLE)
    record = json.loads(json.dumps(report.as_json()))
    assert set(record) == {"machine", "figures"}
    assert set(record["figures"]) == {"jpeg_decode"}
    figure = record["figures"]["jpeg_decode"]
    assert set(figure) == {"value", "unit", "min", "max", "repeats"}
    assert figure["unit"] == "ms"
    assert figure["repeats"] == 1
    assert 0.0 < figure["min"] == figure["value"] == figure["max"]
    assert {"cores", "python", "numba", "processor"} <= set(record["machine"])


@pytest.fixture
def counting(monkeypatch):
    """Measure a counter instead of the machine."""
    counter = iter(range(100))
    measures = (
        Measure(
            {"a_one": ("ms", "<= 4"), "a_two": ("s", "")},
            lambda: {"a_one": (n := next(counter)), "a_two": -n},
        ),
        Measure({"b": ("ms", "")}, lambda: {"b": 7.0}, long=True),
    )
    monkeypatch.setattr(bench_module, "MEASURES", measures)


@pytest.mark.usefixtures("counting")
def test_the_median_is_the_value_and_a_long_measure_is_taken_once():
    figures = bench(only=None, repeats=5, console=CONSOLE).figures
    one, two, b = (figures[name] for name in ("a_one", "a_two", "b"))
    assert (one.value, one.min, one.max, one.repeats, one.unit, one.bar) == (2, 0, 4, 5, "ms", "<= 4")
    assert (two.value, two.min, two.max) == (-2, -4, 0)
    assert (b.value, b.repeats) == (7.0, 1)


@pytest.mark.usefixtures("counting")
def test_only_what_is_asked_for_is_measured_and_shown():
    assert set(bench(only="a_t", repeats=1, console=CONSOLE).figures) == {"a_two"}
    assert set(bench(only="b", repeats=1, console=CONSOLE).figures) == {"b"}


@pytest.mark.usefixtures("counting")
def test_an_unknown_figure_is_refused_with_the_names():
    with pytest.raises(ConfigError, match="--only zzz: no figure begins so; there are a_one, a_two, b"):
        bench(only="zzz", repeats=1, console=CONSOLE)


@pytest.mark.usefixtures("counting")
def test_a_person_reads_the_bars_beside_the_figures():
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(bench(only=None, repeats=1, console=CONSOLE).render())
    assert "<= 4" in console.export_text()
