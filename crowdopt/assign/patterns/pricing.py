"""The cheapest patterns of one kind of task under prices: all of them below a limit, none overlooked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.crowd.vote_errors import CERTAIN
from crowdopt.programs.pattern_errors import Errors

SURE = 1e-6  # evidence; room for rounding where evidence alone decides
MANY = 500  # partial patterns that are followed; beyond, the rest is only bounded


@dataclass(eq=False)
class PatternPricing:
    """``min weight e(a) + sum_g phi_g(a_g)  s.t.  e(a) <= target,  fewest <= sum a <= most,  a whole``.

    Each phi_g is convex and increasing, given by its increments: what the first, second, … label of a pool costs. Pools
    are gone through from the best to the worst. A partial pattern is given up where its completions are above the
    limit: k labels more cost at least the k *cheapest* left and help at most as the k *best* left, since no vote errs
    less for having a label replaced by a worse one, nor for having one fewer.
    """

    errors: Errors
    target: float  # largest error; 1 for none
    fewest: int = 0
    most: int = UNLIMITED
    weight: float = 0.0  # price of error, at least 0
    # seconds left; when there are none, what was not looked at is bounded by what it has cost so far
    left: Callable[[], float] = lambda: np.inf

    def __post_init__(self) -> None:
        self.order = np.argsort(-self.errors.skill, kind="stable")
        self._least = (self.errors.least_evidence(self.target) if self.target < 0.5 else 0.0) - SURE

    def meets(self, patterns: Ints) -> np.ndarray:
        """Which patterns keep the target."""
        good = patterns @ self.errors.evidence >= self._least
        if self.target < 1:
            good[good] = self.errors.of(patterns[good]) <= self.target + CERTAIN
        return good

    def below(self, increments: Sequence[Floats], limit: float) -> tuple[Ints, Floats, float]:
        """Patterns that are no more than the limit and no waste in their last pool: ``(patterns, values, floor)``.

        They are all there are below ``floor``: infinite but where more than MANY partial patterns had to be followed.
        """
        heads, spent = np.zeros((1, self.order.size), np.int64), np.zeros(1)
        patterns, values, floor = [np.zeros((0, self.order.size), np.int64)], [np.zeros(0)], np.inf
        for depth, pool in enumerate(self.order):
            heads, spent = self._extended(heads, spent, int(pool), increments[pool], limit)
            last = depth + 1 == self.order.size
            done = self.settled(heads)
            stop = self._wasteful(heads, done, int(pool))
            worth = spent + (self.weight * self.errors.of(heads) if self.weight > 0 else 0.0)
            whole = done & ~stop & (worth <= limit)
            if self.weight > 0 and not last:  # the same pattern comes again with none of the pools to come
                whole[:] = False
            patterns.append(heads[whole])
            values.append(worth[whole])
            on = (~done if self.weight == 0 else np.ones(done.size, bool)) & ~stop
            heads, spent = heads[on], spent[on]
            if last or not heads.size:
                break
            if self.left() <= 0:
                floor = min(floor, float(spent.min()))
                break
            ahead = self._completions(heads, spent, self.order[depth + 1 :], increments, limit)
            order = np.argsort(ahead, kind="stable")
            order = order[ahead[order] <= limit]
            floor = min(floor, float(ahead[order[MANY:]].min(initial=np.inf)))
            heads, spent = heads[order[:MANY]], spent[order[:MANY]]
        return np.concatenate(patterns), np.concatenate(values), floor

    def _extended(self, heads: Ints, spent: Floats, pool: int, increment: Floats, limit: float) -> tuple[Ints, Floats]:
        """Each head with 0, 1, … labels of one more pool, while that is within the limit."""
        total = np.append(0.0, np.cumsum(increment))
        cost = spent[:, None] + total
        within = (cost <= limit) & (heads.sum(axis=1)[:, None] + np.arange(total.size) <= self.most)
        head, count = np.nonzero(within)
        grown = heads[head]
        grown[:, pool] = count
        return grown, cost[head, count]

    def settled(self, heads: Ints) -> np.ndarray:
        """Which patterns keep the target and have labels enough."""
        enough = heads.sum(axis=1) >= self.fewest
        return np.asarray(enough & self.meets(heads))

    def _wasteful(self, heads: Ints, done: np.ndarray, pool: int) -> np.ndarray:
        """Patterns that would do with one label of the pool less: only where error has no price."""
        if self.weight > 0:
            return np.zeros(done.size, bool)
        fewer = heads.copy()
        fewer[:, pool] -= 1
        stop = done & (fewer[:, pool] >= 0)
        stop[stop] = self.settled(fewer[stop])
        return stop

    def _completions(
        self, heads: Ints, spent: Floats, rest: Ints, increments: Sequence[Floats], limit: float
    ) -> Floats:
        """At least what each head costs with labels of the other pools."""
        prices = np.sort(np.concatenate([increments[g] for g in rest]))
        best_first = np.repeat(rest, [increments[g].size for g in rest])
        total = np.append(0.0, np.cumsum(prices))
        least = np.full(spent.size, np.inf)
        alive, filled = np.arange(spent.size), heads.copy()
        for k in range(best_first.size + 1):
            if self.left() <= 0:
                least[alive] = np.minimum(least[alive], spent[alive])
                break
            if k > 0:
                filled[alive, best_first[k - 1]] += 1
            if self.weight > 0:
                large = alive[filled[alive].sum(axis=1) >= self.fewest]
                worth = spent[large] + total[k] + self.weight * self.errors.of(filled[large])
                least[large] = np.minimum(least[large], worth)
                alive = alive[spent[alive] + total[min(k + 1, total.size - 1)] < np.minimum(least[alive], limit)]
            else:
                good = self.settled(filled[alive])
                least[alive[good]] = spent[alive[good]] + total[k]
                alive = alive[~good]
                alive = alive[spent[alive] + total[min(k + 1, total.size - 1)] <= limit]
            if not alive.size:
                break
        return least
