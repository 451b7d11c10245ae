"""The linear program over classes; where tasks are not alike even shares, and a program where those break a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.linear.ascent import Ascent, sampled_prices
from crowdopt.assign.linear.even_shares import KeptShares, even_shares, rows_point
from crowdopt.assign.linear.own_tasks import OwnTasks, is_individual, own_tasks
from crowdopt.assign.linear.relaxation import relax_classes
from crowdopt.assign.linear.shares import OwnDuals, Shares, price_pairs
from crowdopt.assign.linear.sweep import Prices, Sweep, Sweeper
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.standing import Solvers
from crowdopt.core.certificate import Certificate
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options, Progress
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import breaches

SWEEPS, WIDE = 24, 0.5  # for prices where rows are not shared; the first box, in units of the mean label
SAMPLING = 0.3  # of the time, for prices from samples
LOOSE, NO_NODES = 1.0, 1  # pricing by linear programs alone: any set is close enough
FREE, OTHERS = 1_000, 1  # tasks that are left to the program, at least, and how many beside each that must be
TWICE, BESIDE = 2, 6  # a task's workers to begin with: so many times its labels at the first prices, and a few
PROGRAM = 60_000  # tasks of a program, at most
OTHERWISE = "prices for each task by itself settle nothing: the program of all tasks, which takes longer"


def solve_linearly(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None = None
) -> Plan:
    """Shares of labels, ``min sum c y`` over ``0 <= y <= 1``, with multipliers, or that there are none.

    Over classes of interchangeable tasks and workers; where nearly every task is of a kind of its own, task by task.

    instance: without joint limits.
    """
    clock = Clock(options.time_limit)
    if is_individual(instance):
        plan = _task_by_task(instance, solvers, options, listener)
        if plan is not None:
            return plan
        options = clock.within(options, options.nodes)
    relaxation = relax_classes(classes_of(instance), solvers.solve, options)
    known, solution = relaxation.certificate, relaxation.solution
    full = relaxation.full() if known.bound < np.inf else None
    pairs = None if full is None else np.argwhere(full > 0)
    return Plan.of(
        instance,
        "lp",
        known,
        known.bound if known.proof == "certificate" else -np.inf,
        relaxation.duals(),
        pairs,
        None if full is None or pairs is None else full[tuple(pairs.T)],
        method="exact",
        backend=solution.backend,
        seed=options.seed,
        interrupted=solution.interrupted,
    )


def _task_by_task(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None
) -> Plan | None:
    """The same where tasks are not alike.

    -> None where tasks are too many, or nobody knows whether there are any shares: the listener is told that the
    program of all tasks is solved instead.
    """
    tasks = own_tasks(instance)
    if not tasks.size > 0:
        return None
    work = LinearWork(tasks, solvers, options, Clock(options.time_limit), listener)
    if work.solve():
        return work.plan()
    if listener is not None:
        bound = work.bound if np.isfinite(work.bound) else None
        listener(Progress(work.clock.spent, None, bound, OTHERWISE))
    return None


@dataclass(eq=False)
class LinearWork:
    """The best shares and the best multipliers known."""

    tasks: OwnTasks
    solvers: Solvers
    options: Options
    clock: Clock
    listener: Listener | None
    bound: float = -np.inf
    duals: OwnDuals | None = None
    found: tuple[Ints, Floats] | None = None
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.options.seed)
        self.sweeper = Sweeper(self.tasks, self.options.threads)

    def solve(self) -> bool:
        """Whether there are shares, or time ended."""
        point = rows_point(self.tasks, self.solvers.solve, self.clock.within(self.options, None))
        prices = self._climbed() if point is None else point.prices
        sweep = None if prices is None else self._swept(prices)
        if sweep is None:
            return False
        start = OwnDuals.of(self.tasks, sweep.rate, sweep.limit, sweep.prices)
        self._claim(start)
        kept = KeptShares.none(self.tasks) if point is None else even_shares(self.tasks, point.amounts)
        wide = TWICE * np.maximum(0, sweep.held) + BESIDE
        if self._finish(self._with_others(kept), start, wide):
            return True
        if kept.free.size == self.tasks.size or self.clock.over:
            return self.clock.over
        return self._finish(KeptShares.none(self.tasks), start, wide)

    def _with_others(self, kept: KeptShares) -> KeptShares:
        """Some more tasks free, by chance, so that those that must be find workers."""
        others = np.setdiff1d(np.arange(self.tasks.size), kept.free)
        if not kept.free.size or not others.size:
            return kept
        many = min(others.size, max(FREE - kept.free.size, OTHERS * kept.free.size))
        return kept.without(self.rng.choice(others, many, replace=False))

    def _finish(self, kept: KeptShares, start: OwnDuals, wide: Ints) -> bool:
        """Shares of the free tasks by a program, beside those that are kept; whether all limits are."""
        free = kept.free
        if not free.size:
            return self._offer(kept, np.zeros(0, np.int64), np.zeros(0))
        if free.size > PROGRAM:
            return False
        shares = Shares(self._rest(kept), self.solvers, self.options, self.clock)
        if not shares.solve(OwnDuals(start.task[free], start.labels[free], start.prices), wide[free]):
            return False
        self.interrupted |= shares.interrupted
        if shares.duals is not None:
            self._claim_of(shares.duals, free)
        if shares.point is None:
            return self.clock.over or self.interrupted
        if self._offer(kept, *shares.shares()):
            return True
        shares.strict()
        return self._offer(kept, *shares.shares())

    def _rest(self, kept: KeptShares) -> OwnTasks:
        """The free tasks, with what the kept shares leave of workers and money."""
        part, load = self.tasks.part(kept.free), kept.load
        return replace(
            part,
            room=np.maximum(0.0, self.tasks.room - load),
            least=np.maximum(0.0, self.tasks.least - load),
            budget=None if part.budget is None else max(0.0, part.budget - kept.paid),
            constant=0.0,
        )

    def _climbed(self) -> Prices | None:
        """Prices where tasks have rows of their own."""
        tasks, solve, unit = self.tasks, self.solvers.solve, float(self.tasks.arrays.cost.mean()) or 1.0
        if not tasks.is_shared:
            sampled = sampled_prices(tasks, solve, self.options, self.clock.part(SAMPLING), self.rng)
            if sampled is not None:
                return sampled.prices
        ascent = Ascent(self.sweeper, solve, self.options, self.clock, WIDE * unit)
        ascent.nodes = NO_NODES
        ascent.visit(Prices(np.zeros(tasks.room.size)))
        ascent.climb(SWEEPS, lambda _: False)
        return None if ascent.best is None else ascent.best.prices

    def _swept(self, prices: Prices) -> Sweep | None:
        """Every task's fractional knapsack; None where one has no solution, or time ends."""
        sweep = self.sweeper.sweep(prices, self.clock, LOOSE, NO_NODES)
        return None if sweep is None or not np.isfinite(sweep.bound) else sweep

    def _claim_of(self, duals: OwnDuals, free: Ints) -> None:
        """What the free tasks' multipliers prove, each other task's price of evidence the best at their prices."""
        task, labels = np.zeros((2, self.tasks.size))
        if free.size < self.tasks.size:
            sweep = self._swept(duals.prices)
            if sweep is None:
                return
            task, labels = sweep.rate, sweep.limit
        task[free], labels[free] = duals.task, duals.labels
        self._claim(OwnDuals.of(self.tasks, task, labels, duals.prices))

    def _claim(self, duals: OwnDuals) -> None:
        bound = price_pairs(self.tasks, duals, np.zeros(0, np.int64), self.rng, 0).bound
        if bound > self.bound:
            self.bound, self.duals = bound, duals
        if self.listener is not None:
            self.listener(Progress(self.clock.spent, None, self.bound, "pricing each task by itself"))

    def _offer(self, kept: KeptShares, pair: Ints, amount: Floats) -> bool:
        """Take the shares of all tasks if they keep every limit of the instance."""
        tasks, instance, m = self.tasks, self.tasks.instance, self.tasks.room.size
        pair = np.concatenate([kept.pair, kept.free[pair // m] * m + pair % m])
        task, worker = np.divmod(pair, m)
        pairs = np.concatenate([np.column_stack([tasks.task[task], worker]), instance.fixed])
        amounts = np.concatenate([kept.amount, amount, np.ones(len(instance.fixed))])
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        pairs, amounts = pairs[order], amounts[order]
        if breaches(instance, pairs, amounts):
            return False
        self.found = pairs, amounts
        return True

    def plan(self) -> Plan:
        """What is known."""
        instance, duals = self.tasks.instance, None
        if self.duals is not None:
            task, labels = np.zeros((2, instance.n_tasks))
            task[self.tasks.task], labels[self.tasks.task] = self.duals.task, self.duals.labels
            duals = Duals(task, self.duals.prices.worker, labels, self.duals.prices.budget)
        proof = "certificate" if np.isfinite(self.bound) else "none"
        known, (pairs, amounts) = Certificate(None, self.bound, proof, None, None), self.found or (None, None)
        return Plan.of(
            instance, "lp", known, self.bound, duals, pairs, amounts,
            method="exact", backend="highs", seed=self.options.seed, interrupted=self.interrupted,
        )  # fmt: skip
