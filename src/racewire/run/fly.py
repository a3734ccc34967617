"""`racewire fly`: our pilot against any simulator on the wire, in real time."""

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from racewire.core.budget import Budget
from racewire.core.clock import Nanos, nanos, seconds
from racewire.core.errors import ConfigError, RunError
from racewire.pilots import load_pilot
from racewire.run.assembly import LIMITS_MS, default_pilot, load_world, make_wire
from racewire.run.loop import Endpoint, Loop
from racewire.run.pilot_node import PilotNode
from racewire.run.ports import LOCALHOST, pilot_ports
from racewire.run.progress import compiling
from racewire.run.race import RaceConfig, warm_up
from racewire.run.sockets import close_channels, open_channels
from racewire.wires.base import Role

SILENT_S = 3.0
"""A simulator that sends nothing for this long is gone."""

AFTER_S = 0.5
"""How long the pilot goes on after the finish."""

_LONGEST_S = 1e6


@dataclass(frozen=True, slots=True)
class FlyConfig:
    """The arguments of `racewire fly`; `wait_s` is how long to wait for a simulator."""

    pilot: str | None = None
    pilot_config: Path | None = None
    wire: str = "aigp"
    build: str = "3391-vq1"
    host: str = LOCALHOST
    bind: str = LOCALHOST
    port_base: int = 0
    wait_s: float = 30.0


@dataclass(frozen=True, slots=True)
class FlyResult:
    """What a pilot knows of its race: what the race status said last, and its own figures."""

    finished: bool
    gates_passed: int
    race_time_s: float | None
    frames: int
    pilot: str
    stages: dict[str, dict[str, float]]
    counters: dict[str, int]


def fly(config: FlyConfig, console: Console) -> FlyResult:
    """Fly one race and return what the pilot knows of it.

    Raises
    ------
    ConfigError
        If something named does not exist, or a port is taken.
    RunError
        If no simulator is there, or it falls silent.
    """
    if not 0.0 < config.wait_s < _LONGEST_S:
        raise ConfigError(f"--wait {config.wait_s:g}: must be over 0 and less than {_LONGEST_S:g} s")
    name = config.pilot or default_pilot(config.wire)
    world = load_world("vq1", config.build, config.wire, None)
    pilot = load_pilot(name, config.pilot_config)
    budget = Budget({stage: LIMITS_MS[stage] for stage in ("pilot_image", "pilot_tick")})
    ports = pilot_ports(config.wire, config.port_base, config.bind, config.host)
    with ExitStack() as stack:
        channels = open_channels(ports, "pilot")
        stack.callback(close_channels, channels)
        with compiling(console):
            warm_up(RaceConfig(wire=config.wire, pilot=name, pilot_config=config.pilot_config))
        node = PilotNode(pilot, make_wire(world, Role.PILOT), budget.add, clock_ns=time.monotonic_ns())
        loop = Loop([Endpoint(node, channels)])
        stack.callback(loop.close)
        where = ", ".join(f"{p.channel} {p.bind[0]}:{p.bind[1]}" for p in ports)
        console.print(f"pilot {name} listening: {where}", highlight=False)
        loop.run(_Watch(config, node, console).done)
    race = node.race
    finish = None if race is None else race.finish_ns
    return FlyResult(
        finished=finish is not None,
        gates_passed=0 if race is None else race.active_gate,
        race_time_s=None if finish is None else seconds(finish),
        frames=node.frames,
        pilot=name,
        stages=budget.report(),
        counters=dict(node.counters),
    )


class _Watch:
    """When the flight is over, and what to say on the way."""

    def __init__(self, config: FlyConfig, node: PilotNode, console: Console) -> None:
        self._config = config
        self._node = node
        self._console = console
        self._phase = ""
        self._finished_at: Nanos | None = None

    def done(self, now: Nanos) -> bool:
        """Tell whether the race has finished.

        Raises
        ------
        RunError
            If there is no simulator, or no longer.
        """
        heard = self._node.last_received
        if heard is None and now > nanos(self._config.wait_s):
            raise RunError(f"no simulator: nothing arrived within {self._config.wait_s:g} s")
        if heard is not None and now - heard > nanos(SILENT_S):
            raise RunError(f"the simulator fell silent {SILENT_S:g} s ago: race abandoned")
        status = self._node.pilot.status()
        if status.phase != self._phase:
            self._phase = status.phase
            self._console.print(f"{status.phase} {status.remark}".rstrip(), highlight=False)
        race = self._node.race
        if race is not None and race.finish_ns is not None:
            self._finished_at = now if self._finished_at is None else self._finished_at
            return now - self._finished_at > nanos(AFTER_S)
        return False
