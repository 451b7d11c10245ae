"""Audits of a handful of answers, with every order of drawing and every placement of errors."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np

from crowdopt.answers.audit.audited import AuditTerms, Draw, Strata
from crowdopt.answers.audit.martingale import hypotheses, most_left_path
from crowdopt.answers.audit.prediction import mixture


def small(size, claim, rate, target=0.25, delta=0.3, stratum=None) -> Draw:
    """An audit of few answers in groups, with hypotheses and predictions as in a large one."""
    strata = Strata(np.array(size), np.array(claim, float), np.array(rate, float))
    n, terms = sum(size), AuditTerms("assisted", target, delta)
    member = np.repeat(np.arange(len(size)), size) if stratum is None else np.array(stratum)
    versions = mixture(strata.claim, target)
    return Draw(terms, strata, np.zeros(0, int), np.arange(n), member, versions, hypotheses(n, target), n, 0.1)


def orders(size):
    """Every sequence of groups."""
    for sequence in product(range(len(size)), repeat=sum(size)):
        if (np.bincount(sequence, minlength=len(size)) == size).all():
            yield np.array(sequence)


def chance_of_order(sequence, size, rate) -> float:
    """That the groups come in this order: each next answer in proportion to its rate among those left."""
    left, chance = np.array(size, float), 1.0
    for group in sequence:
        chance *= left[group] * rate[group] / (left @ rate)
        left[group] -= 1
    return chance


def worst_chance(size, claim, rate, **options) -> float:
    """The largest chance, over all placements of wrong answers, that any claim made at any time is false.

    Within a group every order is as likely as any other, so a placement is a number of wrong answers for each group,
    and a sequence of outcomes with these numbers has chance 1 over their arrangements.
    """
    worst = np.zeros([k + 1 for k in size])
    for sequence in orders(size):
        draw, chance = small(size, claim, rate, stratum=sequence, **options), chance_of_order(sequence, size, rate)
        for outcome in product((False, True), repeat=sum(size)):
            wrong = np.array(outcome)
            counts = tuple(np.bincount(sequence, weights=wrong, minlength=len(size)).astype(int))
            if (most_left_path(draw, wrong) < wrong.sum() - np.cumsum(wrong)).any():
                worst[counts] += chance / np.prod([comb(n, k) for n, k in zip(size, counts, strict=True)])
    return float(worst.max())
