"""Stage budgets: how long each stage of a run took, against what it was allowed.

Durations are *given*; nothing here reads a clock. A `Budget` is made with every stage it will
report, so a stage nobody measured is visible as zero samples rather than missing. Percentiles come
from a fixed logarithmic histogram (1 us to 100 s, 2 % bins), so memory stays bounded.
"""

import math
from dataclasses import dataclass, field

from racewire.core.clock import NS_PER_MS, Nanos

_FLOOR_NS = 1_000
_RATIO = math.log(1.02)
_BINS = 932  # 1 us * 1.02**931 = 101 s


@dataclass(slots=True)
class Stage:
    """The accumulated durations of one stage. Times in nanoseconds."""

    limit_ns: Nanos
    samples: int = 0
    misses: int = 0
    last_ns: Nanos = 0
    worst_ns: Nanos = 0
    total_ns: Nanos = 0
    _histogram: list[int] = field(default_factory=lambda: [0] * _BINS)

    def add(self, duration_ns: Nanos) -> None:
        """Count one run of the stage."""
        self.samples += 1
        self.last_ns = duration_ns
        self.total_ns += duration_ns
        self.worst_ns = max(self.worst_ns, duration_ns)
        self.misses += duration_ns > self.limit_ns
        bin_index = 0 if duration_ns <= _FLOOR_NS else int(math.log(duration_ns / _FLOOR_NS) / _RATIO)
        self._histogram[min(bin_index, _BINS - 1)] += 1

    @property
    def mean_ns(self) -> float:
        """Mean duration, 0 before the first sample."""
        return self.total_ns / self.samples if self.samples else 0.0

    def percentile_ns(self, percent: float) -> float:
        """Return the duration that `percent` of the samples stay within, to 2 %."""
        wanted = self.samples * percent / 100.0
        seen = 0
        for index, count in enumerate(self._histogram):
            seen += count
            if count and seen >= wanted:
                return min(_FLOOR_NS * math.exp((index + 1) * _RATIO), float(self.worst_ns))
        return 0.0

    def report(self) -> dict[str, float]:
        """Return the stage's figures: milliseconds, and counts."""
        return {
            "samples": self.samples,
            "last": self.last_ns / NS_PER_MS,
            "mean": self.mean_ns / NS_PER_MS,
            "p99": self.percentile_ns(99.0) / NS_PER_MS,
            "worst": self.worst_ns / NS_PER_MS,
            "limit": self.limit_ns / NS_PER_MS,
            "misses": self.misses,
        }


class Budget:
    """The stages of a run, each with its limit."""

    def __init__(self, limits_ms: dict[str, float]) -> None:
        """Make one stage per entry of `limits_ms` (name to limit in milliseconds)."""
        self.stages = {name: Stage(round(limit * NS_PER_MS)) for name, limit in limits_ms.items()}

    def add(self, name: str, duration_ns: Nanos) -> None:
        """Count one run of stage `name`.

        Raises
        ------
        KeyError
            If the budget was made without that stage.
        """
        self.stages[name].add(duration_ns)

    def report(self) -> dict[str, dict[str, float]]:
        """Return the figures of every configured stage, measured or not."""
        return {name: stage.report() for name, stage in self.stages.items()}
