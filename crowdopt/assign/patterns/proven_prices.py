"""What prices prove of every plan by exact errors: each task costs at least its cheapest set, by the method's searches.

The second opinion has other searches: a mistake in one shows as a difference between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.oracle import EffortParams, Oracle
from crowdopt.assign.patterns.pricing import PatternPricing
from crowdopt.assign.plan import Duals
from crowdopt.assign.problem import problem_of
from crowdopt.core.clock import Clock
from crowdopt.core.roundoff import sum_below
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.programs.pattern_errors import Errors
from crowdopt.programs.pools import folded

LEVELS, MOST = 24, 60  # skills of each type that a bound tells apart; up to how many it tells all apart
FEW, STEPS = 12, 20_000  # labels of a set of workers as they are, and steps of the search for them
LONG = 1e6  # seconds: steps end a search
DONE = 1e-6  # relative; a search whose bound is nearer to its best set was not cut short
CAPS, COUNTS, GROWTH = 9, 20, 1.2  # prices up to which, and numbers in which, the best labels are tried as a first set
TOGETHER = 8  # of those sets are looked at together


def prices_prove(instance: AssignmentInstance, duals: Duals) -> float:
    """``sum_i v_i + sum_j M_j w_j + b B + r sum_i eps_i``: what no plan costs less than, by the form ``patterns``.

    ``v_i = min over sets S of workers of sum_{j in S} ((1 - b) c_ij - w_j) - r e_i(S)``; under a rule for each task
    over the sets with ``e_i(S) <= eps_i`` and without r. Forbidden pairs are left out: that can only lower v_i.

    instance: under the rule exact-error or mean-error, without labels that are in; duals: of the form ``patterns``;
    with 0 levels two classes and a rule for each task; -> infinite where some task has no set at all.
    """
    average, room = instance.the_rule.average, np.minimum(instance.capacity, instance.n_tasks)
    price, load = -min(duals.wrong, 0.0) if average else 0.0, np.minimum(duals.worker, 0.0)
    spend = min(duals.budget, 0.0) if instance.budget is not None else 0.0
    able, (fewest, most) = room > 0, instance.new_label_limits
    skill, cost = folded(instance, up=True)[:, able], ((1 - spend) * instance.cost - load)[:, able]
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    target = np.ones(instance.n_tasks) if average else instance.epsilon
    table = np.column_stack([instance.task_type, target, fewest, most, prior])
    _, first, count = np.unique(table, axis=0, return_index=True, return_counts=True)
    least, size = np.empty(first.size), np.empty(first.size)
    for k, i in enumerate(first.tolist()):
        kind = int(instance.task_type[i])
        limits = float(target[i]), int(fewest[i]), int(most[i])
        least[k] = PricedTask(skill[kind], cost[kind], prior[i], *limits, price).least(duals.levels)
        size[k] = cost[kind].max(initial=0.0) * instance.n_workers + price
    if np.isposinf(least).any():
        return np.inf
    rows: list[Floats] = [
        room * load,
        np.array([spend * (instance.budget or 0.0)]),
        -price * instance.epsilon,
        least * count,
    ]
    return sum_below(np.concatenate(rows), 2 * float(size @ count))  # twice: whoever adds up otherwise proves it too


def told_apart(instance: AssignmentInstance) -> tuple[int, bool]:
    """How many skills of each type a bound tells apart, and whether these are all."""
    skill = folded(instance, up=True)[:, instance.capacity > 0]
    most = max((np.unique(one).size for one in skill), default=0)
    return (max(LEVELS, most), True) if most <= MOST else (LEVELS, False)


@dataclass(frozen=True, eq=False)
class PricedTask:
    """``min sum_{j in S} cost_j + price e(S)  s.t.  e(S) <= target, fewest <= |S| <= most``, from below."""

    # chance of a right label, at least 1/K; at least 0
    skill: Floats  # (workers,)
    cost: Floats  # (workers,)
    prior: Floats  # (K,)
    target: float
    fewest: int
    most: int
    price: float  # of an error

    def least(self, levels: int) -> float:
        """With so many skills told apart; 0: as they are in sets of up to FEW labels, LEVELS of them in larger ones."""
        if levels > 0:
            return self._by_pattern(levels, self.fewest, np.inf)
        small, done = self._by_worker()
        either = self._by_pattern(LEVELS, max(self.fewest, FEW + 1), small)  # or a larger set, which may cost less
        return either if done else max(either, self._by_pattern(LEVELS, self.fewest, np.inf))

    def _by_worker(self) -> tuple[float, bool]:
        """The cheapest set of at most FEW labels; whether the search came to its end."""
        alone = AssignmentInstance(
            self.skill[None], [0], np.ones(self.skill.size, np.int64), self.target, rule=EXACT_ERROR.name,
            cost=self.cost, classes=self.prior.size, prior=self.prior,
            min_labels=self.fewest, max_labels=min(self.most, FEW),
        )  # fmt: skip
        problem = problem_of(alone)
        effort = EffortParams(nodes=STEPS)
        swept = Oracle(problem, 1).sweep(np.zeros(problem.coupling.lower.size), effort, Clock(LONG))
        assert swept is not None
        return swept.bound, swept.bound >= float(swept.cost[0]) * (1 - DONE)

    def _by_pattern(self, levels: int, fewest: int, limit: float) -> float:
        """The cheapest set of at least so many labels, or the limit if that is less: pool by pool, the best first."""
        if fewest > min(self.most, self.skill.size) or np.sort(self.cost)[:fewest].sum() >= limit:
            return limit
        skill = self._raised(levels)
        pools = np.unique(skill)[::-1]
        steps = [np.sort(self.cost[skill == one]) for one in pools]
        errors = Errors(pools, float(self.prior[1]) if self.prior.size == 2 else self.prior)
        pricing = PatternPricing(errors, self.target, fewest, self.most, self.price)
        best = min(limit, self._first(pricing, steps))
        while True:
            known = best
            _, worth, floor = pricing.below(steps, known)
            best = min(known, float(worth.min(initial=np.inf)))
            if floor >= best or best >= known * (1 - DONE):
                return min(best, floor)

    def _raised(self, levels: int) -> Floats:
        """The skills, those in one of so many equal parts of the log-odds' range raised to the largest there."""
        distinct, at = np.unique(self.skill, return_inverse=True)
        if distinct.size <= levels:
            return self.skill
        odds = np.log(distinct) - np.log1p(-distinct) + np.log(self.prior.size - 1)
        part = np.minimum(np.floor(odds / (odds[-1] / levels)), levels - 1)
        ends = np.searchsorted(part, part, side="right") - 1
        return distinct[ends][at.reshape(-1)]

    def _first(self, pricing: PatternPricing, steps: list[Floats]) -> float:
        """What a set costs: the best labels up to a price, in some numbers, for some prices."""
        paid = [np.append(0.0, np.cumsum(one)) for one in steps]
        least, some = np.inf, np.arange(COUNTS)
        some = np.unique(np.append(some, np.rint(COUNTS * GROWTH ** np.arange(30)).astype(np.int64)))
        for cap in np.unique(np.quantile(self.cost, np.linspace(0, 1, CAPS), method="higher")).tolist():
            room = np.array([np.searchsorted(one, cap, side="right") for one in steps])
            many = np.unique(np.minimum(some, min(self.most, int(room.sum()))))
            rows: Ints = np.clip(many[:, None] - (np.cumsum(room) - room), 0, room)
            worth = np.sum([one[rows[:, g]] for g, one in enumerate(paid)], axis=0)
            for start in range(0, len(rows), TOGETHER):
                if worth[start] >= least:  # larger sets cost no less, and their errors take longest
                    break
                part = slice(start, start + TOGETHER)
                least = min(least, self._cheapest_of(pricing, rows[part], worth[part]))
        return least

    def _cheapest_of(self, pricing: PatternPricing, patterns: Ints, paid: Floats) -> float:
        """Of some patterns those that will do, with the price of their errors."""
        good = pricing.settled(patterns)
        errors = self.price * pricing.errors.of(patterns[good]) if self.price > 0 else 0.0
        return float((paid[good] + errors).min(initial=np.inf))
