"""Grey blocks beside a course, from a random generator: pillars, slabs and hanging boxes.

Scenery only: it gives the camera something to see and the careless something to hit, and it keeps
its distance from the line through the gates. NED, metres.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from racewire.core.frames import Ned, Vec
from racewire.world.layout import Block

SAMPLE = 0.5
"""Spacing of the points at which the distance to the line is measured, m."""

Sizes = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
"""Least and greatest edge of a block along its own two level axes and in height, m."""

KINDS: tuple[Sizes, ...] = (
    ((2.0, 4.0), (2.0, 4.0), (10.0, 20.0)),
    ((6.0, 14.0), (4.0, 9.0), (2.0, 5.0)),
    ((3.0, 6.0), (3.0, 6.0), (3.0, 6.0)),
)
"""Pillars, slabs, boxes: taken in turn."""


def scatter(
    rng: np.random.Generator,
    line: Sequence[Vec[Ned]],
    count: int,
    clearance: float,
    reach: float,
    floor: float,
) -> tuple[Block, ...]:
    """Return up to `count` blocks near `line` and above `floor`.

    Parameters
    ----------
    rng
        Source of every choice.
    line
        Points of the course line, in order; it is followed in straight legs.
    count
        How many blocks to try to place; a place that is too near to the line is given up.
    clearance
        Least distance between a block and the line, m.
    reach
        Greatest distance of a block's nearest side to the leg it stands by, to each side, m.
    floor
        D of the ground.
    """
    points = _sampled(line)
    blocks: list[Block] = []
    for i in range(count):
        (ax, bx), (ay, by), (az, bz) = KINDS[i % len(KINDS)]
        size: Vec[Ned] = Vec(*(round(float(rng.uniform(a, b)), 1) for a, b in ((ax, bx), (ay, by), (az, bz))))
        k = int(rng.integers(1, len(points)))
        at = points[k]
        along = at - points[k - 1]
        level = max(math.hypot(float(along[0]), float(along[1])), 1e-9)
        aside = (1.0 if i % 2 else -1.0) * (clearance + 0.5 * size.y + float(rng.uniform(0.0, reach)))
        down = float(at[2]) + float(rng.uniform(-9.0, 9.0))
        centre: Vec[Ned] = Vec(
            round(float(at[0]) - aside * float(along[1]) / level, 1),
            round(float(at[1]) + aside * float(along[0]) / level, 1),
            round(min(down, floor - 0.5 * size.z), 1),
        )
        block = Block(centre, size, 0.0)
        if distance_to_line(block, points) >= clearance:
            blocks.append(block)
    return tuple(blocks)


def distance_to_line(block: Block, points: NDArray[np.float64]) -> float:
    """Return the least distance of `points`, shape (n, 3), to the block; negative inside it."""
    away = block.pose.rotation.inverse().matrix() @ (points - block.centre.array()).T
    over = np.abs(away) - 0.5 * block.size.array()[:, None]
    outside = np.linalg.norm(np.maximum(over, 0.0), axis=0)
    inside = np.minimum(over.max(axis=0), 0.0)
    return float((outside + inside).min())


def _sampled(line: Sequence[Vec[Ned]]) -> NDArray[np.float64]:
    legs: list[NDArray[np.float64]] = []
    for a, b in itertools.pairwise(line):
        steps = max(2, int((b - a).norm() / SAMPLE) + 1)
        legs.append(a.array() + np.linspace(0.0, 1.0, steps)[:, None] * (b - a).array())
    return np.concatenate(legs)
