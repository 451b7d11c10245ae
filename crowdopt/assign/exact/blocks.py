"""The Dantzig-Wolfe bound: every task has a whole set of labels that covers it, capacities hold in the mean.

``max over w <= 0 of sum_t n_t v_t(w) + sum_g M_g w_g`` with ``v_t`` the minimum knapsack of one task: at least as high
as the LP's bound, and higher where the last label of a task is only needed in part. A plan's multipliers are its proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.exact.relaxation import has_whole_prices
from crowdopt.core.certificate import next_integer
from crowdopt.core.clock import ENOUGH
from crowdopt.core.master import MakeMaster, MasterPoint
from crowdopt.crowd.classes import Classes
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.elementary import dot
from crowdopt.programs.label_sets import columns_of, has_label_limits, of_sets


class Knapsack(NamedTuple):
    """``min sum cost_i a_i  s.t.  sum worth_i a_i >= need, a binary``; cost and worth (n,), worth at least 0."""

    cost: Floats
    worth: Floats
    need: float


class Effort(NamedTuple):
    """How far the bound may stay below the best set, relative to the LP; nodes of the search; cells of its grid.

    Beyond so many nodes the bound stays valid.
    """

    close: float
    nodes: int
    cells: int


Sets: TypeAlias = list[Ints]  # worker classes of one task's labels, sorted
Seconds: TypeAlias = Callable[[], float]  # how many are left

EFFORT = Effort(close=1e-6, nodes=50_000, cells=4_000)  # of one pricing
KEPT = 4  # sets that it returns
PULLS = (0.7, 0.35, 0.0)  # towards the best multipliers so far, tried in turn until a column comes
NEGATIVE = 1e-7  # relative; a reduced cost above minus this brings no column
MEETS = 1e-6  # relative; the master's value and the bound
FOREVER: Seconds = lambda: np.inf  # noqa: E731
MARGIN = 2e-7  # relative to the tasks' costs at the multipliers; between what is computed here and what is claimed


@dataclass(frozen=True, eq=False)
class BlockPrices:
    """Multipliers of the rows that link tasks: per worker of a class (G,), per task of a class (T,), of the budget."""

    worker: Floats
    labels: Floats
    budget: float = 0.0

    def towards(self, other: BlockPrices, part: float) -> BlockPrices:
        """``part`` of the way from these prices to others."""
        return BlockPrices(
            part * other.worker + (1 - part) * self.worker,
            part * other.labels + (1 - part) * self.labels,
            part * other.budget + (1 - part) * self.budget,
        )


class SetPricing:
    """``v_t(w, l, b) = min sum_g ((1 - b) c_tg - w_g - l_t) a_g  s.t.  sum_g q_tg a_g >= C_t``, whole a."""

    def __init__(self, classes: Classes) -> None:
        from crowdopt.assign.exact import kernels

        self.classes, self._kernels = classes, kernels
        self._groups = [self._items(t) for t in range(classes.need.size)]

    def _items(self, kind: int) -> Ints:
        """The worker classes of one task's possible labels, one entry for each label; fixed ones are not among them."""
        classes = self.classes
        worth, free = classes.evidence[kind], classes.room[kind] - classes.least[kind]
        enough = np.ceil(max(0.0, classes.need[kind]) / np.maximum(worth, 1e-9)).astype(np.int64) + 1
        useful = np.where(worth > 0, np.minimum(free, enough), np.minimum(free, 1))
        return np.repeat(np.arange(worth.size), np.maximum(useful, 0))

    def reduced(self, kind: int, prices: BlockPrices) -> Floats:
        """What a label of each worker class costs a task under the prices, (G,)."""
        cost: Floats = (1 - prices.budget) * self.classes.cost[kind] - prices.worker - prices.labels[kind]
        return cost

    def cheapest(self, kind: int, prices: BlockPrices, room: Ints | None = None) -> tuple[float, Sets]:
        """A lower bound on v_t, and good sets, the best one first; of classes with room, where that is given."""
        classes, groups = self.classes, self._groups[kind]
        reduced, fixed = self.reduced(kind, prices), np.repeat(np.arange(classes.least.shape[1]), classes.least[kind])
        sets, sizes = np.empty((KEPT, groups.size), np.int64), np.empty(KEPT, np.int64)
        need = classes.floor[kind] - classes.evidence[kind, fixed].sum()
        cost, worth = reduced[groups], classes.evidence[kind, groups]
        if room is not None:
            there = room[groups] > 0
            cost, worth = np.where(there, cost, 1.0), np.where(there, worth, 0.0)
        bound, _ = self._kernels.cheapest_set(Knapsack(cost, worth, need), EFFORT, sets, sizes)
        chosen = [np.sort(np.append(groups[sets[s, : sizes[s]]], fixed)) for s in range(KEPT) if sizes[s] >= 0]
        return float(bound + reduced[fixed].sum()), chosen

    def evidence_prices(self, prices: BlockPrices) -> Floats:
        """The multiplier of each class's need in the LP of its pricing problem, (T,)."""
        classes, multipliers = self.classes, np.zeros(self.classes.need.size)
        for kind in range(multipliers.size):
            reduced, worth = self.reduced(kind, prices), classes.evidence[kind]
            ratio = np.where(worth > 0, np.maximum(reduced, 0.0) / np.maximum(worth, 1e-300), np.inf)
            order = np.argsort(ratio, kind="stable")
            reached = np.searchsorted(np.cumsum((worth * classes.room[kind])[order]), classes.floor[kind])
            last = ratio[order[min(int(reached), ratio.size - 1)]]
            multipliers[kind] = last if classes.floor[kind] > 0 and np.isfinite(last) else 0.0
        return multipliers

    def bound(self, values: Floats, prices: BlockPrices, tasks: Ints, room: Ints) -> float:
        """``sum_t n_t v_t`` and what the linking rows add: a lower bound on every plan, whatever the prices.

        values (T,): at most v_t, each; prices: at which they were priced; tasks (T,): n_t, tasks that are to have a
        set; room (G,): labels that each class of workers has room for.
        """
        classes, worker, labels = self.classes, prices.worker, prices.labels
        most = np.where(classes.most == UNLIMITED, 0, classes.most)
        load = np.where(worker > 0, classes.workers_in * classes.min_load, room)
        count = np.where(labels > 0, classes.fewest, most)
        budget = 0.0 if classes.instance.budget is None else prices.budget * classes.instance.budget
        return float(dot(tasks, values + count * labels) + dot(load, worker) + budget)


