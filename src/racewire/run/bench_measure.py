"""What a measurement is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """How to measure some figures at once: unit and bar by name, and the call that takes one sample.

    A `long` measure has many samples inside one run, and is not repeated.
    """

    figures: Mapping[str, tuple[str, str]]
    sample: Callable[[], Mapping[str, float]]
    long: bool = False

    def times(self, repeats: int) -> int:
        """Return how often to take it when `repeats` are asked for."""
        return 1 if self.long else repeats
