"""Shares and agreement beyond chance, each with an interval that holds at any number of items.

An agreement is ``1 - d / e``: d is the chance that two votes on an item differ, e that votes on two items do. Cohen's
kappa, Krippendorff's alpha and Gwet's AC1 differ in e alone, which depends on how often each class is said. Half of the
chance of error goes to d, half to these shares; the interval is all that is possible within both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, xlogy

from crowdopt.arrays import Floats, Ints

DELTA = 0.05  # chance, at most, that an interval misses
HALVINGS = 60


class Estimate(NamedTuple):
    """A figure and its interval; no value where nothing can be told."""

    value: float | None
    low: float
    high: float


NOTHING = Estimate(None, -1.0, 1.0)


def shares(hits: Ints, of: Ints | int, delta: float = DELTA) -> tuple[Floats, Floats]:
    """Clopper and Pearson's interval of binomial chances, (k,) each: it misses with chance ``delta`` at most."""
    x, n = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(of, np.float64))
    low = np.where(x > 0, betaincinv(np.maximum(x, 1), n - x + 1, delta / 2), 0.0)
    high = np.where(x < n, betaincinv(x + 1, np.maximum(n - x, 1), 1 - delta / 2), 1.0)
    return low, high


def means(mean: Floats, items: int, delta: float = DELTA) -> tuple[Floats, Floats]:
    """Interval of the mean of independent values in [0, 1], (k,): where ``items KL(mean | mu) <= ln(2 / delta)``.

    Hoeffding 1963, Theorem 1: the chance of a mean beyond is at most ``exp(-items KL)``, whatever the values' laws.
    """
    x, bar = np.asarray(mean, np.float64), np.log(2 / delta) / max(items, 1)
    ends = []
    for far in (0.0, 1.0):
        inside, outside = x, np.full(x.shape, far)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            with np.errstate(divide="ignore", invalid="ignore"):
                apart = xlogy(x, x / middle) + xlogy(1 - x, (1 - x) / (1 - middle))
            near = apart <= bar
            inside, outside = np.where(near, middle, inside), np.where(near, outside, middle)
        ends.append(outside)
    return ends[0], ends[1]


def pair_agreement(table: Ints, delta: float = DELTA) -> dict[str, Estimate]:
    """Kappa, alpha and AC1 of two who voted on the same items, by the table of their votes, (classes, classes)."""
    n, classes = int(table.sum()), len(table)
    if n < 2 or classes < 2:
        return dict.fromkeys(("kappa", "alpha", "ac1"), NOTHING)
    differ = np.array([n - np.trace(table)])
    least, most = shares(differ, n, delta / 2)
    d = float(differ[0]) / n, float(least[0]), float(most[0])
    said = np.stack([table.sum(axis=1), table.sum(axis=0)])
    # of two classes one share tells the other
    low, high = shares(said, n, delta / 2 / (2 * (classes - (classes == 2))))
    p, q = said / n
    pooled = said.sum(axis=0)
    ends = low.mean(axis=0), high.mean(axis=0)
    return {
        "kappa": _beyond_chance(d, 1 - p @ q, _products(low[0], high[0], low[1], high[1])),
        "alpha": _beyond_chance(d, _apart(pooled), _products(*ends, *ends)),
        "ac1": _beyond_chance(d, _spread((p + q) / 2), _spreads(*ends)),
    }


def panel_agreement(counts: Ints, delta: float = DELTA) -> dict[str, Estimate]:
    """Alpha and AC1 of all votes on items, (items, classes); those with one vote tell shares alone, as votes may miss.

    Krippendorff weighs an item by its votes, Gwet all alike. Items are independent, their votes need not be.
    """
    votes = counts.sum(axis=1)
    several = counts[votes > 1]
    if len(several) < 2 or counts.shape[1] < 2:
        return dict.fromkeys(("alpha", "ac1"), NOTHING)
    found, size = {}, several.sum(axis=1, keepdims=True)
    differ = 1 - (several * (several - 1)).sum(axis=1) / (size * (size - 1))[:, 0]
    margin = 2 * (several.shape[1] - (several.shape[1] == 2))
    for name, weight in (("alpha", size[:, 0] / size.max()), ("ac1", np.ones(len(several)))):
        total = weight.mean()
        d = np.array([(weight * differ).mean()])
        least, most = (float(min(1.0, end[0] / total)) for end in means(d, len(several), delta / 2))
        # AC1's shares are of every item that anybody voted on
        some = several if name == "alpha" else counts[votes > 0]
        by = weight if name == "alpha" else np.ones(len(some))
        share = (by[:, None] * some / some.sum(axis=1, keepdims=True)).mean(axis=0)
        ends = [np.minimum(1.0, end / total) for end in means(share, len(some), delta / margin)]
        e = _apart(several.sum(axis=0)) if name == "alpha" else _spread(share)
        range_ = _products(*ends, *ends) if name == "alpha" else _spreads(*ends)
        found[name] = _beyond_chance((float(d[0] / total), least, most), e, range_)
    return found


def _beyond_chance(d: tuple[float, float, float], e: float, range_: tuple[float, float]) -> Estimate:
    """``1 - d / e`` and all that it can be; never below -1."""
    least, most = range_
    low = 1 - d[2] / least if least > 0 else -1.0
    high = 1 - d[1] / most if most > 0 else 1.0
    return Estimate(float(1 - d[0] / e) if e > 0 else None, float(max(-1.0, low)), float(max(-1.0, high)))


def _apart(pooled: Ints) -> float:
    """Chance that two of all votes, drawn without replacement, differ."""
    n = int(pooled.sum())
    return float(1 - (pooled * (pooled - 1)).sum() / (n * (n - 1)))


def _products(low: Floats, high: Floats, other_low: Floats, other_high: Floats) -> tuple[float, float]:
    """Least and largest ``1 - sum_k p_k q_k``, shares within these ends: of two classes exactly."""
    if low.size == 2:
        p, q = np.array([low[0], high[0]])[:, None], np.array([other_low[0], other_high[0]])
        same = p * q + (1 - p) * (1 - q)
        return float(1 - same.max()), float(1 - same.min())
    return max(0.0, float(1 - high @ other_high)), min(1.0, float(1 - low @ other_low))


def _spread(share: Floats) -> float:
    """``1 - sum_k s_k (1 - s_k) / (K - 1)``: Gwet's chance of a difference beyond that of guesses."""
    return float(1 - (share * (1 - share)).sum() / (share.size - 1))


def _spreads(low: Floats, high: Floats) -> tuple[float, float]:
    """The least and the largest of it, shares within these ends."""
    ends = low * (1 - low), high * (1 - high)
    most = np.where((low <= 0.5) & (high >= 0.5), 0.25, np.maximum(*ends)).sum()
    return max(0.0, float(1 - most / (low.size - 1))), min(1.0, float(1 - np.minimum(*ends).sum() / (low.size - 1)))
