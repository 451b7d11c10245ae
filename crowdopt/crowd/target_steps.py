"""Error targets on a ladder of steps, so that proofs need not tell a thousand of them apart."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats

STEPS = 32  # for each factor of two
ON_A_STEP = 1e-9  # of a step; a target this little above one is on it, whatever its last bits are
TOLD_APART = 8  # different targets that are told apart as they are


def stepped_up(target: Floats) -> Floats:
    """``2^(ceil(32 log2 epsilon) / 32)``: the next step, at most 2.2 % above; none is below its target."""
    step = np.ceil(STEPS * np.log2(target) - ON_A_STEP)
    steps: Floats = np.exp2(step / STEPS)
    return np.maximum(steps, target)
