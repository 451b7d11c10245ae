"""The restricted master over asking orders: it grows by columns, and says what errors and votes are worth."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import PolicyProof
from crowdopt.assign.cascade.order_kernels import comes_to
from crowdopt.assign.cascade.panels import SkillPanel
from crowdopt.core.master import MakeMaster, Master, MasterPoint
from crowdopt.crowd.asking_orders import AskingOrder
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
    cost: float


def expected(
    panel: SkillPanel, kind: int, order: AskingOrder, law: Floats, heard: tuple[int, int]
) -> tuple[Floats, float, float]:
    """Chances to ask each worker, to be wrong, to need the expert; heard: workers so far, and their score."""
    likely = np.ascontiguousarray(panel.likely[kind, list(order.workers)].reshape(-1, 2))
    adds = np.array(order.adds, np.int64).reshape(-1, 2)
    low, high = np.array(order.low, np.int64), np.array(order.high, np.int64)
    asked, wrong, expert = comes_to(likely, adds, low, high, np.ascontiguousarray(law), *heard)
    return asked, float(wrong), float(expert)


@dataclass(eq=False)
class OrderMaster:
    """All orders known, and the LP over them."""

    panel: SkillPanel
    expert: float | None
    make_master: MakeMaster
    dear: float  # what a wrong answer too many costs
    times: float = 1.0  # of all targets
    columns: list[OrderColumn] = field(default_factory=list)
    _seen: set[tuple[int, AskingOrder]] = field(default_factory=set)
    _lp: Master | None = None
    _behind: int = 0

    def add(self, start: int, order: AskingOrder) -> None:
        """Keep an order, where it is new: it is followed score by score; workers whom it never asks are left out."""
        one = self.panel.starts[start]
        asked, wrong, expert = expected(self.panel, one.kind, order, one.law, (0, 0))
        n = int((asked > 0).sum())  # who is asked is asked after all before
        order = AskingOrder(order.workers[:n], order.adds[:n], order.low[: n + 1], order.high[: n + 1])
        if (start, order) not in self._seen:
            self._seen.add((start, order))
            paid = (self.panel.price[one.kind, list(order.workers)] * asked[:n]).sum()
            cost = float(paid + expert * (self.expert or 0.0))
            self.columns.append(OrderColumn(start, order, asked[:n], wrong, expert, cost))

    @property
    def limits(self) -> OrderLimits:
        """The rows' sides, a little within those of the instance."""
        panel, budget = self.panel, self.panel.instance.budget
        shared = np.concatenate([panel.capacity, [] if budget is None else [budget], panel.limits[2]])
        wrong, tasks = panel.wrong(self.times), np.array([float(one.tasks.size) for one in panel.starts])
        inside = np.where(shared > SPARE, shared - SPARE, shared)
        return OrderLimits(tasks, wrong - SPARE * np.minimum(1.0, wrong), np.full(shared.size, -np.inf), inside)

    def _entries(self, first: int) -> tuple[Floats, sparse.csc_array]:
        """Costs and columns from a place on."""
        limits, panel, some = self.limits, self.panel, self.columns[first:]
        rows, values = [], []
        loads, has_budget = limits.tasks.size + limits.wrong.size, panel.instance.budget is not None
        for one in some:
            mine, kind = list(one.order.workers), panel.starts[one.start].kind
            beside = [one.cost] * has_budget + [(weight[kind, mine] * one.asked).sum() for weight in panel.limits[1]]
            target = limits.tasks.size + panel.error_rows[kind]
            after = loads + panel.capacity.size + np.arange(len(beside))
            rows.append(np.concatenate([[one.start, target], loads + np.array(mine, np.int64), after]))
            values.append(np.concatenate([[1.0, one.wrong], one.asked, beside]))
        ends = np.cumsum([0, *(row.size for row in rows)])
        inside = (np.concatenate(values), np.concatenate(rows).astype(np.int64), ends)
        return np.array([one.cost for one in some]), sparse.csc_array(inside, shape=(limits.size, len(some)))

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
        limits, panel, has_budget = self.limits, self.panel, self.panel.instance.budget is not None
        starts, errors = limits.tasks.size, limits.tasks.size + limits.wrong.size
        error, (capacity, rest) = -point.dual[starts:errors], np.split(point.dual[errors:], [panel.capacity.size])
        budget = float(rest[0]) if has_budget else 0.0
        return panel.proof(error[panel.error_rows], capacity, budget, rest[has_budget:])
