"""The rules a race is judged by, as data: distances in m, times in s, thrust 0 to 1.

The numbers are in `data/*.toml`, with their source beside them.
"""

from dataclasses import dataclass
from pathlib import Path

from racewire.core.config import load
from racewire.core.errors import ConfigError
from racewire.race import RULES


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts as a pass, an early start and a collision.

    `opening_margin` is taken off every side of the opening before the vehicle's centre is tested.
    """

    countdown_s: float
    opening_margin: float
    early_distance: float
    early_thrust: float
    contact_gap_s: float
    pad_zone: float

    def __post_init__(self) -> None:
        """Refuse rules nobody could race by.

        Raises
        ------
        ValueError
            If a number is negative.
        """
        for name in self.__slots__:
            if not getattr(self, name) >= 0.0:
                message = f"{name}: must not be negative"
                raise ValueError(message)


def load_rules(name_or_path: str = "aigp") -> Rules:
    """Return the rules of that name, or those in that TOML file.

    Raises
    ------
    ConfigError
        If there are none, or the file does not hold rules.
    """
    if name_or_path in RULES:
        return load(Rules, RULES[name_or_path])
    if name_or_path.endswith(".toml"):
        return load(Rules, Path(name_or_path))
    message = f"no rules '{name_or_path}': choose {', '.join(RULES)} or a .toml file"
    raise ConfigError(message)
