"""What multipliers of groups, shares and own rows take part in proving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.tables.table_columns import Table
from crowdopt.recheck.bounds.findings import Report

PER_TASK, MOST_SHARE, LEAST_SHARE, OWN = "per_task", "max_share", "min_share", "row"  # as limits.csv names them


@dataclass(frozen=True, eq=False)
class JointPull:
    """What multipliers of joint rows bring to a bound."""

    terms: Floats  # (k,): by themselves
    pull: Floats  # (rows, workers): off the cost of a pair; tasks with the same pulls share a row
    size: Floats  # (rows, workers): of what was added up for each pair, so that rounding can be taken off
    row_of: Ints  # (tasks,)

    @classmethod
    def none(cls, instance: AssignmentInstance) -> JointPull:
        """Without any multiplier."""
        nothing = np.zeros((1, instance.n_workers))
        return cls(np.zeros(1), nothing, nothing, np.zeros(instance.n_tasks, np.int64))


class JointRow(NamedTuple):
    """A row ``low <= sum of counts over its pairs + before <= high``; ``at``: where a pull has those pairs."""

    low: float
    high: float
    before: float
    at: Any
    counts: Floats


def joint_pull(instance: AssignmentInstance, table: Table | None, report: Report) -> JointPull:
    """The multipliers in limits.csv, evaluated row by row; those that pull on a side that is not there count as 0.

    table: limits.csv, where there is one; report: takes a complaint about each that the campaign has no row for.
    """
    if table is None:
        return JointPull.none(instance)
    by_task = bool({PER_TASK, OWN} & set(table["limit"]))
    pull = np.zeros((instance.n_tasks if by_task else 1, instance.n_workers))
    size, added = np.zeros_like(pull), np.zeros_like(pull)  # added: how often, since each time rounds
    terms, rows = [0.0], _JointRows(instance)
    entries = zip(table["limit"], table["name"], table["task"], table.numbers("dual").tolist(), strict=True)
    for limit, name, task, dual in entries:
        row = rows.find(limit, name, task)
        if isinstance(row, str):
            report.complain(table.path.name, f"has a multiplier of {row}, which the campaign does not have")
            continue
        side = row.low if dual > 0 else row.high
        if not np.isfinite(side):
            continue
        terms += [dual * side, -dual * row.before]
        np.add.at(pull, row.at, dual * row.counts)
        np.add.at(size, row.at, np.abs(dual * row.counts))
        np.add.at(added, row.at, 1)
    first, row_of = _alike(pull, size)
    if not by_task:
        row_of = np.zeros(instance.n_tasks, np.int64)
    return JointPull(np.array(terms), pull[first], size[first] * (4 + added.max()), row_of)


class _JointRows:
    """The rows of a campaign by what limits.csv calls them."""

    def __init__(self, instance: AssignmentInstance) -> None:
        own = instance.own_rows
        self.instance = instance
        self.group = {group.name: group for group in instance.groups}
        self.task = instance.task_places
        self.own = {} if own is None else {name: k for k, name in enumerate(own.names)}

    def find(self, limit: str, name: str, task: str) -> JointRow | str:
        known = self.own if limit == OWN else self.group
        if name not in known or limit not in (PER_TASK, MOST_SHARE, LEAST_SHARE, OWN):
            return f"{limit} {name}"
        if limit == OWN:
            return self._own_row(self.own[name])
        if limit == PER_TASK:
            return self._per_task(name, self.task[task]) if task in self.task else f"the unknown task {task!r}"
        collected, inside, group = self.instance.collected, self._members(name), self.group[name]
        had = float(inside[collected[:, 1]].sum())
        if limit == MOST_SHARE:
            return JointRow(-np.inf, group.max_share * len(collected), had, ..., inside - group.max_share)
        return JointRow(group.min_share * len(collected), np.inf, had, ..., inside - group.min_share)

    def _members(self, name: str) -> Floats:
        return np.isin(np.arange(self.instance.n_workers), self.group[name].members).astype(np.float64)

    def _per_task(self, name: str, task: int) -> JointRow:
        group, inside, collected = self.group[name], self._members(name), self.instance.collected
        had = int(inside[collected[collected[:, 0] == task, 1]].sum())
        most = np.inf if group.max_per_task is None else max(0, group.max_per_task - had)  # none can be taken back
        return JointRow(max(0, group.min_per_task - had), most, 0.0, task, inside)

    def _own_row(self, number: int) -> JointRow:
        own = self.instance.own_rows
        assert own is not None
        mine = own.row == number
        low, high = float(own.lower[number]), float(own.upper[number])
        return JointRow(low, high, 0.0, tuple(own.pairs[mine].T), own.coefficient[mine])


def _alike(pull: Floats, size: Floats) -> tuple[Ints, Ints]:
    known: dict[bytes, int] = {}
    row_of = [known.setdefault(a.tobytes() + b.tobytes(), len(known)) for a, b in zip(pull, size, strict=True)]
    return np.unique(row_of, return_index=True)[1], np.array(row_of, np.int64)
