"""Interchangeable tasks and interchangeable workers: an instance with each class written once, and each pool.

Limits of an instance's groups and own rows, and the refusals of methods that do not know them.

An instance restricted to some of its tasks, or some of its workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints, alike, same_entries
from crowdopt.crowd.groups import UNBOUNDED, Group
from crowdopt.crowd.instance import FIELDS, PAIRS, AssignmentInstance
from crowdopt.errors import InputError


def membership(instance: AssignmentInstance) -> Bools:
    """Who is in which group, (groups, workers)."""
    table = np.zeros((len(instance.groups), instance.n_workers), bool)
    for g, group in enumerate(instance.groups):
        table[g, list(group.members)] = True
    return table


def labels_had(instance: AssignmentInstance) -> Ints:
    """Labels already in that are each group's, (groups, tasks)."""
    (task, worker), n = instance.collected.T, instance.n_tasks
    counts = [np.bincount(task[inside[worker]], minlength=n) for inside in membership(instance)]
    return np.array(counts, np.int64).reshape(-1, n)


def task_limits(instance: AssignmentInstance) -> tuple[list[int], Ints, Ints]:
    """Groups with limits per task (positions), and the fewest and most *new* labels of each for each task, (k, tasks).

    UNBOUNDED where a group has no most.

    -> (list of int, (k, tasks) array, (k, tasks) array).
    """
    limited = [g for g, group in enumerate(instance.groups) if group.has_task_limits]
    groups, had = [instance.groups[g] for g in limited], labels_had(instance)[limited]
    fewest = np.array([group.min_per_task for group in groups], np.int64)[:, None]
    tops = [UNBOUNDED if group.max_per_task is None else group.max_per_task for group in groups]
    most = np.array(tops, np.int64)[:, None]
    return limited, np.maximum(0, fewest - had), np.where(most == UNBOUNDED, most, np.maximum(0, most - had))


WAYS = 24  # in which a task's labels may come from workers of several groups, for bounds to tell all of them apart


def in_several(instance: AssignmentInstance) -> tuple[Bools, Ints]:
    """Which of the groups with limits per task some workers are in together, and the most labels a task has of those.

    -> (sets of groups, groups) bool and (sets of groups,): one row for each set of two groups and more.
    """
    limited, _, most = task_limits(instance)
    inside = membership(instance)[limited].T
    sets, size = np.unique(inside[inside.sum(axis=1) > 1], axis=0, return_counts=True)
    tops = [min(int(many), int(most[one].max(axis=1).min())) for one, many in zip(sets, size, strict=True)]
    return sets, np.array(tops, np.int64)


def bounds_know_overlaps(instance: AssignmentInstance) -> bool:
    """Whether groups that share workers are few enough to be proven with, all ways of sharing labels side by side."""
    return prod((in_several(instance)[1] + 1).tolist()) <= WAYS


def has_joint_limits(instance: AssignmentInstance) -> bool:
    """Whether groups or own rows ask anything of a plan."""
    return instance.own_rows is not None or any(group.has_limits for group in instance.groups)


def refuse_joint_limits(instance: AssignmentInstance, what: str, why: str = "") -> None:
    """InputError where a method does not know groups or own rows: ignoring them would be a wrong answer.

    what: who does not know them; why: the reason, in words that follow "because".
    """
    if has_joint_limits(instance):
        reason = f", because {why}" if why else ""
        raise InputError(
            f"{what} does not know groups of workers or own rows{reason}; "
            "the methods exact and highs do (crowdopt solve), or take them out of the campaign"
        )


def of_tasks(instance: AssignmentInstance, tasks: Ints) -> AssignmentInstance:
    """The instance with some tasks alone, in that order; workers and all their limits stay as they are.

    tasks (k,): each once; -> its task k is ``tasks[k]``; all types stay.
    """
    if instance.own_rows is not None or any(group.has_share_limits for group in instance.groups):
        raise InputError("shares of all labels and own rows are about all tasks; solve them all together")
    return replace(
        instance,
        **_restricted(instance, "task", tasks),
        prior=instance.prior[tasks] if instance.prior.ndim > 1 else instance.prior,
        tasks=[instance.task_id(int(i)) for i in tasks],
        types=[instance.type_id(k) for k in range(instance.n_types)],
    )


