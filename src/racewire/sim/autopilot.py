"""The autopilot inside the vehicle: wanted attitude, motion or motors to thrust and body rates, every tick.

World NED, body FRD, SI units. An attitude is held by a proportional law on the rotation that is missing.
A wanted motion goes through position, velocity and acceleration to a tilt, limited in roll and in pitch,
and a collective thrust. Motor commands turn into their mean thrust and the angular acceleration that
their differences cause, which the vehicle's rate loop is led to follow. Source: spec aigp.md, section 1.7;
what is published, and what is a guess, stands in `data/autopilot.toml`.
"""

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from racewire.core.config import load
from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.core.messages import AttitudeCommand, MotionCommand, MotorCommand
from racewire.vehicles.base import GRAVITY, Motion

Triple: TypeAlias = tuple[float, float, float]
Command: TypeAlias = tuple[float, float, float, float]
"""Thrust 0..1 and body rates p, q, r (rad/s), as a vehicle takes them."""

Outputs: TypeAlias = tuple[float, float, float, float]
"""Front left, front right, back left, back right, 0 to 1."""


@dataclass(frozen=True, slots=True)
class AutopilotConfig:
    """The numbers of `data/autopilot.toml`, explained there. Triples are about forward, right, down."""

    attitude_gain: Triple
    rate_limit: Triple
    tilt_limit: float
    position_gain: float
    speed_limit: float
    velocity_gain: float
    velocity_share: float
    drag: float
    least_lift: float
    idle: float
    hover: float
    thrust_slope: float
    motor_torque: Triple
    motor_imbalance: Triple
    motor_lead_s: float


class Autopilot:
    """Follows the last target it took, until it is released."""

    def __init__(self, mass: float, config: AutopilotConfig | None = None) -> None:
        """Fly a vehicle of `mass` kg; None takes the numbers of `data/autopilot.toml`."""
        path = Path(__file__).parent / "data" / "autopilot.toml"
        self._config = config or load(AutopilotConfig, path)
        self._mass = mass
        self._target: AttitudeCommand | MotionCommand | MotorCommand | None = None
        self._yaw = 0.0
        self._yaw_is_wanted = False

    @property
    def active(self) -> bool:
        """Whether there is a target."""
        return self._target is not None

    def outputs(self, thrust: float, *, armed: bool) -> Outputs:
        """Return what the motors show.

        They idle while armed; commanded one by one they show that, else the collective `thrust`.
        """
        m = self._target
        if not armed:
            return 0.0, 0.0, 0.0, 0.0
        shown = (thrust,) * 4
        if isinstance(m, MotorCommand):
            shown = (m.front_left, m.front_right, m.back_left, m.back_right)
        fl, fr, bl, br = (max(output, self._config.idle) for output in shown)
        return fl, fr, bl, br

    def release(self) -> None:
        """Forget the target, and the yaw that was wanted."""
        self._target = None
        self._yaw_is_wanted = False

    def take(self, target: AttitudeCommand | MotionCommand | MotorCommand, motion: Motion) -> None:
        """Follow `target` from now on, unless a number of it is not finite.

        A motion without a yaw keeps the last one that was wanted, or that of `motion`.
        """
        if not _finite(dataclasses.astuple(target)):
            return
        if not isinstance(target, MotionCommand):
            self._yaw_is_wanted = False
        elif target.yaw is not None:
            self._yaw, self._yaw_is_wanted = target.yaw, True
        elif not self._yaw_is_wanted:
            self._yaw, self._yaw_is_wanted = motion.ned_from_frd.euler()[2], True
        self._target = target

    def command(self, motion: Motion, dt: float) -> Command:
        """Return what to ask of the vehicle for the next `dt` seconds, at `motion`.

        Raises
        ------
        RuntimeError
            If there is no target.
        """
        match self._target:
            case AttitudeCommand(ned_from_frd=wanted, thrust=thrust):
                return self._hold(wanted, thrust, motion)
            case MotionCommand() as target:
                self._yaw += target.yaw_rate * dt
                return self._move(target, motion)
            case MotorCommand() as motors:
                return self._spin(motors, motion)
            case None:
                message = "the autopilot has no target"
                raise RuntimeError(message)

    def _hold(self, wanted: Rot[Ned, Frd], thrust: float, motion: Motion) -> Command:
        missing: Rot[Frd, Frd] = motion.ned_from_frd.inverse() @ wanted
        c = self._config
        p, q, r = (
            max(-limit, min(limit, gain * angle))
            for gain, limit, angle in zip(c.attitude_gain, c.rate_limit, missing.log(), strict=True)
        )
        return thrust, p, q, r

    def _move(self, target: MotionCommand, motion: Motion) -> Command:
        c = self._config
        heading: Rot[Ned, Frd] = Rot.from_euler(0.0, 0.0, self._yaw)
        a = heading.inverse() @ self._acceleration(target, motion)
        lift = max(GRAVITY - a.z, c.least_lift)
        pitch = _clip(math.atan2(-a.x, lift), c.tilt_limit)
        roll = _clip(math.atan2(a.y, math.hypot(a.x, lift)), c.tilt_limit)
        push = lift / (math.cos(roll) * math.cos(pitch))
        thrust = max(0.0, min(1.0, c.hover + (push - GRAVITY) / c.thrust_slope))
        if target.thrust is not None:
            thrust = target.thrust
        return self._hold(Rot.from_euler(roll, pitch, self._yaw), thrust, motion)

    def _acceleration(self, target: MotionCommand, motion: Motion) -> Vec[Ned]:
        """Return the wanted acceleration besides gravity."""
        c = self._config
        if target.position is not None:
            wanted = (target.position - motion.position) * c.position_gain
            wanted *= min(1.0, c.speed_limit / max(wanted.norm(), c.speed_limit))
        elif target.velocity is not None:
            wanted = target.velocity * c.velocity_share
        elif target.acceleration is not None:
            return target.acceleration
        else:
            return (target.force or Vec(0.0, 0.0, 0.0)) * (1.0 / self._mass)
        v = motion.velocity
        return (wanted - v) * c.velocity_gain + v * (c.drag * v.norm())

    def _spin(self, m: MotorCommand, motion: Motion) -> Command:
        c = self._config
        thrust = 0.25 * (m.front_left + m.front_right + m.back_left + m.back_right)
        differences = (
            0.5 * (m.front_left + m.back_left - m.front_right - m.back_right),
            0.5 * (m.front_left + m.front_right - m.back_left - m.back_right),
            0.5 * (m.front_right + m.back_left - m.front_left - m.back_right),
        )
        w = motion.rates
        p, q, r = (
            rate + c.motor_lead_s * (torque * difference + imbalance * thrust)
            for rate, torque, difference, imbalance in zip(
                (w.x, w.y, w.z), c.motor_torque, differences, c.motor_imbalance, strict=True
            )
        )
        return thrust, p, q, r


def _finite(value: object) -> bool:
    """Tell whether every number in nested tuples is finite; None is no number."""
    if isinstance(value, tuple):
        return all(map(_finite, cast("tuple[object, ...]", value)))
    return not isinstance(value, float) or math.isfinite(value)


def _clip(angle: float, limit: float) -> float:
    return max(-limit, min(limit, angle))
