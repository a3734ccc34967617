"""What the pilot knows of its vehicle: thrust curve, drag, delays, limits; numbers from its config.

Accelerations in m/s^2 (the mass is never published), body frame FRD. The thrust curve is a table of
collective thrust acceleration against command. Source: the measured plant, spec aigp.md section 5.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from racewire.core.frames import Frd, Vec


@dataclass(frozen=True, slots=True)
class Airframe:
    """The vehicle.

    `thrust_command` against `thrust_accel`; drag and lift (1/m); delay of the rates; largest rate (rad/s)
    to command, and largest force (m/s^2) to feel.
    """

    thrust_command: tuple[float, ...]
    thrust_accel: tuple[float, ...]
    drag: tuple[float, float, float]
    lift: float
    rate_delay_ms: float
    largest_rate: float
    largest_force: float

    def __post_init__(self) -> None:
        """Check the table.

        Raises
        ------
        ValueError
            If it is too short, or not rising.
        """
        if len(self.thrust_command) != len(self.thrust_accel) or len(self.thrust_command) < 2:
            raise ValueError("thrust_command and thrust_accel must be equally long, two or more")
        for table in (self.thrust_command, self.thrust_accel):
            if any(b <= a for a, b in pairwise(table)):
                raise ValueError("the thrust table must be rising")

    def thrust_for(self, accel: float) -> float:
        """Return the thrust command, 0 to 1, that gives `accel` along -z."""
        x, y = self.thrust_accel, self.thrust_command
        if accel <= x[0]:
            return y[0]
        if accel >= x[-1]:
            return y[-1]
        i = bisect_right(x, accel)
        return y[i - 1] + (y[i] - y[i - 1]) * (accel - x[i - 1]) / (x[i] - x[i - 1])

    def air_force(self, velocity: Vec[Frd]) -> Vec[Frd]:
        """Return the acceleration by drag and lift at a velocity through the air."""
        kx, ky, kz = self.drag
        u, v, w = velocity.x, velocity.y, velocity.z
        return Vec(-kx * u * abs(u), -ky * v * abs(v), -kz * w * abs(w) - self.lift * u * u)
