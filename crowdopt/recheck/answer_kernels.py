"""Compiled exact errors of votes over counted labels: how many labels of each skill, after labels already in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.kernels import njit

CALL = 500  # numbers looked at that a vote's error takes as long as, beside its cases
EVEN = 1e-9  # relative difference of two chances up to which a vote may name either class
LONGEST = 900  # labels of one skill whose binomial coefficients are float64's


class Scratch(NamedTuple):
    """Where laws of answers are built, and ``work``: how many chances have been looked at."""

    # as many cases as are told apart
    one: Floats  # (K, cases)
    two: Floats  # (K, cases)
    work: Ints  # (1,)


@njit(cache=True, nogil=True)
def _ways(count, classes):
    """In how many ways so many labels of one skill can be counted by class."""
    ways = 1.0
    for k in range(1, classes):
        ways = ways * (count + k) / k
    return ways


@njit(cache=True, nogil=True)
def coarsened(odds, classes, most, level, count, size):
    """Raise the skills of counted labels until they have at most so many cases; the number of skills that are left.

    Neighbours are joined at the better one's skill, those first that this changes least. A vote errs no more for it.

    odds (levels,): log-odds of the skills, the best first; level, count (size,) int: written: skills, ascending, and
    how many labels have each; -> -1 where one skill alone has too many cases.
    """
    while True:
        cases = 1.0
        for s in range(size):
            cases *= _ways(count[s], classes)
        if cases <= most:
            return size
        if size < 2:
            return -1
        at, least = 0, np.inf
        for s in range(size - 1):
            change = (odds[level[s]] - odds[level[s + 1]]) * count[s + 1]
            if change < least:
                at, least = s, change
        count[at] += count[at + 1]
        for s in range(at + 1, size - 1):
            level[s], count[s] = level[s + 1], count[s + 1]
        size -= 1


@njit(cache=True, nogil=True)
def _next(parts, left):
    """The next way to write a number as a sum of parts; whether there is one. The last part takes what is left."""
    last = parts.size - 1
    for k in range(last - 1, -1, -1):
        room = left
        for earlier in range(k):
            room -= parts[earlier]
        if parts[k] < room:
            parts[k] += 1
            total = 0
            for one in range(k + 1, last):
                parts[one] = 0
            for one in range(last):
                total += parts[one]
            parts[last] = left - total
            return True
    return False


@njit(cache=True, nogil=True)
def _chances(skill, count, parts, chance):
    """P(so many labels for each class | class), for every class; orders counted together."""
    classes = parts.size
    wrong, ways, left = (1 - skill) / (classes - 1), 1.0, count
    for k in range(classes):
        for h in range(parts[k]):
            ways = ways * (left - h) / (h + 1)
        left -= parts[k]
    for k in range(classes):
        chance[k] = ways * skill ** float(parts[k]) * wrong ** float(count - parts[k])


@njit(cache=True, nogil=True)
def laws(start, skill, level, count, size, one, two):
    """Chance of each combination of answers together with each class: ``one`` or ``two``, and how many there are.

    start (K, cases): the same before these labels; skill (levels,): chance of a right label; level, count (size,) int:
    labels counted by skill; one, two (K, rows): room; -> (K, rows) array, int.
    """
    classes, cases = start.shape
    parts, chance = np.zeros(classes, np.int64), np.empty(classes)
    for k in range(classes):
        for t in range(cases):
            one[k, t] = start[k, t]
    for s in range(size):
        out = 0
        for k in range(classes):
            parts[k] = 0
        parts[classes - 1] = count[s]
        more = True
        while more:
            _chances(skill[level[s]], count[s], parts, chance)
            for k in range(classes):
                before, after, x = one[k], two[k], chance[k]
                for t in range(cases):
                    after[out + t] = before[t] * x
            out += cases
            more = _next(parts, count[s])
        cases = out
        one, two = two, one
    return one, cases


@njit(cache=True, nogil=True, inline="always")
def _last_of_two(law, cases, skill, count):
    """Error between two classes once the last labels are in as well."""
    first, second, ways = law[0], law[1], 1.0
    a, b, c, d = 0.0, 0.0, 0.0, 0.0  # sums that do not wait for one another
    for h in range(count + 1):
        x = ways * skill ** float(count - h) * (1 - skill) ** float(h)
        y = ways * skill ** float(h) * (1 - skill) ** float(count - h)
        for t in range(0, cases - 3, 4):
            a += min(first[t] * x, second[t] * y)
            b += min(first[t + 1] * x, second[t + 1] * y)
            c += min(first[t + 2] * x, second[t + 2] * y)
            d += min(first[t + 3] * x, second[t + 3] * y)
        for t in range(cases - cases % 4, cases):
            a += min(first[t] * x, second[t] * y)
        ways = ways * (count - h) / (h + 1)
    return a + b + c + d


@njit(cache=True, nogil=True, inline="always")
def _last_of_many(law, cases, skill, count):
    """The same among more classes: in each case all that the likeliest class is not."""
    classes, total, more = law.shape[0], 0.0, True
    parts, chance = np.zeros(classes, np.int64), np.empty(classes)
    parts[classes - 1] = count
    while more:
        _chances(skill, count, parts, chance)
        for t in range(cases):
            whole, best = 0.0, 0.0
            for k in range(classes):
                x = law[k, t] * chance[k]
                whole += x
                best = max(best, x)
            total += whole - best
        more = _next(parts, count)
    return total


@njit(cache=True, nogil=True)
def least_error(start, skill, odds, level, count, size, scratch):
    """What the best vote errs with after counted labels; never more, and exact while all cases have room.

    start (branches, K, cases): chance of what is in together with each class, on easy tasks and on hard ones; skill
    (branches, levels); odds (levels,): log-odds of the first branch's skills, the best first; level, count (size,) int:
    skills, ascending, and how many labels have each; changed.
    """
    branches, classes, cases = start.shape
    size = coarsened(odds, classes, scratch.one.shape[1] / cases, level, count, size)
    if size < 0:
        return 0.0
    for s in range(size):
        if count[s] > LONGEST:
            return 0.0
    total = 0.0
    for b in range(branches):
        law, found = laws(start[b], skill[b], level, count, size - 1, scratch.one, scratch.two)
        scratch.work[0] += CALL + classes * found * (1 if size == 0 else int(_ways(count[size - 1], classes)))
        last, many = (skill[b, level[size - 1]], count[size - 1]) if size else (1.0, 0)
        if classes == 2:
            total += _last_of_two(law, found, last, many)
        else:
            total += _last_of_many(law, found, last, many)
    return total


@njit(cache=True, nogil=True)
def unaware_error(start, skill, level, count, size, scratch):
    """What a vote between two classes errs with that goes by the first branch alone; never more, 0 without the room.

    Arguments as of :func:`least_error`; nothing of them is changed.
    """
    branches, _, cases = start.shape
    for s in range(size):
        cases *= count[s] + 1
        if cases > scratch.one.shape[1] or count[s] > LONGEST:
            return 0.0
    first, whole = np.empty((2, cases)), np.zeros((2, cases))
    for b in range(branches):
        law, found = laws(start[b], skill[b], level, count, size, scratch.one, scratch.two)
        for k in range(2):
            for t in range(found):
                if b == 0:
                    first[k, t] = law[k, t]
                whole[k, t] += law[k, t]
    scratch.work[0] += CALL + 2 * branches * cases
    total = 0.0
    for t in range(cases):
        x, y = first[0, t], first[1, t]
        if abs(x - y) <= EVEN * max(x, y):
            total += min(whole[0, t], whole[1, t])
        else:
            total += whole[1, t] if x > y else whole[0, t]
    return total
