"""Named random streams from one run seed.

`stream(seed, "imu/0/gyro")` gives an independent generator per name, so adding a sensor changes
nobody else's noise. The name is hashed (BLAKE2b) into the entropy of a NumPy `SeedSequence`.
"""

from hashlib import blake2b

import numpy as np


def stream(run_seed: int, name: str) -> np.random.Generator:
    """Return the generator of the stream `name` in the run `run_seed` (any integer >= 0)."""
    digest = blake2b(name.encode(), digest_size=16).digest()
    entropy = [run_seed, *np.frombuffer(digest, np.uint32).tolist()]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))
