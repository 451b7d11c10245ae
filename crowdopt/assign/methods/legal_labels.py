"""Something legal, soon: tasks served one after the other, label by label, within every limit."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.core.clock import Clock
from crowdopt.crowd.group_limits import labels_had, membership
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.vote_errors import CERTAIN, errors_of

TINY = 1e-9  # of evidence or price, where there is none


def soon(instance: AssignmentInstance, seconds: float) -> Ints:
    """Labels that serve tasks one after the other within the limits, (k, 2); some limits may not be reached."""
    legal = LegalLabels(instance, instance.fixed)
    errors_of(instance, np.array([0]), [np.zeros(0, np.int64)])  # loads what is compiled, before the clock runs
    legal.serve(np.arange(instance.n_tasks), Clock(seconds))
    return legal.pairs


class LegalLabels:
    """Labels so far, and what they leave of all limits.

    A group's share of all labels is kept from label to label, own rows as far as their upper sides: what has to be
    reached in the end, least loads and lower sides, is left to whoever goes on.
    """

    def __init__(self, instance: AssignmentInstance, pairs: Ints) -> None:
        self.instance = instance
        n, m = instance.n_tasks, instance.n_workers
        self.member = membership(instance)
        self.may = np.ones((n, m), bool)
        self.may[tuple(instance.barred.T)] = False
        self.room = instance.capacity.astype(np.int64)
        self.money = np.inf if instance.budget is None else float(instance.budget)
        self.labels, self.to_come = len(instance.collected), 0
        self.inside = labels_had(instance)
        self.of_group = self.inside.sum(axis=1)
        self.typical = 0.1 * float(instance.cost.mean()) + TINY
        self.owed = np.array([group.min_per_task for group in instance.groups], np.int64)
        self.enough: dict[tuple[int, int, float, tuple[int, ...]], bool] = {}  # sets that were looked at
        self.known: list[list[int]] = [[] for _ in range(n)]
        for task, worker in () if instance.observed else instance.collected.tolist():
            self.known[task].append(worker)
        self.hands: list[list[int]] = [[] for _ in range(n)]
        self.rows: list[list[tuple[int, int, float]]] = [[] for _ in range(n)]  # of each task: worker, row, coefficient
        if (own := instance.own_rows) is not None:
            self.spare = own.upper.copy()
            entries = zip(own.row.tolist(), own.pairs.tolist(), own.coefficient.tolist(), strict=True)
            for row, (task, worker), coefficient in entries:
                self.rows[task].append((worker, row, coefficient))
        for task, worker in pairs.tolist():
            self._take(task, worker, 1)

    @property
    def pairs(self) -> Ints:
        """Task and worker of each label, (k, 2), sorted."""
        task = np.repeat(np.arange(len(self.hands)), [len(hand) for hand in self.hands])
        return np.column_stack([task, [j for hand in self.hands for j in sorted(hand)]]).astype(np.int64).reshape(-1, 2)

    def serve(self, tasks: Ints, clock: Clock) -> None:
        """Serve these tasks, those of least need first; then others have what is left. As far as there is time."""
        self.fill()
        left = tasks[np.argsort(self.instance.residual_need[tasks], kind="stable")].tolist()
        for keep in (False, True):
            failed = []
            for number, task in enumerate(left):
                if clock.over:
                    break
                self.to_come = len(left) - 1 - number
                if not self._serve(task, keep):
                    failed.append(task)
            left = failed
        self.to_come = 0
        self.fill()

    def _serve(self, task: int, keep: bool) -> bool:
        """Serve one task, and whether that succeeds; else its labels are kept or given back."""
        instance, hand = self.instance, self.hands[task]
        kind, kept = int(instance.task_type[task]), len(hand)
        worth = (instance.evidence[kind] + TINY) / (instance.cost[kind] + self.typical)
        while True:
            lacking = self.inside[:, task] < self.owed
            if not lacking.any() and self._is_enough(task):
                return True
            able = self._able(task, lacking)
            if not able.any():
                break
            self._take(task, int(np.argmax(np.where(able, worth, -1.0))), 1)
        for worker in () if keep else hand[kept:]:
            self._take(task, worker, -1)
        return False

    def _is_enough(self, task: int) -> bool:
        """Whether the task has its labels, its evidence and, by a checked rule, a vote that errs little enough."""
        instance, kind, hand = self.instance, int(self.instance.task_type[task]), self.hands[task]
        whole = [*self.known[task], *hand]
        held = float(instance.evidence[kind, whole].sum())
        if held < instance.need[task] - COVERAGE or len(hand) < instance.new_label_limits[0][task]:
            return False
        if not instance.the_rule.checked:
            return True
        own = task if instance.prior.ndim > 1 else -1
        key = kind, own, float(instance.epsilon[task]), tuple(sorted(whole))
        if key not in self.enough:
            error = errors_of(instance, np.array([task]), [np.array(whole, np.int64)])[0]
            self.enough[key] = bool(error <= instance.epsilon[task] + CERTAIN)
        return self.enough[key]

    def fill(self) -> None:
        """Labels more of workers and groups that lack some, one a task and turn, of the tasks that may have them."""
        none, before = np.zeros(len(self.instance.groups), bool), -1
        while self.labels > before:
            before = self.labels
            for task in range(self.instance.n_tasks):
                wanted = self.instance.capacity - self.room < self.instance.min_load
                for g, group in enumerate(self.instance.groups):
                    if self.of_group[g] < group.min_share * self.labels:
                        wanted |= self.member[g]
                if not wanted.any():
                    return
                able = wanted & self._able(task, none, wanted)
                if able.any():
                    price = np.where(able, self.instance.cost[self.instance.task_type[task]], np.inf)
                    self._take(task, int(np.argmin(price)), 1)

    def _able(self, task: int, lacking: Bools, wanted: Bools | None = None) -> Bools:
        """Who may give the task one label more, (workers,); of groups that it lacks labels of, or ``wanted``."""
        instance, hand, kind = self.instance, self.hands[task], int(self.instance.task_type[task])
        able: Bools = self.may[task] & (self.room > 0) & (instance.cost[kind] <= self.money)
        able[hand] = False
        fewest, most = (int(limit[task]) for limit in instance.new_label_limits)
        if len(hand) >= most:
            able[:] = False
        if lacking.any():
            able &= self.member[lacking].any(axis=0)
        elif len(hand) >= fewest and wanted is None:
            able &= instance.evidence[kind] > 0
        for g, group in enumerate(instance.groups):
            full = group.max_per_task is not None and self.inside[g, task] >= group.max_per_task
            # tasks to come get a label at least, which may be of others
            if full or self.of_group[g] + 1 > group.max_share * (self.labels + 1 + self.to_come):
                able &= ~self.member[g]
            if self.of_group[g] < group.min_share * (self.labels + 1) and (able & self.member[g]).any():
                able &= self.member[g]
        for worker, row, coefficient in self.rows[task]:
            if coefficient > max(0.0, self.spare[row]):
                able[worker] = False
        return able

    def _take(self, task: int, worker: int, sign: int) -> None:
        """One label more, or one less."""
        (self.hands[task].append if sign > 0 else self.hands[task].remove)(worker)
        self.room[worker] -= sign
        self.money -= sign * float(self.instance.price(task, worker))
        self.labels += sign
        self.inside[self.member[:, worker], task] += sign
        self.of_group[self.member[:, worker]] += sign
        for other, row, coefficient in self.rows[task]:
            if other == worker:
                self.spare[row] -= sign * coefficient
