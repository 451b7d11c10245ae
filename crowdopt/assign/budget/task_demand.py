"""What tasks take at some prices of evidence: each its labels by ratio, as long as the next one is worth its money.

Tasks of a row share the order of ratios and the sums along it, so each task is one place in its row, found by halving;
workers of whom a task may have fewer labels (their label is in, or the pair is forbidden) are taken off those sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.budget.error_curves import LEAST, ErrorCurve
from crowdopt.crowd.alike import Classes

FEW = 15  # labels that hardly a task exceeds


@dataclass(frozen=True, eq=False)
class Demand:
    """What tasks take at some prices."""

    price: Floats  # (T,): x, at which a task's last unit of evidence is worth its money
    wanted: Floats  # (G,): labels that all tasks ask of each class of workers, shares included
    bill: float  # what those are paid
    value: Floats  # (T,): h, of one task


@dataclass(frozen=True, eq=False)
class TaskRows:
    """Classes of tasks by their row of evidence and prices."""

    row: Ints  # (T,): row of each class of tasks, which has ``tasks_in`` tasks
    tasks_in: Ints
    worth: Floats  # (R, G): evidence
    cost: Floats  # (R, G): price of a label
    room: Ints  # (G,): most labels of a task from a class of workers;
    # but so many fewer for this class of tasks and this class of workers
    owner: Ints  # (e,)
    worker: Ints  # (e,)
    lack: Ints  # (e,)

    @classmethod
    def of(cls, classes: Classes) -> TaskRows:
        """The rows of classes of tasks."""
        kind = classes.instance.task_type[classes.first_task]
        _, first, row = np.unique(kind, return_index=True, return_inverse=True)
        lack = classes.workers_in - classes.room
        owner, worker = np.nonzero(lack)
        return cls(
            row,
            classes.tasks_in,
            classes.evidence[first],
            classes.cost[first],
            classes.workers_in,
            owner,
            worker,
            lack[owner, worker],
        )

    @cached_property
    def _owners(self) -> tuple[Ints, Ints]:
        """Classes of tasks that may have fewer labels of somebody, and where each one's begin."""
        return np.unique(self.owner, return_index=True)

    @cached_property
    def _cell(self) -> Ints:
        return self.row[self.owner] * self.worth.shape[1] + self.worker

    def demand(self, curve: ErrorCurve, held: Floats, worker: Floats, spend: float) -> Demand:
        """The labels that make each task's errors and its labels' prices least together."""
        price = worker + spend * self.cost
        ratio = np.where(self.worth > 0, price / np.maximum(self.worth, LEAST), np.inf)
        order = np.argsort(ratio, axis=1, kind="stable")
        ratio, row = np.take_along_axis(ratio, order, axis=1), self.row
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(order.shape[1])[None], axis=1)
        rank = rank[row[self.owner], self.worker]
        evidence, paid = self._along(order, rank, self.worth), self._along(order, rank, price)
        last = self._taken(ratio, curve, held, evidence) - 1
        none, last = last < 0, np.maximum(last, 0)
        have, after = held + evidence(last), held + evidence(last + 1)
        unit = np.where(none, -curve.slope(held), np.maximum(-curve.slope(after), ratio[row, last]))
        unit = np.maximum(unit, LEAST)
        share = np.clip((curve.reached(unit) - have) / np.maximum(after - have, LEAST), 0.0, 1.0)
        share[none] = 0.0
        spent = (1 - share) * paid(last) + share * paid(last + 1)
        wanted = self._wanted(order, rank, last, share)
        bill = float((wanted * self.cost).sum())
        value = curve.value(have + share * (after - have)) + spent
        return Demand(unit, wanted.sum(axis=0), bill, value)

    def _along(self, order: Ints, rank: Ints, table: Floats) -> Callable[[Ints], Floats]:
        """For each class of tasks, the sum of a table over its first so many workers."""
        sums = np.zeros((order.shape[0], order.shape[1] + 1))
        np.cumsum(np.take_along_axis(table * self.room, order, axis=1), axis=1, out=sums[:, 1:])
        off = table[self.row[self.owner], self.worker] * self.lack
        some, starts = self._owners

        def total(count: Ints) -> Floats:
            along: Floats = sums[self.row, count]
            if some.size:
                along[some] -= np.add.reduceat(np.where(rank < count[self.owner], off, 0.0), starts)
            return along

        return total

    def _taken(self, ratio: Floats, curve: ErrorCurve, held: Floats, evidence: Callable[[Ints], Floats]) -> Ints:
        """How many workers of its row each class of tasks takes: slopes fall and ratios rise along a row."""
        end = ratio.shape[1]

        def pays(at: Ints) -> Bools:
            return np.asarray(ratio[self.row, at] < -curve.slope(held + evidence(at)))

        low, high = np.zeros(self.row.size, np.int64), np.full(self.row.size, min(FEW, end))
        while (further := (high < end) & pays(np.minimum(high, end - 1))).any():
            low, high = np.where(further, high + 1, low), np.where(further, np.minimum(4 * high, end), high)
        while (open_ := low < high).any():
            middle = np.minimum((low + high) // 2, end - 1)
            more = pays(middle)
            low, high = np.where(open_ & more, middle + 1, low), np.where(open_ & ~more, middle, high)
        return low

    def _wanted(self, order: Ints, rank: Ints, last: Ints, share: Floats) -> Floats:
        """Labels that the tasks of each row ask of each class of workers, (R, G)."""
        shape = order.shape[0], order.shape[1] + 1
        place, cells = self.row * shape[1] + last, shape[0] * shape[1]
        whole = np.bincount(place, weights=self.tasks_in, minlength=cells).reshape(shape)
        part = np.bincount(place, weights=self.tasks_in * share, minlength=cells).reshape(shape)
        asked = whole.sum(axis=1, keepdims=True) - np.cumsum(whole, axis=1) + part
        wanted = np.empty(order.shape)
        np.put_along_axis(wanted, order, asked[:, :-1], axis=1)
        wanted *= self.room
        owner = self.owner
        taken = np.where(rank < last[owner], 1.0, np.where(rank == last[owner], share[owner], 0.0))
        spared = self.tasks_in[owner] * taken * self.lack
        wanted -= np.bincount(self._cell, weights=spared, minlength=wanted.size).reshape(wanted.shape)
        return wanted
