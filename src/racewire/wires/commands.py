"""What a build makes of the commands it receives, as data.

SET_ATTITUDE_TARGET means different things by its type_mask and by the build; so do the position target
and the reset command. Meanings of SET_ATTITUDE_TARGET:

    stick         its body rates are stick values, through the vehicle's rate curve
    physical      its body rates are rad/s, mirrored
    euler_stick   the Euler angles of its quaternion are stick values
    attitude      its quaternion is an attitude to hold, mirrored
    plain_attitude  the same, as MAVLink has it
    unstabilised  thrust alone, the same to all motors, and nothing that holds the vehicle level
    refused       not flown, and counted

Source: spec aigp.md, sections 1.7 and 7.
"""

from dataclasses import dataclass

from racewire.wires.rate_curve import RateCurve
from racewire.wires.signs import Triple

MEANINGS = ("stick", "physical", "euler_stick", "attitude", "plain_attitude", "unstabilised", "refused")
"""What SET_ATTITUDE_TARGET can mean."""

POSITION_TARGETS = ("flown", "unpowered", "refused")
"""What SET_POSITION_TARGET_LOCAL_NED does: flies; tilts without thrust; is not flown, and counted."""

RESETS = ("resets", "no_effect")
"""What command 31000 does; it is acknowledged either way."""

ATTITUDE_IGNORED = 128
"""The bit of SET_ATTITUDE_TARGET's type_mask that makes the body rates count."""


@dataclass(frozen=True, slots=True)
class Setpoint:
    """What SET_ATTITUDE_TARGET means with one `type_mask`: one of `MEANINGS`."""

    type_mask: int
    meaning: str

    def __post_init__(self) -> None:
        """Check the meaning.

        Raises
        ------
        ValueError
            If it is not one of `MEANINGS`.
        """
        _check(f"meaning of type_mask {self.type_mask}", self.meaning, MEANINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """How commands become motion.

    `physical_gains` are achieved rate over commanded rate; `euler_gains` are rad/s per rad of the
    quaternion's roll, pitch and yaw. A body rate beyond `rate_limit` (as on the wire), a number of a
    position target beyond `target_limit` (SI units), or a thrust more than `thrust_slack` outside 0..1
    makes a command absurd. Our own pilot's end commands body rates with `pilot_type_mask`.
    """

    roll: RateCurve
    pitch: RateCurve
    yaw: RateCurve
    physical_gains: Triple
    euler_gains: Triple
    rate_limit: float
    target_limit: float
    thrust_slack: float
    pilot_type_mask: int
    setpoints: tuple[Setpoint, ...]
    other_rates: str
    """Meaning of a type_mask that `setpoints` does not list and that has bit 128."""
    other_quaternion: str
    """Meaning of a type_mask that `setpoints` does not list and that lacks bit 128."""
    position_target: str
    """One of `POSITION_TARGETS`."""
    target_yaw_sign: float
    """Yaw and yaw rate of a position target: wire = sign * truth."""
    reset: str
    """One of `RESETS`."""
    heartbeat_required: bool
    """Whether commands are refused from a client whose last heartbeat is older than `heartbeat_s`."""
    heartbeat_s: float

    def __post_init__(self) -> None:
        """Check that the parts fit one another.

        Raises
        ------
        ValueError
            If two setpoints share a mask, a choice is none of its list, or `pilot_type_mask` commands no
            body rates.
        """
        if len({setpoint.type_mask for setpoint in self.setpoints}) != len(self.setpoints):
            message = "setpoints: a type_mask stands twice"
            raise ValueError(message)
        _check("other_rates", self.other_rates, MEANINGS)
        _check("other_quaternion", self.other_quaternion, MEANINGS)
        _check("position_target", self.position_target, POSITION_TARGETS)
        _check("reset", self.reset, RESETS)
        if abs(self.target_yaw_sign) != 1.0:
            message = f"target_yaw_sign must be 1 or -1, not {self.target_yaw_sign}"
            raise ValueError(message)
        if self.meaning(self.pilot_type_mask) not in ("stick", "physical"):
            message = f"pilot_type_mask {self.pilot_type_mask} must be a setpoint of sticks or physical rates"
            raise ValueError(message)

    def meaning(self, type_mask: int) -> str:
        """Return what SET_ATTITUDE_TARGET means with `type_mask`: one of `MEANINGS`."""
        for setpoint in self.setpoints:
            if setpoint.type_mask == type_mask:
                return setpoint.meaning
        return self.other_rates if type_mask & ATTITUDE_IGNORED else self.other_quaternion

    def mask_of(self, meaning: str) -> int | None:
        """Return the first listed type_mask with that meaning, None if there is none."""
        return next((s.type_mask for s in self.setpoints if s.meaning == meaning), None)

    @property
    def curves(self) -> tuple[RateCurve, RateCurve, RateCurve]:
        """The rate curves of roll, pitch and yaw."""
        return self.roll, self.pitch, self.yaw


def _check(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        message = f"{name}: '{value}' is not one of {choices}"
        raise ValueError(message)
