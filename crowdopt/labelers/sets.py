"""Sets of labelers who vote: how often a set is right, all best sets by size at once, and the best of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, factorial
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.vote_errors import log_odds, plurality_error, vote_errors
from crowdopt.errors import InputError

MOST_PLURAL = 150  # labelers of one set where there are more than two classes: beyond, factorials leave float64
SAME = 1e-12  # chances this close are the same: of equally good sets the smallest is taken
DRAWS = 100_000  # of a simulated plurality; the 95 % interval is then at most .0031 to either side


@dataclass(frozen=True, eq=False)
class Choice:
    """A set of labelers and how often its vote is right."""

    members: Ints  # (k,): ascending
    accuracy: float  # U(S)


@lru_cache(maxsize=32)
def wins(most: int, classes: int) -> Floats:
    """``P(the truth wins | c labels right, w wrong)``, ties fair; wrong labels fall evenly.

    With two classes 1, 1/2 or 0 as c is above, equal to or below w. With L: the w wrong labels are balls in L - 1
    boxes; all boxes stay below c, or j of them reach it exactly and the truth wins one time in j + 1.

    -> (most + 1, most + 1): entry (c, w), read-only; for more than two classes 0 where c + w exceeds ``most``.
    """
    if classes == 2:
        right, wrong = np.indices((most + 1, most + 1))
        table = np.where(right > wrong, 1.0, np.where(right == wrong, 0.5, 0.0))
    elif most > MOST_PLURAL:
        raise InputError(f"{most} labels of {classes} classes are too many; an exact vote takes up to {MOST_PLURAL}")
    else:
        table = np.zeros((most + 1, most + 1))
        for right_labels in range(most + 1):
            table[right_labels, : most + 1 - right_labels] = _wins_with(right_labels, most - right_labels, classes)
    table.setflags(write=False)
    return table


def _wins_with(right: int, most_wrong: int, classes: int) -> Floats:
    # ``w! / (L-1)^w [x^w] sum_j C(L-1, j) / (j+1) (x^c / c!)^j (sum_(a < c) x^a / a!)^(L-1-j)``.
    boxes, room = classes - 1, most_wrong + 1
    # series in x of one box: fewer than c labels (below), exactly c (level)
    below = np.array([1 / (factorial(k) * boxes**k) for k in range(min(right, room))] or [0.0])
    level = np.zeros(room)
    if right < room:
        level[right] = 1 / (factorial(right) * boxes**right)
    # powers of `below` once, for every j takes another one
    powers = [np.ones(1)]
    for _ in range(boxes):
        powers.append(np.convolve(powers[-1], below)[:room])
    total, tied = np.zeros(room), np.ones(1)
    for j in range(boxes + 1):
        term = np.convolve(tied, powers[boxes - j])[:room]
        total[: term.size] += comb(boxes, j) / (j + 1) * term
        # level^(j + 1) for the next j
        tied = np.convolve(tied, level)[:room]
    return total * np.array([float(factorial(w)) for w in range(room)])


def top_accuracies(accuracy: Any, classes: int = 2) -> Floats:
    """``pi({1..m})``, m = 1, ..., M, in the order given: one Poisson-binomial law that grows (Liu & Liu 2015, eq. 2).

    accuracy (..., labelers): sort it in descending order and the results are those of the best set of each size
    (their Theorem 2); classes: wrong labels fall evenly on the other classes; ties are broken fairly;
    -> (..., labelers): exact up to rounding.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("accuracy must be numbers in [0, 1]")
    count = p.shape[-1]
    law = np.zeros((*p.shape[:-1], count + 1))
    law[..., 0] = 1.0
    accuracies = np.empty(p.shape)
    table = wins(count, classes) if classes > 2 else None
    for m in range(1, count + 1):
        right = p[..., m - 1, None]
        # one more labeler: mass moves up by one with chance p, in place
        moved = law[..., :m] * right
        law[..., :m] -= moved
        law[..., 1 : m + 1] += moved
        if table is None:
            accuracies[..., m - 1] = law[..., m // 2 + 1 : m + 1].sum(axis=-1)
            if m % 2 == 0:
                accuracies[..., m - 1] += 0.5 * law[..., m // 2]
        else:
            right_labels = np.arange(m + 1)
            accuracies[..., m - 1] = (law[..., : m + 1] * table[right_labels, m - right_labels]).sum(axis=-1)
    return np.clip(accuracies, 0.0, 1.0)


def set_accuracy(accuracy: Any, classes: int = 2) -> Floats:
    """U(S) of whole sets along the last axis, (..., members) -> (...,); the empty set is a fair guess."""
    p = np.asarray(accuracy, dtype=np.float64)
    if p.shape[-1] == 0:
        return np.full(p.shape[:-1], 1 / classes)
    return top_accuracies(p, classes)[..., -1]


def weighted_accuracy(accuracy: Any, weight: Any, tolerance: float = 0.0) -> Floats:
    """``P(sum w l > tol) + P(|sum w l| <= tol) / 2``: two classes, sums within the tolerance are ties.

    Exact for up to 24 labelers who all differ; beyond, a lower bound that is off by what
    :func:`crowdopt.crowd.vote_errors.vote_errors` reports.

    accuracy (n, members): p, one row a vote; weight (members,) or (n, members) float: w; tolerance: tol, at least 0;
    -> (n,).
    """
    p = np.atleast_2d(np.asarray(accuracy, dtype=np.float64))
    votes, members = p.shape
    if members == 0:
        return np.full(votes, 0.5)
    w = np.broadcast_to(np.asarray(weight, dtype=np.float64), p.shape)
    starts = np.arange(votes + 1, dtype=np.int64) * members
    given = (starts, np.ascontiguousarray(p).reshape(-1), np.ascontiguousarray(w).reshape(-1), np.ones(votes))
    shifts = [-tolerance, tolerance] if tolerance > 0 else [0.0]
    errors = [vote_errors(*given, np.full(votes, shift))[0] for shift in shifts]
    return 1.0 - np.mean(errors, axis=0)


def plurality_accuracy(accuracy: Any, weight: Any, classes: int) -> float:
    """``P(argmax_k of the weights for k is the truth)``, L classes equally likely; of a large set simulated.

    accuracy, weight (members,): p and w.
    """
    p, w = np.asarray(accuracy, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    if w.size and (w == w[0]).all() and w[0] > 0 and p.size <= MOST_PLURAL:
        return float(set_accuracy(p, classes))
    try:
        return 1 - plurality_error(p, w, np.full(classes, 1 / classes))
    except InputError:
        return _simulated(p, w, classes)


def _simulated(p: Floats, w: Floats, classes: int) -> float:
    rng = np.random.default_rng(0)
    right = rng.random((DRAWS, p.size)) < p
    answers = np.where(right, 0, rng.integers(1, classes, (DRAWS, p.size)))
    score = np.stack([(answers == k) @ w for k in range(classes)], axis=1)
    best = score >= score.max(axis=1, keepdims=True) - SAME * (1 + np.abs(w).sum())
    return float((best[:, 0] / best.sum(axis=1)).mean())


def ranked(accuracy: Floats) -> Ints:
    """Labelers from best to worst; equals keep their order; accuracy (..., labelers): p; -> (..., labelers)."""
    return np.argsort(-np.asarray(accuracy), axis=-1, kind="stable")


def best_set(accuracy: Any, classes: int = 2) -> Choice:
    """``S* = argmax pi(S)`` over all sets: some top-m set, of odd size with two classes (Liu & Liu 2015, Theorems 1-2).

    Of equally good sizes the smallest: with equal skills {.7} and {.7, .7} tie.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    order = ranked(p)
    values = top_accuracies(p[order], classes)
    size = int(np.flatnonzero(values >= values.max() - SAME)[0]) + 1
    return Choice(np.sort(order[:size]), float(values[size - 1]))


def clipped_odds(accuracy: Floats, seen: Floats | Ints, classes: int = 2) -> Floats:
    """``ln((L - 1) p / (1 - p))`` with p kept within [.5/N, 1 - .5/N], N the labels it was estimated from."""
    half = 0.5 / np.maximum(np.asarray(seen, dtype=np.float64), 1.0)
    return log_odds(np.clip(accuracy, half, 1 - half), classes)
