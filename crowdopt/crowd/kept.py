"""What a plan must keep, counted anew and by the plainest code: every limit as it was stated, and each task's error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.crowd.vote_errors import CERTAIN, most_errors

EVIDENCE = "lacks evidence"  # which an exact rule does not ask for
EDGE = 1.01  # an LP's point lies on the edge of its coverage, give or take rounding
NEAR = 1e-6  # absolute, of numbers above 1 relative; how far a sum of shares may be off


@dataclass(frozen=True)
class Excess:
    """One limit that a plan does not keep: which, whose, and by how much."""

    limit: str
    owner: str
    amount: float
    lacking: int | None = None  # the task that gets less than it asks for, where that is what is broken

    def __str__(self) -> str:
        return f"{self.owner}: {self.limit} ({self.amount:.6g})"


def broken(instance: AssignmentInstance, pairs: Ints, amounts: Floats | None = None, short: ArrayLike = ()) -> str:
    """The first limit or target of an instance that labels break, in words; empty where all are kept.

    Nothing that a method has found out or remembered of the instance is used, whatever made the labels.

    pairs (k, 2): task and worker of each label; amounts (k,): shares of labels, whole ones by default; short (k,):
    tasks that may get less than they ask for.
    """
    fresh = replace(instance)
    excused = np.zeros(fresh.n_tasks, bool)
    excused[np.asarray(short, np.int64)] = True
    for one in broken_limits(fresh, pairs, amounts, NEAR):
        if one.limit != EVIDENCE and not is_excused(one, excused):
            return str(one)
    return next(_targets(fresh, pairs, amounts, ~excused), "")


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
    joint = [*_of_groups(instance, pairs, shares, tolerance), *_of_own_rows(instance, pairs, shares, tolerance)]
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
        *_over(EVIDENCE, instance.need - evidence, short, owner, lacks=True),
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


def _of_groups(instance: AssignmentInstance, pairs: Ints, shares: Floats, tolerance: float) -> list[Excess]:
    found: list[Excess] = []
    had = instance.collected
    every, weight = np.concatenate([pairs, had]), np.concatenate([shares, np.ones(len(had))])
    total, n, owner = float(weight.sum()), instance.n_tasks, _named("task", instance.task_id)
    for group in instance.groups:
        inside = np.isin(np.arange(instance.n_workers), group.members)
        mine = weight * inside[every[:, 1]]
        each = np.bincount(every[:, 0], mine, n)
        short = group.min_per_task - each
        found += _over(f"lacks labels of group {group.name}", short, tolerance, owner, lacks=True)
        if group.max_per_task is not None:  # labels already in cannot be taken back
            before = np.bincount(had[:, 0], inside[had[:, 1]], n)
            over = each - np.maximum(group.max_per_task, before)
            found += _over(f"has more labels of group {group.name} than it may", over, tolerance, owner)
        part = np.array([mine.sum()])
        whose = f"group {group.name}".format
        found += _over("has more than its share", part - group.max_share * total, tolerance, whose)
        found += _over("has less than its share", group.min_share * total - part, tolerance, whose)
    return found


def _of_own_rows(instance: AssignmentInstance, pairs: Ints, shares: Floats, tolerance: float) -> list[Excess]:
    rows = instance.own_rows
    if rows is None:
        return []
    key, wanted = instance.pair_keys(pairs), instance.pair_keys(rows.pairs)
    terms = rows.coefficient * _shares_of(key, shares, wanted)
    sums, size = np.bincount(rows.row, terms, len(rows.names)), np.ones(len(rows.names))
    np.maximum.at(size, rows.row, np.abs(terms))  # a large number of a pair that the plan does not have excuses nothing
    owner = _named("row", rows.names.__getitem__)
    small, large = (np.where(np.isfinite(side), np.abs(side), 0.0) for side in (rows.lower, rows.upper))
    return [
        *_over("is too small", (rows.lower - sums) / np.maximum(size, small), tolerance, owner),
        *_over("is too large", (sums - rows.upper) / np.maximum(size, large), tolerance, owner),
    ]


def _of_pairs(instance: AssignmentInstance, pairs: Ints, shares: Floats, tolerance: float) -> list[Excess]:
    every, barred, fixed = (instance.pair_keys(some) for some in (pairs, instance.barred, instance.fixed))
    key, times = np.unique(every, return_counts=True)

    def owner_among(keys: Ints) -> Callable[[int], str]:
        def owner(k: int) -> str:
            task, worker = divmod(int(keys[k]), instance.n_workers)
            return f"task {instance.task_id(task)}, worker {instance.worker_id(worker)}"

        return owner

    return [
        *_over("is in the plan twice", times - 1.0, tolerance, owner_among(key)),
        *_over("has a share outside [0, 1]", np.maximum(-shares, shares - 1), tolerance, owner_among(every)),
        *_over("may not be paired", _shares_of(every, shares, barred), tolerance, owner_among(barred)),
        *_over("must be in the plan", 1 - _shares_of(every, shares, fixed), tolerance, owner_among(fixed)),
    ]


def _shares_of(keys: Ints, shares: Floats, wanted: Ints) -> Floats:
    """The share that a plan gives each pair that is looked for; keys (k,): of the plan's pairs."""
    if not keys.size:
        return np.zeros(wanted.size)
    order = np.argsort(keys, kind="stable")
    place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), keys.size - 1)]
    return np.where(keys[place] == wanted, shares[place], 0.0)


def _cells(instance: AssignmentInstance, table: Floats, pairs: Ints) -> Floats:
    return table[instance.task_type[pairs[:, 0]], pairs[:, 1]]


def _named(what: str, name: Callable[[int], str]) -> Callable[[int], str]:
    return lambda k: f"{what} {name(k)}"


def _over(
    limit: str, excess: NDArray[Any], tolerance: float, owner: Callable[[int], str], lacks: bool = False
) -> list[Excess]:
    over = np.flatnonzero(excess > tolerance).tolist()
    return [Excess(limit, owner(k), float(excess[k]), k if lacks else None) for k in over]


def _targets(instance: AssignmentInstance, pairs: Ints, amounts: Floats | None, asks: Bools) -> Iterator[str]:
    """What the rule promises of each task: exact errors, or evidence; of shares of labels there is only evidence."""
    n, known = instance.n_tasks, instance.collected[: 0 if instance.observed else None]
    if not instance.the_rule.checked or amounts is not None:
        every = np.concatenate([known, pairs])
        worth = instance.evidence[instance.task_type[every[:, 0]], every[:, 1]]
        counted = np.concatenate([np.ones(len(known)), np.ones(len(pairs)) if amounts is None else amounts])
        lack = np.where(asks, instance.need - np.bincount(every[:, 0], worth * counted, n), 0.0)
        for task in np.flatnonzero(lack > EDGE * (COVERAGE if amounts is None else NEAR))[:1].tolist():
            yield f"task {instance.task_id(task)} {EVIDENCE}"
        return
    errors = most_errors(instance, pairs)
    if instance.the_rule.average and asks.all():
        if errors.mean() > instance.epsilon.mean() + CERTAIN:
            yield f"tasks err with probability {errors.mean():.6g} on average, more than {instance.epsilon.mean():g}"
        return
    for task in np.flatnonzero(asks & (errors > instance.epsilon + CERTAIN))[:1].tolist():
        target = instance.epsilon[task]
        yield f"task {instance.task_id(task)} errs with probability {errors[task]:.6g}, more than its {target:g}"
