"""How methods compare over many cases: arrays of seconds in, figures out.

Seconds are an array (cases, methods) with NaN where a method did not settle a case.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints

SHIFT = 1.0  # second; keeps cases of milliseconds from deciding everything
DRAWS, LEVEL = 2000, 0.95  # of intervals


def shifted_mean(seconds: Floats, limit: float) -> Floats:
    """``exp(mean log(t + SHIFT)) - SHIFT`` over cases, (methods,); NaN, not settled, counts the limit."""
    counted = np.minimum(np.where(np.isnan(seconds), limit, seconds), limit)
    return np.exp(np.log(counted + SHIFT).mean(axis=0)) - SHIFT


def interval(seconds: Floats, groups: Ints, limit: float, rng: np.random.Generator) -> Floats:
    """Bootstrap interval of the shifted mean over seeds: the cases of each problem are drawn again among themselves.

    seconds (cases, methods): NaN where a method did not settle a case.
    groups (cases,): which problem a case belongs to. A problem with one seed contributes no spread.
    -> (2, methods): low and high.
    """
    sampled = np.stack([shifted_mean(seconds[_redrawn(groups, rng)], limit) for _ in range(DRAWS)])
    tail = (1 - LEVEL) / 2
    return np.quantile(sampled, [tail, 1 - tail], axis=0)


def _redrawn(groups: Ints, rng: np.random.Generator) -> Ints:
    picks = np.empty_like(groups)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        picks[members] = rng.choice(members, members.size)
    return picks


def profile(seconds: Floats) -> tuple[Floats, Floats]:
    """Performance profile (Dolan & More 2002): the share of cases settled within a factor of the fastest.

    seconds (cases, methods): NaN where a method did not settle a case; -> factors (steps,): where any method's share
    rises, from 1; shares (steps, methods): of all cases, also those that no method settled.
    """
    if not np.isfinite(seconds).any():
        return np.ones(1), np.zeros((1, seconds.shape[1]))
    best = np.nanmin(np.where(np.isnan(seconds), np.inf, seconds), axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        ratios = np.where(np.isnan(seconds), np.inf, seconds / best)
    factors = np.unique(np.append(ratios[np.isfinite(ratios)], 1.0))
    shares = (ratios[None] <= factors[:, None, None]).mean(axis=1)
    return factors, shares
