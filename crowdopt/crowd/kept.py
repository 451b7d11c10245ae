"""What a plan must keep, by the plainest code: every limit as it was stated, and each task's error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.exactness import CERTAIN, most_errors
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance

NEAR = 1e-6  # absolute, of numbers above 1 relative; how far a sum of shares may be off


def broken(instance: AssignmentInstance, pairs: Ints, amounts: Floats | None = None, short: ArrayLike = ()) -> str:
    """The first limit or target of an instance that labels break, in words; empty where all are kept.

    Nothing that a method has found out or remembered of the instance is used, whatever made the labels.

    pairs (k, 2): task and worker of each label; amounts (k,): shares of labels, whole ones by default; short (k,):
    tasks that may get less than they ask for.
    """
    fresh = replace(instance)
    asks = np.ones(fresh.n_tasks, bool)
    asks[np.asarray(short, np.int64)] = False
    share = np.ones(len(pairs)) if amounts is None else amounts
    checks = (_pairs(fresh, pairs), _labels(fresh, pairs, share, asks), _joint(fresh, pairs, share, asks))
    for found in (*checks, _targets(fresh, pairs, amounts, asks)):
        for says in found:
            return says
    return ""


def _pairs(instance: AssignmentInstance, pairs: Ints) -> Iterator[str]:
    m = instance.n_workers
    key = np.sort(pairs[:, 0] * m + pairs[:, 1])

    def named(keys: Ints) -> str:
        return f"task {instance.task_id(int(keys[0]) // m)} and worker {instance.worker_id(int(keys[0]) % m)}"

    def chosen(told: Ints) -> tuple[Ints, Bools]:
        """Keys of some pairs, and which of them are in the plan."""
        wanted = told[:, 0] * m + told[:, 1]
        return wanted, np.searchsorted(key, wanted, "right") > np.searchsorted(key, wanted)

    if (key[1:] == key[:-1]).any():
        yield f"{named(key[1:][key[1:] == key[:-1]])} are paired twice"
    for name, says in (("forbidden", "may not be paired"), ("collected", "are paired again: that label is in")):
        told, there = chosen(getattr(instance, name))
        if there.any():
            yield f"{named(told[there])} {says}"
    told, there = chosen(instance.fixed)
    if not there.all():
        yield f"{named(told[~there])} must be paired"


def _labels(instance: AssignmentInstance, pairs: Ints, share: Floats, asks: Bools) -> Iterator[str]:
    """Limits of each task, each worker, and money."""
    n, m = instance.n_tasks, instance.n_workers
    load = np.bincount(pairs[:, 1], share, m)
    labels = np.bincount(pairs[:, 0], share, n)
    every = labels + np.bincount(instance.collected[:, 0], minlength=n)
    most = np.where(instance.max_labels == UNLIMITED, np.inf, instance.max_labels)
    yield from _first(load - instance.capacity, "worker {} has {:g} labels beyond the capacity", instance.worker_id)
    yield from _first(instance.min_load - load, "worker {} lacks {:g} labels of the least load", instance.worker_id)
    fewest = np.where(asks, instance.min_labels, 0)
    yield from _first(fewest - every, "task {} lacks {:g} labels of its least number", instance.task_id)
    # more than the most may be in already: then it gets none
    yield from _first(np.minimum(every - most, labels), "task {} has {:g} labels too many", instance.task_id)
    if instance.budget is not None:
        spent = float((instance.prices(pairs) * share).sum())
        if spent > instance.budget + NEAR * max(1.0, instance.budget):
            yield f"the labels cost {spent:.10g}, more than the budget of {instance.budget:.10g}"


def _joint(instance: AssignmentInstance, pairs: Ints, share: Floats, asks: Bools) -> Iterator[str]:
    """Limits of groups, of their shares, and own rows."""
    n, m, known = instance.n_tasks, instance.n_workers, instance.collected
    total = share.sum() + len(known)
    for group in instance.groups:
        inside = np.isin(np.arange(m), group.members)
        new = np.bincount(pairs[:, 0], share * inside[pairs[:, 1]], n)
        every = new + np.bincount(known[:, 0], inside[known[:, 1]], n)
        fewest = np.where(asks, group.min_per_task, 0)
        yield from _first(fewest - every, f"task {{}} lacks {{:g}} labels of group {group.name}", instance.task_id)
        most = np.inf if group.max_per_task is None else group.max_per_task
        over = np.minimum(every - most, new)
        yield from _first(over, f"task {{}} has {{:g}} labels too many of group {group.name}", instance.task_id)
        mine, near = every.sum(), NEAR * max(1.0, total)
        if not group.min_share * total - near <= mine <= group.max_share * total + near:
            yield f"group {group.name} has {mine:g} of {total:g} labels, which its share does not allow"
    rows = instance.own_rows
    if rows is not None:
        key = pairs[:, 0] * m + pairs[:, 1]
        order = np.argsort(key, kind="stable")
        wanted = rows.pairs[:, 0] * m + rows.pairs[:, 1]
        at = np.minimum(np.searchsorted(key[order], wanted), max(0, key.size - 1))
        chosen = share[order[at]] * (key[order[at]] == wanted) if key.size else np.zeros(wanted.size)
        terms = rows.coefficient * chosen
        total_of = np.bincount(rows.row, terms, len(rows.names))
        size = np.maximum(1.0, np.bincount(rows.row, np.abs(terms), len(rows.names)))
        off = np.maximum(rows.lower - total_of, total_of - rows.upper) / size
        yield from _first(off, "row {} is off by {:g} of its size", lambda row: rows.names[row])


def _targets(instance: AssignmentInstance, pairs: Ints, amounts: Floats | None, asks: Bools) -> Iterator[str]:
    """What the rule promises of each task: exact errors, or evidence; of shares of labels there is only evidence."""
    n, known = instance.n_tasks, instance.collected[: 0 if instance.observed else None]
    if not instance.the_rule.checked or amounts is not None:
        every = np.concatenate([known, pairs])
        worth = instance.evidence[instance.task_type[every[:, 0]], every[:, 1]]
        counted = np.concatenate([np.ones(len(known)), np.ones(len(pairs)) if amounts is None else amounts])
        lack = np.where(asks, instance.need - np.bincount(every[:, 0], worth * counted, n), 0.0)
        near = COVERAGE if amounts is None else NEAR
        yield from _first(lack / (1.01 * near), "task {} lacks evidence", instance.task_id, 1.0)
        return
    errors = most_errors(instance, pairs)
    if instance.the_rule.average and asks.all():
        if errors.mean() > instance.epsilon.mean() + CERTAIN:
            yield f"tasks err with probability {errors.mean():.6g} on average, more than {instance.epsilon.mean():g}"
        return
    for task in np.flatnonzero(asks & (errors > instance.epsilon + CERTAIN))[:1].tolist():
        target = instance.epsilon[task]
        yield f"task {instance.task_id(task)} errs with probability {errors[task]:.6g}, more than its {target:g}"


def _first(excess: Floats | Ints, says: str, name: Callable[[int], str], near: float = NEAR) -> Iterator[str]:
    for k in np.flatnonzero(excess > near)[:1].tolist():
        yield says.format(name(k), excess[k])
