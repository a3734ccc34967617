"""A pure delay of a command, kept inside a vehicle's state vector.

A delay line is a block of the vector: when the oldest waiting entry is due, how many entries were
pushed, how many have taken effect, then a ring of entries, each a stamp and its values. Times are whole
nanoseconds on the vehicle's own clock, held as float64 (exact for 100 days), and only a *changed* command
makes an entry. So nothing is rounded to a physics tick: the vehicle ends a step where the next entry
takes effect, and the delay is exact for any step length, constant or not.

The ring is finite: an entry that comes less than 1/15 of the delay after its predecessor (1 ms of
15 ms) is merged into it and then acts early by less than that. Steps no shorter than this never merge.
"""

import math

import numpy as np
from numpy.typing import NDArray

from racewire.core.jit import kernel

SLOTS = 16
"""Entries in the ring."""

_DUE = 0
_PUSHED = 1
_READ = 2
_RING = 3


def line_size(width: int) -> int:
    """Return the length of a delay line whose entries have `width` values."""
    return _RING + SLOTS * (1 + width)


def empty_line(values: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the block of a line in which `values` have been in effect for ever."""
    block = np.zeros(line_size(len(values)))
    block[_DUE] = np.inf
    block[_PUSHED] = block[_READ] = 1.0
    block[_RING] = -np.inf
    block[_RING + 1 : _RING + 1 + len(values)] = values
    return block


@kernel
def due(vector: NDArray[np.float64], base: int) -> float:
    """Return when the oldest waiting entry takes effect (ns), infinity if none waits."""
    return vector[base + _DUE]


@kernel
def push(
    vector: NDArray[np.float64], base: int, now_ns: float, delay_ns: float, values: tuple[float, ...]
) -> None:
    """Append `values`, commanded from `now_ns` on, to the line that starts at `vector[base]`."""
    width = len(values)
    pushed = int(vector[base + _PUSHED])
    slot = base + _RING + (1 + width) * ((pushed - 1) % SLOTS)
    same = True
    for i in range(width):
        same = same and vector[slot + 1 + i] == values[i]
    if same:
        return
    waiting = vector[base + _READ] < pushed
    if not (waiting and (now_ns - vector[slot]) * (SLOTS - 1) < delay_ns):
        slot = base + _RING + (1 + width) * (pushed % SLOTS)
        vector[slot] = now_ns
        vector[base + _PUSHED] = pushed + 1
        if not waiting:
            vector[base + _DUE] = now_ns + delay_ns
    for i in range(width):
        vector[slot + 1 + i] = values[i]


@kernel
def take(vector: NDArray[np.float64], base: int, width: int, delay_ns: float) -> int:
    """Let the oldest waiting entry take effect; return the index of its first value in `vector`."""
    read = int(vector[base + _READ])
    following = read + 1
    vector[base + _READ] = following
    if following < vector[base + _PUSHED]:
        vector[base + _DUE] = vector[base + _RING + (1 + width) * (following % SLOTS)] + delay_ns
    else:
        vector[base + _DUE] = math.inf
    return base + _RING + (1 + width) * (read % SLOTS) + 1
