"""Build profiles: what one build of the AIGP simulator sends, drops and means, as data.

The files in `profiles/` are the profiles; a profile's name is its file's. Each says where its build
differs from `builds.toml`, which holds what all builds share. A file of one's own does the same, or
begins with `like = "3385-vq2"` to differ from that build. Where the original is not known, the value is
a named key with the proposed default. Source: spec aigp.md, sections 1, 2 and 7.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from racewire.core.clock import NS_PER_MS, Nanos, exact_rate
from racewire.core.config import parse, read_toml
from racewire.core.errors import ConfigError
from racewire.core.topics import TOPICS
from racewire.wires.commands import Commands
from racewire.wires.signs import Signs
from racewire.wires.vehicle_config import VehicleConfig

_SHARED = Path(__file__).with_name("builds.toml")
_FOLDER = Path(__file__).parent / "profiles"

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

TRACKS = ("sent", "nulled", "absent")
"""The track burst: as it is; with every record zero; not sent."""

OFF_RACE = ("paused", "runs")
"""What physics does while no race is on."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildProfile:
    """One build. `rates` in Hz by topic; `blocked` topics are never sent, whatever their rate.

    Each video frame is sent `video_copies` times on average, spread over the frame period. Every
    `duplicate_every`-th telemetry packet is sent twice, with a new sequence number; 0 for none.
    """

    rates: dict[str, float]
    blocked: tuple[str, ...]
    track: str
    off_race: str
    ack_delay_ms: float
    jpeg_quality: int
    video_latency_ms: float
    video_copies: float
    duplicate_every: int
    identity: Identity
    signs: Signs
    commands: Commands
    vehicle: VehicleConfig | None = None
    """What general MAVLink tools are told, where the build answers them."""

    def __post_init__(self) -> None:
        """Check that every topic has a rate or is blocked.

        Raises
        ------
        ValueError
            If a topic is unknown or missing, a number out of range, or a choice none of its list.
        """
        for name in (*self.rates, *self.blocked):
            if name not in TELEMETRY:
                message = f"unknown topic '{name}'; the topics are {', '.join(TELEMETRY)}"
                raise ValueError(message)
        for name in TELEMETRY:
            if name not in self.rates and name not in self.blocked:
                message = f"topic '{name}' must have a rate or be blocked"
                raise ValueError(message)
        if any(rate <= 0.0 for rate in self.rates.values()):
            message = "rates must be positive"
            raise ValueError(message)
        for name, value, choices in (("track", self.track, TRACKS), ("off_race", self.off_race, OFF_RACE)):
            if value not in choices:
                message = f"{name}: '{value}' is not one of {choices}"
                raise ValueError(message)
        if not 1 <= self.jpeg_quality <= 100:
            message = f"jpeg_quality must be from 1 to 100, not {self.jpeg_quality}"
            raise ValueError(message)
        if not 1.0 <= self.video_copies <= 100.0:
            message = f"video_copies must be from 1 to 100, not {self.video_copies}"
            raise ValueError(message)
        if self.duplicate_every < 0:
            message = "duplicate_every must not be negative"
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
        return {name: exact_rate(rate) for name, rate in self.rates.items() if name not in self.blocked}

    def sends(self, topic: str) -> bool:
        """Say whether this build sends `topic` at all."""
        if topic == "track":
            return self.track != "absent"
        return topic in TOPICS and topic not in self.blocked


def profile_names() -> tuple[str, ...]:
    """Return the names of all build profiles, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_profile(name_or_path: str) -> BuildProfile:
    """Return the build profile of that name, or the one in that TOML file.

    Raises
    ------
    ConfigError
        If there is none (the text lists the names), or it does not fit.
    """
    if name_or_path in profile_names():
        path = _FOLDER / f"{name_or_path}.toml"
    elif name_or_path.endswith(".toml"):
        path = Path(name_or_path)
    else:
        raise _unknown(name_or_path)
    return parse(BuildProfile, _table(path), str(path))


def _table(path: Path) -> dict[str, Any]:
    """Return the keys of a profile file, over those it is like or those that all builds share."""
    own = read_toml(path)
    like = own.pop("like", None)
    if like is None:
        return _over(read_toml(_SHARED), own)
    if like not in profile_names():
        raise _unknown(like)
    return _over(_table(_FOLDER / f"{like}.toml"), own)


def _over(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the values of `own`; tables are joined key by key, lists are replaced."""
    merged = dict(base)
    for key, value in own.items():
        below = merged.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[key] = _over(cast("dict[str, Any]", below), cast("dict[str, Any]", value))
        else:
            merged[key] = value
    return merged


def _unknown(name: object) -> ConfigError:
    return ConfigError(f"no build profile '{name}': choose {', '.join(profile_names())} or a .toml file")
