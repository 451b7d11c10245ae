"""What a label more may break: capacities, labels of a task, groups, money; labels that are out count as told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.online.group_room import GroupRoom

COUNTED = ("of_task", "load", "spent")
CENT = 1e-9  # relative: sums of prices are off by so much at most


class LabelLimits:
    """Labels that are in or out, against the limits of an instance and the money there is.

    instance: with the limits; money: the most that labels may cost; keeps_capacity: whether the policy is one that may
    ask no more of a worker than their capacity.
    """

    def __init__(self, instance: AssignmentInstance, money: float | None, keeps_capacity: bool) -> None:
        self.instance = instance
        self.money = np.inf if money is None else money
        self.keeps_capacity = keeps_capacity
        self.rooms = GroupRoom(instance)
        self.of_task = np.bincount(instance.collected[:, 0], minlength=instance.n_tasks)
        self.load = np.zeros(instance.n_workers, np.int64)
        self.spent = 0.0  # by labels that are in, gold included, and reserved for those that are out
        self.taken: set[int] = set()  # pairs that are not asked, each a number
        for task, place in (*instance.collected.tolist(), *instance.forbidden.tolist()):
            self.take(task, place)
        self.closed: set[int] = set()  # tasks whose answer an expert told
        self.limited = bool((instance.max_labels < UNLIMITED).any() or self.rooms.left.shape[0])

    def full(self, place: int) -> Bools:
        """Tasks of which the worker can give no label for want of room in their groups; (tasks,)."""
        return self.rooms.full(place)

    def price(self, task: int, place: int) -> float:
        """What the worker is paid for a label of the task."""
        return float(self.instance.price(task, place))

    def kept(self, tasks: Ints, place: int) -> Ints:
        """Of tasks that a worker is to label, (k,), the places of those that break no limit, all of them together."""
        room = self.instance.capacity[place] - self.load[place] if self.keeps_capacity else UNLIMITED
        full = self.full(place) if self.limited else None
        chosen: list[int] = []
        spent = self.spent
        for k, task in enumerate(tasks.tolist()):
            price = self.price(task, place)
            if (
                len(chosen) < room
                and self._pair(task, place) not in self.taken
                and task not in self.closed
                and (full is None or not full[task])
                and self.of_task[task] < self.instance.max_labels[task]
                and spent + price <= self.money * (1 + CENT)
            ):
                chosen.append(k)
                spent += price
        return np.array(chosen, np.int64)

    def affords(self, price: float) -> int:
        """How many looks or labels of that price are left, with all that is out."""
        left = self.money * (1 + CENT) - self.spent
        return UNLIMITED if price <= 0 or np.isinf(left) else max(0, int(left / price))

    def reserve(self, tasks: Ints, place: int) -> None:
        """Labels of a worker, (k,), count from now on."""
        self._count(tasks, place, 1)
        self.taken.update(self._pair(task, place) for task in tasks.tolist())

    def take(self, task: int, place: int) -> None:
        """The pair is not asked any more."""
        self.taken.add(self._pair(task, place))

    def release(self, task: int, place: int) -> None:
        """A label will not come; the pair is not asked again."""
        self._count(np.array([task]), place, -1)

    def reopen(self, tasks: Ints, place: int) -> None:
        """The worker may be asked about them, (k,), as if they had not been meant for them."""
        self.taken.difference_update(self._pair(task, place) for task in tasks.tolist())

    def again(self, task: int, place: int) -> None:
        """A label came that was not reserved any more."""
        self._count(np.array([task]), place, 1)

    def snapshot(self) -> dict[str, Any]:
        """What was counted so far."""
        taken = np.sort(np.fromiter(self.taken, np.int64, len(self.taken)))
        return {name: getattr(self, name) for name in COUNTED} | {"taken": taken, "left": self.rooms.left}

    def restore(self, counted: dict[str, Any]) -> None:
        """Go on from what was counted."""
        for name in COUNTED:
            setattr(self, name, counted[name])
        self.taken, self.rooms.left = set(counted["taken"].tolist()), counted["left"]

    def _pair(self, task: int, place: int) -> int:
        return task * self.instance.n_workers + place

    def _count(self, tasks: Ints, place: int, sign: int) -> None:
        np.add.at(self.of_task, tasks, sign)
        self.load[place] += sign * tasks.size
        for task in tasks.tolist():
            self.spent += sign * self.price(task, place)
        if self.rooms.left.shape[0]:
            for left, member in zip(self.rooms.left, self.rooms.member, strict=True):
                if member[place]:
                    np.subtract.at(left, tasks, sign)


def with_newcomers(instance: AssignmentInstance, count: int) -> AssignmentInstance:
    """The instance with places for workers whom it does not name: as good and as dear as the middling one."""
    if not count:
        return instance
    middle = [np.repeat(np.median(table, axis=1, keepdims=True), count, axis=1) for table in _tables(instance)]
    accuracy, cost = (
        np.concatenate([table, more], axis=1) for table, more in zip(_tables(instance), middle, strict=True)
    )
    names = [*(instance.worker_id(j) for j in range(instance.n_workers)), *(f"\0{k}" for k in range(count))]
    capacity = np.concatenate([instance.capacity, np.full(count, int(np.median(instance.capacity)))])
    load = np.concatenate([instance.min_load, np.zeros(count, np.int64)])
    return replace(
        instance, accuracy=accuracy, cost=cost, capacity=capacity, min_load=load, workers=names, confusion=None
    )


def _tables(instance: AssignmentInstance) -> tuple[Floats, Floats]:
    return instance.accuracy, instance.cost
