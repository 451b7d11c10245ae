"""What a label more may break: capacities, labels of a task, groups, money; labels that are out count as told.

A worker takes a label back for another one: what the campaign and its policy know of it changes.

Labels that an online policy wants at the end, of workers who have come: which are out, and what came of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.labels import GOLD, REFUSED
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Corrected, CorrectedGold, Decision, Mended
from crowdopt.online.replay import GroupRoom
from crowdopt.serving.live_rows import Seat


def check_unlearning(policy: Any, judged: bool) -> None:
    """Raises InputError if the policy cannot unlearn a label; judged: an expert told the task's answer."""
    if not policy.amends:
        raise InputError(f"policy {policy.name} takes no label back; sequential, adaptive and greedy do")
    if judged:
        raise InputError("an expert has looked at this task; its labels stay as they are")


def correct_work(course: Any, seat: Seat, task: int, label: int) -> None:
    """A label of a task: one that the policy was not told yet is exchanged, one that it was told it learns anew."""
    row = next(k for k in range(len(course.work) - 1, -1, -1) if course.work[k][1:3] == (task, seat.place))
    course.work.correct(row, 3, label)
    if (k := _untold(seat, task, gold=False)) is not None:
        seat.got[k] = label
    elif not course.work[row][0] or not course.repairs.replace(task, seat.number, label):
        course.policy.hear(Corrected(seat.number, task, label))


def correct_gold(course: Any, seat: Seat, gold: int, label: int, late: bool) -> None:
    """An answer to a gold task. A policy hears of none that came late, and knows preliminary workers no more."""
    if late:
        return
    pair, truth = (seat.place, gold), int(course.gold.truth[gold])
    before, course.gold_said[pair] = course.gold_said.get(pair, label), label
    if (k := _untold(seat, gold, gold=True)) is not None:
        seat.got[k] = label
    elif not course.sent:
        right = np.zeros(course.instance.n_types, np.int64)
        right[course.gold.kind[gold]] = int(label == truth) - int(before == truth)
        course.policy.hear(CorrectedGold(seat.number, right))


def _untold(seat: Seat, task: int, gold: bool) -> int | None:
    """Place of a task among those of the worker's decision, if its label is in and the policy does not know it."""
    if seat.decision is None or (seat.decision.kind == GOLD) != gold:
        return None
    return next((k for k in np.flatnonzero(seat.asked == task).tolist() if seat.got[k] != REFUSED), None)


class Repairs:
    """One repair at a time; its labels are numbered as the policy has them."""

    def __init__(self) -> None:
        self.wanted: tuple[Decision, Ints, Ints] | None = None  # pairs, classes so far, which are still awaited
        self.out: dict[int, int] = {}  # lease -> label of the repair
        self.over = False

    @property
    def tasks(self) -> Ints:
        """Task of each label, (k,)."""
        assert self.wanted is not None
        return self.wanted[0].tasks.astype(np.int64)

    @property
    def workers(self) -> Ints:
        """Worker of each label, by number of arrival, (k,)."""
        assert self.wanted is not None and self.wanted[0].workers is not None
        return self.wanted[0].workers

    def begin(self, decision: Decision) -> None:
        """All labels of the decision are awaited."""
        self.wanted = (decision, np.full(decision.tasks.size, REFUSED), np.ones(decision.tasks.size, np.int64))

    def withdraw(self, labels: Ints) -> None:
        """These labels are not asked for."""
        assert self.wanted is not None
        self.wanted[2][labels] = 0

    def came(self, k: int, label: int) -> None:
        """A label came, or will not come: REFUSED."""
        assert self.wanted is not None
        self.wanted[1][k], self.wanted[2][k] = label, 0

    def replace(self, task: int, worker: int, label: int) -> bool:
        """A label that came is another one; False: the policy knows it already."""
        if self.wanted is None:
            return False
        places = np.flatnonzero((self.tasks == task) & (self.workers == worker) & (self.wanted[1] != REFUSED))
        self.wanted[1][places] = label
        return bool(places.size)

    def ended(self, policy: Any) -> None:
        """Tell the policy once nothing is awaited; it may want to be asked again."""
        if self.wanted is None or self.wanted[2].any():
            return
        tasks, workers, got = self.tasks, self.workers, self.wanted[1]
        self.wanted = None
        self.over = not policy.hear(Mended(tasks, workers, got))


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
