"""The completion pilot of seed 000: it only wants to finish, on nothing but camera, attitude and IMU.

Two states and one timer. TRACK: the next gate is whichever is in front; fly to it and through, and when
it is out of sight carry it on from the inertial data. SEARCH: after 30 frames without it (the timer), or
when nothing is known, brake, hold the heading and sweep it, sink slowly (the camera looks up), then climb.
One command goes out with every frame, and more if frames stay away. World NED, body FRD, SI.
Source: seed 000, sections 3 to 9.
"""

import bisect
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from racewire.core.clock import NS_PER_MS, NS_PER_S, Nanos, nanos, seconds
from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.core.messages import Attitude, FromVehicle, Image, Imu, StickCommand, ToVehicle
from racewire.pilots.base import PilotStatus
from racewire.pilots.decode import decode
from racewire.pilots.detector import detect
from racewire.pilots.gate_model import GateView
from racewire.pilots.sighting import SeenGate, Sighting, SightParams
from racewire.pilots.stick_law import GRAVITY, StickLaw, StickParams, Sticks
from racewire.sensors.camera import AIGP_CAMERA, Camera

Look: TypeAlias = Callable[[bytes, float], Sequence[GateView]]
"""The pilot's eyes: the gates in a JPEG, given how far the picture is turned clockwise (rad)."""

_RESTART_NS = NS_PER_S // 2
_FASTEST_TURN = 100.0  # rad/s; a faster one is no measurement
_STRONGEST = 1000.0  # m/s^2; likewise
_OLDEST = 0.3  # s; older frames are taken for this old
_LONGEST = 0.1  # s; a longer gap in the telemetry is not bridged


@dataclass(frozen=True, slots=True)
class GuideParams:
    """Speeds and distances; `data/completion.toml` says what each is."""

    speed: float
    slow_distance: float
    slow_speed: float
    carrot_share: float
    carrot_reach: float
    beyond: float
    climb: float
    blind_distance: float
    sink: float
    sink_s: float
    sweep_deg: float
    sweep_s: float


@dataclass(frozen=True, slots=True)
class CompletionParams:
    """Everything about the pilot that is a number."""

    command_ms: float
    history_ms: float
    sight: SightParams
    guide: GuideParams
    fly: StickParams


def see(jpeg: bytes, roll: float) -> Sequence[GateView]:
    """Return the gates in a JPEG; none in what is not one."""
    image = decode(jpeg)
    return [] if image is None else detect(image, roll=roll)


