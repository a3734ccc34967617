"""Attitude from the gyro alone, levelled on the pad: the seed of the filter, and its fallback.

At rest the mean specific force shows where down is and the mean rates are the gyro's bias; heading is
0 by definition, since nothing on board can tell it. The ramp's pitch is known, so a mean force that
agrees with it is taken for that ramp and the difference for accelerometer bias. In flight the attitude
is integrated from the gyro with no accelerometer correction: thrust and drag dominate there (seed 001).
Frames NED and FRD; rad, m/s^2.
"""

import math
from dataclasses import dataclass

from racewire.core.clock import Nanos, seconds
from racewire.core.frames import Frd, Ned, Rot, Vec
from racewire.core.messages import Imu


@dataclass(frozen=True, slots=True)
class AhrsParams:
    """Pitch of the ramp, how near to it a levelled pitch must be (deg), samples of the running mean."""

    pad_pitch_deg: float
    pad_tolerance_deg: float
    pad_samples: int


class Ahrs:
    """Level while at rest, then integrate."""

    def __init__(self, params: AhrsParams) -> None:
        self._params = params
        self.attitude: Rot[Ned, Frd] = Rot.from_euler(0.0, math.radians(params.pad_pitch_deg), 0.0)
        self.bias: Vec[Frd] = Vec(0.0, 0.0, 0.0)
        self._force: Vec[Frd] = Vec(0.0, 0.0, 0.0)
        self._count = 0
        self._last: tuple[Nanos, Vec[Frd]] | None = None

    @property
    def levelled(self) -> bool:
        """Whether enough was felt at rest to trust the attitude."""
        return self._count >= self._params.pad_samples // 4

    def rest(self, imu: Imu) -> None:
        """Take a sample at rest: level, and learn the gyro's bias."""
        self._count = min(self._count + 1, self._params.pad_samples)
        share = 1.0 / self._count
        self._force += (imu.specific_force - self._force) * share
        self.bias += (imu.rates - self.bias) * share
        self._last = (imu.t_ns, imu.rates)
        f = self._force
        roll, pitch = math.atan2(-f.y, -f.z), math.atan2(f.x, math.hypot(f.y, f.z))
        pad = math.radians(self._params.pad_pitch_deg)
        near = math.radians(self._params.pad_tolerance_deg)
        if abs(roll) < near and abs(pitch - pad) < near:
            roll, pitch = 0.0, pad
        self.attitude = Rot.from_euler(roll, pitch, 0.0)

    def fly(self, imu: Imu) -> None:
        """Take a sample in flight: turn by the mean of its rates and the last ones."""
        if self._last is not None:
            t_ns, rates = self._last
            dt = seconds(imu.t_ns - t_ns)
            if not 0.0 < dt < 1.0:
                dt = 0.0
            turn = (rates + imu.rates) * (0.5 * dt) - self.bias * dt
            self.attitude = self.attitude @ Rot[Frd, Frd].exp(turn.x, turn.y, turn.z)
        self._last = (imu.t_ns, imu.rates)
