"""The parameters of a quadrotor: as a file has them, and as the kernels take them.

`QuadParams` is the TOML file of `vehicles/data`, in SI units; everything is per unit of mass, since
flights tell accelerations and not forces. `Plant` holds the same numbers as named scalars inside
kernels; between the two they travel as one float64 vector, the fields of `Plant` followed by the thrust
curve (all commands, then all accelerations).
"""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from racewire.core.clock import nanos
from racewire.core.config import load
from racewire.core.jit import kernel


@dataclass(frozen=True, slots=True)
class QuadParams:
    """One quadrotor. Triples are about or along the body axes forward, right, down."""

    mass: float
    """kg; turns an impulse into what a collision message says, and nothing else."""
    radius: float
    """Of the sphere that stands for the airframe in contacts, m."""
    thrust_curve: tuple[tuple[float, float], ...]
    """(command, T/m in m/s^2), ascending from command 0 to command 1, straight lines between."""
    thrust_delay: float
    """From a command to its thrust, s."""
    drag: tuple[float, float, float]
    """k in a = -k v|v|, 1/m; the third while rising, v_z < 0."""
    drag_sinking: float
    """The third while sinking, v_z > 0, 1/m."""
    lift: float
    """Upward body acceleration per square of the forward speed, 1/m."""
    rate_delay: float
    """From a rate command to the rate loop, s."""
    rate_lag: float
    """Time constant of the rate loop, s."""
    rate_gain: tuple[float, float, float]
    """Steady body rate per commanded rate."""
    rate_limit: tuple[float, float, float]
    """Largest body rates, rad/s."""
    angular_acceleration_limit: tuple[float, float, float]
    """Largest angular accelerations, rad/s^2."""
    stick_rates: tuple[float, float, float]
    """Body rates commanded by a full stick, rad/s."""
    friction: float
    """Coulomb friction of the airframe on whatever it lies on."""
    slow: float
    """Below this speed (m/s) a supported vehicle sticks where friction can hold it."""
    dt_max: float
    """Longest integration step, s."""

    def __post_init__(self) -> None:
        """Check what the kernels rely on.

        Raises
        ------
        ValueError
            If a value is out of its range; the text names the field.
        """
        _check("mass, radius, rate_lag, slow and dt_max must be positive", self._positive())
        _check("delays, drag, lift and friction must not be negative", self._not_negative())
        _check("limits and stick_rates must be positive", all(x > 0.0 for x in self._limits()))
        _check("dt_max must not exceed rate_lag: the step would be unstable", self.dt_max <= self.rate_lag)
        commands = [command for command, _ in self.thrust_curve]
        rising = all(a < b for a, b in itertools.pairwise(commands))
        whole = len(commands) >= 2 and commands[0] == 0.0 and commands[-1] == 1.0
        _check("thrust_curve must ascend from command 0 to command 1", rising and whole)
        _check("thrust_curve must not be negative", all(value >= 0.0 for _, value in self.thrust_curve))
        # Power of drag and lift at (u, 0, w) is -kx u^3 + lift u^2 |w| - kz |w|^3: never positive if
        peak = 2.0 / 3.0 * self.lift * math.sqrt(self.lift / (3.0 * self.drag[2])) if self.lift else 0.0
        _check("lift must not exceed what drag dissipates", peak <= self.drag[0])

    def _positive(self) -> bool:
        return min(self.mass, self.radius, self.rate_lag, self.slow, self.dt_max) > 0.0

    def _not_negative(self) -> bool:
        values = (self.thrust_delay, self.rate_delay, *self.drag, self.drag_sinking, self.lift, self.friction)
        return min(values) >= 0.0 and not (self.lift > 0.0 and self.drag[2] == 0.0)

    def _limits(self) -> tuple[float, ...]:
        return (*self.rate_limit, *self.angular_acceleration_limit, *self.stick_rates)


class Plant(NamedTuple):
    """What the kernels need of `QuadParams`; delays in ns, the rate lag as its inverse (1/s)."""

    drag_x: float
    drag_y: float
    drag_rising: float
    drag_sinking: float
    lift: float
    rate_bandwidth: float
    accel_p: float
    accel_q: float
    accel_r: float
    thrust_delay_ns: float
    rate_delay_ns: float
    gain_p: float
    gain_q: float
    gain_r: float
    limit_p: float
    limit_q: float
    limit_r: float
    friction: float
    slow: float
    dt_max: float


PLANT_SIZE = len(Plant._fields)
"""Where the thrust curve starts in the parameter vector."""


def read_params(name: str) -> QuadParams:
    """Read the parameter file `name` of `vehicles/data`.

    Raises
    ------
    ConfigError
        If there is no such file or it does not fit.
    """
    return load(QuadParams, Path(__file__).parent / "data" / f"{name}.toml")


def pack(params: QuadParams) -> NDArray[np.float64]:
    """Return the parameter vector of the kernels, shape (PLANT_SIZE + 2 * knots,)."""
    plant = Plant(
        *params.drag,
        params.drag_sinking,
        params.lift,
        1.0 / params.rate_lag,
        *params.angular_acceleration_limit,
        float(nanos(params.thrust_delay)),
        float(nanos(params.rate_delay)),
        *params.rate_gain,
        *params.rate_limit,
        params.friction,
        params.slow,
        params.dt_max,
    )
    curve = np.array(params.thrust_curve)
    return np.concatenate((np.array(plant), curve[:, 0], curve[:, 1]))


@kernel
def load_plant(vector: NDArray[np.float64]) -> Plant:
    """Return the named scalars of a parameter vector."""
    return Plant(
        vector[0],
        vector[1],
        vector[2],
        vector[3],
        vector[4],
        vector[5],
        vector[6],
        vector[7],
        vector[8],
        vector[9],
        vector[10],
        vector[11],
        vector[12],
        vector[13],
        vector[14],
        vector[15],
        vector[16],
        vector[17],
        vector[18],
        vector[19],
    )


@kernel
def thrust_of(vector: NDArray[np.float64], command: float) -> float:
    """Return T/m (m/s^2) of a thrust command within 0 to 1, from a parameter vector."""
    knots = (vector.size - PLANT_SIZE) // 2
    i = PLANT_SIZE
    while i < PLANT_SIZE + knots - 2 and command > vector[i + 1]:
        i += 1
    x0, x1 = vector[i], vector[i + 1]
    y0, y1 = vector[i + knots], vector[i + knots + 1]
    return y0 + (y1 - y0) * ((command - x0) / (x1 - x0))


def _check(rule: str, kept: bool) -> None:
    if not kept:
        raise ValueError(rule)
