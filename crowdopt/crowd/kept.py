"""What a plan must keep, counted anew and by the plainest code: every limit as it was stated, and each task's error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import CERTAIN, most_errors

EVIDENCE = "lacks evidence"  # which an exact rule does not ask for
EDGE = 1.01  # an LP's point lies on the edge of its coverage, give or take rounding
NEAR = 1e-6  # absolute, of numbers above 1 relative; how far a sum of shares may be off


@dataclass(frozen=True)
class Breach:
    """One limit that a plan does not keep: which, whose, and by how much."""

    limit: str
    owner: str
    amount: float

    def __str__(self) -> str:
        return f"{self.owner}: {self.limit} ({self.amount:.6g})"


class Limit(NamedTuple):
    """One limit of all tasks, all workers, all pairs or the plan: by how much each of them breaks it, if above 0."""

    says: str
    kind: str
    name: Callable[[int], Any]  # of the kind
    excess: NDArray[Any]
    lacks: bool = False  # whether a task gets less than it asks for
    unit: float = 1.0  # of the tolerance


def broken(instance: AssignmentInstance, pairs: Ints, amounts: Floats | None = None, short: ArrayLike = ()) -> str:
    """The first limit or target of an instance that labels break, in words; empty where all are kept.

    Nothing that a method has found out or remembered of the instance is used, whatever made the labels. Of shares of
    labels there is only evidence; of whole ones there are exact errors where the rule promises them.

    pairs, amounts, short: as for :func:`breaches`.
    """
    fresh = replace(instance)
    by_error = fresh.the_rule.checked and amounts is None
    for one in breaches(fresh, pairs, amounts, NEAR if amounts is not None else EDGE * COVERAGE, short):
        if not (by_error and one.limit == EVIDENCE):
            return str(one)
    if not by_error:
        return ""
    error, target = most_errors(fresh, pairs), fresh.epsilon
    if fresh.the_rule.average and error.mean() <= target.mean() + CERTAIN:
        return ""
    if fresh.the_rule.average and not np.size(short):
        return f"tasks err with probability {error.mean():.6g} on average, more than {target.mean():g}"
    error[np.asarray(short, np.int64)] = 0.0
    for task in np.flatnonzero(error > target + CERTAIN)[:1].tolist():
        return f"task {fresh.task_id(task)} errs with probability {error[task]:.6g}, more than its {target[task]:g}"
    return ""


def short_tasks(instance: AssignmentInstance, pairs: Ints) -> Ints:
    """Tasks that get less than they ask for: evidence, labels, labels of a group, or by exact errors, (k,).

    Where the average of errors counts, and is too large: those that err more than it may be.

    -> in ascending order.
    """
    limits = _limits(instance, pairs, np.ones(len(pairs)), 1.0)
    short: Bools = np.any([limit.excess > COVERAGE for limit in limits if limit.lacks], axis=0)
    if instance.the_rule.checked:
        sure = np.zeros(instance.n_tasks, bool)  # by a bound, which takes no time beside the exact error of many labels
        if instance.rule == EXACT_ERROR.name and sure.size > 1:
            sure = instance.error_bound(instance.collected_evidence + instance.supply(pairs)) <= instance.epsilon
        error = np.where(sure, 0.0, most_errors(instance, pairs[~sure[pairs[:, 0]]]))
        if not (instance.the_rule.average and error.mean() <= instance.epsilon.mean() + CERTAIN):
            short |= error > instance.epsilon + CERTAIN
    return np.flatnonzero(short)


def worst_breach(
    instance: AssignmentInstance, pairs: Ints, amounts: Floats | None = None, short: ArrayLike = ()
) -> float:
    """The largest amount by which the pairs do not keep a limit, in its own unit; 0 if they keep all of them exactly.

    pairs, amounts, short: as for :func:`breaches`.
    """
    return max((one.amount for one in breaches(instance, pairs, amounts, 0.0, short)), default=0.0)


def breaches(
    instance: AssignmentInstance,
    pairs: Ints,
    amounts: Floats | None = None,
    tolerance: float = COVERAGE,
    short: ArrayLike = (),
) -> list[Breach]:
    """Every limit that the pairs break by more than the tolerance.

    pairs (k, 2): task and worker of each label; amounts (k,): share of each label, whole ones by default; tolerance:
    absolute; of a budget above 1 relative to it, of an own row relative to its largest term or side; short (s,): tasks
    that may get less than they ask for.
    """
    found: list[Breach] = []
    shares, edge = (np.ones(len(pairs)), 1.0) if amounts is None else (amounts, EDGE)
    for limit in chain(_limits(instance, pairs, shares, edge), _of_pairs(instance, pairs, shares)):
        over = limit.excess > tolerance * limit.unit
        if limit.lacks:
            over[np.asarray(short, np.int64)] = False
        names = [(k, f"{limit.kind} {limit.name(k)}") for k in np.flatnonzero(over).tolist()]
        found += [Breach(limit.says, name, float(limit.excess[k])) for k, name in names]
    return found


def _limits(instance: AssignmentInstance, pairs: Ints, shares: Floats, edge: float) -> Iterator[Limit]:
    """Limits of tasks, of workers and of the plan; labels already in count, as evidence where no prior knows them."""
    (task, worker), had, n = pairs.T, instance.collected, instance.n_tasks
    of_task, of_worker = ("task", instance.task_id), ("worker", instance.worker_id)

    def cells(table: Floats, some: Ints) -> Floats:
        return table[instance.task_type[some[:, 0]], some[:, 1]]

    lacking = instance.need - np.bincount(task, cells(instance.evidence, pairs) * shares, n)
    if not instance.observed:
        lacking = lacking - np.bincount(had[:, 0], cells(instance.evidence, had), n)
    yield Limit(EVIDENCE, *of_task, lacking, True, edge)
    before, labels = np.bincount(had[:, 0], minlength=n), np.bincount(task, shares, n)
    room = np.where(instance.max_labels == UNLIMITED, np.inf, np.maximum(0, instance.max_labels - before))
    too_few = np.maximum(0, instance.min_labels - before) - labels
    yield Limit("has too few labels", *of_task, too_few, True)
    yield Limit("has too many labels", *of_task, labels - room)
    loads = np.bincount(worker, shares, instance.n_workers)
    yield Limit("exceeds the capacity", *of_worker, loads - instance.capacity)
    yield Limit("is below the minimum load", *of_worker, instance.min_load - loads)
    if instance.budget is not None:
        excess = (cells(instance.cost, pairs) * shares).sum() - instance.budget
        yield Limit("is exceeded", "the", ["budget"].__getitem__, np.array([excess]), unit=max(1.0, instance.budget))
    for group in instance.groups:
        inside = np.isin(np.arange(instance.n_workers), group.members)
        mine, name = shares * inside[worker], [group.name].__getitem__
        old = np.bincount(had[:, 0], inside[had[:, 1]], n)
        each, total = np.bincount(task, mine, n) + old, shares.sum() + len(had)
        part = np.array([each.sum()])
        most = np.inf if group.max_per_task is None else np.maximum(group.max_per_task, old)  # none is taken back
        yield Limit(f"lacks labels of group {group.name}", *of_task, group.min_per_task - each, True)
        yield Limit(f"has more labels of group {group.name} than it may", *of_task, each - most)
        yield Limit("has more than its share", "group", name, part - group.max_share * total)
        yield Limit("has less than its share", "group", name, group.min_share * total - part)


def _of_pairs(instance: AssignmentInstance, pairs: Ints, shares: Floats) -> Iterator[Limit]:
    """Limits of single pairs, and own rows, which add pairs up."""
    key, barred, fixed = (instance.pair_keys(some) for some in (pairs, instance.barred, instance.fixed))
    if (np.diff(key) < 0).any():
        order = np.argsort(key)
        key, shares = key[order], shares[order]

    def share_of(wanted: Ints) -> Floats:
        if not key.size:
            return np.zeros(wanted.size)
        place = np.minimum(np.searchsorted(key, wanted), key.size - 1)
        return np.where(key[place] == wanted, shares[place], 0.0)

    def limit(says: str, keys: Ints, excess: NDArray[Any]) -> Limit:
        def name(k: int) -> str:
            task, worker = divmod(int(keys[k]), instance.n_workers)
            return f"{instance.task_id(task)}, worker {instance.worker_id(worker)}"

        return Limit(says, "task", name, excess)

    yield limit("is in the plan twice", key[1:], key[1:] == key[:-1])
    if (shares != 1).any():
        yield limit("has a share outside [0, 1]", key, np.maximum(-shares, shares - 1))
    yield limit("may not be paired", barred, share_of(barred))
    yield limit("must be in the plan", fixed, 1 - share_of(fixed))
    if (rows := instance.own_rows) is not None:
        terms = rows.coefficient * share_of(instance.pair_keys(rows.pairs))
        sums, size = np.bincount(rows.row, terms, len(rows.names)), np.ones(len(rows.names))
        np.maximum.at(size, rows.row, np.abs(terms))  # a large number of a pair that is not there excuses nothing
        ends = ("below its lower", rows.lower, rows.lower - sums), ("above its upper", rows.upper, sums - rows.upper)
        for says, side, over in ends:
            unit = np.maximum(size, np.where(np.isfinite(side), np.abs(side), 0.0))  # large sums are no sharper
            yield Limit(f"is {says} side", "row", rows.names.__getitem__, over / unit)
