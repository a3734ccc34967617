"""What every vehicle offers the simulator: a state it steps, and the motion read from it."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Frd, Ned, Pose, Rot, Vec

GRAVITY = 9.81
"""Acceleration of free fall, m/s^2: at rest an IMU reads (0, 0, -9.81)."""

State = NDArray[np.float64]
"""A vehicle's state as one contiguous float64 vector; its fields are named in the vehicle's module."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Kinematic truth of a rigid body: m, m/s, rad/s; specific force (m/s^2) as an IMU feels it."""

    position: Vec[Ned]
    velocity: Vec[Ned]
    ned_from_frd: Rot[Ned, Frd]
    rates: Vec[Frd]
    specific_force: Vec[Frd]

    @property
    def pose(self) -> Pose[Ned, Frd]:
        """Position and attitude."""
        return Pose(self.position, self.ned_from_frd)


class Vehicle(Protocol):
    """A vehicle with its parameters bound.

    `command` is (thrust 0..1, p, q, r in rad/s, FRD), as the flight controller receives it: the
    delays of the plant are the vehicle's business and part of its state.
    """

    radius: float
    """Radius of the sphere that stands for the airframe in contacts, m."""

    mass: float
    """Mass, kg."""

    def initial(self, pose: Pose[Ned, Frd]) -> State:
        """Return the state at rest at `pose`."""
        ...

    def step(self, state: State, command: NDArray[np.float64], dt: float) -> None:
        """Advance `state` in place by `dt` seconds with `command` held, sub-stepped as needed."""
        ...

    def step_supported(self, state: State, command: NDArray[np.float64], dt: float, normal: Vec[Ned]) -> None:
        """Advance as `step` does, lying on a surface with the unit `normal` (pointing away from it)."""
        ...

    def sticks_to_rates(self, roll: float, pitch: float, yaw: float) -> Vec[Frd]:
        """Return the body rates (rad/s) of normalised sticks: + right, nose up, clockwise."""
        ...

    def motion(self, state: State) -> Motion:
        """Return the kinematic truth of `state`."""
        ...
