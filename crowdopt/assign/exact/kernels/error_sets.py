"""The compiled pricing problem under exact errors: the cheapest labels over which the best vote errs little enough."""

from __future__ import annotations

import numpy as np

from crowdopt.compiled_kernels import njit
from crowdopt.elementary_kernels import log, power

REPEATS = 9  # labels of one skill that are counted by their binomial law
HAIR = 1e-10  # relative; sets that save less than this are not looked for
SPARE = 1e-7  # evidence; room for rounding where evidence alone decides


@njit(cache=True, inline="always")
def _grown(right, wrong, depth, skill):
    """Add a label: both laws of the answers so far, split by the new one; returns the error of the best vote."""
    error = 0.0
    for i in range(1 << depth):
        a, b = right[depth, i] * skill, wrong[depth, i] * (1 - skill)
        c, d = right[depth, i] * (1 - skill), wrong[depth, i] * skill
        right[depth + 1, 2 * i], wrong[depth + 1, 2 * i] = a, b
        right[depth + 1, 2 * i + 1], wrong[depth + 1, 2 * i + 1] = c, d
        error += min(a, b) + min(c, d)
    return error


@njit(cache=True, inline="always")
def _with_more(right, wrong, depth, law, against, more):
    """The error with so many more labels of one skill, whose laws of right answers are given for each class."""
    error = 0.0
    for h in range(more + 1):
        a, b = law[more, h], against[more, h]
        for i in range(1 << depth):
            error += min(right[depth, i] * a, wrong[depth, i] * b)
    return error


@njit(cache=True, inline="always")
def _laws(skill):
    """Chances of h wrong among k labels of each skill, by class: (L, REPEATS, REPEATS) each."""
    law, against = np.zeros((skill.size, REPEATS, REPEATS)), np.zeros((skill.size, REPEATS, REPEATS))
    for g in range(skill.size):
        p = skill[g]
        for k in range(REPEATS):
            ways = 1.0
            for h in range(k + 1):
                law[g, k, h] = ways * power(p, k - h) * power(1 - p, h)
                against[g, k, h] = ways * power(1 - p, k - h) * power(p, h)
                ways *= (k - h) / (h + 1)
    return law, against


@njit(cache=True, inline="always")
def _keep(chosen, size, paid, sets, sizes, worths):
    """Keep a set if it is among the cheapest, the best first."""
    k = sizes.size - 1
    if paid >= worths[k]:
        return
    while k > 0 and worths[k - 1] > paid:
        worths[k], sizes[k] = worths[k - 1], sizes[k - 1]
        for e in range(sets.shape[1]):
            sets[k, e] = sets[k - 1, e]
        k -= 1
    worths[k], sizes[k] = paid, size
    for e in range(size):
        sets[k, e] = chosen[e]


@njit(cache=True)
def cheapest_by_error(row, limit, work, sets, sizes):
    """``min sum cost_l a_l  s.t.  error(a) <= target``: an ErrorKnapsack, to within HAIR, depth first by skill.

    A vote over labels of two classes errs by ``sum over answers min(pi P(answers | 1), (1 - pi) P(answers | 0))``; the
    two laws are carried along, and doubled with each label. No vote errs less for labels of less skill: a partial set
    is given up where the labels that it could still pay for, all as good as its last one, would not do. Its evidence
    ``-ln 4p(1 - p)`` must reach ``ln pi(1 - pi) - ln target (1 - target)`` (Cauchy and Schwarz), which rules most out
    before any law is looked at.

    Parameters
    ----------
    row : ErrorKnapsack
    limit : float
        What a known set costs: only cheaper ones are looked for.
    work : int
        Combinations of answers looked at; beyond, the rest is only bounded, as are sets of more labels than ``sets``
        holds.
    sets, sizes : (k, most) and (k,) int
        Receive the cheapest of the sets met, the best first; sizes of -1 where there are fewer.

    Returns
    -------
    float
        A lower bound on the cost of any set; infinite where there is none and no limit was given.
    """
    skill, cost, room, lean, target = row.skill, row.cost, row.room, row.lean, row.target
    count, deepest = skill.size, min(sets.shape[1], max(0, row.most))
    for k in range(sizes.size):
        sizes[k] = -1
    if row.fewest <= 0 and min(lean, 1 - lean) <= target:
        sizes[0] = 0
        return 0.0
    worth, least, rate = np.empty(count), np.full(count + 1, np.inf), np.full(count + 1, np.inf)
    law, against = _laws(skill)
    for g in range(count - 1, -1, -1):
        p = skill[g]
        worth[g] = -log(4 * p * (1 - p)) + 1e-300
        least[g], rate[g] = min(least[g + 1], cost[g]), min(rate[g + 1], cost[g] / worth[g])
    need = log(lean * (1 - lean)) - log(target * (1 - target)) - SPARE
    right, wrong = np.empty((deepest + 1, 1 << deepest)), np.empty((deepest + 1, 1 << deepest))
    right[0, 0], wrong[0, 0] = lean, 1 - lean
    following, chosen, used = (
        np.zeros(deepest + 1, np.int64),
        np.zeros(deepest + 1, np.int64),
        np.zeros(count, np.int64),
    )
    spent, have, worths = np.zeros(deepest + 1), np.zeros(deepest + 1), np.full(sizes.size, np.inf)
    best, floor, d = limit, np.inf, 0
    if deepest == 0:
        return limit
    while d >= 0:
        g, near = following[d], best * (1 - HAIR)
        if g >= count or spent[d] + least[g] >= near or spent[d] + (need - have[d]) * rate[g] >= near:
            d -= 1
            if d >= 0:
                used[chosen[d]] -= 1
            continue
        following[d] = g + 1
        if used[g] >= room[g]:
            continue
        paid, lack = spent[d] + cost[g], need - have[d] - worth[g]
        more = max(0, row.fewest - d - 1, int(np.ceil(lack / worth[g])))
        if d + 1 + more > row.most or paid + more * least[g] >= near or paid + max(0.0, lack) * rate[g] >= near:
            continue
        work -= 1 << d
        if work < 0:
            for e in range(d + 1):
                floor = min(floor, spent[e] + least[following[e] - 1])
            break
        error = _grown(right, wrong, d, skill[g])
        if error <= target and d + 1 >= row.fewest:
            chosen[d] = g
            _keep(chosen, d + 1, paid, sets, sizes, worths)
            best = min(best, paid)
            continue
        if d + 1 == deepest:
            if deepest < row.most:
                floor = min(floor, paid + least[g])
            continue
        more = max(more, 1)
        while more < REPEATS and paid + more * least[g] < near:
            work -= (more + 1) << d
            if _with_more(right, wrong, d + 1, law[g], against[g], more) <= target:
                break
            more += 1
        if paid + more * least[g] >= near:
            continue
        chosen[d], spent[d + 1], have[d + 1] = g, paid, have[d] + worth[g]
        used[g] += 1
        d += 1
        following[d] = g
    return min(best, floor) * (1 - HAIR)
