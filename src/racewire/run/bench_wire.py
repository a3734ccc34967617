"""Figures of the wire, in real time: photon to command, telemetry jitter, TIMESYNC, first frame.

Telemetry is measured as a foreign pilot meets it: `racewire sim` in a process of its own, rendering,
and a listener here that reads nothing but datagrams.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from pathlib import Path

import numpy as np

from racewire.core.clock import NS_PER_MS, NS_PER_S
from racewire.core.errors import RunError
from racewire.run.assembly import load_world, make_wire
from racewire.run.bench_measure import Measure
from racewire.run.ports import pilot_ports
from racewire.run.race import RaceConfig, fly_race
from racewire.run.sockets import UdpChannel, close_channels, open_channels
from racewire.wires.base import Role
from racewire.wires.mavlink import Codec

_PORT_BASE = 9_000
_LISTEN_S = 20.0
_PATIENCE_S = 120.0


def _photon_to_command() -> Mapping[str, float]:
    photon = fly_race(RaceConfig(realtime=True, faults="none")).photon_to_command_ms
    p50, p99 = photon["p50"], photon["p99"]
    if p50 is None or p99 is None:
        raise RunError("no frame led to a command")
    return {"photon_to_command_p50": p50, "photon_to_command_p99": p99}


def _telemetry() -> Mapping[str, float]:
    command = [sys.executable, "-m", "racewire", "sim", "--port-base", str(_PORT_BASE)]
    channels = open_channels(pilot_ports("aigp", _PORT_BASE), "bench")
    with contextlib.ExitStack() as stack:
        stack.callback(close_channels, channels)
        sim = subprocess.Popen(  # noqa: S603 - our own program
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        stack.callback(sim.wait)
        stack.callback(sim.terminate)
        return _listen(channels)


def _listen(channels: Mapping[str, UdpChannel]) -> Mapping[str, float]:
    """Be a pilot that only listens and keeps time; return its gaps, and the clock's spread."""
    wire = make_wire(load_world("vq1", None, "aigp", None), Role.PILOT)
    codec = Codec(255, 190)
    arrivals: list[int] = []
    offsets: list[float] = []
    mavlink = channels["mavlink"]
    mavlink.socket.settimeout(0.002)
    until = time.perf_counter_ns() + int(_PATIENCE_S * NS_PER_S)
    while (now := time.perf_counter_ns()) < until:
        with contextlib.suppress(TimeoutError):
            data = mavlink.socket.recv(65_535)
            now = time.perf_counter_ns()
            if not arrivals:
                until = now + int(_LISTEN_S * NS_PER_S)
            for packet in codec.decode(data).messages:
                if packet.get_type() == "HIGHRES_IMU":
                    arrivals.append(now)
                elif packet.get_type() == "TIMESYNC":
                    offsets.append((packet.tc1 - (packet.ts1 + now) / 2) / NS_PER_MS)
        channels["video"].receive(64)
        due = wire.due()
        if due is not None and due <= now:
            for datagram in wire.wake(now):
                channels[datagram.channel].send(datagram.data)
    if len(arrivals) < 100 or len(offsets) < 10:
        raise RunError(
            f"the simulator sent only {len(arrivals)} IMU samples, {len(offsets)} TIMESYNC replies"
        )
    gaps = np.diff(np.array(arrivals)) / NS_PER_MS
    return {
        "imu_gap_p99": float(np.percentile(gaps, 99)),
        "imu_gap_max": float(gaps.max()),
        "timesync_std": statistics.stdev(offsets),
    }


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


_JITTER = {
    "imu_gap_p99": ("ms", "<= 18.3"),
    "imu_gap_max": ("ms", "< 80"),
    "timesync_std": ("ms", "< 2"),
}
WIRE: tuple[Measure, ...] = (
    Measure(
        {"photon_to_command_p50": ("ms", "<= 8"), "photon_to_command_p99": ("ms", "<= 25")},
        _photon_to_command,
        long=True,
    ),
    Measure(_JITTER, _telemetry, long=True),
    Measure({"first_frame_warm": ("s", "<= 4"), "first_frame_cold": ("s", "<= 60")}, _first_frame, long=True),
)
"""The measures, in order."""
