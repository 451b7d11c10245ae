"""Interchangeable tasks and interchangeable workers: one quotient, and an instance with each class written once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.group_limits import refuse_joint_limits, told_apart
from crowdopt.crowd.instance import PART, UNLIMITED, AssignmentInstance, parts


def alike(*columns: NDArray[Any]) -> tuple[Ints, Ints]:
    """The one quotient: rows with the same entries share a number, in order of first appearance.

    columns: (rows,) or (rows, k) arrays; -> (rows,): number of each row; (numbers,): where each appears first.
    """
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        place = _same_rows(column) if column.ndim > 1 else np.unique(column, return_inverse=True)[1]
        key = np.unique(key * (int(place.max(initial=0)) + 1) + place, return_inverse=True)[1]
    first = np.unique(key, return_index=True)[1]
    order = np.argsort(first, kind="stable")
    rank = np.empty(first.size, np.int64)
    rank[order] = np.arange(first.size)
    return rank[key], first[order]


def _same_rows(table: NDArray[Any]) -> Ints:
    """A number for each distinct row: by one sum each, and by all entries where two rows meet in one sum."""
    weights, sums = np.sqrt(np.arange(2.0, table.shape[1] + 2.0)), np.empty(len(table))
    for some in parts(
        len(table), 1 + PART // max(1, table.shape[1])
    ):  # each row is rounded alike: a matrix product is not
        sums[some] = np.add.reduce(np.multiply(table[some], weights, order="C"), axis=1)
    _, first, place = np.unique(sums, return_index=True, return_inverse=True)
    if (table == table[first[place]]).all():
        return place
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


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
    # per worker; where loads tell no workers apart, of the first of each class
    capacity: Ints  # (G,)
    min_load: Ints  # (G,)
    # fewest and most labels that one task in t can have from g
    least: Ints  # (T, G)
    room: Ints  # (T, G)
    pooled: bool = False  # whether workers of one class may have different loads

    @cached_property
    def first_task(self) -> Ints:
        """A task of each class, (T,)."""
        return np.unique(self.task_class, return_index=True)[1]

    @cached_property
    def first_worker(self) -> Ints:
        """A worker of each class, (G,)."""
        return np.unique(self.worker_class, return_index=True)[1]

    @cached_property
    def loads(self) -> tuple[Floats, Floats]:
        """Fewest and most labels of each class of workers together, each (G,)."""
        instance, place = self.instance, self.worker_class
        least, most = (np.zeros(self.workers_in.size) for _ in range(2))
        np.add.at(least, place, instance.min_load)
        np.add.at(most, place, instance.capacity)
        return least, most

    @cached_property
    def cardinality(self) -> Ints:
        """Fewest labels with which a task of each class could reach its need, capacities aside, (T,).

        The best workers first: any task's labels number at least this, and at least ``fewest``. Where even all
        workers together do not reach the need, it is one more than there are.
        """
        kinds, groups = self.evidence.shape
        fewest = self.fewest.copy()
        for kind in range(kinds):
            order = np.argsort(-self.evidence[kind], kind="stable")
            available = self.room[kind, order]
            total = np.cumsum(self.evidence[kind, order] * available)
            reached = int(np.searchsorted(total, self.floor[kind]))
            before = total[reached - 1] if reached else 0.0
            count = int(available[:reached].sum())
            if reached == groups:
                count += 1
            elif self.floor[kind] > before:
                count += int(np.ceil((self.floor[kind] - before) / self.evidence[kind, order[reached]]))
            fewest[kind] = max(fewest[kind], count)
        return fewest

    def spread(self, per_class: Floats) -> Floats:
        """Amounts per pair of classes, (T, G), shared equally among their pairs, (tasks, workers)."""
        each = per_class / (self.tasks_in[:, None] * self.workers_in)
        return np.ascontiguousarray(each[:, self.worker_class])[self.task_class]


def classes_of(instance: AssignmentInstance, joint: bool = False, pooled: bool = False) -> Classes:
    """Tasks that are alike, and workers who are.

    joint: whether the caller knows limits of groups and own rows. Tasks and workers whom those tell apart
    are then of different classes; pooled: whether workers may be of one class who differ in capacity, if they have any,
    and least load. Raises InputError if there are joint limits and the caller does not know them.
    """
    if not joint:
        refuse_joint_limits(instance, "a method over classes of equal tasks and workers")
    task_marks, worker_marks = told_apart(instance)
    bound = np.concatenate([instance.barred, instance.fixed])
    kinds = alike(instance.evidence, instance.cost)[0]
    fewest, most = instance.new_label_limits
    loads = [instance.capacity > 0] if pooled else [instance.capacity, instance.min_load]
    alone = np.zeros(instance.n_workers)
    special = np.unique(bound[:, 1])
    alone[special] = 1 + special
    worker_class, worker = alike(instance.evidence.T, instance.cost.T, *loads, alone, *worker_marks)
    # evidence that is in and exceeds the need says nothing of errors any more: the labels themselves do
    asked: list[NDArray[Any]] = []
    if instance.the_rule.checked:
        asked = [instance.epsilon, *instance.own_priors, labels_in(instance, worker_class)]
    task_class, task = alike(
        kinds[instance.task_type], instance.residual_need, fewest, most, _patterns(instance), *asked, *task_marks
    )
    workers_in = np.bincount(worker_class)
    rows, shape = instance.task_type[task], (task.size, worker.size)
    least, room = np.zeros(shape, np.int64), np.broadcast_to(workers_in, shape).copy()
    least[task_class[instance.fixed[:, 0]], worker_class[instance.fixed[:, 1]]] = 1
    room[task_class[instance.barred[:, 0]], worker_class[instance.barred[:, 1]]] = 0
    return Classes(
        instance=instance,
        task_class=task_class,
        worker_class=worker_class,
        tasks_in=np.bincount(task_class),
        workers_in=workers_in,
        evidence=np.ascontiguousarray(instance.evidence[rows][:, worker]),
        cost=np.ascontiguousarray(instance.cost[rows][:, worker]),
        need=instance.residual_need[task],
        floor=instance.floor[task],
        fewest=fewest[task],
        most=np.minimum(most[task], UNLIMITED),
        capacity=instance.capacity[worker],
        min_load=instance.min_load[worker],
        least=least,
        room=room,
        pooled=pooled,
    )


def _patterns(instance: AssignmentInstance) -> Ints:
    """Tasks with the same barred and fixed workers share a number, (tasks,); 0 for none."""
    numbers = np.zeros(instance.n_tasks, np.int64)
    known: dict[tuple[tuple[int, int], ...], int] = {}
    marked: dict[int, list[tuple[int, int]]] = {}
    for sign, pairs in enumerate((instance.barred, instance.fixed)):
        for task, worker in pairs.tolist():
            marked.setdefault(task, []).append((sign, worker))
    for task, workers in marked.items():
        numbers[task] = known.setdefault(tuple(sorted(workers)), len(known) + 1)
    return numbers


def labels_in(instance: AssignmentInstance, worker_class: Ints) -> Ints:
    """A number per task, (tasks,), equal where equal workers gave labels; 0 without labels, or if priors hold them."""
    numbers = np.zeros(instance.n_tasks, np.int64)
    if instance.observed or not len(instance.collected):
        return numbers
    task, group = instance.collected[:, 0], worker_class[instance.collected[:, 1]]
    order = np.lexsort((group, task))
    tasks, starts = np.unique(task[order], return_index=True)
    known: dict[bytes, int] = {}
    for i, held in zip(tasks.tolist(), np.split(group[order], starts[1:]), strict=True):
        numbers[i] = known.setdefault(held.tobytes(), len(known) + 1)
    return numbers


def each_its_own(instance: AssignmentInstance) -> Classes:
    """Every task and every worker a class alone."""
    n, m = instance.n_tasks, instance.n_workers
    fewest, most = instance.new_label_limits
    least, room = np.zeros((n, m), np.int64), np.ones((n, m), np.int64)
    least[instance.fixed[:, 0], instance.fixed[:, 1]] = 1
    room[instance.barred[:, 0], instance.barred[:, 1]] = 0
    return Classes(
        instance=instance,
        task_class=np.arange(n),
        worker_class=np.arange(m),
        tasks_in=np.ones(n, np.int64),
        workers_in=np.ones(m, np.int64),
        evidence=instance.evidence[instance.task_type],
        cost=instance.cost[instance.task_type],
        need=instance.residual_need,
        floor=instance.floor,
        fewest=fewest,
        most=most,
        capacity=instance.capacity,
        min_load=instance.min_load,
        least=least,
        room=room,
    )
