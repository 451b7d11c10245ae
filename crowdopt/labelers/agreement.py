"""When agreement with the majority is skill: what Liu & Liu (2015, Sections 2.3 and 3.5.3) presume, put right."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.labelers.sets import top_accuracies
from crowdopt.labelers.theorems import HALF, majority_law


def is_large_enough(accuracy: Any) -> bool:
    """Section 2.3: mean skill above 1/2 and ``M > ln 2 / (2 (mean - 1/2)^2)``: then a majority is mostly right."""
    p = np.asarray(accuracy, dtype=np.float64)
    lead = float(p.mean()) - HALF
    return lead > 0 and p.size > log(2) / (2 * lead**2)


def disagreement(accuracy: Any) -> Floats:
    """``P(labeler i differs from the majority of all M, herself among them)``, ties by a fair coin, (M,).

    Printed (12), ``pi(M) + p_i (1 - 2 pi(M))``, treats i as outside of the majority.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    count = p.size
    found = np.empty(count)
    for i in range(count):
        law = majority_law(np.delete(p, i))
        votes = np.arange(count)
        wins_with, wins_without = (_won(2 * (votes + mine) - count) for mine in (1, 0))
        found[i] = p[i] * (law @ (1 - wins_with)) + (1 - p[i]) * (law @ wins_without)
    return found


def _won(lead: Ints) -> Floats:
    return np.where(lead > 0, 1.0, np.where(lead == 0, 0.5, 0.0))


def rivals(accuracy: Any) -> Floats:
    """``r_ij = pi(M minus i and j)``, (M, M), NaN on the diagonal: ``E[Z_i - Z_j] = (2 r_ij - 1)(p_j - p_i)``.

    Where it is below 1/2 the better of two labelers disagrees with the majority more often.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    table = np.full((p.size, p.size), np.nan)
    for i, j in zip(*np.triu_indices(p.size, 1), strict=True):
        rest = np.delete(p, [i, j])
        table[i, j] = table[j, i] = top_accuracies(rest)[-1] if rest.size else HALF
    return table


def ranks_by_agreement(accuracy: Any) -> bool:
    """Whether more agreement with the majority means more skill, for every pair: all ``r_ij > 1/2``."""
    table = rivals(accuracy)
    return bool((table[~np.isnan(table)] > HALF).all())