class CompletionPilot:
    """The pilot."""

    def __init__(self, params: CompletionParams, look: Look = see, camera: Camera = AIGP_CAMERA) -> None:
        """Make a pilot that waits for telemetry; `look` stands for the eyes."""
        self._params = params
        self._look = look
        self._camera = camera
        self._due: Nanos | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._sight = Sighting(self._params.sight, self._camera)
        self._law = StickLaw(self._params.fly)
        self._attitudes: deque[Attitude] = deque()
        self._imu: Imu | None = None
        self._commanded: Nanos | None = None
        self._heading: float | None = None
        self._search_ns: Nanos | None = None

    def due(self) -> Nanos | None:
        """Return when a command must go out at the latest."""
        return self._due

    def status(self) -> PilotStatus:
        """Return the state, gates passed, estimated speed."""
        sight = self._sight
        phase = "SEARCH" if sight.target is None else "TRACK"
        remark = "" if sight.target is None else f"gate {sight.target.distance:.0f} m ahead"
        return PilotStatus(phase, sight.passed, float(np.linalg.norm(sight.velocity)), remark)

    def step(self, now: Nanos, inbox: Sequence[FromVehicle]) -> Sequence[ToVehicle]:
        """Take the messages that arrived; return one command for every frame, or one if it is due."""
        out: list[ToVehicle] = []
        for message in inbox:
            match message:
                case Attitude():
                    self._hear(message)
                case Imu():
                    self._feel(message)
                case Image():
                    self._watch(message)
                    out.append(self._command(now))
                case _:
                    pass
        if not out and self._attitudes and (self._due is None or now >= self._due):
            out.append(self._command(now))
        if out:
            self._due = now + round(self._params.command_ms * NS_PER_MS)
        return out

    def _hear(self, attitude: Attitude) -> None:
        if not _sane(attitude.rates, _FASTEST_TURN):
            return
        if self._attitudes and attitude.t_ns < self._attitudes[-1].t_ns - _RESTART_NS:
            self._start_over()  # the vehicle's clock was set back: a new run
        if self._attitudes and attitude.t_ns <= self._attitudes[-1].t_ns:
            return
        self._attitudes.append(attitude)
        oldest = attitude.t_ns - round(self._params.history_ms * NS_PER_MS)
        while self._attitudes[0].t_ns < oldest:
            self._attitudes.popleft()

    def _feel(self, imu: Imu) -> None:
        if not self._attitudes or not _sane(imu.specific_force, _STRONGEST):
            return
        if self._imu is not None:
            dt = seconds(imu.t_ns - self._imu.t_ns)
            if dt <= 0.0:
                return
            accel = self._attitudes[-1].ned_from_frd @ imu.specific_force + Vec(0.0, 0.0, GRAVITY)
            self._sight.move(accel, min(dt, _LONGEST))
        self._imu = imu

    def _watch(self, image: Image) -> None:
        if not self._attitudes:
            return
        newest = self._attitudes[-1].t_ns
        exposed = min(image.t_ns, newest) - nanos(self._sight.delay)
        attitude, rates = self._attitude_at(exposed)
        roll, _, _ = attitude.euler()
        # the picture turns against the camera
        views = self._look(image.jpeg, -roll)
        self._sight.look(views, attitude, rates, min(seconds(newest - exposed), _OLDEST))

    def _attitude_at(self, t_ns: Nanos) -> tuple[Rot[Ned, Frd], Vec[Frd]]:
        stamps = [attitude.t_ns for attitude in self._attitudes]
        near = self._attitudes[max(0, bisect.bisect_right(stamps, t_ns) - 1)]
        dt = max(-_LONGEST, min(_LONGEST, seconds(t_ns - near.t_ns)))
        w = near.rates
        return near.ned_from_frd @ Rot.exp(w.x * dt, w.y * dt, w.z * dt), w

    def _command(self, now: Nanos) -> StickCommand:
        if not self._attitudes:
            return StickCommand(t_ns=now, throttle=0.0, roll=0.0, pitch=0.0, yaw=0.0)
        attitude = self._attitudes[-1]
        _, _, yaw = attitude.ned_from_frd.euler()
        if self._heading is None:
            self._heading = yaw
        clock = attitude.t_ns
        dt = 0.0 if self._commanded is None else min(seconds(clock - self._commanded), _LONGEST)
        self._commanded = clock
        target = self._sight.target
        if target is not None:
            self._search_ns = None
            wanted, heading = self._approach(target, self._heading)
            self._heading = heading
        else:
            if self._search_ns is None:
                self._search_ns = clock
            since = seconds(clock - self._search_ns)
            if since > self._params.guide.sink_s:
                self._sight.give_up()
            wanted, heading = self._search(since, self._heading)
        sticks = self._law.command(self._sight.velocity, wanted, heading, attitude.ned_from_frd, dt)
        return _stick_command(now, sticks)

    def _approach(self, gate: SeenGate, heading: float) -> tuple[NDArray[np.float64], float]:
        """Return the wanted velocity and heading on the way to a gate."""
        g = self._params.guide
        ahead = gate.ahead
        before = max(-g.beyond, min(g.carrot_share * ahead, g.carrot_reach) - g.beyond)
        normal = np.array((math.cos(gate.normal), math.sin(gate.normal), 0.0))
        aim = gate.place - before * normal
        speed = min(g.speed, g.slow_speed + max(ahead, 0.0) / g.slow_distance)
        across = max(math.hypot(float(aim[0]), float(aim[1])), 0.5)
        if gate.distance > g.blind_distance:
            heading = math.atan2(float(gate.place[1]), float(gate.place[0]))
        # the speed over ground is kept in a climb or descent: braking would lift the nose, and the camera
        wanted = speed / across * aim
        wanted[2] = max(-g.climb, min(g.climb, float(wanted[2])))
        return wanted, heading

    def _search(self, since: float, heading: float) -> tuple[NDArray[np.float64], float]:
        """Return the wanted velocity and heading `since` seconds after sight was lost."""
        g = self._params.guide
        down_up = (since % (4.0 * g.sink_s)) / g.sink_s
        vertical = -g.sink if 1.0 <= down_up < 3.0 else g.sink
        # each sweep is wider than the last, up to all around
        reach = min(180.0, g.sweep_deg * (1.0 + since / g.sweep_s))
        sweep = math.radians(reach) * math.sin(math.tau * since / g.sweep_s)
        return np.array((0.0, 0.0, vertical)), heading + sweep


def _sane(vector: Vec[Frd], most: float) -> bool:
    """Tell whether a measured vector is finite and not absurd."""
    return all(abs(c) <= most for c in (vector.x, vector.y, vector.z))  # false for NaN


def _stick_command(now: Nanos, sticks: Sticks) -> StickCommand:
    return StickCommand(
        t_ns=now, throttle=sticks.throttle, roll=sticks.roll, pitch=sticks.pitch, yaw=sticks.yaw
    )
