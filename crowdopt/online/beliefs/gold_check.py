"""Whether gold bears out what agreement says: a colluding clique, or difficulty that workers share, does not."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.online.beliefs.state import Beliefs

SHRUNK = (0.0, 0.25, 0.5, 0.75)  # what may be left of the skill that agreement shows, 1/K + s (g - 1/K)
HEARD = 1.0  # labels of known correctness from which agreement says anything


def disagreement(beliefs: Beliefs) -> float:
    """``ln mean_s prod_j E[Bin(c_j; 1/K + s (g - 1/K))] / E[Bin(c_j; g)]``, over each worker's density by agreement.

    A Bayes factor, in favour of skills that agreement overstates. Were the beliefs exact its exponential would have
    mean 1 whatever was looked at before: beyond k it is seen with chance 1/k at most.
    """
    came = int(beliefs.came[0])
    asked, right = beliefs.asked[:came], beliefs.right[:came]
    told = (asked > 0) & (beliefs.weight[:came] - asked >= HEARD)
    if not told.any():
        return 0.0
    density = beliefs.prior * beliefs.agreement[:came][told]
    density /= density.sum(axis=1, keepdims=True)
    c, s = right[told][:, None].astype(np.float64), asked[told][:, None].astype(np.float64)
    shown, guess = beliefs.shown, 1 / beliefs.classes
    factors = [
        _gold(density, c, s, np.asarray(guess + left * (shown - guess))) - _gold(density, c, s, shown)
        for left in SHRUNK
    ]
    totals = np.array([factor.sum() for factor in factors])
    return float(np.logaddexp.reduce(totals) - np.log(len(SHRUNK)))


def _gold(density: Floats, right: Floats, asked: Floats, skill: Floats) -> Floats:
    logs = right * np.log(skill) + (asked - right) * np.log1p(-skill)
    top = logs.max(axis=1, keepdims=True)
    return top[:, 0] + np.log((density * np.exp(logs - top)).sum(axis=1))
