"""What a person sees on the way: one line on a terminal, nothing elsewhere; compiling is said once."""

import io

import numba
import pytest
from rich.console import Console

from racewire.pilots.base import PilotStatus
from racewire.run import progress as progress_module
from racewire.run.assembly import load_world, make_simulator
from racewire.run.conditions import Conditions
from racewire.run.progress import Compilation, Progress, compiling
from racewire.sim.simulator import RaceStart

S = 10**9


class Talker:
    """A pilot that only has a status."""

    def status(self):
        return PilotStatus("flying", 2, 8.5, "3 gates in the map")


@pytest.fixture(scope="module")
def simulator():
    return make_simulator(load_world("vq1", None, "raw", None), Conditions(), RaceStart(), 0)


def shown(simulator, console, screen):
    with Progress(console) as progress:
        for now in (S, 2 * S):
            progress.show(simulator, Talker(), now)
    return screen.getvalue()


def test_a_terminal_shows_gate_speed_time_and_phases(simulator, monkeypatch):
    clock = iter(float(k) for k in range(100))
    monkeypatch.setattr(progress_module.time, "perf_counter", lambda: next(clock))
    screen = io.StringIO()
    text = shown(simulator, Console(file=screen, force_terminal=True, width=120), screen)
    for part in ("gate 0/6", "[......]", "0.0 m/s", "0.00 s", "waiting", "pilot: flying 3 gates in the map"):
        assert part in text


def test_it_is_silent_without_a_terminal_or_a_console(simulator):
    screen = io.StringIO()
    assert shown(simulator, Console(file=screen), screen) == ""
    assert shown(simulator, None, screen) == ""


def test_compiling_is_said_once_and_all_of_it_is_timed(monkeypatch):
    clock = iter((10, 30, 100, 105))
    monkeypatch.setattr(progress_module.time, "perf_counter_ns", lambda: next(clock))
    screen = io.StringIO()
    compilation = Compilation(Console(file=screen))
    for _ in range(2):
        compilation.started()
        compilation.ended()
    assert screen.getvalue().count("compiling") == 1
    assert compilation.took_ns == pytest.approx(25, abs=1)


def test_the_compiler_is_noticed():
    screen = io.StringIO()
    with compiling(Console(file=screen)) as compilation:
        assert compilation.took_ns == 0
        double = numba.njit(_double)  # not cached, unlike our kernels
        assert double(2.0) == 4.0
        once = compilation.took_ns
        assert once > 0
        assert double(3.0) == 6.0
        assert compilation.took_ns == once
    assert "compiling" in screen.getvalue()


def _double(x):
    return 2.0 * x
