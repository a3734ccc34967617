"""The IMU: true specific force and body rates in, a noisy sample out.

Frame FRD, m/s^2 and rad/s. The error is a constant turn-on bias plus white noise a sample; each axis
of each quantity has its own named stream, so that switching one off leaves the others' draws alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from racewire.core.clock import Nanos
from racewire.core.frames import Frd, Vec
from racewire.core.messages import Imu
from racewire.core.seeds import stream

_BLOCK = 256


@dataclass(frozen=True, slots=True)
class ImuNoise:
    """Standard deviations, and a fault of the gyro."""

    accel_noise: float = 0.0
    """White noise a sample, m/s^2."""
    accel_bias: float = 0.0
    """Turn-on bias, drawn once a run, m/s^2."""
    gyro_noise: float = 0.0
    """White noise a sample, rad/s."""
    gyro_bias: float = 0.0
    """Turn-on bias, drawn once a run, rad/s."""
    yaw_frozen: bool = False
    """The yaw gyro reads zero, whatever happens."""

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises
        ------
        ValueError
            If a number is negative.
        """
        for name in ("accel_noise", "accel_bias", "gyro_noise", "gyro_bias"):
            if getattr(self, name) < 0.0:
                raise ValueError(f"{name} must not be negative, not {getattr(self, name)}")


class ImuSensor:
    """One IMU at the body's origin, aligned with the body."""

    def __init__(self, noise: ImuNoise, run_seed: int, name: str = "imu/0") -> None:
        """Draw the turn-on biases of `name` in run `run_seed`."""
        self._accel = _Triad(noise.accel_noise, noise.accel_bias, run_seed, f"{name}/accel")
        self._gyro = _Triad(noise.gyro_noise, noise.gyro_bias, run_seed, f"{name}/gyro")
        self._yaw_frozen = noise.yaw_frozen

    def sample(self, t_ns: Nanos, specific_force: Vec[Frd], rates: Vec[Frd]) -> Imu:
        """Measure once."""
        felt, turned = specific_force + self._accel.error(), rates + self._gyro.error()
        if self._yaw_frozen:
            turned = Vec[Frd](turned.x, turned.y, 0.0)
        return Imu(t_ns=t_ns, specific_force=felt, rates=turned)


class _Triad:
    """The error of three orthogonal axes: bias plus white noise, drawn in blocks."""

    def __init__(self, noise: float, bias: float, run_seed: int, name: str) -> None:
        self._noise = noise
        self._bias = bias * stream(run_seed, f"{name}/bias").standard_normal(3)
        self._draws = stream(run_seed, f"{name}/noise")
        self._block: NDArray[np.float64] = np.empty((0, 3))
        self._used = 0

    def error(self) -> Vec[Frd]:
        if self._used == len(self._block):
            self._block = self._bias + self._noise * self._draws.standard_normal((_BLOCK, 3))
            self._used = 0
        row = self._block[self._used]
        self._used += 1
        return Vec(float(row[0]), float(row[1]), float(row[2]))
