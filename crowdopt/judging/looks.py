"""The share of each class, corrected by what humans say on either side of a judge's verdict; how much more to look at.

Of the N_l items on which the judge says l some are looked at by humans. As an audit's, the bounds are those of a draw
without replacement: exact, whatever the judge is, if those looked at on each side were drawn at random from that side.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowdopt.answers.audit.bound import most_left
from crowdopt.arrays import Floats, Ints

left_at_most = lru_cache(maxsize=100_000)(most_left)  # with many classes most counts are none, and alike


class ClassShares(NamedTuple):
    """Shares of the classes among all items that a judge voted on, (classes,) each."""

    said: Floats
    corrected: Floats  # ``sum_l N_l p_kl / N``, p_kl the share of class k among those looked at on side l
    low: Floats
    high: Floats


def class_shares(said: Ints, table: Ints, delta: float) -> ClassShares:
    """Corrected shares; said (classes,): N_l; table (true classes, verdicts): what humans say of those looked at.

    Each class's interval misses with chance ``delta`` at most: it is the sum of hypergeometric bounds, side by side.
    """
    total, looked = max(1, int(said.sum())), table.sum(axis=0)
    low, high = _bounds(said, table, delta)
    # of a side on which nobody looked the judge is taken at its word
    rate = np.where(looked > 0, table / np.maximum(looked, 1), np.eye(len(table)))
    return ClassShares(said / total, np.clip(rate @ said / total, low, high), low, high)


def _bounds(said: Ints, table: Ints, delta: float) -> tuple[Floats, Floats]:
    """Least and largest share of each class, (classes,)."""
    sides, total = int((said > 0).sum()), max(1, int(said.sum()))
    low, high = np.zeros((2, len(table)))
    for size, column in zip(said.tolist(), table.T.tolist(), strict=True):
        looked = sum(column)
        for k, hits in enumerate(column):
            if size:
                chance = delta / 2 / sides
                most = hits + left_at_most(size, looked, hits, chance) if looked else size
                least = (
                    hits + max(0, size - looked - left_at_most(size, looked, looked - hits, chance)) if looked else 0
                )
                low[k], high[k] = low[k] + least, high[k] + most
    return low / total, high / total


def looks_for(width: float, said: Ints, table: Ints, delta: float) -> Ints:
    """How many more items to look at on each side, (classes,), for intervals of at most this width, it is expected.

    Sides get what they need in proportion to ``N_l sqrt(p_l (1 - p_l))``, p_l the share on which humans disagree there
    (Neyman's allocation; for judges arXiv 2511.21140), what was looked at counted in; all, if nothing less will do.
    """
    looked = table.sum(axis=0)
    rate = (table + 1) / (looked + len(table))  # of each class on each side
    place = np.arange(len(table))
    wrong = 1 - rate[place, place]
    worth = said * np.sqrt(wrong * (1 - wrong))

    def allotted(total: int) -> Ints:
        sizes = np.minimum(said, np.maximum(looked, np.ceil(total * worth / max(float(worth.sum()), 1e-300))))
        return sizes.astype(np.int64)

    def narrow(total: int) -> bool:
        sizes = allotted(total)
        expected = np.floor(rate * sizes).astype(np.int64)
        expected[place, place] += sizes - expected.sum(axis=0)
        low, high = _bounds(said, expected, delta)
        return bool((high - low).max() <= width)

    least, most = 0, int(said.sum()) * max(2, len(said))
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if narrow(middle) else (middle + 1, most)
    return allotted(least) - looked
