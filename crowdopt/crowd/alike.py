"""Interchangeable tasks and interchangeable workers: an instance with each class written once, and each pool."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints, alike, same_entries
from crowdopt.crowd.group_limits import membership, refuse_joint_limits, task_limits
from crowdopt.crowd.instance import AssignmentInstance


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
