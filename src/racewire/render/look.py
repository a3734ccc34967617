"""A look: the colours, patterns and sizes of everything drawn, as data.

Colours are (red, green, blue), 0 to 255; lengths in m. A surface has a dark and a light colour and a
pattern that mixes them; farther than `fade` it sinks into its haze as fade / distance.
"""

from dataclasses import dataclass
from pathlib import Path

from racewire.core.config import load
from racewire.core.errors import ConfigError
from racewire.render import LOOKS

Colour = tuple[float, float, float]
"""(red, green, blue), 0 to 255."""


@dataclass(frozen=True, slots=True)
class GridLook:
    """The planes below and above the flight volume: lines every `spacing`, out to `reach`."""

    ground: Colour
    line: Colour
    haze: Colour
    fade: float
    spacing: float
    line_width: float
    ceiling: float
    """Height of the upper plane above the flight volume."""
    reach: float


@dataclass(frozen=True, slots=True)
class BlockLook:
    """The grey buildings; `top`, `bottom`, `north`, `east` are the brightness of a block's sides."""

    dark: Colour
    light: Colour
    haze: Colour
    fade: float
    tile: float
    top: float
    bottom: float
    north: float
    east: float


@dataclass(frozen=True, slots=True)
class GateLook:
    """The gates, which glow by themselves and so never fade; brightness of the three kinds of side."""

    dark: Colour
    light: Colour
    face: float
    inside: float
    outside: float


@dataclass(frozen=True, slots=True)
class PadLook:
    """The ramp under the vehicle, and a level block ahead of it and below, which stands for its building."""

    dark: Colour
    light: Colour
    haze: Colour
    fade: float
    tile: float
    base: tuple[float, float, float]
    """Length, width, depth."""
    base_ahead: float
    """How far the base's middle lies ahead of the vehicle."""
    base_below: float
    """How far the base's top lies below the vehicle."""


@dataclass(frozen=True, slots=True)
class RibbonLook:
    """The light that runs through the next `legs` gates: a sheet with raised, bright borders."""

    sheet: Colour
    line: Colour
    half_width: float
    """Half the width in an opening,"""
    wide: float
    """and between two of them."""
    rise: float
    """How far the borders stand above the middle."""
    drop: float
    """How far the sheet passes below the middle of an opening,"""
    low: float
    """and below the way between two of them."""
    line_width: float
    """Width of a border's line, as a part of the half width."""
    dim: float
    """What is left of the line's light in front of a gate."""
    steps: int
    """Pieces from one gate to the next."""
    legs: int
    near: float
    """Nearer than this it is invisible,"""
    full: float
    """and from here on it has its full brightness."""


@dataclass(frozen=True, slots=True)
class Look:
    """Everything a scene needs besides the course."""

    grid: GridLook
    block: BlockLook
    gate: GateLook
    pad: PadLook
    ribbon: RibbonLook


def load_look(name: str) -> Look:
    """Read the look registered as `name`.

    Raises
    ------
    ConfigError
        If there is no such look.
    """
    if name not in LOOKS:
        message = f"look '{name}': there is none of that name, only {', '.join(sorted(LOOKS))}"
        raise ConfigError(message)
    return load(Look, Path(__file__).parent / "data" / LOOKS[name])
