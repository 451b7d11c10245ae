"""Amounts of classes turned into labels of tasks, and those into pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.dealt import Dealt, Terms
from crowdopt.assign.exact.alarm import NEVER
from crowdopt.crowd.alike import Classes
from crowdopt.crowd.instance import COVERAGE


def _kernels() -> Any:
    """The compiled loops, loaded where they are needed: plans that need none do not wait for the compiler."""
    from crowdopt.assign.exact import kernels

    return kernels


def are_compiled() -> bool:
    """Whether the compiled loops are kept from earlier, or in memory."""
    from crowdopt.compiled_kernels import is_compiled

    return is_compiled(_kernels().share)


EVEN = 10_000_000  # tasks x worker classes up to which an even deal is looked at
PATIENCE = 2  # failures to take a label from a row before it is left alone
ROUNDS = 200  # of levelling
ALLOWED = 100  # times the work of finishing once: pairs tried while labels are bought for a row
FINISHING, TRADING = (4, 2_000), (300, 300_000)  # work per task and at most, in pairs looked at
TRADERS = 5_000  # tasks up to which labels are exchanged across rows
TASKS = 100_000  # whose labels are looked at together
ROOM = 6  # labels a task may have beyond twice the average


def deal_evenly(classes: Classes, amounts: Ints) -> Ints | None:
    """Deal each class's labels round robin, without looking; the pairs if that covers every task, else None.

    Where evidence comes in few sizes (half spammers, half hammers) this is all there is to do.

    amounts (T, G): labels per class of tasks and of workers; -> (k, 2) int, or None: task and worker of each label.
    """
    if classes.task_class.size * classes.workers_in.size > EVEN:
        return None
    each = amounts // classes.tasks_in[:, None]
    extra = amounts - each * classes.tasks_in[:, None]
    starts = np.cumsum(extra, axis=1) - extra
    place = _places(classes)
    counts = each[classes.task_class]
    if extra.any():
        turn = (place[:, None] - starts[classes.task_class]) % classes.tasks_in[classes.task_class][:, None]
        counts = counts + (turn < extra[classes.task_class])
    evidence = (classes.evidence[classes.task_class] * counts).sum(axis=1)
    total, most = counts.sum(axis=1), classes.most[classes.task_class]
    if (evidence < classes.need[classes.task_class] - COVERAGE / 2).any() or (total > most).any():
        return None
    if (counts > classes.room[classes.task_class]).any():
        return None
    flat = counts.reshape(-1)
    task, group = np.divmod(np.repeat(np.arange(flat.size), flat), counts.shape[1])
    return pairs_of(classes, task, group)


def _places(classes: Classes) -> Ints:
    """Each task's number within its class."""
    order = np.argsort(classes.task_class, kind="stable")
    starts = np.cumsum(classes.tasks_in) - classes.tasks_in
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size) - np.repeat(starts, classes.tasks_in)
    return place


def pairs_of(classes: Classes, task: Ints, group: Ints) -> Ints:
    """Pairs from labels of tasks by worker classes: workers of a class take turns, so none gets a task twice.

    task, group (k,): task and worker class of each label; -> (k, 2): task and worker of each label, sorted.
    """
    members, many = np.argsort(classes.worker_class, kind="stable"), classes.worker_class.size
    if members.size == classes.workers_in.size:
        key = task * many + members[group]
    else:
        first = np.cumsum(classes.workers_in) - classes.workers_in
        order = np.lexsort((task, group))
        task, group = task[order], group[order]
        sums = np.bincount(group, minlength=first.size)
        turn = np.arange(task.size) - np.repeat(np.cumsum(sums) - sums, sums)
        key = task * many + members[first[group] + turn % classes.workers_in[group]]
    key.sort()
    pairs = np.empty((key.size, 2), np.int64)
    np.divmod(key, many, out=(pairs[:, 0], pairs[:, 1]))
    return pairs


class OwnNeeds(NamedTuple):
    """What tasks of a class need each: evidence, and limits on their number of labels; (tasks,) each."""

    evidence: Floats
    fewest: Ints
    most: Ints


