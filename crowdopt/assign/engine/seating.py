"""Plans of an instance whose workers are told alike, made plans of the one where they are not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.mending import TaskLabels
from crowdopt.core.clock import Clock
from crowdopt.crowd.alike import Classes
from crowdopt.crowd.group_limits import TaskGroups, has_joint_limits, membership
from crowdopt.crowd.instance import AssignmentInstance

Seats: TypeAlias = tuple[Ints, Ints, Ints]  # as crowdopt.assign.engine.seating_kernels takes them
Limits: TypeAlias = tuple[Ints, Ints, Ints, Ints, Ints]


@dataclass(eq=False)
class Seating:
    """What is known of an instance before labels are handed out."""

    instance: AssignmentInstance
    classes: Classes  # of the loosened instance
    members: tuple[Ints, Ints] = field(init=False)  # the first of each class, and workers by class
    likes: tuple[Ints, Ints] = field(init=False)  # the first of each class, and tasks by class
    barred: Ints = field(init=False)  # (k,): sorted keys
    home: tuple[Ints, Ints] = field(init=False)  # groups with limits per task that each worker is in
    top: Ints = field(init=False)  # (groups, tasks)
    entry: Floats = field(init=False)  # (own rows, tasks, workers)
    seconds: float = 0.0  # that the last plan took

    def __post_init__(self) -> None:
        instance, m = self.instance, self.instance.n_workers
        self.members = _by_class(self.classes.worker_class, self.classes.workers_in)
        self.likes = _by_class(self.classes.task_class, self.classes.tasks_in)
        self.barred = np.sort(instance.barred[:, 0] * m + instance.barred[:, 1])
        groups = TaskGroups.of(instance)
        worker, group = groups.those_of(np.arange(m))
        self.home = np.searchsorted(worker, np.arange(m + 1)), np.ascontiguousarray(group)
        self.top = groups.most
        own = instance.own_rows
        self.entry = np.zeros((0 if own is None else len(own.names), instance.n_tasks, m))
        if own is not None:
            np.add.at(self.entry, (own.row, own.pairs[:, 0], own.pairs[:, 1]), own.coefficient)

    def seated(self, pairs: Ints, clock: Clock) -> Ints:
        """The plan with other workers of the same classes, so that all limits are kept.

        pairs (k, 2): of the loosened instance, sorted; clock: when to give up; -> (k, 2): what workers of a class
        cannot mend may still be broken.
        """
        found = self._seated(pairs, clock)
        self.seconds = clock.spent
        return found

    def _seated(self, pairs: Ints, clock: Clock) -> Ints:
        from crowdopt.assign.engine import seating_kernels as kernels

        task, group = pairs[:, 0].copy(), self.classes.worker_class[pairs[:, 1]]
        worker = np.full(task.size, -1)
        start = np.append(0, np.cumsum(np.bincount(task, minlength=self.instance.n_tasks)))
        seats: Seats = start, worker, self.instance.capacity.copy()
        limits: Limits = self.barred, *self.home, self.top, np.zeros(self.top.shape, np.int64)
        kernels.seat_singles(task, group, self.members, seats)
        self._trade(group, seats, limits)
        kernels.open_again(task, seats, limits)
        missing = kernels.seat(task, group, self.members, seats, limits, self.instance.min_load.copy())
        if missing:
            self._elsewhere(task, group, seats, limits)
        held = np.bincount(worker[worker >= 0], minlength=self.instance.n_workers)
        owed, spare = np.maximum(0, self.instance.min_load - held), held - self.instance.min_load
        kernels.level(task, group, self.members, seats, limits, owed, spare)
        self._trade(group, seats, limits)
        self._steer(task, group, seats, limits)
        there = worker >= 0
        found = np.column_stack([task[there], worker[there]])
        if not there.all():
            found = np.concatenate([found, self._added(np.unique(task[~there]), found, seats, limits)])
        if self.instance.the_rule.checked and missing:
            return self._mended(found, clock)
        if owed.any():
            found = np.concatenate([found, self._made_up(found, seats, limits)])
        return found[np.lexsort((found[:, 1], found[:, 0]))]

    def _mended(self, pairs: Ints, clock: Clock) -> Ints:
        """With labels replaced or added until every vote errs little enough, as far as that can be."""
        labels = TaskLabels.of(self.instance, pairs)
        if labels.mend(clock) and not has_joint_limits(self.instance):
            labels.thin(clock)
        return labels.pairs()

    def _added(self, tasks: Ints, pairs: Ints, seats: Seats, limits: Limits) -> Ints:
        """Labels more for tasks that lack some, those first that bring most for their price, (k, 2)."""
        from crowdopt.assign.engine import seating_kernels as kernels

        instance, (_, _, left), (_, first, home, _, inside) = self.instance, seats, limits
        fewest = np.maximum(0, instance.new_label_limits[0] - np.bincount(pairs[:, 0], minlength=instance.n_tasks))
        lack, added = instance.floor - instance.supply(pairs), []
        for i in tasks.tolist():
            worth, price = (table[instance.task_type[i]] for table in (instance.evidence, instance.cost))
            short, owed = float(lack[i]), int(fewest[i])
            # no more than is lacking counts
            for j in np.argsort(-np.minimum(worth, max(short, 0.0)) / np.maximum(price, 1e-9), kind="stable").tolist():
                if short <= 0 and owed <= 0:
                    break
                if left[j] > 0 and kernels.may(i, j, -1, seats, limits):
                    added.append((i, j))
                    left[j] -= 1
                    inside[home[first[j] : first[j + 1]], i] += 1
                    short, owed = short - float(worth[j]), owed - 1
        return np.array(added, np.int64).reshape(-1, 2)

    def _made_up(self, pairs: Ints, seats: Seats, limits: Limits) -> Ints:
        """A label more for workers who lack some, of the tasks that pay them least, (k, 2)."""
        from crowdopt.assign.engine import seating_kernels as kernels

        instance, (_, first, home, _, inside), added = self.instance, limits, []
        room = instance.new_label_limits[1] - np.bincount(pairs[:, 0], minlength=instance.n_tasks)
        owed = instance.min_load - np.bincount(pairs[:, 1], minlength=instance.n_workers)
        known = set(map(tuple, pairs.tolist()))
        for j in np.flatnonzero(owed > 0).tolist():
            for i in np.argsort(instance.cost[instance.task_type, j], kind="stable").tolist():
                if owed[j] <= 0:
                    break
                if room[i] > 0 and (i, j) not in known and kernels.may(i, j, -1, seats, limits):
                    added.append((i, j))
                    owed[j] -= 1
                    room[i] -= 1
                    inside[home[first[j] : first[j + 1]], i] += 1
        return np.array(added, np.int64).reshape(-1, 2)

    def _trade(self, group: Ints, seats: Seats, limits: Limits) -> None:
        from crowdopt.assign.engine import seating_kernels as kernels

        kernels.trade(group, self.likes, seats, limits, self._rows(seats))

    def _rows(self, seats: Seats) -> tuple[Floats, Floats, Floats, Floats]:
        """Own rows: entries, sides, and what the labels that have a worker add up to."""
        start, worker, _ = seats
        own, there = self.instance.own_rows, worker >= 0
        if own is None:
            return self.entry, np.zeros(0), np.zeros(0), np.zeros(0)
        task = np.repeat(np.arange(self.instance.n_tasks), np.diff(start))
        return self.entry, own.lower, own.upper, self.entry[:, task[there], worker[there]].sum(axis=1)

    def _steer(self, task: Ints, group: Ints, seats: Seats, limits: Limits) -> None:
        from crowdopt.assign.engine import seating_kernels as kernels

        if self.instance.own_rows is None:
            return
        held = np.bincount(seats[1][seats[1] >= 0], minlength=self.instance.n_workers)
        spare = held - self.instance.min_load
        kernels.steer(task, group, self.members, seats, limits, self._rows(seats), spare)

    def _elsewhere(self, task: Ints, group: Ints, seats: Seats, limits: Limits) -> None:
        """Labels that none of their class can give go to the cheapest who knows no less, in groups alike."""
        from crowdopt.assign.engine import seating_kernels as kernels

        instance, home, (_, worker, left) = self.instance, self.classes.worker_class, seats
        shares = membership(instance)[[group.has_share_limits for group in instance.groups]]
        first = self.members[1][self.members[0][:-1]]
        for label in np.flatnonzero(worker < 0).tolist():
            i = int(task[label])
            kind = instance.task_type[i]
            like = first[group[label]]
            able = (left > 0) & (instance.evidence[kind] >= instance.evidence[kind, like])
            able &= (shares == shares[:, [like]]).all(axis=0)
            others = np.flatnonzero(able)
            for j in others[np.argsort(instance.cost[kind, others], kind="stable")].tolist():
                if kernels.may(i, j, -1, seats, limits):
                    kernels.give(label, i, j, seats, limits)
                    group[label] = home[j]
                    break


def _by_class(number: Ints, size: Ints) -> tuple[Ints, Ints]:
    """Where each class begins, and its members one after another."""
    return np.append(0, np.cumsum(size)), np.argsort(number, kind="stable")
