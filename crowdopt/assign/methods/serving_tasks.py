"""Tasks served one after the other by what is left: labels so far, room, money and limits beyond them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from crowdopt.arrays import Floats, Ints, nth_alike
from crowdopt.assign.bisection import first_that
from crowdopt.assign.budget.greedy_spending import spend
from crowdopt.core.clock import Clock
from crowdopt.crowd.group_limits import TaskGroups
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import short_tasks
from crowdopt.crowd.law import NONE
from crowdopt.crowd.rules import BHATTACHARYYA
from crowdopt.crowd.subset import of_tasks
from crowdopt.crowd.vote_errors import CERTAIN, errors_of

ROUNDS = 3  # of handing out what is left: labels that are taken back go to others


def room_of(instance: AssignmentInstance, pairs: Ints) -> Ints:
    """Labels that each worker can give beside these, (workers,)."""
    return instance.capacity - np.bincount(pairs[:, 1], minlength=instance.n_workers)


def ties_all(instance: AssignmentInstance) -> bool:
    """Whether some limit is on all labels together."""
    return instance.own_rows is not None or any(group.has_share_limits for group in instance.groups)


class Serving:
    """Labels so far, and what is left of time, of money and of room in tasks' limits."""

    def __init__(self, instance: AssignmentInstance, pairs: Ints) -> None:
        self.instance, self.pairs = instance, pairs

    @property
    def pairs(self) -> Ints:
        """Task and worker of each label, (k, 2), sorted."""
        task = np.repeat(np.arange(self.instance.n_tasks), [its.size for its in self.its])
        return np.column_stack([task, np.concatenate(self.its)]).astype(np.int64)

    @pairs.setter
    def pairs(self, pairs: Ints) -> None:
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        budget, prices = self.instance.budget, self.instance.prices(pairs)
        self.its = np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, self.instance.n_tasks)))  # by task
        self.room = room_of(self.instance, pairs)  # labels that each worker can still give
        self.money = np.inf if budget is None else budget - float(prices.sum())  # what is left of the budget

    def free(self, task: int, wanted: Ints | None = None) -> Ints:
        """Workers whose labels the task could have more of, the best first; as many as its limits and money allow.

        wanted (k,): only these workers, whether their labels say anything or not.
        """
        instance, kind, mine = self.instance, int(self.instance.task_type[task]), self.its[task]
        evidence = np.where(self.room > 0, instance.evidence[kind], 0.0)
        if wanted is not None:
            among = np.isin(np.arange(instance.n_workers), wanted) & (self.room > 0)
            evidence = np.where(among, 1.0 + instance.evidence[kind], 0.0)
        evidence[mine] = 0.0
        evidence[self._barred_from(task)] = 0.0
        ranked = np.argsort(-evidence, kind="stable")[: int((evidence > 0).sum())]
        ranked = ranked[self._within_groups(task, ranked)]
        ranked = ranked[: max(0, int(min(instance.new_label_limits[1][task] - mine.size, ranked.size)))]
        return ranked[np.cumsum(instance.cost[kind, ranked]) <= self.money]

    def _barred_from(self, task: int) -> Ints:
        barred = self._barred
        return barred[slice(*np.searchsorted(barred[:, 0], [task, task + 1])), 1]

    @cached_property
    def _barred(self) -> Ints:
        barred = self.instance.barred
        return barred[np.argsort(barred[:, 0], kind="stable")]

    @cached_property
    def groups(self) -> TaskGroups:
        """Those with limits per task."""
        return TaskGroups.of(self.instance)

    def _within_groups(self, task: int, ranked: Ints) -> Ints:
        """Places of those whom each group's most labels allow, those before them counted."""
        most = self.groups.most[:, task]
        room = most - np.bincount(self.groups.those_of(self.its[task])[1], minlength=most.size)
        place, group = self.groups.those_of(ranked)
        order = np.argsort(group, kind="stable")
        group = group[order]
        allowed = np.ones(ranked.size, bool)
        allowed[place[order[nth_alike(group) >= room[group]]]] = False
        return np.flatnonzero(allowed)

    def add(self, task: int, workers: Ints) -> None:
        """Labels more of a task."""
        self.its[task] = np.sort(np.concatenate([self.its[task], workers]))
        self.room[workers] -= 1
        self.money -= float(self.instance.cost[self.instance.task_type[task], workers].sum())

    def errors(self, tasks: Ints, workers: list[Ints]) -> Floats:
        """Exact errors of tasks' votes with these labels and those that are in before the plan."""
        known = self.instance.collected
        if len(known) and not self.instance.observed:
            workers = [np.concatenate([known[known[:, 0] == i, 1], w]) for i, w in zip(tasks, workers, strict=True)]
        return errors_of(self.instance, tasks, workers)

    def settle_all(self, tasks: Ints, clock: Clock) -> None:
        """Serve these tasks, those of least need first, as far as workers who are left can."""
        for task in tasks[np.argsort(self.instance.residual_need[tasks], kind="stable")].tolist():
            self.settle_by_sums(task) if clock.over else self.settle(task)

    def spared(self, task: int) -> Ints:
        """Workers whose labels the task could have more of, those first who know much and have much time left."""
        # Were the best taken first, tasks that come late would be left with those who do not suffice together.
        free, kind = self.free(task), int(self.instance.task_type[task])
        worth = self.room[free] * np.sqrt(self.instance.evidence[kind, free])
        return free[np.argsort(-worth, kind="stable")]

    def settle(self, task: int, most: int | None = None) -> None:
        """Serve the task by the first of the workers to spare, if they can; or by the best, so many labels in all."""
        one, mine = of_tasks(self._apart, np.array([task])), self.its[task]
        ranked = self.spared(task) if most is None else self.free(task)[: max(0, most - mine.size)]

        def serves(count: int) -> bool:
            hand = np.concatenate([mine, ranked[:count]])
            return not short_tasks(one, np.column_stack([np.zeros_like(hand), hand])).size

        count = 1
        while not serves(min(count, ranked.size)):  # few labels first: the error of a vote of many takes long
            if count >= ranked.size:
                return
            count *= 2
        self.add(task, ranked[: first_that(serves, min(count, ranked.size))])

    def settle_by_sums(self, task: int) -> None:
        """Serve the task by the first of the workers to spare, if they can by the sums of a linear rule."""
        sums, kind = self._of_sums, int(self.instance.task_type[task])
        mine, ranked = self.its[task], self.spared(task)
        fewest = max(0, int(self.instance.new_label_limits[0][task]) - mine.size)
        held = sums.evidence[kind, mine].sum() + np.cumsum(sums.evidence[kind, ranked])
        enough = np.flatnonzero(held >= sums.residual_need[task])
        if enough.size and fewest <= ranked.size:
            self.add(task, ranked[: max(int(enough[0]) + 1, fewest)])

    @cached_property
    def _apart(self) -> AssignmentInstance:
        """The instance without limits that tie all tasks."""
        return replace(self.instance, groups=(), own_rows=None) if ties_all(self.instance) else self.instance

    @cached_property
    def _of_sums(self) -> AssignmentInstance:
        """The instance by sums that are enough for its own rule where no task is hard."""
        checked = self.instance.the_rule.checked
        return replace(self.instance, rule=BHATTACHARYYA.name, difficulty=NONE) if checked else self.instance

    def take_all(self, task: int) -> None:
        """All labels that lower the task's error, as far as its target."""
        mine, ranked = self.its[task], self.free(task)
        self.add(task, ranked[: int(self._useful(np.array([task]), [mine], [ranked])[0][0])])

    def _useful(self, tasks: Ints, mine: list[Ints], ranked: list[Ints]) -> tuple[Ints, Floats]:
        """How many of these labels, the first ones, do what all of them do, or bring the task to its target."""
        # Of all tasks at once, by bisection; -> (k,) and the errors with so many.

        def errors(counts: Ints) -> Floats:
            hands = [np.concatenate([had, new[:c]]) for had, new, c in zip(mine, ranked, counts, strict=True)]
            return self.errors(tasks, hands)

        low, every = np.zeros(tasks.size, np.int64), np.array([new.size for new in ranked], np.int64)
        target, high = self.instance.epsilon[tasks], np.minimum(every, 1)
        while ((reached := errors(high)) > target + CERTAIN)[high < every].any():  # few first: many take long
            high = np.where(reached > target + CERTAIN, np.minimum(every, 2 * high), high)
        least = np.where(high < every, target, np.maximum(reached, target)) + CERTAIN
        while (low < high).any():
            middle = (low + high) // 2
            enough = errors(middle) <= least
            low, high = np.where(enough | (low >= high), low, middle + 1), np.where(enough, middle, high)
        return high, errors(high)

    def spread(self, tasks: Ints, clock: Clock) -> None:
        """What is left to these tasks, label by label, while there is time."""
        if clock.over:
            return
        served = np.setdiff1d(np.arange(self.instance.n_tasks), short_tasks(self.instance, self.pairs))
        tasks = np.setdiff1d(tasks, served)
        for _ in range(ROUNDS):
            before = len(self.pairs)
            tasks = self._spread(tasks)
            if not tasks.size or clock.over:
                return
            if len(self.pairs) == before:
                break
        for task in tasks.tolist():  # one more label may lower nothing where several do
            if clock.over or not self.room.any():
                return
            self.take_all(task)

    def fill_loads(self) -> None:
        """Labels of workers who have fewer than they must, of tasks that may have them, those in need first."""
        instance = self.instance
        lacking = instance.min_load - instance.capacity + self.room
        if not (lacking > 0).any():
            return
        short = np.isin(np.arange(instance.n_tasks), short_tasks(instance, self.pairs))
        for task in np.argsort(~short, kind="stable").tolist():
            taken = self.free(task, np.flatnonzero(lacking > 0))
            self.add(task, taken)
            lacking[taken] -= 1

    def _spread(self, tasks: Ints) -> Ints:
        """One round of greedy; -> those of the tasks that are still above their target."""
        if not tasks.size:
            return tasks
        instance, its = self.instance, np.isin(self.pairs[:, 0], tasks)
        others, mine = self.pairs[~its], self.pairs[its]
        part = of_tasks(instance, tasks)
        place = np.searchsorted(tasks, mine[:, 0])
        groups = tuple(replace(group, min_per_task=0) for group in part.groups)
        zeros = np.zeros(tasks.size, np.int64)
        part = replace(part, groups=groups, min_labels=zeros, min_load=np.zeros(instance.n_workers, np.int64))
        part = replace(part, rule=BHATTACHARYYA.name, difficulty=NONE)
        part = replace(
            part, capacity=room_of(instance, others), fixed=np.column_stack([place, mine[:, 1]]), budget=None
        )
        budget = instance.budget
        money = np.inf if budget is None else budget - float(instance.prices(others).sum())
        bought = spend(part, money)
        errors = self.add_useful(tasks, np.column_stack([tasks[bought[:, 0]], bought[:, 1]]))
        return tasks[errors > instance.epsilon[tasks] + CERTAIN]

    def add_useful(self, tasks: Ints, bought: Ints) -> Floats:
        """Labels for these tasks, but those that lower no error once better ones are there; -> their errors."""
        instance, held, ranked = self.instance, [], []
        for task in tasks.tolist():
            had = self.its[task]
            new = np.setdiff1d(bought[bought[:, 0] == task, 1], had)
            held.append(had)
            ranked.append(new[np.argsort(-instance.evidence[instance.task_type[task], new], kind="stable")])
        counts, errors = self._useful(tasks, held, ranked)
        for task, new, count in zip(tasks.tolist(), ranked, counts.tolist(), strict=True):
            self.add(task, new[:count])
        return errors
