"""Patterns generated as prices ask for them, with the bound that the prices prove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.bisection import first_that
from crowdopt.assign.patterns.pricing import PatternPricing
from crowdopt.core.certificate import BOUND
from crowdopt.core.program import Program
from crowdopt.core.solution import WARM, Options, Solve, Status
from crowdopt.programs.pattern_errors import Errors
from crowdopt.programs.pattern_master import of_priced_menu
from crowdopt.programs.patterns import SCALE, PatternSet, of_menu
from crowdopt.programs.pools import Pools

ROUNDS = 200  # of generation
CLOSE = 1e-9  # relative; the master's value and the bound are then the same
MOST = 5_000  # patterns of a kind that one program is given
LITTLE = 50.0  # how far below the average target patterns are worth trying at first
EACH = 40  # labels of a pattern to begin with up to which no number is left out: long votes' errors take long
ADDED = 60  # patterns a round and kind, the cheapest first


def spread(first: int, last: int) -> Ints:
    """Numbers of labels from first to last, both included: each up to EACH, then about as many evenly."""
    some = np.concatenate([[first], np.arange(EACH), np.arange(EACH, last, max(1, (last - EACH) // EACH)), [last]])
    return np.unique(some[(some >= first) & (some <= last)])


@dataclass(frozen=True, eq=False)
class PatternPrices:
    """What the rows that link tasks ask for, as prices."""

    worker: Floats  # (workers,): of a label of each worker, at least 0
    money: float = 1.0  # of a unit of money
    wrong: float = 0.0  # of an expected wrong answer


@dataclass(frozen=True, eq=False)
class Goal:
    """What is minimised under which limit: money under ``wrong`` answers at most (None: each task's own target), or
    wrong answers under the instance's budget.
    """

    wrong: float | None = None
    least_wrong: bool = False

    @property
    def soft(self) -> bool:
        """Whether errors have a price instead of a limit for each task."""
        return self.least_wrong or self.wrong is not None


@dataclass(eq=False)
class Columns:
    """A menu that grows, the best bound proven so far and the prices that prove it."""

    pools: Pools  # kinds of tasks, pools of workers
    goal: Goal  # what is minimised, under which limit
    solve: Solve  # who solves the masters
    options: Options  # within which limits
    left: Callable[[], float]  # the seconds left
    errors: list[Errors] = field(init=False)  # of each kind of task
    menu: PatternSet = field(init=False)  # the patterns so far
    bound: float = field(init=False, default=-np.inf)  # the best that prices have proven
    prices: PatternPrices | None = field(init=False, default=None)  # those that prove it
    # what a pattern for a task of each kind costs at those prices, at least
    values: Floats = field(init=False)  # (kinds,)

    def __post_init__(self) -> None:
        pools = self.pools
        self.errors = [Errors(pools.skill[t], pools.prior[t]) for t in range(pools.tasks_in.size)]
        if not self.goal.soft:
            self.pools = pools = replace(pools, deepest=self._deepest())
        starts = [self._menu(t, self._first(t)) for t in range(pools.tasks_in.size)]
        self.menu = starts[0]
        for more in starts[1:]:
            self.menu = self.menu.joined(more)
        self.values = np.full(pools.tasks_in.size, -np.inf)

    @property
    def ceiling(self) -> float:
        """No plan costs more: everybody paid for all they can do, or every answer wrong."""
        if self.goal.least_wrong:
            return SCALE * self.pools.instance.n_tasks
        return float((self.pools.instance.cost.max(axis=0) * self.pools.room_of).sum())

    @property
    def dearest(self) -> float:
        """What a task without a pattern costs the master."""
        return 10.0 * (1.0 + self.ceiling)

    @property
    def hopeless(self) -> bool:
        """Whether the bound proves that there is no plan."""
        return self.refutes(self.bound)

    def refutes(self, bound: float) -> bool:
        """Whether no plan can cost as much as the bound says that each does."""
        return bound > self.ceiling + BOUND * max(1.0, self.ceiling)

    def pricing(self, t: int, weight: float, target: float | None = None) -> PatternPricing:
        """The search for patterns of one kind."""
        pools = self.pools
        if target is None:
            target = 1.0 if self.goal.soft else float(pools.epsilon[t])
        return PatternPricing(self.errors[t], target, int(pools.fewest[t]), int(pools.most[t]), weight, self.left)

    def _menu(self, t: int, patterns: Ints) -> PatternSet:
        return PatternSet(np.full(len(patterns), t), patterns, self.errors[t].promised(patterns))

    def _first(self, t: int) -> Ints:
        """To begin with: the best labels first, the worst first, and those of each pool alone, as many as will do."""
        # Under a rule for the average all that are fewer too, without the worst first: their long votes take too
        # long.
        sizes = self.pools.sizes
        target = float(self.pools.epsilon[t]) / (LITTLE if self.goal.soft else 1)
        pricing, starts = self.pricing(t, 0.0, target), [np.zeros((0, sizes.size), np.int64)]
        best = np.argsort(-self.pools.skill[t], kind="stable")
        for order in [best, *([] if self.goal.soft else [best[::-1]]), *(np.array([g]) for g in range(sizes.size))]:
            labels = np.repeat(order, sizes[order])[: self.pools.most[t]]
            grown = np.cumsum(np.eye(sizes.size, dtype=np.int64)[labels], axis=0)
            grown = np.concatenate([np.zeros((1, sizes.size), np.int64), grown])
            k = first_that(partial(_is_enough, pricing, grown), len(grown))
            every = spread(int(self.pools.fewest[t]), min(k, len(grown) - 1))
            starts.append(grown[every] if self.goal.soft else grown[k : k + 1])
        return np.unique(np.concatenate(starts), axis=0)

    def _deepest(self) -> Ints:
        """Labels of each pool that are enough by themselves for every kind, or all there are, (G,)."""
        deepest = np.zeros_like(self.pools.sizes)
        for t in range(self.pools.tasks_in.size):
            pricing = self.pricing(t, 0.0)
            for g, size in enumerate(self.pools.sizes.tolist()):
                alone = np.zeros((size + 1, deepest.size), np.int64)
                alone[:, g] = np.arange(size + 1)
                deepest[g] = max(deepest[g], min(size, first_that(partial(_is_enough, pricing, alone), size + 1)))
        return deepest

    def program(self) -> Program:
        """The program over the menu so far."""
        return of_menu(self.pools, self.menu, self.goal.wrong, self.goal.least_wrong)

    def generate(self) -> None:
        """Solve, price, add, until no pattern would lower the cost; raises the bound on the way."""
        for _ in range(ROUNDS):
            value, duals = self._master()
            if self.left() <= 0 or duals is None:
                return
            bound, values, prices, additions = self._priced(duals)
            if bound > self.bound:
                self.bound, self.values, self.prices = bound, values, prices
            if value - self.bound <= CLOSE * max(1.0, abs(value)) or not additions or self.left() <= 0:
                return
            known = self.menu.kind.size
            for more in additions:
                self.menu = self.menu.joined(more)
            if self.menu.kind.size == known:  # only patterns whose errors are not known exactly
                return

    def _master(self) -> tuple[float, Floats | None]:
        """The LP over the menu, each task free to go without at a price that no plan reaches."""
        goal = self.goal
        program = of_priced_menu(self.pools, self.menu, self.dearest, goal.wrong, goal.least_wrong)
        solution = self.solve(program, WARM, replace(self.options, time_limit=max(1e-3, self.left())))
        if solution.status is not Status.OPTIMAL or solution.dual is None or solution.primal is None:
            return np.inf, None
        return float((program.cost * solution.primal).sum()), solution.dual

    def increments(self, t: int, prices: PatternPrices) -> list[Floats]:
        """What the first, second, … label of each pool costs a task of a kind."""
        paid = prices.money * self.pools.cost[t]
        deepest = self.pools.deepest
        return [np.sort(paid[g] + prices.worker[who])[: deepest[g]] for g, who in enumerate(self.pools.members)]

    def prices_of(self, duals: Floats) -> PatternPrices:
        """The master's multipliers as prices: the worker with r-th most room is in the supply rows of depth below r."""
        pools, program = self.pools, self.program()
        pool, depth, _ = pools.rows
        supply = np.maximum(0.0, -program.row("supply").view(duals))
        worker = np.zeros(pools.instance.n_workers)
        for g, members in enumerate(pools.members):
            mine = np.zeros(len(members))
            mine[depth[pool == g]] = supply[pool == g]
            worker[members] = np.cumsum(mine)
        names = {block.name for block in program.rows}
        budget = max(0.0, -float(program.row("budget").view(duals)[0])) if "budget" in names else 0.0
        wrong = max(0.0, -float(program.row("wrong").view(duals)[0])) * SCALE if "wrong" in names else 0.0
        if self.goal.least_wrong:
            return PatternPrices(worker, budget, SCALE)
        return PatternPrices(worker, 1.0 + budget, wrong)

    def constant(self, prices: PatternPrices) -> float:
        """What the rows' own sides are worth at the prices."""
        total = -float((prices.worker * self.pools.room_of).sum())
        if self.pools.instance.budget is not None:
            total -= (prices.money - (0.0 if self.goal.least_wrong else 1.0)) * self.pools.instance.budget
        return total - (0.0 if self.goal.wrong is None else prices.wrong * self.goal.wrong)

    def _priced(self, duals: Floats) -> tuple[float, Floats, PatternPrices, list[PatternSet]]:
        """Each kind's cheapest pattern under the prices, the bound that they prove, and patterns worth adding."""
        prices = self.prices_of(duals)
        values, additions = np.empty(self.pools.tasks_in.size), []
        for t in range(values.size):
            known = self.worth(prices)[self.menu.kind == t]
            limit = min(float(known.min(initial=np.inf)), self.dearest)
            patterns, worth, floor = self.pricing(t, prices.wrong if self.goal.soft else 0.0).below(
                self.increments(t, prices), limit
            )
            values[t] = min(limit, float(worth.min(initial=np.inf)), floor)
            better = np.argsort(worth, kind="stable")[:ADDED]
            better = better[worth[better] < limit - CLOSE * max(1.0, abs(limit))]
            if better.size:
                additions.append(self._menu(t, patterns[better]))
        return float((values * self.pools.tasks_in).sum()) + self.constant(prices), values, prices, additions

    def worth(self, prices: PatternPrices) -> Floats:
        """What each pattern of the menu costs under the prices, (k,)."""
        worth = np.zeros(self.menu.kind.size)
        for t in range(self.pools.tasks_in.size):
            mine = np.flatnonzero(self.menu.kind == t)
            for g, steps in enumerate(self.increments(t, prices)):
                worth[mine] += np.append(0.0, np.cumsum(steps))[self.menu.pattern[mine, g]]
        return worth + (prices.wrong * self.menu.error if self.goal.soft else 0.0)

    def add_below(self, slack: float) -> bool:
        """Add every pattern that a plan cheaper than bound + slack could have; whether these are all."""
        assert self.prices is not None
        weight, complete = self.prices.wrong if self.goal.soft else 0.0, True
        for t in range(self.pools.tasks_in.size):
            limit = float(self.values[t]) + slack
            patterns, worth, floor = self.pricing(t, weight).below(self.increments(t, self.prices), limit)
            complete &= floor > limit and len(patterns) <= MOST
            best = np.argsort(worth, kind="stable")[:MOST]
            self.menu = self.menu.joined(self._menu(t, patterns[best]))
        return complete


def _is_enough(pricing: PatternPricing, grown: Ints, k: int) -> bool:
    return bool(pricing.settled(grown[k : k + 1])[0])
