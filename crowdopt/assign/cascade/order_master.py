"""The restricted master over asking orders: it grows by columns, and says what errors and votes are worth."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import PolicyProof
from crowdopt.assign.cascade.order_kernels import comes_to
from crowdopt.core.master import MakeMaster, Master, MasterPoint
from crowdopt.crowd.states.asking_orders import AskingOrder
from crowdopt.crowd.states.own_skills import OwnSkills
from crowdopt.programs.order_choice import OrderLimits, before_orders, of_orders

SPARE = 1e-6  # of loads, money and wrong answers: solvers keep limits to 1e-7


@dataclass(frozen=True, eq=False)
class OrderColumn:
    """An order for tasks of one start, and what a task that follows it is expected to come to."""

    start: int
    order: AskingOrder
    asked: Floats  # (its workers,): chance of being asked
    wrong: float
    expert: float

    def cost(self, problem: OwnSkills, price: float | None) -> float:
        """Expected; price: the expert's."""
        kind = problem.starts[self.start].kind
        paid = (problem.price[kind, list(self.order.workers)] * self.asked).sum()
        return float(paid + self.expert * (price or 0.0))


def column_of(problem: OwnSkills, start: int, order: AskingOrder) -> OrderColumn:
    """The order's column: it is followed score by score; workers whom it never asks are left out."""
    one = problem.starts[start]
    asked, wrong, expert = expected(problem, one.kind, order, one.law, (0, 0))
    n = int((asked > 0).sum())  # who is asked is asked after all before
    order = AskingOrder(order.workers[:n], order.adds[:n], order.low[: n + 1], order.high[: n + 1])
    return OrderColumn(start, order, asked[:n], wrong, expert)


def expected(
    problem: OwnSkills, kind: int, order: AskingOrder, law: Floats, heard: tuple[int, int]
) -> tuple[Floats, float, float]:
    """Chances to ask each worker, to be wrong, to need the expert; heard: workers so far, and their score."""
    likely = np.ascontiguousarray(problem.likely[kind, list(order.workers)].reshape(-1, 2))
    adds = np.array(order.adds, np.int64).reshape(-1, 2)
    low, high = np.array(order.low, np.int64), np.array(order.high, np.int64)
    asked, wrong, expert = comes_to(likely, adds, low, high, np.ascontiguousarray(law), *heard)
    return asked, float(wrong), float(expert)


@dataclass(eq=False)
class OrderMaster:
    """All orders known, and the LP over them."""

    problem: OwnSkills
    expert: float | None
    make_master: MakeMaster
    dear: float  # what a wrong answer too many costs
    times: float = 1.0  # of all targets
    columns: list[OrderColumn] = field(default_factory=list)
    _seen: set[tuple[int, AskingOrder]] = field(default_factory=set)
    _lp: Master | None = None
    _behind: int = 0

    def add(self, start: int, order: AskingOrder) -> None:
        """Keep an order, where it is new."""
        column = column_of(self.problem, start, order)
        if (start, column.order) not in self._seen:
            self._seen.add((start, column.order))
            self.columns.append(column)

    @property
    def limits(self) -> OrderLimits:
        """The rows' sides, a little within those of the instance."""
        problem, instance = self.problem, self.problem.instance
        upper = [instance.capacity.astype(np.float64)]
        upper += [] if instance.budget is None else [np.array([instance.budget])]
        upper.append(np.array([row.side for row in problem.label_rows]))
        shared = np.concatenate(upper)
        wrong = np.bincount(self.targets, weights=self.times * problem.epsilon * problem.tasks_in)
        tasks = np.array([float(one.tasks.size) for one in problem.starts])
        inside = np.where(shared > SPARE, shared - SPARE, shared)
        return OrderLimits(tasks, wrong - SPARE * np.minimum(1.0, wrong), np.full(shared.size, -np.inf), inside)

    @property
    def targets(self) -> Ints:
        """The error row of each kind, (kinds,)."""
        kinds = self.problem.first.size
        return np.zeros(kinds, np.int64) if self.problem.instance.the_rule.average else np.arange(kinds)

    def _entries(self, first: int) -> tuple[Floats, sparse.csc_array]:
        """Costs and columns from a place on."""
        limits, problem = self.limits, self.problem
        some, instance = self.columns[first:], problem.instance
        cost = np.array([one.cost(problem, self.expert) for one in some])
        rows, values, count = [], [], []
        loads, budget = limits.tasks.size + limits.wrong.size, instance.budget is not None
        for one, paid in zip(some, cost.tolist(), strict=True):
            mine = list(one.order.workers)
            kind = problem.starts[one.start].kind
            beside = [paid] * budget + [float((row.weight[kind, mine] * one.asked).sum()) for row in problem.label_rows]
            target = limits.tasks.size + self.targets[kind]
            after = loads + instance.n_workers + np.arange(len(beside))
            rows.append(np.concatenate([[one.start, target], loads + np.array(mine, np.int64), after]))
            values.append(np.concatenate([[1.0, one.wrong], one.asked, beside]))
            count.append(rows[-1].size)
        ends = np.concatenate([[0], np.cumsum(count)])
        inside = (np.concatenate(values), np.concatenate(rows).astype(np.int64), ends)
        return cost, sparse.csc_array(inside, shape=(limits.size, len(some)))

    def solve(self, seconds: float) -> MasterPoint | None:
        """The LP with all orders known."""
        if self._lp is None:
            self._lp = self.make_master(of_orders(self.limits, *self._entries(0), self.dear))
        elif self._behind < len(self.columns):
            self._lp.add_columns(*self._entries(self._behind))
        self._behind = len(self.columns)
        return self._lp.solve(seconds)

    def restart(self, dear: float, times: float) -> None:
        """Another price of what is beyond limits, and other targets."""
        self.dear, self.times, self._lp = dear, times, None

    def amounts(self, point: MasterPoint) -> Floats:
        """Tasks that follow each order."""
        return np.maximum(0.0, point.primal[before_orders(self.limits) :])

    def beyond(self, point: MasterPoint) -> tuple[float, float]:
        """By what multiple errors are beyond their targets, and by how much other limits are broken."""
        return float(point.primal[0]), float(point.primal[1 : before_orders(self.limits)].max(initial=0.0))

    def proof(self, point: MasterPoint) -> PolicyProof:
        """The point's multipliers, with the signs that a proof needs."""
        limits, problem = self.limits, self.problem
        dual = point.dual[limits.tasks.size :]
        error = np.maximum(0.0, -dual[: limits.wrong.size])[self.targets]
        shared = np.minimum(0.0, dual[limits.wrong.size :])
        capacity, rest = np.split(shared, [problem.instance.n_workers])
        has_budget = problem.instance.budget is not None
        names = [(row.limit, row.name) for row in problem.label_rows]
        named = tuple((*name, float(one) + 0.0) for name, one in zip(names, rest[has_budget:], strict=True))
        return PolicyProof(error + 0.0, capacity + 0.0, float(rest[0]) + 0.0 if has_budget else 0.0, named)
