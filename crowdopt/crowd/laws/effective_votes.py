"""How many independent votes a panel's votes are worth, from gold that several answered, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.gold.error_correlation import error_correlation

PARTS = 20  # of the items; each is left out once
SPREAD = 1.96  # standard deviations on either side of a 95 % interval


@dataclass(frozen=True)
class EffectiveVotes:
    """``n / (1 + (n - 1) rho)``, rho the mean correlation of two workers' errors."""

    workers: int
    votes: float
    low: float
    high: float

    def __str__(self) -> str:
        """In words."""
        interval = f"95 % interval {self.low:.3g} to {self.high:.3g}"
        return f"votes of all {self.workers} are worth {self.votes:.3g} independent ones ({interval})"


def effective_votes(right: Ints) -> EffectiveVotes:
    """Of all workers, by the jackknife over PARTS of items; right (items, workers): 1, 0, or -1: not asked."""
    whole, part = _worth(right), np.arange(len(right)) % min(PARTS, len(right))
    without = np.array([_worth(right[part != k]) for k in range(part.max() + 1)])
    count, n = without.size, right.shape[1]
    reach = SPREAD * float(np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum()))
    return EffectiveVotes(n, whole, max(1.0, whole - reach), min(float(n), whole + reach))


def _worth(right: Ints) -> float:
    item, worker = np.nonzero(right >= 0)
    n = right.shape[1]
    return error_correlation(item, worker, right[item, worker] == 0, n).effective_votes(np.arange(n))
