"""The conditions of a run: noise, links, faults and declared compute times, as one frozen tree.

`docs/faults.md` lists every key. `clean` is the original simulator's: no noise, nothing lost, no
latency but the declared compute.
`default` is `defaults.toml` beside this file, what `racewire race` flies in.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from racewire.core.clock import NS_PER_MS, Nanos, nanos
from racewire.core.config import load
from racewire.run.link import LinkConfig, SimulatedLink
from racewire.sensors.imu import ImuNoise
from racewire.sim.faults import Mishaps, MotorLoss, SlowTelemetry, Wind, WorldFaults

_DEFAULTS = Path(__file__).with_name("defaults.toml")


@dataclass(frozen=True, slots=True)
class Links:
    """The links: video and telemetry towards the pilot, command towards the simulator."""

    video: LinkConfig = LinkConfig()
    """Camera frames' datagrams towards the pilot."""
    telemetry: LinkConfig = LinkConfig()
    """Everything else towards the pilot."""
    command: LinkConfig = LinkConfig()
    """Everything towards the simulator."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Loss of camera frames."""

    loss: float = 0.0
    """Probability that a whole frame is lost."""
    no_start: float = 0.0
    """Probability that the video of a run never starts."""

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises
        ------
        ValueError
            If one is not a probability.
        """
        for name in ("loss", "no_start"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be a probability, 0 to 1, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class ClockStep:
    """A step of the simulator's UNIX clock, which TIMESYNC and the video stamps show."""

    after_boot_s: float
    """When, s after boot."""
    by_ms: float
    """By how much, ms, within 10^9; negative is back."""

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises
        ------
        ValueError
            If it comes before boot, or is longer than 10^9 ms.
        """
        if self.after_boot_s < 0.0:
            raise ValueError(f"after_boot_s must not be negative, not {self.after_boot_s}")
        if abs(self.by_ms) > 1e9:
            raise ValueError(f"by_ms must be within +-1e9, not {self.by_ms}")


@dataclass(frozen=True, slots=True)
class Clock:
    """The simulator's UNIX clock; the boot clock never steps."""

    steps: tuple[ClockStep, ...] = ()
    """One table `[[clock.steps]]` each."""

    def steps_ns(self) -> tuple[tuple[Nanos, Nanos], ...]:
        """Return (boot time, by how much) of each step, ns."""
        return tuple((nanos(step.after_boot_s), round(step.by_ms * NS_PER_MS)) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Compute:
    """Declared compute times of lockstep, ms."""

    camera_ms: float = 0.0
    """Exposure to the frame being sent, ms."""
    vision_ms: float = 5.0
    """Frame received to the pilot having looked at it, ms."""

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises
        ------
        ValueError
            If a number is negative.
        """
        for name in ("camera_ms", "vision_ms"):
            if getattr(self, name) < 0.0:
                raise ValueError(f"{name} must not be negative, not {getattr(self, name)}")

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
    wind: Wind = Wind()
    motor: MotorLoss = MotorLoss()
    telemetry: SlowTelemetry = SlowTelemetry()
    mishaps: Mishaps = Mishaps()
    clock: Clock = Clock()

    @property
    def world(self) -> WorldFaults:
        """What goes wrong in the simulated world itself."""
        return WorldFaults(self.wind, self.motor, self.telemetry, self.mishaps)


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
