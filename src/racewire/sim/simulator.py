"""The simulator: step the vehicle, sense it, judge the race; no clock, no I/O.

Time is the boot clock, integer nanoseconds from 0. Physics runs in ticks of `TICK_NS`; commands are
held between messages and physics always advances. Sensors sample at their own exact rates, between
ticks by extrapolation from the last one. `advance` returns what happened, in order: messages for the
wire, exposures for the camera, truth for the log, and the referee's events.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from racewire.core import messages
from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos, Ticker, nanos, seconds
from racewire.core.frames import Frd, Ned, Pose
from racewire.core.messages import FromVehicle, ToVehicle
from racewire.race import referee
from racewire.race.referee import RaceEvent, RaceState
from racewire.sensors.imu import ImuNoise, ImuSensor
from racewire.sim.world import VehicleInWorld
from racewire.vehicles.base import Motion, Vehicle
from racewire.world.course import Course

TICK_NS = NS_PER_MS
TICK_S = seconds(TICK_NS)
_IDLE = 0.05  # motor output when armed, spec 1.3


@dataclass(frozen=True, slots=True)
class Exposure:
    """The instant a camera frame is taken: where the body was, and which gate is next."""

    t_ns: Nanos
    frame_id: int
    pose: Pose[Ned, Frd]
    active_gate: int


@dataclass(frozen=True, slots=True)
class Truth:
    """What nobody on the wire is told: the true motion, and the command in force (thrust, p, q, r)."""

    t_ns: Nanos
    motion: Motion
    command: tuple[float, float, float, float]


Output: TypeAlias = FromVehicle | Exposure | Truth | RaceEvent


@dataclass(frozen=True, slots=True)
class RaceStart:
    """When a race starts: on arming, or `after_s` on the boot clock, or when told to (both None).

    `settle_s` passes between arming and the countdown, which lasts `countdown_s` until GO.
    """

    on_arm: bool = True
    after_s: float | None = None
    settle_s: float = 1.0
    countdown_s: float = 3.0


@dataclass(frozen=True, slots=True)
class SimConfig:
    """What the simulator needs beside course and vehicle. `rates` in Hz, by topic; `armed` at the start."""

    rates: Mapping[str, Fraction]
    imu: ImuNoise = ImuNoise()
    start: RaceStart = RaceStart()
    always_armed: bool = False


class Simulator:
    """One vehicle, one course, one race after another."""

    def __init__(self, course: Course, vehicle: Vehicle, config: SimConfig, run_seed: int) -> None:
        """Put the vehicle on the pad at boot time 0."""
        self.course = course
        self.now: Nanos = 0
        self.armed = config.always_armed
        self.resets = 0
        self._config = config
        self._world = VehicleInWorld(vehicle, course)
        self._vehicle = vehicle
        self._imu = ImuSensor(config.imu, run_seed)
        self._command = np.zeros(4)
        self._geometry = referee.geometry(course)
        self.race: RaceState = referee.initial(course)
        self._countdown_at: Nanos | None = (
            None if config.start.after_s is None else nanos(config.start.after_s)
        )
        self._track_due: Nanos | None = None
        self._tickers = {name: Ticker(rate) for name, rate in config.rates.items()}
        self._frames = 0
        self._out: list[Output] = []
        self._motion = vehicle.motion(self._world.state)

    # what the outside does

    def due(self) -> Nanos:
        """Return when the next output is due."""
        return min(ticker.due for ticker in self._tickers.values())

    def advance(self, now: Nanos) -> list[Output]:
        """Run up to and including `now`; return the outputs on the way, in order of time."""
        while True:
            due = self.due()
            self._run_to(min(due, now))
            if due > now:
                break
            for name, ticker in self._tickers.items():
                if ticker.due == due:
                    ticker.advance()
                    self._emit(name, due)
        out, self._out = self._out, []
        return out

    def command(self, message: ToVehicle) -> None:
        """Let a pilot's message take effect now."""
        match message:
            case messages.RateCommand():
                r = message.rates
                self._take((message.thrust, r.x, r.y, r.z))
            case messages.StickCommand():
                p, q, r = self._vehicle.sticks_to_rates(message.roll, message.pitch, message.yaw)
                self._take((message.throttle, p, q, r))
            case messages.Arm():
                self._arm(message.arm)
            case messages.Reset():
                self.reset(start=message.hard)
            case messages.Heartbeat():
                pass

    def start(self) -> None:
        """Begin the countdown, unless a race is on."""
        if self.race.phase is referee.Phase.WAITING and self._countdown_at is None:
            self._countdown_at = self.now + nanos(self._config.start.settle_s)
            self._out.append(self.course.track(self.now))

    def reset(self, *, start: bool) -> None:
        """Put the vehicle back on the pad, disarmed, and forget the race; `start` begins another."""
        self._world.reset()
        self.resets += 1
        self.armed = self._config.always_armed
        self._command[:] = 0.0
        self.race = referee.initial(self.course)
        self._countdown_at = None
        if start:
            self.start()

    @property
    def over(self) -> bool:
        """Whether the race has ended, one way or another."""
        return self.race.phase in (referee.Phase.FINISHED, referee.Phase.ENDED)

    @property
    def motion(self) -> Motion:
        """The true motion at the last physics tick."""
        return self._motion

    # what happens inside

    def _take(self, command: tuple[float, float, float, float]) -> None:
        if self.armed and all(np.isfinite(command)):
            self._command[:] = command
            if self._config.always_armed:
                self.start()

    def _arm(self, arm: bool) -> None:
        self.armed = arm or self._config.always_armed
        if not self.armed:
            self._command[:] = 0.0
        elif self._config.start.on_arm:
            self.start()
        self._out.append(messages.Ack(t_ns=self.now, command=400, accepted=True))