def own_accuracies(instance: AssignmentInstance, tasks: Ints) -> AssignmentInstance:
    """Some tasks alone, each with a row of accuracies of its own; rows that no task has are left out.

    instance: without limits on tasks beside pairs, and with a price for each worker; tasks (k,): each once; -> its task
    k is ``tasks[k]``.
    """
    its = _restricted(instance, "task", tasks)
    return AssignmentInstance(
        instance.accuracy[its.pop("task_type")],
        **its,
        capacity=instance.capacity,
        rule=instance.rule,
        cost=instance.cost[0],
        workers=instance.workers,
        title=instance.title,
    )


def of_workers(instance: AssignmentInstance, workers: Ints, ids: Sequence[str] | None = None) -> AssignmentInstance:
    """The instance with some workers alone, in that order; tasks and all their limits stay as they are.

    workers (k,): one who stands here several times is copied; the pairs stay with the first; ids: what these workers
    are called; default: 0, 1, 2, ...; -> its worker k is ``workers[k]``.
    """
    if instance.own_rows is not None:
        raise InputError("own rows are about the workers they name; take them out before choosing workers")
    law = instance.vote_law
    cells: dict[str, Any] = {one.name: getattr(instance, one.name) for one in FIELDS if one.of == "cell"}
    cells = {name: None if table is None else table[:, workers] for name, table in cells.items()}
    return replace(
        instance,
        **_restricted(instance, "worker", workers),
        **cells,
        groups=_members(instance, workers),
        workers=ids,
        vote_law=None if law is None else law.of_workers(workers),
    )


def _members(instance: AssignmentInstance, workers: Ints) -> tuple[Group, ...]:
    chosen = [(group, np.flatnonzero(np.isin(workers, group.members)).tolist()) for group in instance.groups]
    gone = next((group for group, members in chosen if not members and group.min_per_task + group.min_share > 0), None)
    if gone is not None:
        raise InputError(f"no worker of the group {gone.name} is left, but every plan must have labels by it")
    return tuple(replace(group, members=members) for group, members in chosen if members)


