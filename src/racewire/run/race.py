"""A whole race in one call: embedded simulator and pilot, in lockstep or over UDP in real time.

Both ways build the same two nodes on the same wire; only the loop and the links differ.
"""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from rich.console import Console

from racewire.core.budget import Budget
from racewire.core.clock import NS_PER_S, Nanos, nanos
from racewire.core.errors import RunError
from racewire.pilots import load_pilot
from racewire.run.assembly import (
    World,
    default_pilot,
    full_budget,
    load_world,
    make_darkroom,
    make_simulator,
    make_wire,
    resolved,
)
from racewire.run.camera import CameraService, InlineCamera, ThreadCamera
from racewire.run.conditions import Conditions, load_conditions, simulated_links
from racewire.run.linked import LinkedNode
from racewire.run.lockstep import Lockstep
from racewire.run.loop import Endpoint, Loop
from racewire.run.pilot_node import PilotNode
from racewire.run.ports import pilot_ports, sim_ports
from racewire.run.progress import Compilation, Progress, compiling
from racewire.run.record import RunHash, RunLog
from racewire.run.result import RaceResult, collect
from racewire.run.sim_node import SimNode, SimObserver
from racewire.run.sockets import UdpChannel, close_channels, open_channels
from racewire.run.trace import Trace
from racewire.sim.simulator import RaceStart
from racewire.wires import WIRES
from racewire.wires.base import Role

UNIX_AT_BOOT_NS: Nanos = 1_780_000_000 * NS_PER_S
"""UNIX time at boot in lockstep: fixed, so that runs repeat."""

AFTER_S = 0.5
"""A race that is over runs on this long, so that its last status arrives."""

DRAWING_THREADS = min(2, os.cpu_count() or 1)
"""Threads that draw a frame; their number changes no byte of it."""

NO_START_S = 20.0
"""A pilot that has not brought the race to its start by then never will."""

_WARM_UP_S = 5.0

Channels: TypeAlias = dict[str, UdpChannel]


@dataclass(frozen=True, slots=True)
class RaceConfig:
    """The arguments of `racewire race`; None takes the default of the course or wire."""

    course: str = "vq1"
    build: str | None = None
    wire: str = "aigp"
    pilot: str | None = None
    pilot_config: Path | None = None
    vehicle: str | None = None
    seed: int = 0
    realtime: bool = False
    faults: str | None = None
    log: Path | None = None
    port_base: int = 0


def fly_race(config: RaceConfig, console: Console | None = None) -> RaceResult:
    """Fly one race and return its result; `console` is shown progress.

    Raises
    ------
    ConfigError
        If the configuration names something that does not exist or cannot be used.
    RunError
        If the pilot never starts the race.
    """
    with ExitStack() as stack:
        loop, run = prepare(config)
        ends = _open_ends(config, stack) if config.realtime else None
        if config.log is not None:
            log = RunLog(config.log)
            stack.callback(log.close)
            run.keep(log)
        progress = stack.enter_context(Progress(console))
        compilation = stack.enter_context(compiling(progress.console))
        if ends is not None:
            _fly_realtime(run, *ends, progress, stack)
        else:
            _fly_lockstep(loop, run, progress, compilation)
        result = run.result()
        if run.log is not None:
            run.log.result(result.as_json())
    return result


