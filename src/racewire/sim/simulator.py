"""The simulator: step the vehicle, sense it, judge the race; no clock, no I/O.

Time is the boot clock, integer nanoseconds from 0. Physics runs in ticks of `TICK_NS`; commands are
held between messages and physics always advances. Sensors sample at their own exact rates, between
ticks by extrapolation from the last one. `advance` returns what happened, in order: messages for the
wire, exposures for the camera, truth for the log, and the referee's events.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from racewire.core import messages
from racewire.core.clock import NS_PER_MS, Nanos, nanos, seconds
from racewire.core.errors import ConfigError
from racewire.core.frames import Frd, Ned, Pose, Rot, Vec
from racewire.core.messages import FromVehicle, Message
from racewire.race import referee
from racewire.race.events import Collided, OutOfBounds, RaceEvent, Started
from racewire.race.geometry import geometry
from racewire.race.referee import Phase, RaceState, Sample
from racewire.race.rules import Rules
from racewire.sensors.imu import ImuNoise, ImuSensor
from racewire.sim.autopilot import Autopilot
from racewire.sim.faults import WorldFaults
from racewire.sim.pace import tickers
from racewire.sim.upsets import Upsets
from racewire.sim.world import VehicleInWorld
from racewire.vehicles.base import GRAVITY, Motion, Vehicle
from racewire.world.course import Course

TICK_NS = NS_PER_MS
TICK_S = seconds(TICK_NS)
_CONTACT_NS = 4 * NS_PER_MS  # a lasting contact is reported at most 250 times a second, spec 1.2


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
    """When the countdown begins: `settle_s` after arming, or `after_s` after a reset, or on `start`."""

    on_arm: bool = True
    after_s: float | None = None
    settle_s: float = 1.0


@dataclass(frozen=True, slots=True)
class SimConfig:
    """What the simulator needs beside course and vehicle.

    `rates` in Hz are those of the topics, `image` for exposures, and of `truth`. A vehicle that is
    `always_armed` has no arming, and no countdown: its race starts with the first command. Physics that
    `pauses` does so while no race is on, as the original's: telemetry goes on, frozen.
    """

    rules: Rules
    rates: Mapping[str, Fraction]
    imu: ImuNoise = ImuNoise()
    start: RaceStart = RaceStart()
    always_armed: bool = False
    pauses: bool = False
    faults: WorldFaults = WorldFaults()


class Simulator:
    """One vehicle, one course, one race after another.

    After a reset everything begins anew as at boot - sensor errors, gusts, phases of the rates, frame
    numbers - but the clock, which runs on, and the count of resets.
    """

    def __init__(self, course: Course, vehicle: Vehicle, config: SimConfig, run_seed: int) -> None:
        """Put the vehicle on the pad at boot time 0."""
        self.course = course
        self.geometry = geometry(course)
        self.resets = 0
        self._config = config
        self._run_seed = run_seed
        self._vehicle = vehicle
        self._world = VehicleInWorld(vehicle, course)
        self._autopilot = Autopilot(vehicle.mass)
        self._command = np.zeros(4)
        self._out: list[Output] = []
        self._begin(0)

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
            motion = self._motion_at(due)
            for topic, ticker in self._tickers.items():
                if ticker.due == due:
                    ticker.advance()
                    self._out.append(self._measure(topic, due, motion))
        out, self._out = self._out, []
        return out

    def command(self, message: Message) -> None:
        """Let a pilot's message take effect now."""
        match message:
            case messages.RateCommand():
                self._take(message.thrust, message.rates)
            case messages.StickCommand():
                sticks = (message.roll, message.pitch, message.yaw)
                if all(math.isfinite(stick) for stick in sticks):
                    self._take(message.throttle, self._vehicle.sticks_to_rates(*sticks))
            case messages.AttitudeCommand() | messages.MotionCommand() | messages.MotorCommand():
                if self.armed:
                    self._autopilot.take(message, self._vehicle.motion(self._world.state))
            case messages.Arm():
                self._arm(message.arm)
            case messages.Reset():
                self.reset()
                if message.hard:
                    self.start()
            case _:
                pass  # a heartbeat, or what only a vehicle says

    def start(self) -> None:
        """Have the countdown begin after the settling time, unless a race is on; publish the track."""
        if self.race.phase is Phase.WAITING and self._countdown_at is None:
            self._schedule(self._tick + nanos(self._config.start.settle_s))
            self._publish_track()

    def reset(self) -> None:
        """Put the vehicle back on the pad, disarmed, and forget the race; from the next tick on."""
        self.resets += 1
        self._begin(self._tick + TICK_NS)

    @property
    def over(self) -> bool:
        """Whether the race has ended, one way or another."""
        return self.race.over

    @property
    def verdict(self) -> referee.Verdict:
        """The race as it stands."""
        return referee.verdict(self.race, self.geometry)

    @property
    def truth(self) -> Truth:
        """The true motion at the last tick of physics."""
        return self._truth(self._tick, self._motion_at(self._tick))

    @property
    def speed(self) -> float:
        """The vehicle's true speed, m/s."""
        return float(np.linalg.norm(self._world.state[3:6]))

    def _take(self, thrust: float, rates: Vec[Frd]) -> None:
        command = (thrust, rates.x, rates.y, rates.z)
        if self.armed and all(math.isfinite(c) for c in command):
            self._command[:] = command
            self._autopilot.release()
            if self._config.always_armed and self.race.phase is Phase.WAITING:
                self.race = RaceState(Phase.RACING, start_ns=self._tick)
                self._report(Started(self._tick))

    def _steer(self) -> None:
        """Have the autopilot, where it flies, give the command of the next tick."""
        if self._autopilot.active:
            self._command[:] = self._autopilot.command(self._vehicle.motion(self._world.state), TICK_S)

    def _arm(self, arm: bool) -> None:
        self.armed = arm or self._config.always_armed
        if not self.armed:
            self._rest()
        elif self._config.start.on_arm:
            self.start()

    def _rest(self) -> None:
        """Ask nothing of the vehicle."""
        self._command[:] = 0.0
        self._autopilot.release()

    def _schedule(self, countdown: Nanos) -> None:
        """Have the countdown begin at `countdown`, and the track published the settling time before."""
        loaded = max(self._tick, countdown - nanos(self._config.start.settle_s))
        self._countdown_at = countdown
        self._track_at = loaded + nanos(self._config.faults.mishaps.track_delay_s)

    def _begin(self, zero: Nanos) -> None:
        """Begin a race's time at `zero`, with the vehicle on the pad."""
        faults, seed = self._config.faults, self._run_seed
        self._tick = zero
        self.race = RaceState()
        self._imu = ImuSensor(self._config.imu, seed)
        self._upsets = Upsets(faults, seed, TICK_S)
        self._tickers = tickers(self._config.rates, faults.telemetry, seed, zero)
        self._frames = 0
        self._contact_told: Nanos = zero - _CONTACT_NS
        self._track_at: Nanos | None = None
        self._countdown_at: Nanos | None = None
        if self._config.start.after_s is not None:
            self._schedule(zero + nanos(self._config.start.after_s))
        self._to_pad()

    def _to_pad(self) -> None:
        """Put the vehicle on the pad, at rest and disarmed."""
        self._world.reset()
        self.armed = self._config.always_armed
        self._rest()
        self._sample = Sample(self._tick, self.course.pad.position)
        self._felt = self.course.pad.rotation.inverse() @ Vec(0.0, 0.0, -GRAVITY)

    def _run_to(self, now: Nanos) -> None:
        """Take the physics ticks up to and including `now`."""
        while self._tick + TICK_NS <= now:
            self._tick += TICK_NS
            if self._countdown_at is not None and self._tick >= self._countdown_at:
                self._countdown_at = None
                self.race = referee.start_countdown(self.race, self._tick, self._config.rules)
            self._publish_track()
            if self._paused:
                continue
            self._steer()
            velocity = self._world.state[3:6].copy()
            obeyed = self._upsets.obeyed(self._command, self._since_go())
            touch = self._world.tick(obeyed, TICK_S, self._upsets.air())
            self._feel(velocity)
            x, y, z = self._world.state[:3].tolist()
            sample = Sample(self._tick, Vec(x, y, z), float(self._command[0]))
            touches = () if touch is None else (touch,)
            self.race, events = referee.judge(
                self.race, self.geometry, self._config.rules, self._sample, sample, touches
            )
            self._sample = sample
            for event in events:
                self._report(event)
            if self._upsets.disarms(self._since_go()):
                self.armed = False
                self._rest()

    @property
    def _paused(self) -> bool:
        waits = self.race.phase is Phase.WAITING and self._countdown_at is None
        return self._config.pauses and (waits or self.race.over)

    def _since_go(self) -> Nanos | None:
        """Return the time since GO, negative during the countdown, None before."""
        return None if self.race.start_ns is None else self._tick - self.race.start_ns

    def _publish_track(self) -> None:
        if self._track_at is not None and self._tick >= self._track_at:
            self._track_at = None
            self._out.append(self.course.track(self._tick))

    def _feel(self, velocity_before: NDArray[np.float64]) -> None:
        """Take the specific force from the change of velocity over a tick, contacts included."""
        s = self._world.state
        a = (s[3:6] - velocity_before) / TICK_S
        ned_from_frd: Rot[Ned, Frd] = Rot(float(s[6]), float(s[7]), float(s[8]), float(s[9]))
        self._felt = ned_from_frd.inverse() @ Vec(float(a[0]), float(a[1]), float(a[2]) - GRAVITY)

    def _report(self, event: RaceEvent) -> None:
        if isinstance(event, Collided):
            if event.t_ns - self._contact_told < _CONTACT_NS:
                return
            self._contact_told = event.t_ns
            told = messages.Collision(
                t_ns=event.t_ns, with_gate=event.gate is not None, impulse=event.impulse
            )
            self._out.append(told)
        self._out.append(event)
        if isinstance(event, OutOfBounds):
            self.resets += 1
            self._to_pad()

    def _motion_at(self, t_ns: Nanos) -> Motion:
        """Return the true motion at `t_ns`, at most one tick after the last."""
        m = self._vehicle.motion(self._world.state)
        dt = seconds(t_ns - self._tick)
        if not dt or self._paused:
            return replace(m, specific_force=self._felt)
        turn: Rot[Frd, Frd] = Rot.exp(m.rates.x * dt, m.rates.y * dt, m.rates.z * dt)
        at, attitude = m.position + m.velocity * dt, m.ned_from_frd @ turn
        return replace(m, position=at, ned_from_frd=attitude, specific_force=self._felt)

    def _truth(self, t_ns: Nanos, motion: Motion) -> Truth:
        thrust, p, q, r = self._command.tolist()
        return Truth(t_ns, motion, (thrust, p, q, r))

    def _measure(self, topic: str, t_ns: Nanos, m: Motion) -> Output:
        match topic:
            case "truth":
                return self._truth(t_ns, m)
            case "image":
                self._frames += 1
                return Exposure(t_ns, self._frames - 1, m.pose, self.race.gates_passed)
            case "imu":
                return self._imu.sample(t_ns, m.specific_force, m.rates)
            case "attitude":
                return messages.Attitude(t_ns=t_ns, ned_from_frd=m.ned_from_frd, rates=m.rates)
            case "local_position":
                return messages.LocalPosition(t_ns=t_ns, position=m.position, velocity=m.velocity)
            case "odometry":
                return messages.Odometry(
                    t_ns=t_ns,
                    position=m.position,
                    ned_from_frd=m.ned_from_frd,
                    velocity=m.velocity,
                    rates=m.rates,
                    resets=self.resets,
                )
            case "motors":
                fl, fr, bl, br = self._autopilot.outputs(float(self._command[0]), armed=self.armed)
                return messages.MotorOutput(
                    t_ns=t_ns, front_left=fl, front_right=fr, back_left=bl, back_right=br
                )
            case "race_status":
                return referee.status(self.race, t_ns)
            case "heartbeat":
                return messages.Heartbeat(t_ns=t_ns, armed=self.armed)
            case _:
                message = f"no sensor measures '{topic}'"
                raise ConfigError(message)
