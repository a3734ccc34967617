"""Figures of the whole program in real time: photon to command, and the time to the first frame."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from pathlib import Path

from racewire.core.clock import NS_PER_S
from racewire.core.errors import RunError
from racewire.run.bench_measure import Measure
from racewire.run.race import RaceConfig, fly_race


def _photon_to_command() -> Mapping[str, float]:
    photon = fly_race(RaceConfig(realtime=True, faults="none")).photon_to_command_ms
    p50, p99 = photon["p50"], photon["p99"]
    if p50 is None or p99 is None:
        raise RunError("no frame led to a command")
    return {"photon_to_command_p50": p50, "photon_to_command_p99": p99}


@contextlib.contextmanager
def _empty_cache() -> Generator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        yield {**os.environ, "NUMBA_CACHE_DIR": folder}


def _first_frame() -> Mapping[str, float]:
    """Time from the command to the first frame at the pilot, with a warm and with an empty kernel cache."""
    program = str(Path(__file__).with_name("bench_first_frame.py"))

    def timed(environment: Mapping[str, str]) -> float:
        started = time.perf_counter_ns()
        subprocess.run(  # noqa: S603 - our own program
            [sys.executable, program], check=True, env=dict(environment), stdout=subprocess.DEVNULL
        )
        return (time.perf_counter_ns() - started) / NS_PER_S

    timed(os.environ)
    with _empty_cache() as cold:
        return {"first_frame_warm": timed(os.environ), "first_frame_cold": timed(cold)}


WIRE: tuple[Measure, ...] = (
    Measure(
        {"photon_to_command_p50": ("ms", "<= 8"), "photon_to_command_p99": ("ms", "<= 25")},
        _photon_to_command,
        long=True,
    ),
    Measure({"first_frame_warm": ("s", "<= 4"), "first_frame_cold": ("s", "<= 60")}, _first_frame, long=True),
)
"""The measures, in order."""
