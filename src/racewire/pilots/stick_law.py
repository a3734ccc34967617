"""From a wanted velocity to sticks: PI on velocity, then attitude, then rates.

The velocity error becomes an acceleration; with gravity, taken along true down through the attitude,
that is the thrust the drone must make. Its direction sets roll and pitch, its size the throttle, and the
heading is held from the quaternion. The integral runs on the vehicle's clock. World NED, body FRD, SI.
Source: seed 000, sections 4.3 and 7.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Frd, Ned, Rot

GRAVITY = 9.81
"""m/s^2."""


@dataclass(frozen=True, slots=True)
class StickParams:
    """Gains and limits; `data/completion.toml` says what each is."""

    hover_throttle: float
    idle_throttle: float
    velocity_gain: float
    velocity_integral: float
    integral_limit: float
    accel_limit: float
    climb_limit: float
    tilt_limit_deg: float
    attitude_gain: float
    heading_gain: float
    full_stick: tuple[float, float, float]
    stick_limit: float

    def __post_init__(self) -> None:
        """Check the throttle map and the sticks.

        Raises
        ------
        ValueError
            If hovering needs no more than idling, or a full stick means no rate.
        """
        if not 0.0 <= self.idle_throttle < self.hover_throttle <= 1.0:
            raise ValueError("idle_throttle must be below hover_throttle, both 0 to 1")
        if min(self.full_stick) <= 0.0:
            raise ValueError("full_stick must be positive")


@dataclass(frozen=True, slots=True)
class Sticks:
    """Throttle 0 to 1; roll, pitch, yaw -1 to 1."""

    throttle: float
    roll: float
    pitch: float
    yaw: float


class StickLaw:
    """The controller; its only state is the velocity integral."""

    def __init__(self, params: StickParams) -> None:
        self._p = params
        self._integral = np.zeros(3)

    def command(
        self,
        velocity: NDArray[np.float64],
        wanted: NDArray[np.float64],
        heading: float,
        ned_from_frd: Rot[Ned, Frd],
        dt: float,
    ) -> Sticks:
        """Return sticks that bring `velocity` (m/s, NED) to `wanted` and the nose to `heading` (rad).

        `dt` is the time since the last command on the vehicle's clock, s.
        """
        p = self._p
        error = wanted - velocity
        limit = p.integral_limit
        self._integral = np.clip(self._integral + p.velocity_integral * dt * error, -limit, limit)
        accel = p.velocity_gain * error + self._integral
        across = float(np.hypot(accel[0], accel[1]))
        accel[:2] *= min(1.0, p.accel_limit / max(across, 1e-9))
        lift = GRAVITY - float(np.clip(accel[2], -p.climb_limit, p.climb_limit))
        # thrust in axes turned to the nose: forward, right, up
        roll_now, pitch_now, yaw_now = ned_from_frd.euler()
        c, s = math.cos(yaw_now), math.sin(yaw_now)
        forward, right = float(c * accel[0] + s * accel[1]), float(c * accel[1] - s * accel[0])
        most = math.tan(math.radians(p.tilt_limit_deg)) * lift
        shrink = min(1.0, most / max(math.hypot(forward, right), 1e-9))
        forward, right = shrink * forward, shrink * right
        pitch = -math.atan2(forward, lift)
        roll = math.atan2(right, math.hypot(forward, lift))
        turn = p.heading_gain / p.attitude_gain * math.remainder(heading - yaw_now, math.tau)
        wanted_attitude: Rot[Ned, Frd] = Rot.from_euler(roll, pitch, yaw_now + max(-0.5, min(0.5, turn)))
        off: Rot[Frd, Frd] = ned_from_frd.inverse() @ wanted_attitude
        rates = [p.attitude_gain * angle for angle in off.log()]
        sticks = [
            max(-p.stick_limit, min(p.stick_limit, rate / full))
            for rate, full in zip(rates, p.full_stick, strict=True)
        ]
        upright = max(0.5, math.cos(roll_now) * math.cos(pitch_now))
        thrust = min(lift / upright, 2.0 * GRAVITY)
        throttle = p.idle_throttle + (p.hover_throttle - p.idle_throttle) * thrust / GRAVITY
        return Sticks(max(0.0, min(1.0, throttle)), *sticks)
