"""Exact errors of sets of labels, by arithmetic of its own: nothing here imports the package.

Labels of equal skill are counted together, so that a set of few skills has few outcomes.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import combinations
from math import comb, factorial, log, prod

import numpy as np

MOST = 1 << 14  # outcomes of half a set of two classes; beyond, those of nearly equal odds are joined
CELL = 1e-5  # of log-odds: what is joined
TIE = 1e-9  # of log-odds
CHUNK = 1 << 18  # outcomes looked at together

Skills = tuple[float, ...]


def error_bounds(skills: Skills, prior: np.ndarray, hard: tuple[float, float] | None = None) -> tuple[float, float]:
    """Between what the best answer to labels of these skills errs with: the two are the same but for very long sets.

    Whoever joins outcomes knows less, so the error that is then counted is no smaller. It is no larger than
    ``exp(width)`` times the true one, width the odds by which joined outcomes may differ: in a joint outcome where
    another class would have been the better answer, its chance is at most so many times that of the answer given,
    which is part of the error there.
    """
    if prior.size > 2:
        found = _of_classes(skills, prior)
        return found, found
    easy, width = _of_two(skills, skills, prior)
    if hard is None:
        return easy * float(np.exp(-width)), easy
    share, left = hard
    there, _ = _of_two(skills, tuple(0.5 + left * (p - 0.5) for p in skills), prior)
    mixed = (1 - share) * easy + share * there
    return mixed, mixed


def _of_two(believed: Skills, actual: Skills, prior: np.ndarray) -> tuple[float, float]:
    """Error of the vote by the odds of believed skills where others are the actual ones; and how wide that is."""
    joined = believed == actual
    odds, first, second, width = _half(believed[::2], actual[::2], joined)
    other, third, fourth, more = _half(believed[1::2], actual[1::2], joined)
    order = np.argsort(other, kind="stable")
    other = other[order]
    zero, one = (np.append(0.0, np.cumsum(chance[order])) for chance in (third, fourth))
    turn = log(prior[0] / prior[1]) - odds  # odds of the other half above which the answer is the second class
    below, above = np.searchsorted(other, turn - TIE), np.searchsorted(other, turn + TIE)
    missed = first * (zero[-1] - (zero[below] + zero[above]) / 2) * prior[0]
    missed += second * (one[below] + one[above]) / 2 * prior[1]
    return float(missed.sum()), width + more


@lru_cache(maxsize=20_000)
def _half(believed: Skills, actual: Skills, joined: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Log-odds of the second class in each outcome, its chance under the first and the second, and the width."""
    odds, first, second, width = np.zeros(1), np.ones(1), np.ones(1), 0.0
    for (p, real), count in sorted(Counter(zip(believed, actual, strict=True)).items()):
        right = np.arange(count + 1)
        ways = np.array([comb(count, k) for k in right], float)
        for_second = ways * real**right * (1 - real) ** (count - right)
        odds = np.add.outer(odds, (2 * right - count) * log(p / (1 - p))).ravel()
        first, second = np.outer(first, for_second[::-1]).ravel(), np.outer(second, for_second).ravel()
        if joined and odds.size > MOST:
            cell = np.unique(np.floor(odds / CELL), return_inverse=True)[1]
            first, second = np.bincount(cell, first), np.bincount(cell, second)
            odds, width = np.log(second / first), width + CELL
    return odds, first, second, width


def _of_classes(skills: Skills, prior: np.ndarray) -> float:
    """Error among several classes: all outcomes of both halves together, some at a time."""
    half, other = (_outcomes(part, prior.size) for part in (skills[::2], skills[1::2]))
    total, rows = 0.0, max(1, CHUNK // len(other))
    for start in range(0, len(half), rows):
        both = (half[start : start + rows] * prior)[:, None] * other
        total += float((both.sum(axis=2) - both.max(axis=2)).sum())
    return total


@lru_cache(maxsize=20_000)
def _outcomes(skills: Skills, classes: int) -> np.ndarray:
    """Chance of each outcome under each class, (outcomes, classes)."""
    found = np.ones((1, classes))
    for p, count in sorted(Counter(skills).items()):
        said = _tallies(count, classes)
        ways = np.array([factorial(count) / prod(map(factorial, row)) for row in said.tolist()])
        chance = ways[:, None] * p**said * ((1 - p) / (classes - 1)) ** (count - said)
        found = (found[:, None] * chance).reshape(-1, classes)
    return found


@lru_cache
def _tallies(labels: int, classes: int) -> np.ndarray:
    """How often each class may be said by so many labels."""
    if labels == 1:
        return np.eye(classes, dtype=int)
    bars = np.array(list(combinations(range(labels + classes - 1), classes - 1)))
    ends = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), labels + classes - 1)])
    return np.diff(ends, axis=1) - 1