@dataclass(eq=False)
class Blocks:
    """Column generation over the sets of labels that tasks may have: ``sets[k]`` is one for tasks of ``kinds[k]``.

    The master chooses how many of ``tasks`` (T,) have each set, within ``room`` (G,), the capacity of each class of
    workers. Its multipliers, pulled towards the best ones so far, are where sets are priced; there the Lagrangian is
    the bound. Each class of tasks counts once, however many tasks it has.
    """

    classes: Classes
    make_master: MakeMaster
    center: BlockPrices
    tasks: Ints
    room: Ints
    bound: float = -np.inf
    doubt: float = 0.0
    kinds: list[int] = field(default_factory=list)
    sets: Sets = field(default_factory=list)
    known: set[tuple[int, bytes]] = field(default_factory=set)
    point: MasterPoint | None = None
    handed: int = 0
    rounds: int = 0

    def __post_init__(self) -> None:
        self.pricing = SetPricing(self.classes)
        self.whole = has_whole_prices(self.classes) and bool(self.classes.cost.any())
        self.limited = has_label_limits(self.classes)
        start = of_sets(self.classes, self.tasks, self.room, [], [])
        self.rows = start.row_lower, start.row_upper
        self.master = self.make_master(start)

    def add(self, kind: int, groups: Ints) -> bool:
        """Keep a set as a column; returns whether it is new."""
        key = (kind, groups.tobytes())
        if key in self.known:
            return False
        self.known.add(key)
        self.kinds.append(kind)
        self.sets.append(groups)
        return True

    def add_helpful(self, kind: int, sets: Sets, task: Floats, prices: BlockPrices) -> int:
        """Keep those sets whose reduced cost at the master's multipliers is negative; returns how many are new.

        kind: class of tasks; sets list of (size,) int: worker classes of one task's labels; task (T,): the master's
        multipliers of the tasks; prices: its multipliers of the rows that link them.
        """
        reduced, least = self.pricing.reduced(kind, prices), task[kind]
        if np.isfinite(least):
            least -= NEGATIVE * max(1.0, abs(least))
        return sum(self.add(kind, groups) for groups in sets if reduced[groups].sum() < least)

    def columns(self, which: Iterable[int]) -> tuple[Floats, sparse.csc_array]:
        """Cost and entries of some columns."""
        which = list(which)
        return columns_of(self.classes, [self.kinds[k] for k in which], [self.sets[k] for k in which])

    def solve(self, seconds: float) -> MasterPoint | None:
        """Give the master its new columns and solve it on."""
        if self.handed < len(self.sets):
            self.master.add_columns(*self.columns(range(self.handed, len(self.sets))))
            self.handed = len(self.sets)
        return self.master.solve(seconds)

    def prices(self, point: MasterPoint) -> tuple[Floats, BlockPrices]:
        """The master's multipliers: of the tasks (T,), and of the rows that link them."""
        kinds, groups = self.classes.evidence.shape
        dual, budget = point.dual, 0.0
        task, rest = dual[:kinds], dual[kinds:]
        worker = np.where(self.classes.min_load > 0, rest[:groups], np.minimum(rest[:groups], 0.0))
        labels = rest[groups : groups + kinds] if self.limited else np.zeros(kinds)
        if self.classes.instance.budget is not None:
            budget = min(0.0, float(dual[-1]))
        return task, BlockPrices(
            worker, np.where(self.classes.most == UNLIMITED, np.maximum(labels, 0), labels), budget
        )

    def price(self, trial: BlockPrices, task: Floats, at: BlockPrices, left: Seconds = FOREVER) -> int:
        """Price every class at ``trial``; keep the bound if it is the best, and the sets that help at ``at``.

        Nothing is proven and no set counts as new where time is up before all are priced.
        """
        values, new = np.zeros(task.size), 0
        for kind in np.flatnonzero(self.tasks).tolist():
            if left() <= ENOUGH:
                return 0
            values[kind], sets = self.pricing.cheapest(kind, trial)
            new += self.add_helpful(kind, sets, task, at)
        bound = self.pricing.bound(values, trial, self.tasks, self.room)
        if bound > self.bound:
            self.bound, self.center = bound, trial
            self.doubt = MARGIN * float(dot(self.tasks, np.abs(np.where(np.isfinite(values), values, 0.0))))
        return new

    def within(self, near: float) -> bool:
        """Whether more columns can raise the bound by no more than ``near``, relatively, or not to the next integer."""
        if self.point is None:
            return False
        if self.whole and self.proven >= next_integer(self.point.value, MEETS):
            return True
        return self.point.value - self.bound <= near * max(1.0, abs(self.point.value))

    @property
    def goal(self) -> float:
        """What a plan may cost that is as good as the bound."""
        return next_integer(self.bound) if self.whole else self.bound + MEETS * abs(self.bound)

    @property
    def proven(self) -> float:
        """What the best multipliers prove, less a little for who recomputes it with other roundings."""
        bound = self.bound - self.doubt
        return next_integer(bound) if self.whole else bound

    def generate(self, rounds: int, near: float, enough: float, left: Seconds) -> None:
        """Add columns until the bound is within ``near`` of the master or reaches ``enough``, or nothing comes.

        rounds: at most; near: relative gap of the master at which it ends; enough: cost of the best plan known: a bound
        as high proves it; left: seconds left.
        """
        if self.point is None:
            self.price(self.center, np.full(self.tasks.size, np.inf), self.center, left)
        for _ in range(rounds):
            point = self.solve(left())
            if point is None:
                return
            self.point, self.rounds = point, self.rounds + 1
            task, outer = self.prices(point)
            new = 0
            for pull in PULLS:
                new = self.price(outer.towards(self.center, pull), task, outer, left)
                if new:
                    break
            if not new or self.within(near) or self.bound >= enough:
                return
