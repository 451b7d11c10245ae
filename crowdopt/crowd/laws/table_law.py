"""A smoothed table of joint votes: ``P(x) = mean over gold items i of prod_j [(1 - l) 1(x_j = r_ij) + l P_j(x_j)]``.

Each worker repeats their vote on an item drawn from gold, and with chance l draws one by their own accuracy: l = 1 is
independence. A worker who was not asked on the item draws by their accuracy.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.laws.coin_laws import TABLE, TINY, CoinLaw, LawParams, independent_law


def table_law(right: Ints, params: LawParams | None = None) -> CoinLaw:
    """The table with the l under which each item is likeliest by the table of all others; right as in coin_laws."""
    settings = params or LawParams()
    alone = independent_law(right, settings).accuracy[0]
    patterns, count = np.unique(right, axis=0, return_counts=True)
    fits = [_smoothed(patterns, count, alone, float(redrawn)) for redrawn in settings.redrawn]
    return max(fits, key=lambda law: _left_out(law, patterns, count))


def _smoothed(patterns: Ints, count: Ints, alone: Floats, redrawn: float) -> CoinLaw:
    repeated = np.where(patterns < 0, alone, (1 - redrawn) * patterns + redrawn * alone)
    return CoinLaw(TABLE, count / count.sum(), repeated)


def _left_out(law: CoinLaw, patterns: Ints, count: Ints) -> float:
    """Log-likelihood of the items, each by the table of all others."""
    total = int(count.sum())
    own = np.where(patterns < 0, 1.0, np.where(patterns == 1, law.accuracy, 1 - law.accuracy)).prod(axis=1)
    others = (total * np.exp(law.log_chance(patterns)) - own) / (total - 1)
    return float(count @ np.log(np.maximum(others, TINY)))
