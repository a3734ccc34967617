"""Telemetry on time: a minute of `racewire sim` as a pilot that only listens meets it, quiet and loaded.

The simulator renders in a process of its own. A gap between two IMU samples says as much of the machine
as of the simulator, so a process that does nothing but sleep for the same period runs beside it, and
its longest gap is a figure too. Loaded means one busy process a core.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from racewire.core.clock import NS_PER_MS, NS_PER_S
from racewire.core.errors import RunError
from racewire.run.assembly import load_world, make_wire
from racewire.run.bench_measure import Measure
from racewire.run.ports import pilot_ports
from racewire.run.sockets import UdpChannel, close_channels, open_channels
from racewire.wires.base import Role
from racewire.wires.mavlink import Codec

_BUILD = "3364-vq1"
_PORT_BASE = 9_000
_SETTLE_S = 2.0
_LISTEN_S = 60.0
_PATIENCE_S = 120.0

_SLEEPER = """
import time
longest, last, end = 0.0, time.perf_counter(), time.perf_counter() + {seconds}
while last < end:
    time.sleep(1 / 120)
    now = time.perf_counter()
    longest, last = max(longest, now - last), now
print(longest * 1e3)
"""
_BUSY = "while True: pass"


@dataclass(slots=True)
class _Heard:
    """When IMU samples came (ns), and the offsets that TIMESYNC showed (ms)."""

    imu: list[int] = field(default_factory=list[int])
    offsets: list[float] = field(default_factory=list[float])


def _quiet() -> Mapping[str, float]:
    return _measure("", 0)


def _loaded() -> Mapping[str, float]:
    return _measure("loaded_", os.cpu_count() or 1)


def _measure(prefix: str, busy: int) -> Mapping[str, float]:
    """Return the figures with that many busy processes beside the simulator."""
    sim = [sys.executable, "-m", "racewire", "sim", "--build", _BUILD, "--port-base", str(_PORT_BASE)]
    channels = open_channels(pilot_ports("aigp", _PORT_BASE), "bench")
    with contextlib.ExitStack() as stack:
        stack.callback(close_channels, channels)
        _start(stack, sim)
        ear = _Ear(channels)
        ear.wait()
        for _ in range(busy):
            _start(stack, [sys.executable, "-c", _BUSY])
        ear.listen(_SETTLE_S)
        sleeper = _start(stack, [sys.executable, "-c", _SLEEPER.format(seconds=_LISTEN_S)])
        heard = ear.listen(_LISTEN_S)
        slept, _ = sleeper.communicate()
    gaps = np.diff(np.array(heard.imu)) / NS_PER_MS
    return {
        f"{prefix}imu_gap_p99": float(np.percentile(gaps, 99)),
        f"{prefix}imu_gap_max": float(gaps.max()),
        f"{prefix}imu_gap_over_sleeper": float(gaps.max()) - float(slept),
        f"{prefix}timesync_std": statistics.stdev(heard.offsets),
    }


def _start(stack: contextlib.ExitStack, command: list[str]) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


class _Ear:
    """A pilot that only listens and keeps time."""

    def __init__(self, channels: Mapping[str, UdpChannel]) -> None:
        self._channels = channels
        self._wire = make_wire(load_world("vq1", _BUILD, "aigp", None), Role.PILOT)
        self._codec = Codec(255, 190)
        channels["mavlink"].socket.settimeout(0.002)

    def wait(self) -> None:
        """Wait for the simulator to send.

        Raises
        ------
        RunError
            If it never does.
        """
        until = time.perf_counter_ns() + round(_PATIENCE_S * NS_PER_S)
        while time.perf_counter_ns() < until:
            if self.listen(0.1).imu:
                return
        raise RunError(f"the simulator sent nothing within {_PATIENCE_S:g} s")

    def listen(self, seconds: float) -> _Heard:
        """Return what is heard within so many seconds."""
        heard = _Heard()
        until = time.perf_counter_ns() + round(seconds * NS_PER_S)
        while (now := time.perf_counter_ns()) < until:
            with contextlib.suppress(TimeoutError):
                data = self._channels["mavlink"].socket.recv(65_535)
                now = time.perf_counter_ns()
                self._note(data, now, heard)
            self._channels["video"].receive(64)
            due = self._wire.due()
            if due is not None and due <= now:
                for channel, request in self._wire.wake(now):
                    self._channels[channel].send(request)
        return heard

    def _note(self, data: bytes, now: int, heard: _Heard) -> None:
        for packet in self._codec.decode(data).messages:
            if packet.get_type() == "HIGHRES_IMU":
                heard.imu.append(now)
            elif packet.get_type() == "TIMESYNC":
                heard.offsets.append((packet.tc1 - (packet.ts1 + now) / 2) / NS_PER_MS)


def _figures(prefix: str, timesync: str) -> dict[str, tuple[str, str]]:
    return {
        f"{prefix}imu_gap_p99": ("ms", "<= 18.3" if not prefix else ""),
        f"{prefix}imu_gap_max": ("ms", "< 80" if not prefix else ""),
        f"{prefix}imu_gap_over_sleeper": ("ms", "<= 20"),
        f"{prefix}timesync_std": ("ms", timesync),
    }


TELEMETRY: tuple[Measure, ...] = (
    Measure(_figures("", "< 2"), _quiet, long=True),
    Measure(_figures("loaded_", "< 5"), _loaded, long=True),
)
"""The measures, in order."""
