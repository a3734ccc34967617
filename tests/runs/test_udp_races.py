"""Whole races over UDP in real time, in one process and in two; and what one end does when the other dies.

Every test has ports of its own, so that several may run at once; all lie below those that the system
gives away.
"""

import json

import pytest
from rich.console import Console

from racewire.core.errors import ConfigError, RunError
from racewire.run import fly as fly_module
from racewire.run.race import RaceConfig, fly_race
from racewire.run.serve import ServeConfig, serve


def at(base):
    return ("--port-base", base)


def test_a_race_in_real_time_finishes():
    result = fly_race(RaceConfig(realtime=True, port_base=12_000))
    assert result.finished, result.headline()
    assert (result.gates_passed, result.gates_total) == (6, 6)
    assert result.realtime_factor == 1.0
    assert result.frames > 200
    assert result.photon_to_command_ms["p50"] is not None


def test_a_pilot_killed_in_flight_leaves_a_simulator_where_the_next_finishes(program, tmp_path):
    result = tmp_path / "result.json"
    sim = program("sim", "--once", "--result", result, *at(12_200))
    sim.until("serving vq1")
    first = program("fly", *at(12_200))
    first.until("flying")
    sim.until("GO")
    first.kill()
    sim.until("pilot silent for 3 s: back on the pad, ready for the next")
    abandoned = json.loads(result.read_text(encoding="utf-8"))
    assert abandoned["finished"] is False
    second = program("fly", "--json", *at(12_200))
    assert second.ended() == 0, second.output
    flown = json.loads(second.lines[-1])
    assert (flown["finished"], flown["gates_passed"]) == (True, 6)
    assert sim.ended() == 0, sim.output
    record = json.loads(result.read_text(encoding="utf-8"))
    assert record["finished"] is True
    assert (record["gates_passed"], record["gates_total"]) == (6, 6)
    assert record["race_time_s"] == pytest.approx(flown["race_time_s"], abs=0.01)
    assert sum("pilot connected" in line for line in sim.lines) == 2
    assert any(line.startswith("gate 6/6 at ") for line in sim.lines)
    assert any(line.startswith("finished in ") for line in sim.lines)


def test_a_simulator_killed_in_flight_leaves_a_pilot_with_a_reason(program):
    sim = program("sim", *at(12_400))
    sim.until("serving vq1")
    fly = program("fly", *at(12_400))
    fly.until("flying")
    sim.kill()
    assert fly.ended() == 1
    assert fly.lines[-1] == "racewire: the simulator fell silent 3 s ago: race abandoned"
    assert "Traceback" not in fly.output


def test_without_a_simulator_the_pilot_says_so(monkeypatch):
    monkeypatch.setattr(fly_module, "warm_up", lambda _config: None)
    with pytest.raises(RunError, match=r"no simulator: nothing arrived within 0\.5 s"):
        fly_module.fly(fly_module.FlyConfig(wait_s=0.5, port_base=12_800), Console(quiet=True))


def test_two_simulators_never_share_a_port_and_ctrl_c_is_130(program, tmp_path):
    result = tmp_path / "result.json"
    sim = program("sim", "--result", result, *at(13_000))
    sim.until("serving vq1")
    with pytest.raises(ConfigError, match=r"simulator: cannot bind UDP 127\.0\.0\.1:27560 for mavlink"):
        serve(ServeConfig(port_base=13_000), Console(quiet=True))
    sim.interrupt()
    assert sim.ended() == 130
    assert sim.lines[-1] == "racewire: interrupted"
    assert "Traceback" not in sim.output
    assert json.loads(result.read_text(encoding="utf-8"))["finished"] is False
