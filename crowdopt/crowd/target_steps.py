"""Error targets on a ladder of steps, so that proofs need not tell a thousand of them apart."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats

STEPS = 32  # for each factor of two
TOLD_APART = 8  # different targets that are told apart as they are


def stepped_up(target: Floats) -> Floats:
    """``2^(ceil(32 log2 epsilon) / 32)``: the next step, at most 2.2 % above; none is below its target.

    Parameters
    ----------
    target : array of float
        Targets above 0.

    Returns
    -------
    array of float
        Of the same shape.
    """
    steps: Floats = np.exp2(np.ceil(STEPS * np.log2(target)) / STEPS)
    return np.maximum(steps, target)