def _restricted(instance: AssignmentInstance, of: str, chosen: Ints) -> dict[str, Any]:
    """Numbers of the chosen tasks or workers, and the pairs of these."""
    place = np.full(instance.n_tasks if of == "task" else instance.n_workers, -1, np.int64)
    place[chosen[::-1]] = np.arange(chosen.size)[::-1]
    fields = {one.name: getattr(instance, one.name)[chosen] for one in FIELDS if one.of == of and one.kind is not str}
    for name in PAIRS:
        pairs = getattr(instance, name).copy()
        side = pairs[:, int(of == "worker")]
        side[:] = place[side]
        fields[name] = pairs[side >= 0]
    return fields


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes t of tasks (equal evidence, price, need, limits) and g of workers (equal columns, capacity, least load).

    Swapping two tasks of a class, or two workers of one, turns a plan into a plan of the same cost. A worker with a
    barred or fixed pair is a class of their own; a task with one shares its class only with tasks that have the same.
    """

    instance: AssignmentInstance
    task_class: Ints  # (tasks,): class of each task; ``tasks_in`` counts them
    worker_class: Ints  # (workers,): class of each worker; ``workers_in`` counts them
    tasks_in: Ints
    workers_in: Ints
    # of one label of a worker in g for a task in t
    evidence: Floats  # (T, G)
    cost: Floats  # (T, G)
    need: Floats  # (T,): residual need
    floor: Floats  # (T,): the evidence that counts as covering it
    fewest: Ints  # (T,): limits on new labels
    most: Ints  # (T,): per task
    # per worker
    capacity: Ints  # (G,)
    min_load: Ints  # (G,)
    # fewest and most labels that one task in t can have from g
    least: Ints  # (T, G)
    room: Ints  # (T, G)

    @cached_property
    def first_task(self) -> Ints:
        """A task of each class, (T,)."""
        return np.unique(self.task_class, return_index=True)[1]

    @cached_property
    def first_worker(self) -> Ints:
        """A worker of each class, (G,)."""
        return np.unique(self.worker_class, return_index=True)[1]

    @property
    def loads(self) -> tuple[Floats, Floats]:
        """Fewest and most labels of each class of workers together, each (G,)."""
        sides = self.instance.min_load, self.instance.capacity
        least, most = (np.bincount(self.worker_class, side).astype(np.float64) for side in sides)
        return least, most

    @cached_property
    def cardinality(self) -> Ints:
        """Fewest labels with which a task of each class could reach its need, capacities aside, (T,).

        The best workers first: any task's labels number at least this, and at least ``fewest``. Where even all
        workers together do not reach the need, it is one more than there are.
        """
        order = np.argsort(-self.evidence, axis=1, kind="stable")
        worth, room = (np.take_along_axis(table, order, axis=1) for table in (self.evidence, self.room))
        total = np.cumsum(worth * room, axis=1)
        taken = total < self.floor[:, None]  # classes that even with all their labels leave something to be had
        lack = self.floor - np.where(taken, total, 0.0).max(axis=1, initial=0.0)
        following = np.column_stack([worth, lack])[np.arange(lack.size), taken.sum(axis=1)]  # beyond all: one label
        more = np.ceil(np.divide(lack, following, out=np.zeros(lack.size), where=lack > 0))
        return np.maximum(self.fewest, (room * taken).sum(axis=1) + more.astype(np.int64))

    def spread(self, per_class: Floats) -> Floats:
        """Amounts per pair of classes, (T, G), shared equally among their pairs, (tasks, workers)."""
        each = per_class / (self.tasks_in[:, None] * self.workers_in)
        return np.ascontiguousarray(each[:, self.worker_class])[self.task_class]


def quotient(instance: AssignmentInstance, task_class: Ints, worker_class: Ints) -> Classes:
    """The instance with each class written once, as its first task and its first worker are.

    task_class (tasks,), worker_class (workers,): numbers from 0.
    """
    task, tasks_in = np.unique(task_class, return_index=True, return_counts=True)[1:]
    worker, workers_in = np.unique(worker_class, return_index=True, return_counts=True)[1:]
    rows, shape, (fewest, most) = instance.task_type[task], (task.size, worker.size), instance.new_label_limits
    least, room = np.zeros(shape, np.int64), np.broadcast_to(workers_in, shape).copy()
    least[task_class[instance.fixed[:, 0]], worker_class[instance.fixed[:, 1]]] = 1
    room[task_class[instance.barred[:, 0]], worker_class[instance.barred[:, 1]]] = 0
    return Classes(
        instance=instance,
        task_class=task_class,
        worker_class=worker_class,
        tasks_in=tasks_in,
        workers_in=workers_in,
        evidence=np.ascontiguousarray(instance.evidence[rows][:, worker]),
        cost=np.ascontiguousarray(instance.cost[rows][:, worker]),
        need=instance.residual_need[task],
        floor=instance.floor[task],
        fewest=fewest[task],
        most=most[task],
        capacity=instance.capacity[worker],
        min_load=instance.min_load[worker],
        least=least,
        room=room,
    )


def classes_of(instance: AssignmentInstance, joint: bool = False) -> Classes:
    """Tasks that are alike, and workers who are.

    joint: whether the caller knows limits of groups and own rows. Tasks and workers whom those tell apart
    are then of different classes. Raises InputError if there are joint limits and the caller does not know them.
    """
    if not joint:
        refuse_joint_limits(instance, "a method over classes of equal tasks and workers")
    n, m, rows = instance.n_tasks, instance.n_workers, instance.own_rows
    task, worker = np.concatenate([instance.barred, instance.fixed]).T
    is_fixed, alone = np.arange(task.size) >= len(instance.barred), np.zeros(m, np.int64)
    alone[worker] = 1 + worker
    inside = membership(instance)[[group.has_limits for group in instance.groups]].T
    loads = instance.capacity, instance.min_load
    workers: list[NDArray[Any]] = [instance.evidence.T, instance.cost.T, *loads, alone, inside]
    kind = alike(instance.evidence, instance.cost)[0][instance.task_type]
    limits = *instance.new_label_limits, *(side.T for side in task_limits(instance)[1:])
    tasks: list[NDArray[Any]] = [kind, instance.residual_need, same_entries(n, task, worker, is_fixed), *limits]
    if rows is not None:
        of_task, of_worker = rows.pairs.T
        tasks.append(same_entries(n, of_task, of_worker, rows.row, rows.coefficient))
        workers.append(same_entries(m, of_worker, of_task, rows.row, rows.coefficient))
    worker_class = alike(*workers)[0]
    if instance.the_rule.checked:  # evidence beyond the need says nothing of errors any more: the labels themselves do
        tasks += [instance.epsilon, *instance.own_priors, labels_in(instance, worker_class)]
    return quotient(instance, alike(*tasks)[0], worker_class)


def labels_in(instance: AssignmentInstance, worker_class: Ints) -> Ints:
    """A number per task, (tasks,), equal where equal workers gave labels; 0 without labels, or if priors hold them."""
    task, worker = instance.collected[: 0 if instance.observed else None].T
    return same_entries(instance.n_tasks, task, worker_class[worker])
