"""What goes wrong in the simulated world: wind, a lost motor, slow telemetry, a late track, a disarm.

Values only, from the faults file (`docs/faults.md`); the default of each is that nothing goes wrong.
Wind is world NED, m/s, and points where the air goes. `*_after_go_s` counts from GO.
"""

from dataclasses import dataclass

_HURRICANE = 100.0  # m/s

MOTORS = ("front_left", "front_right", "back_left", "back_right")


def _check_after_go(name: str, after_s: float | None) -> None:
    if after_s is not None and after_s < 0.0:
        raise ValueError(f"{name} must not be negative, not {after_s}")


@dataclass(frozen=True, slots=True)
class Wind:
    """Velocity of the air: a mean, and gusts as a first-order random process, each axis its own."""

    north: float = 0.0
    """Mean, m/s."""
    east: float = 0.0
    """Mean, m/s."""
    down: float = 0.0
    """Mean, m/s."""
    gust: float = 0.0
    """Standard deviation of the gusts along each axis, m/s."""
    gust_s: float = 1.0
    """Time constant of the gusts, s."""

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises
        ------
        ValueError
            If a speed is beyond a hurricane's, or `gust_s` too short for the simulator's ticks.
        """
        for name in ("north", "east", "down"):
            if abs(getattr(self, name)) > _HURRICANE:
                raise ValueError(f"{name} must be within +-{_HURRICANE:g}, not {getattr(self, name)}")
        if not 0.0 <= self.gust <= _HURRICANE:
            raise ValueError(f"gust must be 0 to {_HURRICANE:g}, not {self.gust}")
        if self.gust_s < 0.01:
            raise ValueError(f"gust_s must be 0.01 or longer, not {self.gust_s}")

    @property
    def blows(self) -> bool:
        """Whether the air moves at all."""
        return any((self.north, self.east, self.down, self.gust))


@dataclass(frozen=True, slots=True)
class MotorLoss:
    """One motor stops. A guess: the plant knows a collective thrust and rates, not motors."""

    after_go_s: float | None = None
    """When, s after GO; never if left out."""
    motor: str = "front_left"
    """front_left, front_right, back_left or back_right."""
    thrust: float = 0.75
    """Share of the commanded thrust that the others still give."""
    tilt_rate: float = 3.0
    """Body rate towards the lost motor, in roll and in pitch, rad/s, added to what is commanded."""
    yaw_rate: float = 2.0
    """Body rate about the vertical axis, rad/s, added likewise; clockwise if a clockwise rotor is lost."""

    def __post_init__(self) -> None:
        """Check the names and ranges.

        Raises
        ------
        ValueError
            If there is no such motor, `thrust` is not a share, or the time is negative.
        """
        _check_after_go("after_go_s", self.after_go_s)
        if self.motor not in MOTORS:
            raise ValueError(f"motor must be one of {', '.join(MOTORS)}, not '{self.motor}'")
        if not 0.0 <= self.thrust <= 1.0:
            raise ValueError(f"thrust must be a share, 0 to 1, not {self.thrust}")


@dataclass(frozen=True, slots=True)
class SlowTelemetry:
    """A machine too slow for the simulator: telemetry comes at a changing share of the build's rates."""

    low: float = 1.0
    """Least share of the build's rates; 0.15 and 0.5 make 18 to 60 Hz of 120 Hz."""
    high: float = 1.0
    """Largest share."""
    hold_s: float = 0.5
    """How long a share lasts until the next is drawn, s."""

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises
        ------
        ValueError
            If not 0.01 <= low <= high <= 1, or `hold_s` is not positive.
        """
        if not 0.01 <= self.low <= self.high <= 1.0:
            raise ValueError(f"low and high must be 0.01 <= low <= high <= 1, not {self.low}, {self.high}")
        if self.hold_s <= 0.0:
            raise ValueError(f"hold_s must be positive, not {self.hold_s}")

    @property
    def slow(self) -> bool:
        """Whether rates are reduced at all."""
        return self.low < 1.0


@dataclass(frozen=True, slots=True)
class Mishaps:
    """What happens once in a race."""

    disarm_after_go_s: float | None = None
    """When the motors are disarmed without a word, s after GO; never if left out."""
    track_delay_s: float = 0.0
    """How much later than usual the track is published, s."""

    def __post_init__(self) -> None:
        """Check the range.

        Raises
        ------
        ValueError
            If a time is negative.
        """
        _check_after_go("disarm_after_go_s", self.disarm_after_go_s)
        if self.track_delay_s < 0.0:
            raise ValueError(f"track_delay_s must not be negative, not {self.track_delay_s}")


@dataclass(frozen=True, slots=True)
class WorldFaults:
    """All of them."""

    wind: Wind = Wind()
    motor: MotorLoss = MotorLoss()
    telemetry: SlowTelemetry = SlowTelemetry()
    mishaps: Mishaps = Mishaps()
