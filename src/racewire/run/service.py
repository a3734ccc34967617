"""What `racewire sim` does around its simulator: notices pilots, tells the story, keeps the result.

It makes the lives of a `Session`, watches the one that lives, and does what the control channel asks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from racewire.core.budget import Budget
from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos, nanos
from racewire.race.events import RaceEvent
from racewire.race.referee import Phase
from racewire.run.announce import Keyboard, describe
from racewire.run.assembly import World, make_simulator, make_wire
from racewire.run.camera import CameraService
from racewire.run.conditions import Conditions, simulated_links
from racewire.run.control import Handler
from racewire.run.linked import LinkedNode
from racewire.run.record import RunHash, RunLog, truth_record
from racewire.run.result import RaceResult, collect, write_json
from racewire.run.session import Life, Session
from racewire.run.sim_node import SimNode, SimObserver
from racewire.sim.simulator import RaceStart, Simulator, Truth
from racewire.wires import WIRES
from racewire.wires.base import Role

SILENT_S = 3.0
"""A pilot that sends nothing for this long is gone."""

AFTER_S = 1.0
"""With `--once`, how long the simulator goes on after the race, so that the pilot hears of it."""

_LONGEST_STEP_MS = 1000.0


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """How to serve: the random seed, when races start, when to end, where results and the log go."""

    seed: int
    start: RaceStart
    on_key: bool
    once: bool
    result: Path | None
    log: RunLog | None
    lockstep: bool


class Service:
    """The races of one `racewire sim`."""

    def __init__(
        self,
        plan: ServicePlan,
        world: World,
        conditions: Conditions,
        camera: Callable[[], CameraService],
        budget: Budget,
        unix_ns: Nanos,
        console: Console,
    ) -> None:
        """Begin the first life; `camera` makes the camera of each."""
        self.last: RaceResult | None = None
        self._plan = plan
        self._world = world
        self._conditions = conditions
        self._camera = camera
        self._budget = budget
        self._console = console
        self._keyboard = Keyboard() if plan.on_key else None
        self._refused_at: Nanos = -NS_PER_S
        self._stop = False
        self.session = Session(self._begin, unix_ns, simulated=plan.lockstep)

    @property
    def simulator(self) -> Simulator:
        """The simulator that lives."""
        return self.session.life.sim.simulator

    def say(self, text: str) -> None:
        """Print one line."""
        self._console.print(text, highlight=False)

    def done(self, now: Nanos) -> bool:
        """Tell whether to stop; notice a pilot that came, armed or fell silent, and a race that ended."""
        boot = self.session.boot(now)
        heard = self.session.life.sim.last_received
        here = heard is not None and boot - heard < nanos(SILENT_S)
        if here and not self._heard:
            self.say("pilot connected")
        elif self._heard and not here and not self._plan.lockstep:  # a pilot that moves time is there
            self.say(self._abandon())
        self._heard = here
        if self._keyboard is not None and self._keyboard.pressed():
            self.simulator.start()
        if self.simulator.armed and not self._armed:
            self.say("armed")
        self._armed = self.simulator.armed
        self._say_refused(now)
        if self.simulator.over and self._over_at is None:
            self._over_at = boot
            self.keep_result()
        elif not self.simulator.over:
            self._over_at = None
        ended = self._over_at is not None and boot - self._over_at >= nanos(AFTER_S)
        return self._stop or (self._plan.once and ended)

    def keep_result(self) -> None:
        """Take the race's result as it stands and write it; keep the last one's where none has begun."""
        life = self.session.life
        if life.sim.simulator.race.start_ns is None and self.last is not None:
            return
        self.last = collect(self._world, life.sim, self._budget, life.hash, self._plan.seed)
        if self._plan.result is not None:
            write_json(self._plan.result, self.last.as_json())

    def truth(self, truth: Truth) -> None:
        """Take no note of states."""

    def received(self, channel: str, data: bytes, now: Nanos) -> None:
        """Take no note of datagrams."""

    def sent(self, channel: str, data: bytes, now: Nanos) -> None:
        """Take no note of datagrams."""

    def event(self, event: RaceEvent) -> None:
        """Say what the referee saw."""
        text = describe(event, len(self.simulator.geometry.planes))
        if text is not None:
            self.say(text)

    def handlers(
        self, now: Callable[[], Nanos], counters: Callable[[], dict[str, int]]
    ) -> dict[str, Handler]:
        """Return what the control channel's verbs do; `now` reads the loop's clock."""

        def start() -> dict[str, Any]:
            if self.simulator.race.phase is not Phase.WAITING:
                raise ValueError(f"the race is {self.simulator.race.phase.value}: reset it first")
            self.simulator.start()
            return state()

        def reset() -> dict[str, Any]:
            self.keep_result()
            self.session.restart(now())
            return state()

        def pause() -> dict[str, Any]:
            self._timed()
            self.session.pause(now())
            return state()

        def resume() -> dict[str, Any]:
            self._timed()
            self.session.resume(now())
            return state()

        def step(ms: float) -> dict[str, Any]:
            self._timed()
            if not 0.0 < ms <= _LONGEST_STEP_MS:
                raise ValueError(f"ms must be over 0 and at most {_LONGEST_STEP_MS:g}")
            self.session.step(round(ms * NS_PER_MS))
            return state()

        def state() -> dict[str, Any]:
            return self._state(now(), counters())

        def truth() -> dict[str, Any]:
            return truth_record(self.simulator.truth)

        def stop() -> dict[str, Any]:
            self._stop = True
            return state()

        verbs = (start, reset, pause, resume, step, state, truth, stop)
        return {verb.__name__: verb for verb in verbs}

    def _begin(self, unix_ns: Nanos) -> Life:
        """Make a life: everything that a fresh process would have; know of no pilot and no race."""
        self._over_at: Nanos | None = None
        self._heard = False
        self._armed = False
        self._refused: dict[str, int] = {}
        plan, conditions = self._plan, self._conditions
        simulator = make_simulator(self._world, conditions, plan.start, plan.seed)
        run_hash = RunHash()
        observers: list[SimObserver] = [run_hash, self]
        if plan.log is not None:
            plan.log.begin()
            observers.append(plan.log)
        sim = SimNode(
            simulator,
            make_wire(self._world, Role.SIM, unix_ns, conditions.clock.steps_ns()),
            self._camera(),
            observers,
            timed=self._budget.add,
            frames=conditions.frames,
            run_seed=plan.seed,
        )
        channels = [port.channel for port in WIRES[self._world.wire].ports]
        down, up = simulated_links(conditions, channels, plan.seed)
        return Life(sim, LinkedNode(sim, down, up), run_hash)

    def _timed(self) -> None:
        if self._plan.lockstep:
            raise ValueError("the pilot moves time: this is lockstep")

    def _state(self, now: Nanos, counters: dict[str, int]) -> dict[str, Any]:
        race = self.simulator.race
        return {
            "boot_ns": self.session.boot(now),
            "paused": self.session.paused,
            "life": self.session.lives,
            "phase": race.phase.value,
            "armed": self.simulator.armed,
            "gates_passed": race.gates_passed,
            "gates_total": len(self.simulator.geometry.planes),
            "start_ns": race.start_ns,
            "finish_ns": race.finish_ns,
            "collisions": race.collisions,
            "reason": race.reason,
            "resets": self.simulator.resets,
            "frames": self.session.life.sim.frames,
            "log_hash": self.session.life.hash.hexdigest(),
            "counters": {**self.session.life.sim.counters, **counters},
        }

    def _say_refused(self, now: Nanos) -> None:
        """Say what of the pilot's bytes was refused, at most once a second."""
        counters = self.session.life.sim.counters
        refused = {name: n for name, n in counters.items() if name.startswith("malformed")}
        if refused == self._refused or now - self._refused_at < NS_PER_S:
            return
        fresh = [f"{n - self._refused.get(name, 0)} x {name}" for name, n in refused.items()]
        self.say("refused: " + ", ".join(line for line in fresh if not line.startswith("0 ")))
        self._refused, self._refused_at = refused, now

    def _abandon(self) -> str:
        """Make ready for the next pilot; return what to say."""
        if not self.simulator.over:
            self.keep_result()
        self.simulator.reset()
        return f"pilot silent for {SILENT_S:g} s: back on the pad, ready for the next"
