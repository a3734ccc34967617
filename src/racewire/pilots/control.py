"""From a wanted acceleration to thrust and body rates (geometric control on the plant's flatness).

The wanted acceleration less gravity and air force is the thrust vector; the body's z axis is turned
against it along the shortest way, and about it the nose is turned to the wanted heading. The state is
first carried forward to the moment at which the command will act, over the commands on their way.
World NED, body FRD, SI. Source: Lee, Leok & McClamroch (2010), with the reduced attitude first
(Brescianini & D'Andrea 2018), drag as in Faessler et al. (2018).
"""

import math
from collections import deque
from dataclasses import dataclass

from racewire.core.clock import Nanos, nanos, seconds
from racewire.core.frames import Frd, Ned, Rot, Vec, wrap_angle
from racewire.pilots.airframe import Airframe

GRAVITY: Vec[Ned] = Vec(0.0, 0.0, 9.81)


@dataclass(frozen=True, slots=True)
class ControlParams:
    """Gains (1/s) and limits; `link_ms` is what a command takes to the vehicle."""

    tilt_gain: float
    yaw_gain: float
    largest_tilt_deg: float
    largest_yaw_rate: float
    least_thrust: float
    most_thrust: float
    link_ms: float
    longest_ms: float


@dataclass(frozen=True, slots=True)
class Kinematics:
    """Where the vehicle is: valid at `t_ns`; `force` and `rates` are the last sample less its biases."""

    t_ns: Nanos
    position: Vec[Ned]
    velocity: Vec[Ned]
    attitude: Rot[Ned, Frd]
    force: Vec[Frd]
    rates: Vec[Frd]


@dataclass(frozen=True, slots=True)
class Command:
    """Thrust 0 to 1 and body rates (rad/s)."""

    thrust: float
    rates: Vec[Frd]


class Controller:
    """The controller; it remembers the commands that have not taken effect yet."""

    def __init__(self, params: ControlParams, airframe: Airframe) -> None:
        self._p = params
        self._airframe = airframe
        self._sent: deque[tuple[Nanos, Vec[Frd]]] = deque(maxlen=16)

    def note(self, now: Nanos, command: Command) -> None:
        """Remember a command that is being sent."""
        self._sent.append((now, command.rates))

    def ahead(self, state: Kinematics, now: Nanos) -> Kinematics:
        """Return the state when a command sent `now` will act on the rates."""
        lag = nanos((self._p.link_ms + self._airframe.rate_delay_ms) / 1e3)
        end = now + lag
        t = max(state.t_ns, end - nanos(self._p.longest_ms / 1e3))
        p, v, q, rates = state.position, state.velocity, state.attitude, state.rates
        for sent, wanted in self._sent:
            begins = sent + lag
            if begins > t:
                p, v, q = _moved(p, v, q, state.force, rates, seconds(min(begins, end) - t))
                t = min(begins, end)
            rates = wanted
        if end > t:
            p, v, q = _moved(p, v, q, state.force, rates, seconds(end - t))
        return Kinematics(end, p, v, q, state.force, rates)

    def command(self, state: Kinematics, accel: Vec[Ned], heading: float) -> Command:
        """Return the command for a wanted acceleration (m/s^2) and heading (rad)."""
        frd_from_ned = state.attitude.inverse()
        air = state.attitude @ self._airframe.air_force(frd_from_ned @ state.velocity)
        wanted = self._within_tilt(accel - GRAVITY - air)
        # tilt: the shortest turn of the body's up axis to the wanted thrust
        force = frd_from_ned @ wanted
        size = max(force.norm(), 1e-6)
        angle = math.atan2(math.hypot(force.x, force.y), -force.z)
        across = max(math.hypot(force.x, force.y), 1e-9)
        p, q = angle * force.y / across, -angle * force.x / across
        nose = state.attitude @ Vec[Frd](1.0, 0.0, 0.0)
        off = wrap_angle(heading - math.atan2(nose.y, nose.x))
        limit = self._p.largest_yaw_rate
        yaw_rate = max(-limit, min(limit, self._p.yaw_gain * off))
        up = (frd_from_ned @ Vec[Ned](0.0, 0.0, 1.0)).z
        gain, most = self._p.tilt_gain, self._airframe.largest_rate
        rates: Vec[Frd] = Vec(
            max(-most, min(most, gain * p)), max(-most, min(most, gain * q)), yaw_rate * max(up, 0.0)
        )
        along = max(-force.z, 0.2 * size) if angle < math.radians(100.0) else 0.0
        along = max(self._p.least_thrust, min(self._p.most_thrust, along))
        return Command(self._airframe.thrust_for(along), rates)

    def _within_tilt(self, force: Vec[Ned]) -> Vec[Ned]:
        """Keep the upward part of a thrust vector and shorten the level part to the largest tilt."""
        up = max(-force.z, self._p.least_thrust)
        level = math.hypot(force.x, force.y)
        most = up * math.tan(math.radians(self._p.largest_tilt_deg))
        share = min(1.0, most / level) if level > 0.0 else 1.0
        return Vec(force.x * share, force.y * share, -up)


def _moved(
    p: Vec[Ned], v: Vec[Ned], q: Rot[Ned, Frd], force: Vec[Frd], rates: Vec[Frd], dt: float
) -> tuple[Vec[Ned], Vec[Ned], Rot[Ned, Frd]]:
    """Return position, velocity and attitude `dt` seconds on, at constant force and rates."""
    a = q @ force + GRAVITY
    turn: Rot[Frd, Frd] = Rot.exp(rates.x * dt, rates.y * dt, rates.z * dt)
    return p + v * dt + a * (0.5 * dt * dt), v + a * dt, q @ turn
