"""The vehicle among the things it can hit: one physics tick.

World NED, SI units. After each step of the vehicle's own dynamics the airframe's sphere is tested
against the course; a hit pushes it out and reflects the closing speed (restitution), with Coulomb
friction along the surface. A vehicle lying on something is carried by it until it lifts off, sheltered
from the wind.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Ned, Vec
from racewire.race.referee import Touch
from racewire.vehicles.base import GRAVITY, Vehicle
from racewire.world.contact import NOTHING, ContactWorld, touch
from racewire.world.course import Course

RESTITUTION = 0.2
FRICTION = 0.4
_RESTING = 0.25  # a hit from above closing slower than this (m/s) comes to rest
_SKIN = 0.002  # a carried vehicle counts as touching within this gap, m
_LIFTING = 0.005  # and leaves when it moves off faster than this, m/s
_UPWARD = -0.5  # only a surface whose normal points up this much (its D component) carries


class VehicleInWorld:
    """One vehicle on one course; `state` begins with position (3) and velocity (3), NED."""

    def __init__(self, vehicle: Vehicle, course: Course) -> None:
        """Put the vehicle on the pad."""
        self._vehicle = vehicle
        self._things = ContactWorld.of(course, vehicle.radius)
        self._pad = course.pad
        self._carrier: Vec[Ned] | None = None
        self.reset()

    def reset(self) -> None:
        """Put the vehicle back on the pad, at rest."""
        self.state = self._vehicle.initial(self._pad)
        self._carrier = self._pad.rotation @ Vec(0.0, 0.0, -1.0)

    def tick(
        self, command: NDArray[np.float64], dt: float, air: NDArray[np.float64] | None = None
    ) -> Touch | None:
        """Advance by `dt` seconds in air that moves with `air` (NED, m/s); return what was touched."""
        carrier = self._carrier
        if carrier is None:
            if air is None:
                self._vehicle.step(self.state, command, dt)
            else:
                self._step_in(air, command, dt)
            return self._collide(self._things.radius)
        self._vehicle.step_supported(self.state, command, dt, carrier)
        v = self.state
        if v[3] * carrier.x + v[4] * carrier.y + v[5] * carrier.z > _LIFTING:
            self._carrier = None
            return None
        hit = self._collide(self._things.radius + _SKIN)
        if hit is None:
            self._carrier = None
        return hit

    def _step_in(self, air: NDArray[np.float64], command: NDArray[np.float64], dt: float) -> None:
        """Step in the frame of the air, where it is still."""
        position, velocity = self.state[:3], self.state[3:6]
        velocity -= air
        self._vehicle.step(self.state, command, dt)
        velocity += air
        position += air * dt

    def _collide(self, radius: float) -> Touch | None:
        s = self.state
        things = self._things
        depth, nx, ny, nz, code = touch(things.solids, things.floor, radius, s[0], s[1], s[2])
        if code == NOTHING:
            return None
        out = max(depth - (radius - things.radius), 0.0)
        closing = -(s[3] * nx + s[4] * ny + s[5] * nz)
        impulse = 0.0
        if closing > 0.0:
            impulse = self._bounce(nx, ny, nz, closing)
        s[0] += out * nx
        s[1] += out * ny
        s[2] += out * nz
        if nz < _UPWARD and closing < _RESTING:
            self._carrier = Vec(nx, ny, nz)
            impulse = max(impulse, self._vehicle.mass * GRAVITY * 1e-3)
        return Touch(None if code < 0 else code, impulse)

    def _bounce(self, nx: float, ny: float, nz: float, closing: float) -> float:
        """Reflect the closing speed; return the impulse."""
        s = self.state
        jump = (1.0 + (RESTITUTION if closing > _RESTING else 0.0)) * closing
        tx, ty, tz = s[3] + closing * nx, s[4] + closing * ny, s[5] + closing * nz
        slide = math.sqrt(tx * tx + ty * ty + tz * tz)
        grip = min(1.0, FRICTION * jump / slide) if slide > 0.0 else 0.0
        s[3] += jump * nx - grip * tx
        s[4] += jump * ny - grip * ty
        s[5] += jump * nz - grip * tz
        return self._vehicle.mass * math.hypot(jump, grip * slide)