class Race:
    """The parts of one race, and when it is over."""

    def __init__(self, config: RaceConfig, world: World, conditions: Conditions) -> None:
        self.config = config
        self.world = world
        self.conditions = conditions
        self.log: RunLog | None = None
        self.budget: Budget = full_budget()
        self.trace = Trace(self.budget.add)
        self.hash = RunHash()
        self.pilot_name = config.pilot or default_pilot(config.wire)
        self.simulator = make_simulator(world, conditions, RaceStart(), config.seed)
        self.develop = make_darkroom(world, self.budget.add, DRAWING_THREADS)
        self.factor = 0.0
        self._over_at: Nanos | None = None

    def join(self, camera: CameraService, unix_at_boot_ns: Nanos, vision_ns: Nanos | None) -> None:
        """Build both nodes on both ends of the wire."""
        observers: list[SimObserver] = [self.hash]
        if self.log is not None:
            observers.append(self.log)
        self.sim = SimNode(
            self.simulator,
            make_wire(self.world, Role.SIM, unix_at_boot_ns, self.conditions.clock.steps_ns()),
            camera,
            observers,
            timed=self.budget.add,
            trace=self.trace,
            frames=self.conditions.frames,
            run_seed=self.config.seed,
        )
        self.pilot = PilotNode(
            load_pilot(self.pilot_name, self.config.pilot_config),
            make_wire(self.world, Role.PILOT),
            self.budget.add,
            vision_ns=vision_ns,
            trace=self.trace,
        )

    def keep(self, log: RunLog) -> None:
        """Write the race to `log` from now on."""
        self.log = log
        self.sim.observe(log)
        own = {"pilot": self.pilot_name, "realtime": self.config.realtime}
        log.config({**resolved(self.world, self.conditions, self.config.seed), **own})

    def over(self, now: Nanos) -> bool:
        """Tell whether the race has ended and its last status had time to arrive.

        Raises
        ------
        RunError
            If the race should have started long ago.
        """
        race = self.simulator.race
        if race.over:
            self._over_at = now if self._over_at is None else self._over_at
            return now - self._over_at >= nanos(AFTER_S)
        if race.start_ns is None and now > nanos(NO_START_S):
            phase = self.pilot.pilot.status().phase
            raise RunError(f"the pilot did not start the race within {NO_START_S:g} s: its phase is {phase}")
        return False

    def result(self) -> RaceResult:
        """Return the verdict and the figures."""
        return collect(
            self.world,
            self.sim,
            self.budget,
            self.hash,
            self.config.seed,
            pilot=self.pilot_name,
            trace=self.trace,
            realtime_factor=self.factor,
            log=self.config.log,
            counters={f"pilot: {name}": count for name, count in self.pilot.counters.items()},
        )


def prepare(config: RaceConfig) -> tuple[Lockstep, Race]:
    """Return a race in lockstep, ready to run.

    Raises
    ------
    ConfigError
        If the configuration names something that does not exist or cannot be used.
    """
    world = load_world(config.course, config.build, config.wire, config.vehicle)
    run = Race(config, world, load_conditions(config.faults))
    compute = run.conditions.compute
    run.join(InlineCamera(run.develop, compute.camera_ns), UNIX_AT_BOOT_NS, compute.vision_ns)
    channels = [port.channel for port in WIRES[world.wire].ports]
    down, up = simulated_links(run.conditions, channels, config.seed)
    return Lockstep(run.sim, run.pilot, down, up), run


def warm_up(config: RaceConfig) -> None:
    """Load or compile every kernel a race of `config` needs, by flying its first seconds in lockstep."""
    loop, _ = prepare(replace(config, realtime=False, log=None, faults="none"))
    loop.run(lambda now: now > nanos(_WARM_UP_S))


def _watched(run: Race, progress: Progress) -> Callable[[Nanos], bool]:
    """Return what a loop asks after every turn: it shows the race, and tells whether it is over."""

    def done(now: Nanos) -> bool:
        progress.show(run.simulator, run.pilot.pilot, now)
        return run.over(now)

    return done


def _fly_lockstep(loop: Lockstep, run: Race, progress: Progress, compilation: Compilation) -> None:
    started = time.perf_counter_ns()
    loop.run(_watched(run, progress))
    run.factor = loop.now / (time.perf_counter_ns() - started - compilation.took_ns)


def _open_ends(config: RaceConfig, stack: ExitStack) -> tuple[Channels, Channels]:
    """Bind the ports of both ends, simulator and pilot."""
    sim = open_channels(sim_ports(config.wire, config.port_base), "simulator")
    stack.callback(close_channels, sim)
    pilot = open_channels(pilot_ports(config.wire, config.port_base), "pilot")
    stack.callback(close_channels, pilot)
    return sim, pilot


def _fly_realtime(
    run: Race, sim_channels: Channels, pilot_channels: Channels, progress: Progress, stack: ExitStack
) -> None:
    warm_up(run.config)
    camera = ThreadCamera(run.develop)
    stack.callback(camera.close)
    run.join(camera, time.time_ns(), None)
    down, up = simulated_links(run.conditions, sim_channels, run.config.seed)
    linked = LinkedNode(run.sim, down, up)
    loop = Loop([Endpoint(linked, sim_channels), Endpoint(run.pilot, pilot_channels)])
    stack.callback(loop.close)
    loop.watch(camera.bell)

    loop.run(_watched(run, progress))
    run.factor = 1.0