class Split:
    """Labels of tasks by worker classes, being mended.

    ``terms`` is what stays, ``dealt`` what moves (crowdopt.assign.dealt); ``everybody`` are the tasks whose
    labels may be taken away again, ``rows`` the same by rows of equal evidence and price.
    """

    def __init__(self, classes: Classes, widest: int, seed: int) -> None:
        """No labels yet, and room for so many per task."""
        n, task_class = classes.task_class.size, classes.task_class
        self.classes = classes
        self.terms = Terms(
            row=task_class,
            worth=classes.evidence,
            cost=classes.cost,
            room=classes.room,
            size=classes.workers_in,
            fewest=classes.fewest[task_class],
            most=np.minimum(classes.most[task_class], widest),
        )
        self.dealt = Dealt(
            hands=np.zeros((n, widest), np.int32),
            held=np.zeros(n, np.int64),
            slack=COVERAGE / 2 - classes.need[task_class],
            left=classes.workers_in * classes.capacity,
            spare=np.zeros(1),
            state=np.array([88172645463325252 + 2654435761 * seed], np.uint64),
            rung=NEVER,
        )
        self.everybody = np.flatnonzero(~_locked(classes))
        self.rows = _exchangeable(classes)

    @classmethod
    def of_amounts(cls, classes: Classes, amounts: Ints, money: float, seed: int, own: OwnNeeds | None = None) -> Split:
        """Deal whole amounts: the best workers first, always to the tasks that lack most.

        amounts (T, G): labels per class of tasks and of workers.
        """
        widest = int(2 * np.ceil((amounts.sum(axis=1) / classes.tasks_in).max())) + ROOM
        split = cls(classes, widest, seed)
        dealt = split.dealt
        if own is not None:
            split.terms = split.terms._replace(fewest=own.fewest, most=np.minimum(own.most, widest))
            dealt.slack[:] = -own.evidence
        dealt.left[:] -= amounts.sum(axis=0)
        dealt.spare[0] = max(0.0, money - float((classes.cost * amounts).sum()))
        for kind, tasks in enumerate(_members(classes)):
            groups = np.argsort(-classes.evidence[kind], kind="stable")
            groups = groups[amounts[kind, groups] > 0]
            _kernels().deal(tasks, groups, amounts[kind], classes.evidence[kind], dealt)
        return split

    @classmethod
    def of_sets(cls, classes: Classes, hands: list[tuple[int, Ints, int]], seed: int) -> Split:
        """Sets of labels for so many tasks of a class each; the last tasks of a class may go without."""
        widest = 2 * max((chosen.size for _, chosen, _ in hands), default=0) + ROOM
        split, following = cls(classes, widest, seed), np.zeros(classes.need.size, np.int64)
        dealt = split.dealt
        members = _members(classes)
        for kind, chosen, count in hands:
            tasks = members[kind][following[kind] : following[kind] + count]
            following[kind] += count
            dealt.hands[tasks, : chosen.size] = chosen
            dealt.held[tasks] = chosen.size
            dealt.slack[tasks] += classes.evidence[kind, chosen].sum()
            np.subtract.at(dealt.left, chosen, count)
        return split

    def heeding(self, rung: Bools) -> Split:
        """The same split, whose long loops end when that flag is raised (crowdopt.assign.exact.alarm)."""
        self.dealt = self.dealt._replace(rung=rung)
        return self

    @property
    def covered(self) -> bool:
        """Whether no task is short."""
        return bool((self.dealt.slack >= 0).all())

    def labels(self) -> Iterator[tuple[Ints, Ints]]:
        """Task and worker class of every label, for many tasks at a time: all labels together take much memory."""
        for start in range(0, self.dealt.held.size, TASKS):
            held = self.dealt.held[start : start + TASKS]
            dealt = np.arange(self.dealt.hands.shape[1]) < held[:, None]
            hands = self.dealt.hands[start : start + TASKS]
            yield start + np.repeat(np.arange(held.size), held), hands[dealt].astype(np.int64)

    @property
    def cost(self) -> float:
        """What the labels cost."""
        kind, cost = self.classes.task_class, self.classes.cost
        return float(sum(cost[kind[task], group].sum() for task, group in self.labels()))

    def mend(self) -> None:
        """Even out, share out and, where tasks are few, exchange across rows, as far as some work goes."""
        tasks = self.terms.row.size
        self.level()
        self.finish(min(FINISHING[0] * tasks, FINISHING[1]))
        if not self.covered and self.everybody.size <= TRADERS:
            self.trade(min(TRADING[0] * tasks, TRADING[1]))

    def level(self) -> None:
        """Even out the tasks of each evidence row."""
        for tasks in self.rows:
            _kernels().share(tasks, self.terms, self.dealt, ROUNDS, 0, 0)

    def finish(self, work: int) -> None:
        """Cover the last short tasks of each row by exact partitions with a partner."""
        for tasks in self._short_rows():
            _kernels().share(tasks, self.terms, self.dealt, 0, work, 0)

    def escalate(self, work: int) -> None:
        """Buy single labels for the rows that are still short, and share them out."""
        for tasks in self._short_rows():
            _kernels().share(tasks, self.terms, self.dealt, ROUNDS // 4, work, ALLOWED * work)

    def _short_rows(self) -> Iterator[Ints]:
        return (tasks for tasks in self.rows if (self.dealt.slack[tasks] < 0).any())

    def squeeze(self, tries: int, finishing: int, trading: int) -> None:
        """Take a label away where a row has most to spare and mend what that breaks; undo it where that fails.

        tries: labels that are tried; finishing, trading: work on each: pairs and tasks looked at.
        """
        stubborn = np.zeros(len(self.rows), np.int64)
        for _ in range(tries):
            if self.dealt.rung[0]:
                return
            spare = np.array([self._worth_sparing(tasks) for tasks in self.rows])
            spare[stubborn >= PATIENCE] = -np.inf
            if not spare.size or spare.max() <= 0:
                return
            row = int(spare.argmax())
            before = [array.copy() for array in self._moving()]
            self._take_from(self.rows[row])
            _kernels().share(self.rows[row], self.terms, self.dealt, ROUNDS // 4, finishing, 0)
            if not self.covered:
                self.trade(trading)
            if not self.covered:
                for array, old in zip(self._moving(), before, strict=True):
                    array[...] = old
                stubborn[row] += 1

    def _moving(self) -> tuple[NDArray[Any], ...]:
        """All but chance, which does not run back, and the flag."""
        return self.dealt[:-2]

    def _weakest(self, tasks: Ints) -> tuple[int, int]:
        """The task and the place in its hand of the label that is dearest for its evidence."""
        classes, hands = self.classes, self.dealt.hands[tasks]
        kind = classes.task_class[tasks][:, None]
        price = classes.cost[kind, hands] / np.maximum(classes.evidence[kind, hands], 1e-12)
        dealt = np.arange(hands.shape[1]) < self.dealt.held[tasks][:, None]
        allowed = dealt & (self.dealt.held[tasks] > self.terms.fewest[tasks])[:, None]
        price = np.where(allowed, price, -1.0)
        task, place = np.unravel_index(int(price.argmax()), price.shape)
        return (int(tasks[task]), int(place)) if price[task, place] >= 0 else (-1, -1)

    def _worth_sparing(self, tasks: Ints) -> float:
        """Evidence that a row has beyond what it would need without its weakest label."""
        task, place = self._weakest(tasks)
        if task < 0:
            return -np.inf
        worth = self.classes.evidence[self.classes.task_class[task], self.dealt.hands[task, place]]
        return float(self.dealt.slack[tasks].sum() - worth)

    def _take_from(self, tasks: Ints) -> None:
        task, place = self._weakest(tasks)
        group = self.dealt.hands[task, place]
        self.dealt.held[task] -= 1
        self.dealt.hands[task, place] = self.dealt.hands[task, self.dealt.held[task]]
        self.dealt.slack[task] -= self.classes.evidence[self.classes.task_class[task], group]
        self.dealt.left[group] += 1

    def trade(self, work: int) -> None:
        """Exchange labels across rows."""
        _kernels().trade(self.everybody, self.terms, self.dealt, work)

    def top_up(self) -> int:
        """Buy what is still missing; returns how many tasks stay short."""
        return int(_kernels().top_up(np.arange(self.dealt.held.size), self.terms, self.dealt))

    def thin(self) -> None:
        """Drop labels that tasks can do without."""
        _kernels().thin(self.everybody, self.terms, self.dealt)

    def pairs(self) -> Ints:
        """The labels as pairs (task, worker)."""
        classes = self.classes
        if classes.worker_class.size != classes.workers_in.size:
            return pairs_of(classes, *map(np.concatenate, zip(*self.labels(), strict=True)))
        pairs, start = np.empty((int(self.dealt.held.sum()), 2), np.int64), 0
        for task, group in self.labels():
            pairs[start : start + task.size] = pairs_of(classes, task, group)
            start += task.size
        return pairs


def _members(classes: Classes) -> list[Ints]:
    """The tasks of each class."""
    return np.split(np.argsort(classes.task_class, kind="stable"), np.cumsum(classes.tasks_in)[:-1])


def _locked(classes: Classes) -> NDArray[np.bool_]:
    """Tasks with barred or fixed pairs: labels are dealt to them but not taken away."""
    special = (classes.least > 0).any(axis=1) | (classes.room < classes.workers_in).any(axis=1)
    return np.asarray(special)[classes.task_class]


def _exchangeable(classes: Classes) -> list[Ints]:
    """Tasks grouped by evidence and price row, whatever their needs; locked ones left out."""
    rows = _ranks(np.hstack([classes.evidence, classes.cost]))
    row = np.where(_locked(classes), -1, rows[classes.task_class])
    order = np.argsort(row, kind="stable")
    kinds, starts = np.unique(row[order], return_index=True)
    return [
        tasks for kind, tasks in zip(kinds, np.split(order, starts[1:]), strict=True) if kind >= 0 and tasks.size > 1
    ]


def _ranks(rows: Floats) -> Ints:
    """The place of each row among the distinct ones in lexicographic order."""
    # As np.unique has it, which makes a field of each column and takes seconds and 150 MB for a hundred thousand.
    rows = rows + 0.0  # -0 and 0 are equal
    first: dict[bytes, int] = {}
    same = np.array([first.setdefault(row.tobytes(), k) for k, row in enumerate(rows)], np.int64)

    def compare(a: int, b: int) -> int:
        at = int((rows[a] != rows[b]).argmax())
        return -1 if rows[a, at] < rows[b, at] else 1

    rank = np.empty(len(rows), np.int64)
    rank[sorted(first.values(), key=cmp_to_key(compare))] = np.arange(len(first))
    return np.asarray(rank[same])
