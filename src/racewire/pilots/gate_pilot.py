"""The gate pilot: camera and IMU in, body rates and thrust out; no pose, no course.

Composition: `detector` finds gates, `eskf` and `gate_map` know where they and the vehicle are,
`progress` which is next, `guidance` where to accelerate, `control` what to command, `phases` what may
be done at all. The pilot acts on heartbeat, IMU, race status, images and collisions; whatever else the
wire brings (streamed pose, track) it does not read. World NED with its origin and north on the pad.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos
from racewire.core.frames import Frd, Ned, Vec
from racewire.core.messages import (
    Arm,
    Collision,
    FromVehicle,
    Heartbeat,
    Image,
    Imu,
    RaceStatus,
    RateCommand,
    ToVehicle,
)
from racewire.pilots.ahrs import Ahrs, AhrsParams
from racewire.pilots.airframe import Airframe
from racewire.pilots.base import PilotStatus
from racewire.pilots.belief import BeliefParams
from racewire.pilots.control import Command, Controller, ControlParams, Kinematics
from racewire.pilots.decode import decode
from racewire.pilots.detector import detect
from racewire.pilots.eskf import Eskf, FilterParams, Mode
from racewire.pilots.gate_map import GateMap, MapParams
from racewire.pilots.gate_model import GateView
from racewire.pilots.guidance import GuidanceParams
from racewire.pilots.pace import Pace, PaceParams
from racewire.pilots.phases import Phase, PhaseParams, Phases
from racewire.pilots.progress import Progress, ProgressParams
from racewire.sensors.camera import AIGP_CAMERA, Camera

Look: TypeAlias = Callable[[bytes, float], Sequence[GateView]]
"""Finds gates in a JPEG whose picture is expected to be turned clockwise by an angle (rad)."""

_STILL = Command(0.0, Vec(0.0, 0.0, 0.0))
_LIFT_OFF_NS = 400 * NS_PER_MS
_CONTACT_NS = 200 * NS_PER_MS
_SHOCK_NS = 600 * NS_PER_MS
_ABSURD = 1e4
_BLOW = 3.0
_FRAME_NS = NS_PER_S // 30


@dataclass(frozen=True, slots=True)
class GateParams:
    """All of `data/gate.toml`, by table."""

    phases: PhaseParams
    airframe: Airframe
    ahrs: AhrsParams
    filter: FilterParams
    belief: BeliefParams
    map: MapParams
    progress: ProgressParams
    guidance: GuidanceParams
    control: ControlParams
    pace: PaceParams


def see(jpeg: bytes, roll: float) -> Sequence[GateView]:
    """Return the gates in a JPEG; none in what is not one."""
    image = decode(jpeg)
    return [] if image is None else detect(image, roll=roll)


class GatePilot:
    """The pilot."""

    def __init__(self, params: GateParams, look: Look = see, camera: Camera = AIGP_CAMERA) -> None:
        """Make a pilot that waits; `look` stands for the eyes."""
        self._params = params
        self._look = look
        self._camera = camera
        self._interval = round(params.pace.command_ms * NS_PER_MS)
        self._due: Nanos = 0
        self._start_over()

    def _start_over(self) -> None:
        p = self._params
        self._phases = Phases(p.phases)
        self._pace = Pace(p.pace, p.guidance)
        self._controller = Controller(p.control, p.airframe)
        self._filter = Eskf(p.filter, p.belief, p.airframe, self._camera)
        self._map = GateMap(p.map, self._camera)
        self._progress = Progress(p.progress)
        self._settle()

    def _settle(self) -> None:
        """Prepare to level anew: the vehicle is, or will be, on its pad."""
        self._ahrs = Ahrs(self._params.ahrs)
        self._levelled = False
        self._imu: Imu | None = None
        self._frame_ns: Nanos | None = None
        self._seen_ns: Nanos = 0
        self._blind = 0
        self._go_ns: Nanos | None = None
        self._contact_ns: Nanos | None = None
        self._frames_at_rest = 0
        self._progress.restart()

    def due(self) -> Nanos | None:
        """Return when the next command is due."""
        return self._due

    def status(self) -> PilotStatus:
        """Return what to show."""
        gates = len(self._map.known())
        speed = self._filter.velocity.norm() if self._phases.flying else 0.0
        return PilotStatus(
            self._phases.phase.value, self._progress.passed, speed, f"{gates} gates in the map"
        )

    def step(self, now: Nanos, inbox: Sequence[FromVehicle]) -> Sequence[ToVehicle]:
        """Take what arrived; return a command if there was a frame, or one is due."""
        frame = False
        for message in inbox:
            frame |= isinstance(message, Image)
            self._hear(message)
        outbox: list[ToVehicle] = []
        flying = self._phases.flying
        if self._phases.step(now, self._blindness(now)):
            outbox.append(Arm(t_ns=now, arm=True))
        if flying and not self._phases.flying:
            self._settle()
        elif self._phases.flying and not flying:
            self._go_ns, self._seen_ns, self._blind = now, now, 0
        if frame or now >= self._due or self._due - now > 2 * self._interval:
            command = self._decide(now)
            self._controller.note(now, command)
            self._due = now + self._interval
            outbox.append(RateCommand(t_ns=now, thrust=command.thrust, rates=command.rates))
        return outbox

    def _blindness(self, now: Nanos) -> int:
        """Return for how many frames no gate was seen, frames that never came included."""
        if not self._phases.flying:
            return 0
        return max(self._blind, (now - self._seen_ns) // _FRAME_NS - 2)

    def _hear(self, message: FromVehicle) -> None:
        match message:
            case Imu():
                self._feel(message)
            case Image():
                self._see(message)
            case Heartbeat():
                self._phases.heartbeat(message)
            case RaceStatus():
                self._phases.race(message)
                if self._phases.flying:
                    self._progress.race(message, self._filter.position)
            case Collision():
                self._hit(message.t_ns)
            case _:
                pass

    def _feel(self, imu: Imu) -> None:
        f, w = imu.specific_force, imu.rates
        numbers = (f.x, f.y, f.z, w.x, w.y, w.z)
        if not all(abs(number) < _ABSURD for number in numbers):
            return
        last = self._imu
        if last is not None and imu.t_ns <= last.t_ns:
            if last.t_ns - imu.t_ns > NS_PER_S:  # the vehicle's clock began again
                self._start_over()
            return
        if imu.specific_force.norm() > self._params.airframe.largest_force:
            self._hit(imu.t_ns)  # a blow, and the sample catches no more than a piece of it
            imu = replace(imu, specific_force=last.specific_force if last is not None else Vec(0.0, 0.0, 0.0))
            f = imu.specific_force
        self._imu = imu
        sample = np.array((f.x, f.y, f.z, w.x, w.y, w.z))
        if not self._phases.flying:
            self._ahrs.rest(imu)
            if self._ahrs.levelled:
                self._phases.imu(imu.t_ns)
            if not self._levelled and self._ahrs.levelled:
                self._filter.reset(self._ahrs.attitude, self._ahrs.bias)
                self._map.clear()
                self._levelled = True
            if self._levelled:
                self._filter.imu(imu.t_ns, sample, Mode.REST)
            return
        self._ahrs.fly(imu)
        self._filter.imu(imu.t_ns, sample, self._mode(imu.t_ns))
        if not self._filter.sane:
            self._filter.restart(self._ahrs.attitude, self._ahrs.bias)
            self._map.clear()

    def _mode(self, t_ns: Nanos) -> Mode:
        """Tell flight in free air from the first moments off the pad, and from contact."""
        for since, span in ((self._go_ns, _LIFT_OFF_NS), (self._contact_ns, _CONTACT_NS)):
            if since is not None and 0 <= t_ns - since < span:
                return Mode.COAST
        return Mode.AIR

    def _see(self, image: Image) -> None:
        if self._frame_ns is not None and image.t_ns <= self._frame_ns:
            return
        self._frame_ns = image.t_ns
        self._blind += 1
        if not self._levelled:
            return
        if not self._phases.flying:  # nothing moves: more of the same tells nothing new
            self._frames_at_rest += 1
            if self._frames_at_rest % self._params.pace.rest_stride:
                return
        down = self._camera.frd_from_optical.inverse() @ (
            self._filter.attitude.inverse() @ Vec[Ned](0.0, 0.0, 1.0)
        )
        views = self._look(image.jpeg, math.atan2(-down.x, down.y))

        def fuse() -> None:
            if self._map.observe(self._filter, views):
                self._blind, self._seen_ns = 0, image.t_ns

        self._filter.at(image.t_ns, fuse)

    def _hit(self, t_ns: Nanos) -> None:
        """Expect a jump of the velocity; contacts come in floods, one in a while counts."""
        if self._mode(t_ns) is Mode.AIR and self._phases.flying:
            self._contact_ns = t_ns
            self._filter.jolt(_BLOW, 0.05, math.radians(1.0))

    def _decide(self, now: Nanos) -> Command:
        imu = self._imu
        if not self._phases.flying or imu is None:
            return _STILL
        f = self._filter
        bias = Vec[Frd](*f.x[13:16].tolist())
        present = Kinematics(
            f.t_ns, f.position, f.velocity, f.attitude, imu.specific_force - bias, imu.rates - f.gyro_bias
        )
        hit = self._contact_ns is not None and 0 <= f.t_ns - self._contact_ns < _SHOCK_NS
        self._progress.advance(f, self._map, f.t_ns, hit=hit)
        state = self._controller.ahead(present, now)
        way = self._progress.way(f, self._map)
        match self._phases.phase:
            case Phase.FLYING:
                wish = self._pace.fly(state, way, self._progress.exit)
            case Phase.LOST:
                wish = self._pace.search(state, way, self._progress.exit)
            case _:
                wish = self._pace.rest(state)
        command = self._controller.command(state, wish.accel, wish.heading)
        numbers = (command.thrust, command.rates.x, command.rates.y, command.rates.z)
        return command if all(math.isfinite(n) for n in numbers) else Command(0.0, Vec(0.0, 0.0, 0.0))
