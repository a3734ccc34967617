"""The raw wire's numbers, from `raw.toml` beside this file."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from racewire.core.clock import exact_rate
from racewire.core.config import load

_FILE = Path(__file__).with_name("raw.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawConfig:
    """Rates (Hz), JPEG quality, and how far outside their range commands are clamped."""

    telemetry_hz: float
    image_hz: float
    jpeg_quality: int
    stick_slack: float

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises
        ------
        ValueError
            If a rate is not positive, the quality not 1 to 100, or the slack negative.
        """
        if self.telemetry_hz <= 0.0 or self.image_hz <= 0.0:
            message = "rates must be positive"
            raise ValueError(message)
        if not 1 <= self.jpeg_quality <= 100 or self.stick_slack < 0.0:
            message = "jpeg_quality must be from 1 to 100, stick_slack at least 0"
            raise ValueError(message)

    def topic_rates(self) -> dict[str, Fraction]:
        """Return the exact rates (Hz) of the topics that this wire streams."""
        telemetry = exact_rate(self.telemetry_hz)
        return {"imu": telemetry, "attitude": telemetry, "image": exact_rate(self.image_hz)}


def load_raw_config() -> RawConfig:
    """Return the default numbers."""
    return load(RawConfig, _FILE)
