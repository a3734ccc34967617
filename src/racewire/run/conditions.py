"""The conditions of a run: sensor noise, links and declared compute times, as one frozen tree.

`clean` is the original simulator's: no noise, nothing lost, no latency but the declared compute.
`default` is `defaults.toml` beside this file, what `racewire race` flies in.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from racewire.core.clock import NS_PER_MS, Nanos
from racewire.core.config import load
from racewire.run.link import LinkConfig, SimulatedLink
from racewire.sensors.imu import ImuNoise

_DEFAULTS = Path(__file__).with_name("defaults.toml")


@dataclass(frozen=True, slots=True)
class Links:
    """The links: video and telemetry towards the pilot, command towards the simulator."""

    video: LinkConfig = LinkConfig()
    telemetry: LinkConfig = LinkConfig()
    command: LinkConfig = LinkConfig()


@dataclass(frozen=True, slots=True)
class Frames:
    """Loss of whole camera frames, as a probability."""

    loss: float = 0.0

    def __post_init__(self) -> None:
        """Check the range.

        Raises
        ------
        ValueError
            If `loss` is not a probability.
        """
        if not 0.0 <= self.loss <= 1.0:
            raise ValueError(f"loss must be a probability, 0 to 1, not {self.loss}")


@dataclass(frozen=True, slots=True)
class Compute:
    """Declared compute times of lockstep, ms."""

    camera_ms: float = 0.0
    vision_ms: float = 5.0

    @property
    def camera_ns(self) -> Nanos:
        """Exposure to the frame being sent."""
        return round(self.camera_ms * NS_PER_MS)

    @property
    def vision_ns(self) -> Nanos:
        """Frame received to the pilot having looked at it."""
        return round(self.vision_ms * NS_PER_MS)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Everything that is not the course, the build, the vehicle or the pilot."""

    imu: ImuNoise = ImuNoise()
    links: Links = field(default_factory=Links)
    frames: Frames = Frames()
    compute: Compute = Compute()


def load_conditions(name: str | None) -> Conditions:
    """Return the default conditions (None), the clean ones ("none"), or those of a TOML file.

    Raises
    ------
    ConfigError
        If the file cannot be read or does not fit.
    """
    if name == "none":
        return Conditions()
    return load(Conditions, _DEFAULTS if name is None else Path(name))


def simulated_links(
    conditions: Conditions, channels: Iterable[str], run_seed: int
) -> tuple[dict[str, SimulatedLink], dict[str, SimulatedLink]]:
    """Return the links of each channel towards the pilot, and towards the simulator."""
    links = conditions.links
    down: dict[str, SimulatedLink] = {}
    up: dict[str, SimulatedLink] = {}
    for name in channels:
        config = links.video if name == "video" else links.telemetry
        down[name] = SimulatedLink(config, run_seed, f"down/{name}")
        up[name] = SimulatedLink(links.command, run_seed, f"up/{name}")
    return down, up
