"""Sets of labelers who vote: how often a set is right, all best sets by size at once, and the best of them."""

from __future__ import annotations

from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.law import clipped
from crowdopt.crowd.rules import log_odds
from crowdopt.crowd.vote_errors import vote_errors
from crowdopt.errors import InputError

VOTES = ("majority", "weighted")  # weighted: by log-odds
WAYS = 1_000_000  # that score vectors may grow, all labels together, in an exact plurality; beyond, labels are drawn
DRAWS = 100_000  # of such a plurality; the 95 % interval is then at most .0031 to either side
NEAR = 1e-11  # of the sum of |weights|: scores this close are the same
SAME = 1e-12  # chances this close are the same: of equally good sets the smallest is taken
NODES = 20_000  # of the search for a set that is worth its price; a set found within fewer is best


def top_accuracies(accuracy: Any, classes: int = 2) -> Floats:
    """``pi({1..m})``, m = 1, ..., M, in the order given: one law that grows (Liu & Liu 2015, eq. 2).

    accuracy (..., labelers): sort it in descending order and the results are those of the best set of each size
    (their Theorem 2); classes: wrong labels fall evenly on the other classes; ties are broken fairly;
    -> (..., labelers): exact up to rounding.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("accuracy must be numbers in [0, 1]")
    table = _wins_with(p.shape[-1], classes) if classes > 2 else None
    law, accuracies = np.zeros((*p.shape[:-1], p.shape[-1] + 1)), np.empty(p.shape)
    law[..., 0] = 1.0
    for m in range(1, p.shape[-1] + 1):
        # one more labeler: mass moves up by one with chance p, in place
        moved = law[..., :m] * p[..., m - 1, None]
        law[..., :m] -= moved
        law[..., 1 : m + 1] += moved
        if table is not None:
            right = np.arange(m + 1)
            accuracies[..., m - 1] = law[..., : m + 1] @ table[right, m - right]
            continue
        accuracies[..., m - 1] = law[..., m // 2 + 1 : m + 1].sum(axis=-1)
        if m % 2 == 0:
            accuracies[..., m - 1] += 0.5 * law[..., m // 2]
    return np.clip(accuracies, 0.0, 1.0)


@lru_cache(maxsize=32)
def _wins_with(most: int, classes: int) -> Floats:
    """``P(the truth wins | c labels right, w wrong)``, ties fair; the wrong ones are balls in L - 1 boxes, (c, w)."""
    # Box after box: of w balls in b boxes the first has ``Binomial(w, 1/b)``. One with more than c loses; where j have
    # c, one time in j + 1 = 1 / int x^j dx from 0 to 1 is the truth's: a sum over nodes that is exact for all j < L.
    place, weight = np.polynomial.legendre.leggauss(classes // 2 + 1)
    balls, table = np.arange(most + 1), np.empty((most + 1, most + 1))
    rest, first = np.maximum(balls[:, None] - balls, 0), np.zeros((classes, most + 1, most + 1))
    first[1:, 0, 0] = 1.0
    for w in range(most):
        for b in range(1, classes):
            first[b, w + 1] = (1 - 1 / b) * first[b, w] + np.append(0.0, first[b, w, :-1]) / b
    for right in range(most + 1):
        tied = np.where(balls < right, 1.0, np.where(balls == right, (1 + place[:, None]) / 2, 0.0))
        chance = np.broadcast_to(balls == 0, tied.shape).astype(np.float64)  # of no box: it has no ball
        for b in range(1, classes):
            chance = np.einsum("wk,xk,xwk->xw", first[b], tied, chance[:, rest])
        table[right] = weight @ chance / 2
    return table


def plurality_accuracies(accuracy: Any, weight: Any, classes: int) -> Floats:
    """``P(argmax_k of the weights for k is the truth)`` of the first m labelers, m = 1, ..., M; ties are broken fairly.

    Wrong labels fall evenly on the other classes, and all classes are equally likely: one law of score vectors serves
    every truth. Where these take more than WAYS, labels are drawn.

    accuracy (..., labelers): p; weight (labelers,): w; -> (..., labelers).
    """
    p, w = np.asarray(accuracy, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    if w.size and (w == w[0]).all() and w[0] > 0:
        return top_accuracies(p, classes)
    grown, right = _scores(tuple(w.tolist()), classes), np.empty(p.shape)
    if grown is None:
        return np.apply_along_axis(_drawn, -1, p, w, classes)
    mass = np.ones((*p.shape[:-1], 1))
    for m, (order, first, wins) in enumerate(grown):
        chance = np.where(np.arange(classes) == 0, p[..., m, None], (1 - p[..., m, None]) / (classes - 1))
        mass = (mass[..., None] * chance[..., None, :]).reshape(*p.shape[:-1], -1)
        mass = np.add.reduceat(mass[..., order], first, axis=-1)
        right[..., m] = mass @ wins
    return np.clip(right, 0.0, 1.0)


@lru_cache(maxsize=4)
def _scores(weight: tuple[float, ...], classes: int) -> list[tuple[Ints, Ints, Floats]] | None:
    """Score vectors label by label: each old one times each class in what order, where equal ones begin, who wins."""
    scores, total, grown, ways = np.zeros((1, classes)), float(np.abs(weight).sum()), [], 0
    for w in weight:
        ways += scores.size
        if ways > WAYS:
            return None
        # the truth's score stands first; the others', which are alike, are sorted
        scores = (scores[:, None] + w * np.eye(classes)).reshape(-1, classes)
        scores[:, 1:].sort(axis=1)
        cells = np.rint(scores / (NEAR * (1 + total)))
        order = np.lexsort(cells.T)
        first = np.flatnonzero(np.append(True, (np.diff(cells[order], axis=0) != 0).any(axis=1)))
        scores = scores[order[first]]
        grown.append((order, first, _wins(scores, total)))
    return grown


def _drawn(p: Floats, w: Floats, classes: int) -> Floats:
    rng, scores, right = np.random.default_rng(0), np.zeros((DRAWS, classes)), np.empty(p.size)
    for m in range(p.size):
        label = np.where(rng.random(DRAWS) < p[m], 0, rng.integers(1, classes, DRAWS))
        scores[np.arange(DRAWS), label] += w[m]
        right[m] = _wins(scores, float(np.abs(w).sum())).mean()
    return np.clip(right, 0.0, 1.0)


def _wins(scores: Floats, total: float) -> Floats:
    """How often the first class wins, (rows,): one time in j where j classes have the largest score."""
    best = scores >= scores.max(axis=1, keepdims=True) - NEAR * (1 + total)
    return best[:, 0] / best.sum(axis=1)


def set_accuracy(accuracy: Any, classes: int = 2) -> Floats:
    """U(S) of whole sets along the last axis, (..., members) -> (...,); the empty set is a fair guess."""
    p = np.asarray(accuracy, dtype=np.float64)
    return top_accuracies(p, classes)[..., -1] if p.shape[-1] else np.full(p.shape[:-1], 1 / classes)


def weighted_accuracy(accuracy: Any, weight: Any, tolerance: float = 0.0) -> Floats:
    """``P(sum w l > tol) + P(|sum w l| <= tol) / 2``: two classes, sums within the tolerance are ties.

    Exact for up to 24 labelers who all differ; beyond, a lower bound that is off by what
    :func:`crowdopt.crowd.vote_errors.vote_errors` reports.

    accuracy (n, members): p, one row a vote; weight (members,) or (n, members) float: w; tolerance: tol, at least 0;
    -> (n,).
    """
    p = np.atleast_2d(np.asarray(accuracy, dtype=np.float64))
    votes, members = p.shape
    given = np.arange(votes + 1) * members, p.reshape(-1), np.broadcast_to(weight, p.shape).reshape(-1), np.ones(votes)
    shifts = [-tolerance, tolerance] if tolerance > 0 else [0.0]
    errors = [vote_errors(*given, np.full(votes, shift))[0] for shift in shifts]
    return 1.0 - np.mean(errors, axis=0)


def best_set(accuracy: Any, classes: int = 2) -> tuple[Ints, float]:
    """``S* = argmax pi(S)`` over all sets: some top-m set, of odd size with two classes (Liu & Liu 2015, Theorems 1-2).

    Of equally good sizes the smallest: with equal skills {.7} and {.7, .7} tie.

    -> members (k,), ascending, and U(S*).
    """
    p = np.asarray(accuracy, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    values = top_accuracies(p[order], classes)
    size = int(np.flatnonzero(values >= values.max() - SAME)[0]) + 1
    return np.sort(order[:size]), float(values[size - 1])


def bought_set(accuracy: Floats, cost: Floats, price: float, votes: str, classes: int) -> Ints:
    """The best set for simple majorities, all labelers where votes are weighted; with a price those worth it.

    cost and price count between two classes alone; -> (k,): members, ascending.
    """
    if price > 0 and classes == 2:
        return worth_its_price(accuracy, cost, price, votes)
    return best_set(accuracy, classes)[0] if votes == "majority" else np.arange(accuracy.size)


def _chain(members: Floats, more: Floats, votes: str) -> tuple[Floats, Floats]:
    """U of those kept and the first k more, k = 0, 1, ..., and what it is at most: the lattice leaves an interval."""
    every = np.concatenate([members, more])
    if votes == "majority":
        values = np.append(0.5, top_accuracies(every))[members.size :]
        return values, values
    sizes = np.arange(members.size, every.size + 1)
    p = np.concatenate([every[:k] for k in sizes])
    starts = np.append(0, np.cumsum(sizes))
    above, width = vote_errors(starts, clipped(p), log_odds(p), np.ones(sizes.size), np.zeros(sizes.size))
    return 1 - above, 1 - above + width


def worth_its_price(accuracy: Any, cost: Any, price: float, votes: str = "majority") -> Ints:
    """``argmax U(S) - price C(S)`` over all sets, the empty one included, where a fair guess is as good as asking.

    accuracy, cost (labelers,): p, and the price of a label; price: lambda: how much accuracy a unit of money is worth;
    votes: ``majority``, or ``weighted`` by log-odds; -> (k,): members, ascending.
    """
    # Best first. A node has decided about the labelers that come first by skill.
    # No completion by k more is more accurate than the k most skilled of the rest, nor cheaper than the k cheapest
    # (accuracy grows with each member's skill: Liu & Liu 2015, Theorem 2): the best k of both at once bounds the
    # node.
    p, c = np.asarray(accuracy, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    # by skill, so that the k most skilled of the rest are the next k: a chain is one growing law
    order = np.argsort(-(np.abs(p - 0.5) if votes == "weighted" else p), kind="stable")
    p, c = p[order], c[order]
    best: tuple[float, list[int]] = (np.inf, [])
    number, seen = count(), 0
    heap: list[tuple[float, int, list[int], int]] = [(-np.inf, next(number), [], 0)]
    while heap and heap[0][0] < best[0] - SAME and seen < NODES:
        _, _, members, depth = heappop(heap)
        seen += 1
        values, most = _chain(p[members], p[depth:], votes)
        spent = float(c[members].sum())
        # feasible sets on the way: the members so far and the next k, at what they cost
        taken = price * (spent + np.append(0.0, np.cumsum(c[depth:]))) - values
        place = int(np.argmin(taken))
        if taken[place] < best[0] - SAME:
            best = (float(taken[place]), [*members, *range(depth, depth + place)])
        # the bound: the accuracy of the next k at the cost of the k cheapest, as if one set had both
        least = spent + np.append(0.0, np.cumsum(np.sort(c[depth:])))
        bound = float(np.min(price * least - most))
        if depth < p.size and bound < best[0] - SAME:
            # both children inherit the bound: each restricts the node's completions
            heappush(heap, (bound, next(number), [*members, depth], depth + 1))
            heappush(heap, (bound, next(number), members, depth + 1))
    return np.sort(order[np.array(best[1], np.int64)])
