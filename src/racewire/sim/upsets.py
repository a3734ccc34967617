"""Wind, a lost motor and a silent disarm: how the faults of a race act on its vehicle.

World NED, SI units. A vehicle's dynamics see their velocity through the air alone, so a step in moving
air is a step in still air between two changes of frame; no vehicle knows of wind. Gusts are a
first-order process in Euler's form, with nothing but correctly rounded operations: the same on every
machine.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.clock import Nanos, nanos
from racewire.core.seeds import stream
from racewire.sim.faults import MotorLoss, Wind, WorldFaults

_BLOCK = 256
_LEFT = ("front_left", "back_left")
_FRONT = ("front_left", "front_right")
_CLOCKWISE = ("front_left", "back_right")  # spinning so, seen from above


class Upsets:
    """The faults of one race, from boot or reset on, tick by tick."""

    def __init__(self, faults: WorldFaults, run_seed: int, dt: float) -> None:
        """Draw what is random for run `run_seed`, for ticks of `dt` seconds."""
        self._motor = faults.motor
        self._disarm_after_s = faults.mishaps.disarm_after_go_s
        self._disarmed = False
        self._air = Air(faults.wind, run_seed, dt) if faults.wind.blows else None

    def air(self) -> NDArray[np.float64] | None:
        """Return the velocity of the air in the next tick (NED, m/s), None if it is still."""
        return None if self._air is None else self._air.next()

    def obeyed(self, command: NDArray[np.float64], since_go: Nanos | None) -> NDArray[np.float64]:
        """Return the command (thrust, p, q, r) as the plant obeys it."""
        return crippled(command, self._motor) if _reached(self._motor.after_go_s, since_go) else command

    def disarms(self, since_go: Nanos | None) -> bool:
        """Tell, once, that the vehicle disarms itself now."""
        if self._disarmed or not _reached(self._disarm_after_s, since_go):
            return False
        self._disarmed = True
        return True


def _reached(after_s: float | None, since_go: Nanos | None) -> bool:
    return after_s is not None and since_go is not None and since_go >= nanos(after_s)


class Air:
    """The velocity of the air, one tick after another."""

    def __init__(self, wind: Wind, run_seed: int, dt: float) -> None:
        """Draw gusts for ticks of `dt` seconds from the stream `wind/gust` of run `run_seed`."""
        self._mean = np.array((wind.north, wind.east, wind.down))
        self._keep = 1.0 - dt / wind.gust_s
        self._kick = wind.gust * math.sqrt(1.0 - self._keep * self._keep)
        self._draws = stream(run_seed, "wind/gust")
        self._block: NDArray[np.float64] = np.empty((0, 3))
        self._used = 0
        self._gust = wind.gust * self._draw()

    def next(self) -> NDArray[np.float64]:
        """Return the velocity in the next tick, shape (3,)."""
        velocity = self._mean + self._gust
        self._gust = self._keep * self._gust + self._kick * self._draw()
        return velocity

    def _draw(self) -> NDArray[np.float64]:
        if self._used == len(self._block):
            self._block = self._draws.standard_normal((_BLOCK, 3))
            self._used = 0
        row: NDArray[np.float64] = self._block[self._used]
        self._used += 1
        return row


def crippled(command: NDArray[np.float64], loss: MotorLoss) -> NDArray[np.float64]:
    """Return the command (thrust, p, q, r) that the plant obeys once a motor is lost."""
    roll = -loss.tilt_rate if loss.motor in _LEFT else loss.tilt_rate
    pitch = -loss.tilt_rate if loss.motor in _FRONT else loss.tilt_rate
    yaw = loss.yaw_rate if loss.motor in _CLOCKWISE else -loss.yaw_rate
    thrust, p, q, r = command.tolist()
    return np.array((thrust * loss.thrust, p + roll, q + pitch, r + yaw))
