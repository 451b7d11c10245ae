"""What chance may do in a test: bounds with a stated law, each crossed with a probability of at most FALSE_ALARM.

A statistical test carries the marker ``chance``, takes its seeds from here, 0 to k - 1, and compares what it counted
with a bound from here. CROWDOPT_SEED_BASE=1000 runs it on the seeds 1000 to 1000 + k - 1: it has to hold there too.
"""

from __future__ import annotations

import os
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

FALSE_ALARM = 1e-6  # of one bound, all of its cases together
BETS = np.linspace(0.05, 0.95, 19)  # shares of what one has, of `mean_is_at_most`
BASE = int(os.environ.get("CROWDOPT_SEED_BASE", "0"))


def seeds(count: int) -> range:
    """Seeds 0 to count - 1, all of them, moved by CROWDOPT_SEED_BASE."""
    return range(BASE, BASE + count)


def rng(*stream: int) -> np.random.Generator:
    """The generator of a test that draws once; ``stream`` tells several of one test apart."""
    return np.random.default_rng([BASE, *stream])


def most(trials: int, chance: float, alarm: float = FALSE_ALARM) -> int:
    """Largest count that is no alarm: ``P(X > most) <= alarm`` for X ~ Binomial(trials, chance), by its exact tail.

    It holds for trials of any chances whose mean is at most ``chance`` if they are independent (Hoeffding 1956: equal
    chances have the longest tails), and for dependent ones if each chance given the past is at most ``chance``.
    """
    bound = int(binom.isf(alarm, trials, chance))
    if bound >= trials:
        raise ValueError(f"no count of {trials} trials of chance {chance:g} is an alarm: take more trials")
    return bound


def fewest(trials: int, chance: float, alarm: float = FALSE_ALARM) -> int:
    """Smallest count that is no alarm, of trials whose chances are at least ``chance``: the mirror image of `most`."""
    return trials - most(trials, 1 - chance, alarm)


def between(trials: ArrayLike, chance: ArrayLike, alarm: float = FALSE_ALARM) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest counts of trials of these chances, Binomial as above; all cases share the alarm.

    A case alone may be unable to alarm (one trial is right or wrong); all of them together may not.
    """
    trials, chance = np.broadcast_arrays(np.asarray(trials), np.asarray(chance, dtype=float))
    each = alarm / (2 * max(trials.size, 1))
    low, high = trials - binom.isf(each, trials, 1 - chance), binom.isf(each, trials, chance)
    if (low <= 0).all() and (high >= trials).all():
        raise ValueError("no count is an alarm: take more trials")
    return low.astype(np.int64), high.astype(np.int64)


def binomial(counts: ArrayLike, trials: ArrayLike, chance: ArrayLike, alarm: float = FALSE_ALARM) -> bool:
    """Whether counts are of that many trials of these chances, as far as `between` can tell; all share the alarm."""
    low, high = between(*np.broadcast_arrays(trials, chance, np.asarray(counts))[:2], alarm)
    return bool(((low <= counts) & (counts <= high)).all())


def mean_is_at_most(values: ArrayLike, limit: float, top: float = 1.0, alarm: float = FALSE_ALARM) -> bool:
    """Whether independent values, each of a law on [0, top], may have means of at most ``limit``.

    A bet of a share b on each value's excess, ``prod (1 + b (value / limit - 1))``, has a mean of at most 1 then, and
    so has the mean over bets; by Markov it reaches ``1 / alarm`` with a chance of at most ``alarm`` (Waudby-Smith &
    Ramdas 2024). It tells the sooner the narrower the law is, as Hoeffding's bound does not.
    """
    excess = np.asarray(values, dtype=float) / limit - 1
    if not (np.prod(1 + BETS[-1] * np.full(excess.size, top / limit - 1)) >= 1 / alarm):
        raise ValueError(f"no {excess.size} values up to {top:g} are an alarm for a mean of {limit:g}: take more")
    return bool(np.prod(1 + BETS[:, None] * excess, axis=1).mean() < 1 / alarm)


def hoeffding(count: int, span: float = 1.0, alarm: float = FALSE_ALARM) -> float:
    """How far the mean of ``count`` independent values, each from an interval of length ``span``, strays from its own.

    ``P(|mean - E mean| >= t) <= 2 exp(-2 count t^2 / span^2)`` (Hoeffding 1963); so, too, where each value has a mean
    that the past decides, and strays within such an interval (Azuma 1967).
    """
    return span * sqrt(log(2 / alarm) / (2 * count))
