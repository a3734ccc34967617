"""Build profiles: what one build of the AIGP simulator sends, drops and means, as data.

The files in `profiles/` are the profiles; a profile's name is its file's. Where the original is not
known, the value is a named key with the proposed default. Source: spec aigp.md, sections 1, 2 and 7.
"""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from racewire.core.clock import NS_PER_MS, Nanos, exact_rate
from racewire.core.config import load
from racewire.core.errors import ConfigError
from racewire.core.topics import TOPICS
from racewire.wires.rate_curve import RateCurve
from racewire.wires.signs import Signs, Triple

_FOLDER = Path(__file__).parent / "profiles"

SETPOINTS = ("stick", "physical", "euler_stick")
"""What SET_ATTITUDE_TARGET can mean: its body rates are sticks, or rad/s; or its Euler angles are sticks."""

TELEMETRY = (
    "heartbeat",
    "imu",
    "attitude",
    "local_position",
    "odometry",
    "motors",
    "race_status",
    "image",
)
"""The topics a profile gives a rate for, or blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Constants of the packets: MAVLink ids, what HEARTBEAT says, the frames ODOMETRY names."""

    system: int
    component: int
    vehicle_type: int
    autopilot: int
    armed_mode: int
    disarmed_mode: int
    armed_status: int
    disarmed_status: int
    odometry_frame: int
    odometry_child_frame: int


@dataclass(frozen=True, slots=True)
class Setpoint:
    """What SET_ATTITUDE_TARGET means with one `type_mask`: one of `SETPOINTS`."""

    type_mask: int
    meaning: str

    def __post_init__(self) -> None:
        """Check the meaning.

        Raises
        ------
        ValueError
            If it is not one of `SETPOINTS`.
        """
        if self.meaning not in SETPOINTS:
            message = f"meaning of type_mask {self.type_mask}: '{self.meaning}' is not one of {SETPOINTS}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """How commands become body rates.

    The rate curves hold for sticks; `physical_gains` are achieved rate over commanded rate;
    `euler_gains` are rad/s per rad of the quaternion's roll, pitch and yaw; each is there if a
    setpoint needs it. A body rate beyond
    `rate_limit` or a thrust more than `thrust_slack` outside 0..1 makes a command absurd. Our own
    pilot's end commands with `pilot_type_mask`.
    """

    roll: RateCurve
    pitch: RateCurve
    yaw: RateCurve
    rate_limit: float
    thrust_slack: float
    pilot_type_mask: int
    setpoints: tuple[Setpoint, ...]
    physical_gains: Triple | None = None
    euler_gains: Triple | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit one another.

        Raises
        ------
        ValueError
            If two setpoints share a mask, a gain is missing or not needed, or `pilot_type_mask` has no
            meaning here, or one that commands no body rates.
        """
        if len({setpoint.type_mask for setpoint in self.setpoints}) != len(self.setpoints):
            message = "setpoints: a type_mask stands twice"
            raise ValueError(message)
        meanings = {setpoint.meaning for setpoint in self.setpoints}
        for meaning, gains in (("physical", self.physical_gains), ("euler_stick", self.euler_gains)):
            if (meaning in meanings) != (gains is not None):
                message = f"a setpoint '{meaning}' and its gains must be given together"
                raise ValueError(message)
        if self.meaning(self.pilot_type_mask) not in ("stick", "physical"):
            message = f"pilot_type_mask {self.pilot_type_mask} must be a setpoint of sticks or physical rates"
            raise ValueError(message)

    def meaning(self, type_mask: int) -> str | None:
        """Return what SET_ATTITUDE_TARGET means with `type_mask`; None if this build does not fly it."""
        for setpoint in self.setpoints:
            if setpoint.type_mask == type_mask:
                return setpoint.meaning
        return None

    @property
    def curves(self) -> tuple[RateCurve, RateCurve, RateCurve]:
        """The rate curves of roll, pitch and yaw."""
        return self.roll, self.pitch, self.yaw


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildProfile:
    """One build. `rates` in Hz by topic; `blocked` topics are never sent."""

    rates: dict[str, float]
    blocked: tuple[str, ...]
    ack_delay_ms: float
    jpeg_quality: int
    video_latency_ms: float
    identity: Identity
    signs: Signs
    commands: Commands

    def __post_init__(self) -> None:
        """Check that every topic is either sent at a rate or blocked.

        Raises
        ------
        ValueError
            If a topic is unknown, missing, or both; if a number is out of range.
        """
        for name in (*self.rates, *self.blocked):
            if name not in (*TELEMETRY, "track"):
                message = f"unknown topic '{name}'; the topics are {', '.join((*TELEMETRY, 'track'))}"
                raise ValueError(message)
        for name in TELEMETRY:
            if (name in self.rates) == (name in self.blocked):
                message = f"topic '{name}' must either have a rate or be blocked"
                raise ValueError(message)
        if any(rate <= 0.0 for rate in self.rates.values()):
            message = "rates must be positive"
            raise ValueError(message)
        if not 1 <= self.jpeg_quality <= 100:
            message = f"jpeg_quality must be from 1 to 100, not {self.jpeg_quality}"
            raise ValueError(message)

    @property
    def ack_delay_ns(self) -> Nanos:
        """From a command's arrival to COMMAND_ACK."""
        return round(self.ack_delay_ms * NS_PER_MS)

    @property
    def video_latency_ns(self) -> Nanos:
        """From exposure to arrival: what a pilot assumes where TIMESYNC was never answered."""
        return round(self.video_latency_ms * NS_PER_MS)

    def topic_rates(self) -> dict[str, Fraction]:
        """Return the exact rates (Hz) of the topics that this build streams."""
        return {name: exact_rate(rate) for name, rate in self.rates.items()}

    def sends(self, topic: str) -> bool:
        """Say whether this build sends `topic` at all."""
        return topic in TOPICS and topic not in self.blocked


def profile_names() -> tuple[str, ...]:
    """Return the names of all build profiles, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_profile(name: str) -> BuildProfile:
    """Return the build profile called `name`.

    Raises
    ------
    ConfigError
        If there is none of that name; the text lists the valid ones.
    """
    if name not in profile_names():
        message = f"no build profile '{name}': choose {', '.join(profile_names())}"
        raise ConfigError(message)
    return load(BuildProfile, _FOLDER / f"{name}.toml")
