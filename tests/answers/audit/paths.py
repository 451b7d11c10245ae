"""Audits of a handful of answers, with every order of drawing and every placement of errors."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np


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


def worst_chance(size, rate, false) -> float:
    """The largest chance, over all placements of wrong answers, that ``false(sequence, wrong, counts)`` at any time.

    Within a group every order is as likely as any other, so a placement is a number of wrong answers for each group,
    and a sequence of outcomes with these numbers has chance 1 over their arrangements.
    """
    worst = np.zeros([k + 1 for k in size])
    for sequence in orders(size):
        chance = chance_of_order(sequence, size, rate)
        for outcome in product((False, True), repeat=sum(size)):
            wrong = np.array(outcome)
            counts = tuple(np.bincount(sequence, weights=wrong, minlength=len(size)).astype(int))
            if false(sequence, wrong, counts):
                worst[counts] += chance / np.prod([comb(n, k) for n, k in zip(size, counts, strict=True)])
    return float(worst.max())
