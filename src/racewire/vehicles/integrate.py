"""Sub-stepping: how many equal steps a stretch of time is divided into.

Seconds. An integrator has a longest step it is trusted with (`dt_max`: accuracy, and stability of its
fastest lag); a longer stretch is cut into equal parts, so that no odd remainder is left at its end.
"""

import math

from racewire.core.jit import kernel

_SLACK = 1e-9  # 10 ms in steps of 1 ms are ten, whatever the last bit of the quotient says


@kernel
def plan_substeps(dt: float, dt_max: float) -> int:
    """Return the least n >= 1 for which dt / n is at most `dt_max`, to one part in 1e9."""
    return max(1, math.ceil(dt / dt_max - _SLACK))
