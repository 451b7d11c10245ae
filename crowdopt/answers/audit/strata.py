"""Answers in groups of about equal claimed error, and how often each group is looked at."""

from __future__ import annotations

import numpy as np

from crowdopt.answers.audit.audited import Strata
from crowdopt.arrays import Floats, Ints

GROUPS = 8  # at most; with 6 and with 10 an audit took as long, within 2 % (150 simulated audits each)
LEAST, MOST = 1e-4, 0.9  # claimed errors of a group are kept between: none is believed to be free of errors
LEVELS = 400  # values of that KL, from which the next larger one is taken
HOPEFUL = 0.8  # of the target: claims above are scaled down to it, for an audit of answers that fail ends anyhow


def one_stratum(answers: int, error: float) -> Strata:
    """All answers alike."""
    return Strata(np.array([answers]), np.array([error]), np.ones(1))


def strata_of(ordered: Floats, target: float) -> Strata:
    """Groups of about equal sums of ``sqrt(claim)``, looked at as often as refuting the target quickly demands.

    With shares a_s of the checks, refuting "a share epsilon is wrong" takes ``ln(1/delta)`` over
    ``min { sum_s a_s KL(r_s | theta_s) : sum_s f_s theta_s >= epsilon }``; the best shares have
    ``a_s / f_s`` in proportion to ``theta_s (1 - theta_s) / (theta_s - r_s)``, where all KL are equal.

    ordered (answers,): claimed errors, ascending; target: share of wrong answers that is hoped for.
    """
    mass = np.cumsum(np.sqrt(np.maximum(ordered, LEAST)))
    cuts = np.searchsorted(mass, mass[-1] * np.arange(1, GROUPS) / GROUPS)
    edges = np.unique(np.concatenate([[0], cuts, [ordered.size]]))
    size, claim = groups_between(ordered, edges)
    return Strata(size, claim, rates_of(size, claim, target))


def groups_between(ordered: Floats, edges: Ints) -> tuple[Ints, Floats]:
    """Size of each group and its mean claimed error, ``edges`` (groups + 1,) being where groups begin and the end."""
    size: Ints = np.diff(edges)
    return size, np.clip(np.add.reduceat(ordered, edges[:-1]) / size, LEAST, MOST)


def rates_of(size: Ints, claim: Floats, target: float) -> Floats:
    """The rates at the common KL at which the hidden shares add up to the target.

    size, claim (groups,): answers in each and their mean claimed error; target: share of wrong answers to refute.
    """
    share = size / size.sum()
    predicted = claim * min(1.0, HOPEFUL * target / float(share @ claim))
    divergence = np.geomspace(1e-6, 20.0, LEVELS)[:, None]
    hidden = _least_likely(predicted, divergence)
    theta = hidden[min(int(np.searchsorted(hidden @ share, target)), LEVELS - 1)]
    rate: Floats = theta * (1 - theta) / np.maximum(theta - predicted, 1e-9)
    return rate / float(share @ rate)


def _least_likely(predicted: Floats, divergence: Floats) -> Floats:
    """The share theta above r with ``KL(r | theta)`` equal to the divergence, by bisection, (levels, groups)."""
    low = np.repeat(predicted[None, :], divergence.size, axis=0)
    high = np.full_like(low, 1 - 1e-12)
    for _ in range(40):
        middle = (low + high) / 2
        kl = predicted * np.log(predicted / middle) + (1 - predicted) * np.log((1 - predicted) / (1 - middle))
        low, high = np.where(kl < divergence, middle, low), np.where(kl < divergence, high, middle)
    return low
