"""Votes with a confidence, cut in two: a sure one tells more than an unsure one, and each is an outcome of its own.

On gold the cut lies where more of the sure ones are right and what was right is likeliest. Gold that was held back
decides whether there is one, and each gold verdict counts as the others' cut has it. Three bins would save a little
more and err more than they say, as plans lean on what looks best.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from crowdopt.arrays import Bools, Floats, Ints

FEWEST = 20  # gold verdicts on either side
FOLDS = 5
NEVER_TRUE = 1e-9  # prior of an outcome that is no class


def unsure(label: str) -> str:
    """What a verdict below the cut is called."""
    return f"{label}?"


def best_cut(confidence: Floats, right: Bools) -> float:
    """From which confidence on a verdict is sure: more of those are right, and what was right is likeliest.

    -inf where no cut leaves so many on both sides.
    """
    value, place = np.unique(confidence, return_inverse=True)
    asked, hits = np.bincount(place), np.bincount(place, right)
    below, right_below = np.cumsum(asked)[:-1], np.cumsum(hits)[:-1]
    above, right_above = asked.sum() - below, hits.sum() - right_below
    likely = _log_likelihood(below, right_below) + _log_likelihood(above, right_above)
    rises = right_below * above < right_above * below
    fine = np.flatnonzero(rises & (np.minimum(below, above) >= FEWEST))
    return float(value[1:][fine[likely[fine].argmax()]]) if fine.size else -np.inf


def _log_likelihood(of: Ints, right: Ints) -> Floats:
    return np.asarray(xlogy(right, right / of) + xlogy(of - right, 1 - right / of), np.float64)


def cut(confidence: Floats, right: Bools) -> tuple[float, Ints]:
    """A judge's cut by all gold verdicts, and which of these are unsure by the cut of the others, (verdicts,) of 0, 1.

    There is none, -inf, where one share of right verdicts foretells gold that is held back as well as two.
    """
    fold = np.random.default_rng(0).permutation(right.size) % FOLDS  # items may come in an order that tells something
    own, loss = np.zeros(right.size, np.int64), np.zeros(2)
    for part in range(min(FOLDS, right.size - 1)):
        held, kept = fold == part, fold != part
        own[held] = confidence[held] < (at := best_cut(confidence[kept], right[kept]))
        for sides, (new, seen) in enumerate(((0 * own, 0 * own), (own, confidence < at))):
            asked, hits = (np.bincount(seen[kept], by, 2) for by in (None, right[kept]))
            chance = ((hits + 1) / (asked + 2))[new[held]]
            loss[sides] -= np.log(np.where(right[held], chance, 1 - chance)).sum()
    if loss[1] >= loss[0]:
        return -np.inf, np.zeros(right.size, np.int64)
    return best_cut(confidence, right), own
