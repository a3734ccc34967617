"""`racewire sim`: serve the wire in real time, for any pilot, one race after another.

The simulator sends unprompted from the start, as the original does. A pilot that falls silent ends its
race; the vehicle goes back to the pad and the next pilot can fly. Rendering has a thread of its own.
"""

import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from racewire.core.clock import NS_PER_S, Nanos, nanos, seconds
from racewire.core.errors import ConfigError
from racewire.race.events import (
    Collided,
    Disqualified,
    Finished,
    GateMissed,
    GatePassed,
    OutOfBounds,
    RaceEvent,
    Started,
    TimedOut,
)
from racewire.run.assembly import World, load_world, make_darkroom, make_simulator, make_wire, sim_budget
from racewire.run.camera import ThreadCamera
from racewire.run.conditions import Conditions, load_conditions, simulated_links
from racewire.run.linked import LinkedNode
from racewire.run.loop import Endpoint, Loop
from racewire.run.ports import LOCALHOST, sim_ports
from racewire.run.progress import compiling
from racewire.run.record import RunHash
from racewire.run.result import RaceResult, collect, write_json
from racewire.run.sim_node import SimNode
from racewire.run.sockets import Port, close_channels, open_channels
from racewire.sim.simulator import Exposure, RaceStart, Truth
from racewire.wires.base import Role

SILENT_S = 3.0
"""A pilot that sends nothing for this long is gone."""

AFTER_S = 1.0
"""With `--once`, how long the simulator goes on after the race, so that the pilot hears of it."""


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
    ports = sim_ports(config.wire, config.port_base, config.bind, config.peer)
    with ExitStack() as stack:
        channels = open_channels(ports, "simulator")
        stack.callback(close_channels, channels)
        with compiling(console):
            _warm_up(world)
        service = _Service(config, world, conditions, start, console)
        camera = ThreadCamera(make_darkroom(world, service.budget.add))
        stack.callback(camera.close)
        node = service.join(camera)
        down, up = simulated_links(conditions, channels, config.seed)
        loop = Loop([Endpoint(LinkedNode(node, down, up), channels)])
        stack.callback(loop.close)
        loop.watch(camera.bell)
        service.say(f"serving {world.course.name}, build {world.build_name}: {_where(ports)}")
        try:
            loop.run(service.done)
        finally:
            service.keep_result()
        return service.last


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


class _Service:
    """The races of one `racewire sim`: what it says, and the last result."""

    def __init__(
        self, config: ServeConfig, world: World, conditions: Conditions, start: RaceStart, console: Console
    ) -> None:
        self.budget = sim_budget()
        self.last: RaceResult | None = None
        self._config = config
        self._world = world
        self._conditions = conditions
        self._console = console
        self._hash = RunHash()
        self._simulator = make_simulator(world, conditions, start, config.seed)
        self._over_at: Nanos | None = None
        self._heard = False
        self._refused: dict[str, int] = {}
        self._refused_at: Nanos = -NS_PER_S
        self._armed = self._simulator.armed
        self._keyboard = _Keyboard() if config.start == "key" else None

    def join(self, camera: ThreadCamera) -> SimNode:
        """Return the simulator's node, watched by this service."""
        wire = make_wire(self._world, Role.SIM, time.time_ns())
        self._node = SimNode(
            self._simulator,
            wire,
            camera,
            [self._hash, self],
            timed=self.budget.add,
            frame_loss=self._conditions.frames.loss,
            run_seed=self._config.seed,
        )
        return self._node

    def say(self, text: str) -> None:
        """Print one line."""
        self._console.print(text, highlight=False)

    def done(self, now: Nanos) -> bool:
        """Tell whether to stop; notice a pilot that came, armed or fell silent, and a race that ended."""
        heard = self._node.last_received
        here = heard is not None and now - heard < nanos(SILENT_S)
        if here != self._heard:
            self._heard = here
            self.say("pilot connected" if here else self._abandon())
        if self._keyboard is not None and self._keyboard.pressed():
            self._simulator.start()
        if self._simulator.armed and not self._armed:
            self.say("armed")
        self._armed = self._simulator.armed
        self._say_refused(now)
        if not self._simulator.race.over:
            self._over_at = None
            return False
        if self._over_at is None:
            self._over_at = now
            self.keep_result()
        return self._config.once and now - self._over_at >= nanos(AFTER_S)

    def keep_result(self) -> None:
        """Take the race's result as it stands, and write it to the result file."""
        self.last = self._result()
        if self._config.result is not None:
            write_json(self._config.result, self.last.as_json())

    def truth(self, truth: Truth) -> None:
        """Take no note of states."""

    def received(self, channel: str, data: bytes, now: Nanos) -> None:
        """Take no note of datagrams."""

    def sent(self, channel: str, data: bytes, now: Nanos) -> None:
        """Take no note of datagrams."""

    def event(self, event: RaceEvent) -> None:
        """Say what the referee saw."""
        total = len(self._simulator.geometry.planes)
        match event:
            case Started():
                self.say("GO")
            case GatePassed():
                self.say(f"gate {event.gate + 1}/{total} at {seconds(event.race_ns):.3f} s")
            case GateMissed():
                self.say(
                    f"gate {event.gate + 1} missed: {event.right:+.2f} m right, {event.down:+.2f} m down"
                )
            case OutOfBounds():
                self.say("out of bounds: back to the start, disarmed")
            case Disqualified():
                self.say(f"disqualified: {event.reason}")
            case TimedOut():
                self.say("time limit reached")
            case Finished():
                self.say(f"finished in {seconds(event.race_ns):.3f} s")
            case Collided():
                pass

    def _say_refused(self, now: Nanos) -> None:
        """Say what of the pilot's bytes was refused, at most once a second."""
        counters = self._node.counters
        refused = {name: n for name, n in counters.items() if name.startswith("malformed")}
        if refused == self._refused or now - self._refused_at < NS_PER_S:
            return
        fresh = [f"{n - self._refused.get(name, 0)} x {name}" for name, n in refused.items()]
        self.say("refused: " + ", ".join(line for line in fresh if not line.startswith("0 ")))
        self._refused, self._refused_at = refused, now

    def _abandon(self) -> str:
        """Make ready for the next pilot; return what to say."""
        if not self._simulator.race.over:
            self.keep_result()
        self._simulator.reset()
        return f"pilot silent for {SILENT_S:g} s: back on the pad, ready for the next"

    def _result(self) -> RaceResult:
        return collect(self._world, self._node, self.budget, self._hash, self._config.seed)


class _Keyboard:
    """Notices a line typed on standard input, without waiting for one."""

    def __init__(self) -> None:
        self._typed = threading.Event()
        threading.Thread(target=self._read, name="keyboard", daemon=True).start()

    def pressed(self) -> bool:
        """Tell whether Enter was pressed since the last call."""
        typed = self._typed.is_set()
        self._typed.clear()
        return typed

    def _read(self) -> None:
        while sys.stdin.readline():
            self._typed.set()
