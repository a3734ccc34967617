"""Links: what happens to a datagram between two ends.

A `SimulatedLink` decides, from named random streams, when each datagram arrives: fixed latency,
uniform jitter, independent loss and duplication, and reordering (a datagram held back so that later
ones overtake it; without it, jitter keeps the order). Real sockets are in `run/sockets.py`.
"""

from dataclasses import dataclass

from racewire.core.clock import Nanos, nanos
from racewire.core.seeds import stream

_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class LinkConfig:
    """One direction of one channel."""

    latency_ms: float = 0.0
    """Least time a datagram takes, ms."""
    jitter_ms: float = 0.0
    """Largest further time, uniformly drawn, ms."""
    loss: float = 0.0
    """Probability that a datagram is lost."""
    duplicate: float = 0.0
    """Probability that it arrives twice."""
    reorder: float = 0.0
    """Probability that it is held back, so that later ones overtake it."""
    reorder_hold_ms: float = 5.0
    """How long it is held back, ms."""

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises
        ------
        ValueError
            If a probability is outside 0..1 or a time is negative.
        """
        for name in ("loss", "duplicate", "reorder"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be a probability, 0 to 1, not {getattr(self, name)}")
        for name in ("latency_ms", "jitter_ms", "reorder_hold_ms"):
            if getattr(self, name) < 0.0:
                raise ValueError(f"{name} must not be negative, not {getattr(self, name)}")


class SimulatedLink:
    """One direction of one channel."""

    def __init__(self, config: LinkConfig, run_seed: int, name: str) -> None:
        """Draw from the stream `link/<name>` of run `run_seed`."""
        self._config = config
        self._latency = nanos(config.latency_ms / 1e3)
        self._jitter_s = config.jitter_ms / 1e3
        self._hold = nanos(config.reorder_hold_ms / 1e3)
        self._random = stream(run_seed, f"link/{name}")
        self._draws: list[float] = []
        self._last = 0
        self.sent = 0
        self.lost = 0

    def arrivals(self, now: Nanos) -> list[Nanos]:
        """Return when a datagram sent at `now` arrives: never, once, or twice."""
        c = self._config
        self.sent += 1
        lost, twice, held = self._draw() < c.loss, self._draw() < c.duplicate, self._draw() < c.reorder
        jitter = nanos(self._jitter_s * self._draw())
        if lost:
            self.lost += 1
            return []
        at = now + self._latency + jitter
        if held:
            at += self._hold
        else:
            at = self._last = max(at, self._last)
        return [at, at] if twice else [at]

    def _draw(self) -> float:
        if not self._draws:
            self._draws = self._random.random(_BLOCK).tolist()
        return self._draws.pop()
