"""Sets of labelers where labels cost: as much accuracy as a label's price is worth."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.vote_errors import log_odds, vote_errors
from crowdopt.errors import InputError
from crowdopt.labelers.sets import top_accuracies

Chain: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]

NODES = 20_000  # of the search; a set found within fewer is best
GAP = 1e-12  # objectives this close are equal
EXTREME = 1e-9  # accuracies are kept this far from 0 and 1 where a vote takes their log-odds


def _majority_chain(members: Floats, more: Floats) -> tuple[Floats, Floats]:
    """``pi(A + {1..k})``, k = 0, 1, ..., of those kept and more of them one by one; and what it is at most."""
    # members (k,), more (l,): accuracies.
    values = np.concatenate([[0.5], top_accuracies(np.concatenate([members, more]))])[members.size :]
    return values, values


def _weighted_chain(members: Floats, more: Floats) -> tuple[Floats, Floats]:
    """:func:`_majority_chain` for the vote weighted by log-odds; more than two dozen labelers leave an interval."""
    # members (k,), more (l,): accuracies.
    every = np.clip(np.concatenate([members, more]), EXTREME, 1 - EXTREME)
    sizes = np.arange(members.size, every.size + 1)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    p = np.concatenate([every[:k] for k in sizes]) if sizes.sum() else np.zeros(0)
    above, width = vote_errors(starts, p, log_odds(p), np.ones(sizes.size), np.zeros(sizes.size))
    return 1 - above, 1 - above + width


CHAINS: dict[str, Chain] = {"majority": _majority_chain, "weighted": _weighted_chain}


def worth_its_price(accuracy: Any, cost: Any, price: float, votes: str = "majority") -> Ints:
    """``argmax U(S) - price C(S)`` over all sets, the empty one included, where a fair guess is as good as asking.

    accuracy, cost (labelers,): p, and the price of a label; price: lambda: how much accuracy a unit of money is worth;
    votes: ``majority``, or ``weighted`` by log-odds; -> (k,): members, ascending.
    """
    if not price >= 0:
        raise InputError(f"the price must be at least 0, not {price}")
    # Best first. A node has decided about the labelers that come first by skill.
    # No completion by k more is more accurate than the k most skilled of the rest, nor cheaper than the k cheapest
    # (accuracy grows with each member's skill: Liu & Liu 2015, Theorem 2): the best k of both at once bounds the
    # node.
    p, c = np.asarray(accuracy, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    if votes not in CHAINS:
        raise InputError(f"votes are {' or '.join(CHAINS)}, not {votes!r}")
    if p.ndim != 1 or c.shape != p.shape or not (np.isfinite(c) & (c >= 0)).all():
        raise InputError("each labeler needs one accuracy and one cost, a number of at least 0")
    # by skill, so that the k most skilled of the rest are the next k: a chain is one growing law
    order = np.argsort(-(np.abs(p - 0.5) if votes == "weighted" else p), kind="stable")
    p, c, chain = p[order], c[order], CHAINS[votes]
    best: tuple[float, list[int]] = (np.inf, [])
    number, seen = count(), 0
    heap: list[tuple[float, int, list[int], int]] = [(-np.inf, next(number), [], 0)]
    while heap and heap[0][0] < best[0] - GAP and seen < NODES:
        _, _, members_so_far, depth = heappop(heap)
        seen += 1
        values, most = chain(p[members_so_far], p[depth:])
        spent = float(c[members_so_far].sum())
        # feasible sets on the way: the members so far and the next k, at what they cost
        taken = price * (spent + np.concatenate([[0.0], np.cumsum(c[depth:])])) - values
        place = int(np.argmin(taken))
        if taken[place] < best[0] - GAP:
            best = (float(taken[place]), [*members_so_far, *range(depth, depth + place)])
        # the bound: the accuracy of the next k at the cost of the k cheapest, as if one set had both
        least = spent + np.concatenate([[0.0], np.cumsum(np.sort(c[depth:]))])
        bound = float(np.min(price * least - most))
        if depth < p.size and bound < best[0] - GAP:
            # both children inherit the bound: each restricts the node's completions
            heappush(heap, (bound, next(number), [*members_so_far, depth], depth + 1))
            heappush(heap, (bound, next(number), members_so_far, depth + 1))
    return np.sort(order[np.array(best[1], np.int64)])
