"""Labels of tasks under a checked rule: mend tasks that err too much, drop labels that none needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.clock import Clock
from crowdopt.crowd.group_limits import TaskGroups
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.crowd.vote_errors import CERTAIN, errors_of

PARTNERS = 256  # tasks asked for a trade
OFFERED = 3  # labels offered in a trade, the weakest first


@dataclass(eq=False)
class TaskLabels:
    """New labels of each task (``held``), labels already in (``had``), and the capacity that is left (``room``)."""

    instance: AssignmentInstance
    held: list[list[int]]
    had: list[list[int]]
    room: Ints
    groups: TaskGroups = field(init=False)
    locked: list[set[int]] = field(init=False)
    barred: list[set[int]] = field(init=False)

    @classmethod
    def of(cls, instance: AssignmentInstance, pairs: Ints) -> TaskLabels:
        """The hands that a plan's pairs deal."""
        known = np.zeros((0, 2), np.int64) if instance.observed else instance.collected
        room = instance.capacity - np.bincount(pairs[:, 1], minlength=instance.n_workers)
        return cls(instance, _dealt(instance, pairs), _dealt(instance, known), room)

    def __post_init__(self) -> None:
        self.groups = TaskGroups.of(self.instance)
        self.locked = [set(labels) for labels in _dealt(self.instance, self.instance.fixed)]
        self.barred = [set(labels) for labels in _dealt(self.instance, self.instance.barred)]

    def pairs(self) -> Ints:
        """Back to pairs (task, worker), sorted."""
        task = np.repeat(np.arange(len(self.held)), [len(labels) for labels in self.held])
        worker = np.array([j for labels in self.held for j in sorted(labels)], dtype=np.int64)
        return np.column_stack([task, worker]).astype(np.int64)

    def wrong(self) -> Ints:
        """Tasks that miss their target or their evidence."""
        return np.flatnonzero(~self._keep(np.arange(len(self.held)), self.held))

    def _keep(self, tasks: Sequence[int] | Ints, hands: Sequence[Sequence[int]]) -> Bools:
        """Whether tasks with these new labels err at most their target, have their evidence, keep limits of groups."""
        instance, tasks = self.instance, np.asarray(tasks, dtype=np.int64)
        whole = [np.array([*self.had[i], *hand], np.int64) for i, hand in zip(tasks.tolist(), hands, strict=True)]
        error = errors_of(instance, tasks, whole)
        worth = instance.evidence
        supply = np.array([worth[instance.task_type[i], one].sum() for i, one in zip(tasks, whole, strict=True)])
        kept: Bools = (error <= instance.epsilon[tasks] + CERTAIN) & (supply >= instance.need[tasks] - COVERAGE)
        place = np.repeat(np.arange(tasks.size), [len(hand) for hand in hands])
        return kept & self.groups.keep(tasks, place, np.array([j for hand in hands for j in hand], np.int64))

    def mend(self, clock: Clock) -> bool:
        """Replace, trade or add labels until every task keeps its target; whether all do before time is over."""
        for task in self.wrong().tolist():
            while not self._keep([task], [self.held[task]])[0]:
                if clock.over or not (self._replace(task) or self._trade(task) or self._buy(task)):
                    return False
        return True

    def _free(self, task: int) -> Ints:
        """Workers with room whom the task may still have, the least evidence first."""
        worth = self.instance.evidence[self.instance.task_type[task]]
        able = (self.room > 0) & (worth > 0)
        able[[*self.held[task], *self.barred[task], *self.had[task]]] = False
        free = np.flatnonzero(able)
        return free[np.argsort(worth[free], kind="stable")]

    def _weakest(self, task: int, bases: list[list[int]], offers: list[Ints]) -> Ints:
        """For each base hand the place of the weakest of its offers that settles the task; their number if none."""
        sizes = np.array([one.size for one in offers], np.int64)
        low, high = np.full(len(bases), -1), sizes.copy()
        while (high - low > 1).any():
            middle = np.minimum((low + high) // 2, sizes - 1)
            hands = [[*base, *one[k : k + 1].tolist()] for base, one, k in zip(bases, offers, middle, strict=True)]
            good = self._keep([task] * len(bases), hands)
            still = high - low > 1
            high, low = np.where(still & good, middle, high), np.where(still & ~good, middle, low)
        return high

    def _fitting(self, task: int, base: list[int], offers: Ints) -> Ints:
        """Those who are in each group that the hand lacks a label of, and in none of which it has the most."""
        held = self.groups.inside(np.zeros(len(base), np.int64), np.array(base, np.int64), 1)[:, 0]
        full, lacking = held >= self.groups.most[:, task], held < self.groups.fewest[:, task]
        if not (full.any() or lacking.any()):
            return offers
        place, group = self.groups.those_of(offers)
        brings = np.bincount(place, lacking[group], offers.size) == lacking.sum()
        return offers[brings & (np.bincount(place, full[group], offers.size) == 0)]

    def _cheapest(self, task: int, offers: Ints, weakest: int) -> int:
        """Of the offers at least as good as the weakest that will do the cheapest, then the weakest."""
        price = self.instance.price(task, offers[weakest:])
        return int(offers[weakest + int(price.argmin())])

    def _replace(self, task: int) -> bool:
        """Swap a label for a better one that costs no more, if that settles the task."""
        loose = [j for j in self.held[task] if j not in self.locked[task]]
        price, free = self.instance.cost[self.instance.task_type[task]], self._free(task)
        if not loose or not free.size:
            return False
        bases = [[k for k in self.held[task] if k != j] for j in loose]
        offers = [self._fitting(task, base, free) for base in bases]
        swaps = []
        for j, its, weakest in zip(loose, offers, self._weakest(task, bases, offers).tolist(), strict=True):
            if weakest < its.size:
                new = self._cheapest(task, its, weakest)
                swaps.append((float(price[new] - price[j]), weakest, j, new))
        if not swaps or min(swaps)[0] > 0:
            return False
        *_, old, new = min(swaps)
        if not self._keep([task], [[*(k for k in self.held[task] if k != old), new]])[0]:
            return False  # where tasks are hard a better label may serve worse
        self._move(task, old, new)
        return True

    def _move(self, task: int, old: int | None, new: int | None) -> None:
        if old is not None:
            self.held[task].remove(old)
            self.room[old] += 1
        if new is not None:
            self.held[task].append(new)
            self.room[new] -= 1

    def _trade(self, task: int) -> bool:
        """Exchange a label with a task of the same type that can spare a better one; no label's price changes."""
        kind = self.instance.task_type[task]
        worth = self.instance.evidence[kind]
        others = [int(i) for i in np.flatnonzero(self.instance.task_type == kind) if i != task][:PARTNERS]
        loose = sorted((j for j in self.held[task] if j not in self.locked[task]), key=lambda j: float(worth[j]))
        everybody = np.argsort(worth, kind="stable")
        for mine in loose[:OFFERED]:
            base = [j for j in self.held[task] if j != mine]
            weakest = int(self._weakest(task, [base], [everybody])[0])
            if weakest < everybody.size and self._exchange(task, mine, others, float(worth[everybody[weakest]])):
                return True
        return False

    def _exchange(self, task: int, mine: int, others: list[int], enough: float) -> bool:
        worth, swaps = self.instance.evidence[self.instance.task_type[task]], []
        for other in others:
            if mine in self.held[other] or mine in self.barred[other] or mine in self.had[other]:
                continue
            taken = {*self.held[task], *self.barred[task], *self.had[task], *self.locked[other]}
            good = [j for j in self.held[other] if worth[j] >= enough and j not in taken]
            if good:
                swaps.append((other, min(good, key=lambda j: float(worth[j]))))
        if not swaps:
            return False
        hands = [[*(k for k in self.held[other] if k != theirs), mine] for other, theirs in swaps]
        own = [[*(k for k in self.held[task] if k != mine), theirs] for _, theirs in swaps]
        others_keep = self._keep([other for other, _ in swaps], hands)
        fine = np.flatnonzero(others_keep & self._keep([task] * len(swaps), own))
        if not fine.size:
            return False
        other, theirs = swaps[int(fine[0])]
        self.held[other].remove(theirs)
        self.held[other].append(mine)
        self.held[task].remove(mine)
        self.held[task].append(theirs)
        return True

    def _buy(self, task: int) -> bool:
        """Add the cheapest label that settles the task, else the one that helps most for its price."""
        instance, offers = self.instance, self._fitting(task, self.held[task], self._free(task))
        most = instance.new_label_limits[1][task]
        if not offers.size or (most < UNLIMITED and len(self.held[task]) >= most):
            return False
        weakest = int(self._weakest(task, [self.held[task]], [offers])[0])
        if weakest < offers.size:
            new = self._cheapest(task, offers, weakest)
        else:
            kind = instance.task_type[task]
            gain: Floats = instance.evidence[kind, offers] / np.maximum(instance.cost[kind, offers], 1e-9)
            new = int(offers[gain.argmax()])
        self._move(task, None, new)
        return True

    def thin(self, clock: Clock) -> None:
        """Drop labels that their tasks can do without, the dearest first, then those with the least evidence.

        A label that once cannot be dropped is not tried again: no vote errs less for having fewer labels, but where
        tasks are hard, and there hardly ever.
        """
        queues = [self._order(task) for task in range(len(self.held))]
        load, fewest = self.instance.capacity - self.room, self.instance.new_label_limits[0]
        while True:
            tasks = [i for i, queue in enumerate(queues) if queue]
            if not tasks or clock.over:
                return
            tried = [queues[i].pop(0) for i in tasks]
            hands = [[k for k in self.held[i] if k != j] for i, j in zip(tasks, tried, strict=True)]
            for i, j, fine in zip(tasks, tried, self._keep(tasks, hands).tolist(), strict=True):
                above = load[j] > self.instance.min_load[j] and len(self.held[i]) > fewest[i]
                if fine and above:
                    load[j] -= 1
                    self._move(i, j, None)

    def _order(self, task: int) -> list[int]:
        kind = self.instance.task_type[task]
        price, worth = self.instance.cost[kind], self.instance.evidence[kind]
        loose = [j for j in self.held[task] if j not in self.locked[task]]
        return sorted(loose, key=lambda j: (-float(price[j]), float(worth[j]), j))


def _dealt(instance: AssignmentInstance, pairs: Ints) -> list[list[int]]:
    order = np.argsort(pairs[:, 0], kind="stable")
    ends = np.cumsum(np.bincount(pairs[:, 0], minlength=instance.n_tasks))[:-1]
    return [part.tolist() for part in np.split(pairs[order, 1], ends)]
