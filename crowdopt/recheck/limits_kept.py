"""Whether a plan keeps every limit of its instance: counted anew, not as the methods count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.recheck.bounds.fixed_pairs import pair_keys
from crowdopt.recheck.joint_kept import joint_breaks

EDGE = 1.01  # an LP's point lies on the edge of its coverage, give or take rounding


@dataclass(frozen=True)
class Excess:
    """One limit that a plan does not keep: which, whose, and by how much."""

    limit: str
    owner: str
    amount: float
    lacking: int | None = None  # the task that gets less than it asks for, where that is what is broken

    def __str__(self) -> str:
        return f"{self.owner}: {self.limit} ({self.amount:.6g})"


def worst_excess(
    instance: AssignmentInstance, pairs: Ints, amounts: Floats | None = None, excused: Bools | None = None
) -> float:
    """The largest amount by which the pairs do not keep a limit; 0 if they keep all of them exactly.

    amounts (k,): share of each label; default: 1; excused (tasks,): tasks that may get less than they ask for; -> in
    the limit's own unit.
    """
    broken = broken_limits(instance, pairs, amounts, tolerance=0.0)
    return max((one.amount for one in broken if not is_excused(one, excused)), default=0.0)


def is_excused(broken: Excess, excused: Bools | None) -> bool:
    """Whether what is broken is what a task asks for that may get less; excused (tasks,)."""
    return excused is not None and broken.lacking is not None and bool(excused[broken.lacking])


def broken_limits(
    instance: AssignmentInstance, pairs: Ints, amounts: Floats | None = None, tolerance: float = COVERAGE
) -> list[Excess]:
    """Every limit that the pairs break by more than the tolerance.

    amounts (k,): share of each label; default: 1; tolerance: absolute, in the limit's own unit; of the budget relative
    to it where it is above 1.
    """
    shares = np.ones(len(pairs)) if amounts is None else amounts
    own = [
        *_of_tasks(instance, pairs, shares, tolerance if amounts is None else EDGE * tolerance, tolerance),
        *_of_workers(instance, pairs, shares, tolerance),
        *_of_budget(instance, pairs, shares, tolerance),
    ]
    joint = [Excess(*one) for one in joint_breaks(instance, pairs, shares, tolerance)]
    return own + joint + _of_pairs(instance, pairs, shares, tolerance)


def _of_tasks(
    instance: AssignmentInstance, pairs: Ints, shares: Floats, short: float, tolerance: float
) -> list[Excess]:
    """Evidence and numbers of labels; labels already in count, as evidence only where the prior does not know them."""
    n, had = instance.n_tasks, instance.collected
    evidence = np.bincount(pairs[:, 0], shares * _cells(instance, instance.evidence, pairs), n)
    if len(had) and not instance.observed:
        evidence = evidence + np.bincount(had[:, 0], _cells(instance, instance.evidence, had), n)
    before, new = np.bincount(had[:, 0], minlength=n), np.bincount(pairs[:, 0], shares, n)
    room = np.maximum(0, instance.max_labels - before)
    lacking = np.maximum(0, instance.min_labels - before) - new
    crowded = np.where(instance.max_labels == UNLIMITED, 0.0, new - room)
    owner = _named("task", instance.task_id)
    return [
        *_over("lacks evidence", instance.need - evidence, short, owner, lacks=True),
        *_over("has too few labels", lacking, tolerance, owner, lacks=True),
        *_over("has too many labels", crowded, tolerance, owner),
    ]


def _of_workers(instance: AssignmentInstance, pairs: Ints, shares: Floats, tolerance: float) -> list[Excess]:
    loads = np.bincount(pairs[:, 1], shares, instance.n_workers)
    owner = _named("worker", instance.worker_id)
    return [
        *_over("exceeds the capacity", loads - instance.capacity, tolerance, owner),
        *_over("is below the minimum load", instance.min_load - loads, tolerance, owner),
    ]


def _of_budget(instance: AssignmentInstance, pairs: Ints, shares: Floats, tolerance: float) -> list[Excess]:
    if instance.budget is None:
        return []
    excess = float((_cells(instance, instance.cost, pairs) * shares).sum()) - instance.budget
    return _over("is exceeded", np.array([excess]), tolerance * max(1.0, instance.budget), lambda _: "the budget")


def _of_pairs(instance: AssignmentInstance, pairs: Ints, shares: Floats, tolerance: float) -> list[Excess]:
    key, first, times = np.unique(pair_keys(instance, pairs), return_index=True, return_counts=True)

    def owner_among(keys: Ints) -> Callable[[int], str]:
        def owner(k: int) -> str:
            task, worker = divmod(int(keys[k]), instance.n_workers)
            return f"task {instance.task_id(task)}, worker {instance.worker_id(worker)}"

        return owner

    def share_of(wanted: Ints) -> Floats:
        if not key.size:
            return np.zeros(wanted.size)
        place = np.minimum(np.searchsorted(key, wanted), key.size - 1)
        return np.where(key[place] == wanted, shares[first[place]], 0.0)

    every, barred, fixed = (pair_keys(instance, some) for some in (pairs, instance.barred, instance.fixed))
    return [
        *_over("is in the plan twice", times - 1.0, tolerance, owner_among(key)),
        *_over("has a share outside [0, 1]", np.maximum(-shares, shares - 1), tolerance, owner_among(every)),
        *_over("may not be paired", share_of(barred), tolerance, owner_among(barred)),
        *_over("must be in the plan", 1 - share_of(fixed), tolerance, owner_among(fixed)),
    ]


def _cells(instance: AssignmentInstance, table: Floats, pairs: Ints) -> Floats:
    return table[instance.task_type[pairs[:, 0]], pairs[:, 1]]


def _named(what: str, name: Callable[[int], str]) -> Callable[[int], str]:
    return lambda k: f"{what} {name(k)}"


def _over(
    limit: str, excess: NDArray[Any], tolerance: float, owner: Callable[[int], str], lacks: bool = False
) -> list[Excess]:
    over = np.flatnonzero(excess > tolerance).tolist()
    return [Excess(limit, owner(k), float(excess[k]), k if lacks else None) for k in over]
