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
from crowdopt.crowd.law import CLIP
from crowdopt.crowd.vote_errors import at_best


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


def quotient(instance: AssignmentInstance, task_class: Ints, worker_class: Ints, pooled: bool = False) -> Classes:
    """The instance with each class written once, as its first task and its first worker are.

    task_class (tasks,), worker_class (workers,): numbers from 0; pooled: as :func:`classes_of` has it.
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
        pooled=pooled,
    )


def classes_of(instance: AssignmentInstance, joint: bool = False, pooled: bool = False) -> Classes:
    """Tasks that are alike, and workers who are.

    joint: whether the caller knows limits of groups and own rows. Tasks and workers whom those tell apart
    are then of different classes; pooled: whether workers may be of one class who differ in capacity, if they have any,
    and least load. Raises InputError if there are joint limits and the caller does not know them.
    """
    if not joint:
        refuse_joint_limits(instance, "a method over classes of equal tasks and workers")
    n, m, rows = instance.n_tasks, instance.n_workers, instance.own_rows
    task, worker = np.concatenate([instance.barred, instance.fixed]).T
    is_fixed, alone = np.arange(task.size) >= len(instance.barred), np.zeros(m, np.int64)
    alone[worker] = 1 + worker
    loads = [instance.capacity > 0] if pooled else [instance.capacity, instance.min_load]
    inside = membership(instance)[[group.has_limits for group in instance.groups]].T
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
    return quotient(instance, alike(*tasks)[0], worker_class, pooled)


def labels_in(instance: AssignmentInstance, worker_class: Ints) -> Ints:
    """A number per task, (tasks,), equal where equal workers gave labels; 0 without labels, or if priors hold them."""
    task, worker = instance.collected[: 0 if instance.observed else None].T
    return same_entries(instance.n_tasks, task, worker_class[worker])


@dataclass(frozen=True, eq=False)
class Pools:
    """Kinds t of tasks (equal type, target, prior, label limits) and pools g of workers (equal skill and price).

    Unlike in :class:`Classes`, workers of a pool may differ in capacity, and between two classes an accuracy below 1/2
    is the same skill as its complement: a vote by log-odds turns it round.
    """

    instance: AssignmentInstance
    # kind of each task; pool of each worker, -1 for those who are of no use
    kind: Ints  # (tasks,)
    pool: Ints  # (workers,)
    tasks_in: Ints  # (T,)
    sizes: Ints  # (G,): workers in each pool, the most labels of it that one task can have
    deepest: Ints  # (G,): labels of a pool beyond which no task needs more of it; at most all there are
    # chance of a right label, in [1/K, 1), and its price
    skill: Floats  # (T, G)
    cost: Floats  # (T, G)
    epsilon: Floats  # (T,): target
    prior: Floats  # (T,) or (T, K): probability of class 1 of two, or of each of more classes
    # limits on new labels
    fewest: Ints  # (T,)
    most: Ints  # (T,)

    @cached_property
    def members(self) -> list[Ints]:
        """The workers of each pool, those with most room first."""
        order = np.argsort(-self.room_of, kind="stable")
        return [order[self.pool[order] == g] for g in range(self.sizes.size)]

    @property
    def room_of(self) -> Ints:
        """Tasks each worker can take at most: no worker labels a task twice."""
        return np.minimum(self.instance.capacity, self.instance.n_tasks)

    @cached_property
    def rows(self) -> tuple[Ints, Ints, Floats]:
        """Supply rows: pool g, depth h, and the room of all its workers but the h with most, ``M_(h+1) + ... + M_(s)``.

        Labels a_i of tasks i can be dealt to the workers of a pool, to each at most M_j and no task twice, exactly if
        ``sum_i max(0, a_i - h)`` is at most that for every h >= 0 (Gale 1957, Ryser 1957: the a_i are weakly majorised
        by the conjugate of the M_j). Where all M_j are equal, h = 0 implies the rest.
        """
        rows: list[tuple[int, int, int]] = []
        for g, workers in enumerate(self.members):
            room = self.room_of[workers]
            count = 1 if (room == room[0]).all() else max(1, int(self.deepest[g]))
            tails = np.cumsum(room[::-1])[::-1][:count]
            rows += [(g, depth, tail) for depth, tail in enumerate(tails.tolist())]
        pool, depth, supply = np.array(rows, np.int64).reshape(-1, 3).T
        return pool, depth, supply.astype(np.float64)


def pools_of(instance: AssignmentInstance, pools: int | None = None, up: bool = False) -> Pools:
    """Pool the workers: those of equal skill and price, or at most so many pools for each price.

    pools: skills inside a pool are rounded: down to the least for each type, so that a plan for the pools holds for the
    workers; or ``up`` to the greatest, so that a bound for the pools is one for the workers.
    """
    refuse_joint_limits(instance, "method patterns", "it plans for pools of equally skilled workers of any group")
    skill, (fewest, most) = folded(instance, up), instance.new_label_limits
    useful = (instance.capacity > 0) & ((skill > 1 / instance.classes).any(axis=0) | bool(instance.min_labels.any()))
    who = np.flatnonzero(useful)
    price, known = instance.cost[:, who].T, skill[:, who].T
    number = np.unique(np.column_stack([price, known]), axis=0, return_inverse=True)[1].reshape(-1)
    if pools is not None and number.max(initial=-1) >= pools:
        number = _merged(price, known, pools)
    pool = np.full(instance.n_workers, -1)
    pool[who] = number
    prior: Floats = np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))
    prior = prior[:, 1] if instance.classes == 2 else prior
    kind, task = alike(instance.task_type, instance.epsilon, prior, fewest, most)
    first, sizes = np.unique(number, return_index=True, return_counts=True)[1:]
    types, by_pool = instance.task_type[task], who[np.argsort(number, kind="stable")]
    rounded = (np.maximum if up else np.minimum).reduceat(skill[types][:, by_pool], np.cumsum(sizes) - sizes, axis=1)
    return Pools(
        instance=instance,
        kind=kind,
        pool=pool,
        tasks_in=np.bincount(kind),
        sizes=sizes,
        deepest=sizes,
        skill=rounded,
        cost=instance.cost[types][:, who[first]],
        epsilon=instance.epsilon[task],
        prior=prior[task],
        fewest=fewest[task],
        most=most[task],
    )


def folded(instance: AssignmentInstance, up: bool) -> Floats:
    """Skills as a vote by log-odds sees them, clipped: of two classes the larger of p and 1 - p; 1/K without evidence.

    up: among more classes a worker who is mostly wrong counts as one who names another class than theirs,
    ``(1 - p) / (K - 1)``, which is no more than they know; or, if ``up``, as the skill of
    :func:`crowdopt.crowd.vote_errors.at_best`; -> (types, workers): in [1/K, 1).
    """
    p, classes = instance.accuracy, int(instance.classes)
    turned = at_best(p, classes) if up else np.where(p * classes < 1, (1 - p) / (classes - 1), p)
    return np.where(instance.evidence > 0, np.minimum(turned, 1 - CLIP), 1 / classes)


def _merged(price: Floats, skill: Floats, pools: int) -> Ints:
    """At most so many pools for each price: the pool whose log-odds are widest, for its workers, is halved there."""
    odds = np.log(skill) - np.log1p(-skill)
    level = np.unique(price, axis=0, return_inverse=True)[1].reshape(-1)
    found: list[Ints] = []
    for same in range(int(level.max()) + 1):
        parts = [np.flatnonzero(level == same)]
        while len(parts) < pools:
            widths = [np.ptp(odds[part], axis=0) for part in parts]
            spread = [float(width.max() * np.sqrt(part.size)) for width, part in zip(widths, parts, strict=True)]
            widest = int(np.argmax(spread))
            if spread[widest] <= 0:
                break
            part = parts[widest]
            values = odds[part, int(widths[widest].argmax())]
            above = values > (values.min() + values.max()) / 2
            parts[widest : widest + 1] = [part[above], part[~above]]
        found += parts
    number = np.empty(len(price), np.int64)
    number[np.concatenate(found)] = np.repeat(np.arange(len(found)), [part.size for part in found])
    return number
