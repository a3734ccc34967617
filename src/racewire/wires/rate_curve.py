"""The rate curve: what body rate a stick asks for, and the stick that asks for a rate.

rate = stick * gain(|stick|), rad/s. The gain is given at knots, linear between them and constant
outside; the rate saturates. Source: spec aigp.md, section 1.7 (legacy stick).
"""

import math
from dataclasses import dataclass
from itertools import pairwise

Knot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RateCurve:
    """One axis: `knots` of (stick, gain in rad/s), and `saturation` in rad/s."""

    knots: tuple[Knot, ...]
    saturation: float

    def __post_init__(self) -> None:
        """Check that the rate rises with the stick.

        Raises
        ------
        ValueError
            If there is no knot, a number is not positive, or the curve falls anywhere.
        """
        if not self.knots or self.saturation <= 0.0 or any(c <= 0.0 or g <= 0.0 for c, g in self.knots):
            message = f"a rate curve needs positive sticks, gains and saturation, not {self}"
            raise ValueError(message)
        for (c0, g0), (c1, g1) in pairwise(self.knots):
            if c1 <= c0 or g1 + c1 * (g1 - g0) / (c1 - c0) <= 0.0:
                message = f"the rate must rise with the stick, which it does not from {c0} to {c1}"
                raise ValueError(message)

    def rate(self, stick: float) -> float:
        """Return the rate (rad/s) that `stick` asks for."""
        rate = stick * self._gain(abs(stick))
        return max(-self.saturation, min(self.saturation, rate))

    def stick(self, rate: float) -> float:
        """Return the stick that asks for `rate` (rad/s); for the saturation where it is beyond."""
        wanted = min(abs(rate), self.saturation)
        return math.copysign(self._positive_stick(wanted), rate)

    def _gain(self, stick: float) -> float:
        if stick <= self.knots[0][0]:
            return self.knots[0][1]
        for (c0, g0), (c1, g1) in pairwise(self.knots):
            if stick <= c1:
                return g0 + (g1 - g0) * (stick - c0) / (c1 - c0)
        return self.knots[-1][1]

    def _positive_stick(self, rate: float) -> float:
        c, g = self.knots[0]
        if rate <= c * g:
            return rate / g
        for (c0, g0), (c1, g1) in pairwise(self.knots):
            if rate <= c1 * g1:  # slope * c^2 + at_zero * c = rate, in the form that allows slope 0
                slope = (g1 - g0) / (c1 - c0)
                at_zero = g0 - slope * c0
                return 2.0 * rate / (at_zero + math.sqrt(at_zero * at_zero + 4.0 * slope * rate))
        return rate / self.knots[-1][1]
