"""`racewire sim`: serve the wire for any pilot, one race after another, in real time or in lockstep.

The simulator sends unprompted from the start, as the original does. A pilot that falls silent ends its
race; the vehicle goes back to the pad and the next pilot can fly. Rendering has a thread of its own.
"""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from racewire.core.clock import nanos
from racewire.core.errors import ConfigError
from racewire.run.assembly import World, load_world, make_darkroom, make_simulator, resolved, sim_budget
from racewire.run.camera import CameraService, InlineCamera, ThreadCamera
from racewire.run.conditions import Conditions, load_conditions
from racewire.run.control import Interpreter
from racewire.run.control_server import ControlServer
from racewire.run.lockstep_udp import LockstepServer
from racewire.run.loop import Endpoint, Loop
from racewire.run.ports import CONTROL_PORT, LOCALHOST, LOCKSTEP_PORT, shifted, sim_ports
from racewire.run.progress import compiling
from racewire.run.race import UNIX_AT_BOOT_NS
from racewire.run.record import RunLog
from racewire.run.result import RaceResult, check_folder
from racewire.run.service import Service, ServicePlan
from racewire.run.sockets import Port, UdpChannel, close_channels, open_channels
from racewire.sim.simulator import Exposure, RaceStart


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """The arguments of `racewire sim`. `start` is on-arm, after:SECONDS or key."""

    course: str = "vq1"
    build: str | None = None
    wire: str = "aigp"
    vehicle: str | None = None
    seed: int = 0
    bind: str = LOCALHOST
    peer: str = LOCALHOST
    port_base: int = 0
    start: str = "on-arm"
    once: bool = False
    time_limit_s: float | None = None
    faults: str = "none"
    result: Path | None = None
    log: Path | None = None
    control: bool = False
    lockstep: bool = False


def parse_start(text: str) -> RaceStart:
    """Return when races start, from on-arm, after:SECONDS or key.

    Raises
    ------
    ConfigError
        If it is none of them.
    """
    if text == "on-arm":
        return RaceStart()
    if text == "key":
        return RaceStart(on_arm=False)
    word, _, number = text.partition(":")
    if word == "after":
        try:
            after = float(number)
        except ValueError:
            after = -1.0
        if 0.0 <= after < 1e6:
            return RaceStart(on_arm=False, after_s=after)
    raise ConfigError(f"--start {text}: must be on-arm, after:SECONDS or key")


def serve(config: ServeConfig, console: Console) -> RaceResult | None:
    """Serve until the race is over (`once`) or until interrupted; return the last race's result.

    Raises
    ------
    ConfigError
        If something named does not exist, or a port is taken.
    """
    world = load_world(config.course, config.build, config.wire, config.vehicle, config.time_limit_s)
    conditions = load_conditions(config.faults)
    start = parse_start(config.start)
    if config.result is not None:
        check_folder(config.result)
    answers_sender = world.build.vehicle is not None  # as an ordinary vehicle does, unlike the original
    ports = sim_ports(config.wire, config.port_base, config.bind, config.peer, follow=answers_sender)
    with ExitStack() as stack:
        channels = open_channels(ports, "simulator")
        stack.callback(close_channels, channels)
        log = None
        if config.log is not None:
            log = RunLog(config.log)
            stack.callback(log.close)
            own = {"start": config.start, "lockstep": config.lockstep}
            log.config({**resolved(world, conditions, config.seed), **own})
        with compiling(console):
            _warm_up(world)
        plan = ServicePlan(
            seed=config.seed,
            start=start,
            on_key=config.start == "key",
            once=config.once,
            result=config.result,
            log=log,
            lockstep=config.lockstep,
        )
        budget = sim_budget()
        develop = make_darkroom(world, budget.add)
        camera = None if config.lockstep else ThreadCamera(develop)
        if camera is not None:
            stack.callback(camera.close)

        def new_camera() -> CameraService:
            if camera is None:
                return InlineCamera(develop, conditions.compute.camera_ns)
            camera.restart()
            return camera

        unix_ns = UNIX_AT_BOOT_NS if config.lockstep else time.time_ns()
        service = Service(plan, world, conditions, new_camera, budget, unix_ns, console)
        endpoint = Endpoint(service.session, channels)
        loop = Loop([] if config.lockstep else [endpoint])
        stack.callback(loop.close)
        if camera is not None:
            loop.watch(camera.bell)
        else:
            stepper = LockstepServer(shifted(LOCKSTEP_PORT, config.port_base), service.session, endpoint)
            stack.callback(stepper.close)
            loop.watch(stepper.socket, stepper.serve)
        if config.control:
            stack.callback(_control(service, channels, loop, config.port_base).close)
        service.say(f"serving {world.course.name}, build {world.build_name}: {_where(ports)}")
        try:
            loop.run(service.done)
        finally:
            service.keep_result()
            if log is not None and service.last is not None:
                log.result(service.last.as_json())
        return service.last


def _control(
    service: Service, channels: Mapping[str, UdpChannel], loop: Loop, port_base: int
) -> ControlServer:
    """Return the control channel, served by `loop`."""

    def counters() -> dict[str, int]:
        sockets = {f"{name}: {why}": n for name, c in channels.items() for why, n in c.counters.items()}
        return {**sockets, **{f"control: {what}": n for what, n in interpreter.counters.items()}}

    interpreter = Interpreter(service.handlers(lambda: loop.now, counters))
    server = ControlServer(shifted(CONTROL_PORT, port_base), interpreter)
    server.join(loop)
    return server


def _warm_up(world: World) -> None:
    """Load or compile the simulator's kernels, before anyone waits for them."""
    simulator = make_simulator(world, Conditions(), RaceStart(), 0)
    develop = make_darkroom(world, lambda _stage, _duration: None)
    for output in simulator.advance(nanos(0.1)):
        if isinstance(output, Exposure):
            develop(output)


def _where(ports: list[Port]) -> str:
    return ", ".join(
        f"{p.channel} {p.bind[0]}:{p.bind[1]} -> {p.peer[0]}:{p.peer[1]}" for p in ports if p.peer
    )
