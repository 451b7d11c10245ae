"""Linear limits on the labels that an adaptive plan expects: groups' shares, fewest tasks, own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance

MOST_SHARE, LEAST_SHARE, LEAST_TASKS = "max_share", "min_share", "min_tasks"
ROW_MOST, ROW_LEAST = "row_most", "row_least"  # the two sides of an own row


@dataclass(frozen=True, eq=False)
class LabelRow:
    """``sum over kinds and askers of weight times labels <= side``."""

    limit: str
    name: str  # of the group, the worker or the row
    weight: Floats  # (kinds, askers)
    side: float


def label_rows(instance: AssignmentInstance, first: Ints, workers: Sequence[Ints]) -> tuple[LabelRow, ...]:
    """All such rows; first (kinds,): a task of each kind; workers: of each asker, alike.

    Labels already in count towards groups' shares; the other limits are about labels to come.
    """
    one = np.array([int(some[0]) for some in workers])
    every = np.ones((first.size, 1))
    found = [LabelRow(limit, name, weight * every, side) for limit, name, weight, side in _shares(instance, one)]
    for g, some in enumerate(workers):
        least = float(instance.min_load[some].sum())
        if least > 0:
            weight = -np.eye(one.size)[g] * every
            found.append(LabelRow(LEAST_TASKS, instance.worker_id(int(some[0])), weight, -least))
    for name, coefficient, low, high in _own(instance):
        weight = coefficient[np.ix_(first, one)]
        if np.isfinite(high):
            found.append(LabelRow(ROW_MOST, name, weight, high))
        if np.isfinite(low):
            found.append(LabelRow(ROW_LEAST, name, -weight, -low))
    return tuple(found)


def _shares(instance: AssignmentInstance, one: Ints) -> list[tuple[str, str, Floats, float]]:
    inside, found = np.bincount(instance.collected[:, 1], minlength=instance.n_workers), []
    for group in instance.groups:
        mine = np.isin(one, group.members).astype(np.float64)
        had, every = float(inside[list(group.members)].sum()), float(inside.sum())
        if group.max_share < 1:
            found.append((MOST_SHARE, group.name, mine - group.max_share, group.max_share * every - had))
        if group.min_share > 0:
            found.append((LEAST_SHARE, group.name, group.min_share - mine, had - group.min_share * every))
    return found


def _own(instance: AssignmentInstance) -> list[tuple[str, Floats, float, float]]:
    rows, found = instance.own_rows, []
    if rows is None:
        return []
    for number, name in enumerate(rows.names):
        coefficient, mine = np.zeros((instance.n_tasks, instance.n_workers)), rows.row == number
        np.add.at(coefficient, tuple(rows.pairs[mine].T), rows.coefficient[mine])
        found.append((name, coefficient, float(rows.lower[number]), float(rows.upper[number])))
    return found


def own_coefficients(instance: AssignmentInstance) -> Floats:
    """Coefficients of all own rows, (tasks, rows, workers)."""
    every = [coefficient for _, coefficient, *_ in _own(instance)]
    return np.stack(every, axis=1) if every else np.zeros((instance.n_tasks, 0, instance.n_workers))
