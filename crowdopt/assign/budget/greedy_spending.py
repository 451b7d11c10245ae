"""Spend label by label where it helps most for its price: greedy, its guarantee, and how little keeps an average."""

from __future__ import annotations

from array import array
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.clock import Clock
from crowdopt.crowd.group_limits import membership, task_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.kept import breaches
from crowdopt.crowd.rules import BHATTACHARYYA, bhattacharyya_error
from crowdopt.crowd.vote_errors import most_errors
from crowdopt.errors import InputError

PENNY = 1e-12  # a label that costs nothing is worth this much money to nobody
HALVINGS = 20  # of what it may cost


def surrogate(instance: AssignmentInstance, pairs: Ints) -> Floats:
    """``S e^{-A_i/2}`` of each task, labels already in included: no log-odds vote errs more on average.

    -> (tasks,).
    """
    plain = replace(instance, rule=BHATTACHARYYA.name)
    return bhattacharyya_error(plain.collected_evidence + plain.supply(pairs), plain.prior)


def guarantee(instance: AssignmentInstance, money: float) -> float | None:
    """Share of the largest possible gain of the surrogate that greedy has for sure; None: nothing is known beforehand.

    ``sum_i S (1 - e^{-A_i/2})`` is monotone and submodular in the set of labels. With equal prices the sets allowed are
    those in p matroids: 1 / (p + 1) (Fisher, Nemhauser & Wolsey 1978). Capacities are one, and so are the limits of
    tasks, where groups do not overlap; where only the number of labels is limited, 1 - 1/e (Nemhauser, Wolsey & Fisher
    1978). Groups that overlap: a matroid each.
    """
    prices = instance.cost
    if not (prices == prices.flat[0]).all() or prices.flat[0] <= 0:
        return None
    labels = money / float(prices.flat[0])
    busy = bool((instance.capacity < min(instance.n_tasks, labels)).any())
    of_groups = membership(instance)[task_limits(instance)[0]]
    nested = bool((of_groups.sum(axis=0) <= 1).all())
    limited = bool((instance.max_labels < UNLIMITED).any())
    of_tasks = int(limited or len(of_groups) > 0) if nested else int(limited) + len(of_groups)
    if not busy and not of_tasks:
        return 1 - float(np.exp(-1))
    return 1 / (int(busy) + of_tasks + 1)


def spend(instance: AssignmentInstance, money: float) -> Ints:
    """Pairs, one after the other the one with the largest ``S e^{-A_i/2} (1 - e^{-q_ij/2}) / c_ij`` that is allowed.

    Fixed pairs come first. A task points at its best worker who has room and can still be paid; that and the task's
    worth only fall, so a heap of tasks finds the next pair.

    instance: its rule does not matter; money: the most that the pairs may cost, fixed ones included; -> (k, 2): task
    and worker of each label.
    """
    _refuse_joint(instance)
    plain = replace(instance, rule=BHATTACHARYYA.name)
    if plain.new_label_limits[0].any() or plain.min_load.any():
        raise InputError("a budget is spent where it helps most; drop min_labels and min_tasks, or use solve")
    state = _State(plain, money)
    for task, worker in plain.fixed.tolist():
        state.take(task, worker)
    if state.money < 0:
        raise InputError(f"the fixed pairs cost {money - state.money:g}, more than {money:g}")
    heap = [(-state.worth(task), task) for task in range(plain.n_tasks)]
    heapify(heap)
    while heap:
        promised, task = heappop(heap)
        worth = state.worth(task)
        if worth <= 0:
            continue
        if worth >= -promised:
            state.take(task, int(state.ranked[state.kind[task]][state.place[task]]))
            worth = state.worth(task)
        heappush(heap, (-worth, task))
    return state.pairs()


def _refuse_joint(instance: AssignmentInstance) -> None:
    """InputError where greedy would break a limit, which only a program keeps: it never takes a label back."""
    broken = {
        "min_per_task": any(group.min_per_task > 0 for group in instance.groups),
        "shares of all labels": any(group.has_share_limits for group in instance.groups),
        "own rows": instance.own_rows is not None,
    }
    for name, given in broken.items():
        if given:
            raise InputError(
                f"a budget spent label by label keeps max_per_task of groups but not {name}; "
                "use --promise each, or solve with a budget in campaign.toml"
            )


class _State:
    """What is left of money and room, the error of each task, and whom it would take next."""

    def __init__(self, instance: AssignmentInstance, money: float) -> None:
        self.instance, self.money = instance, money
        self.kind = instance.task_type.tolist()
        self.shrink = np.exp(-instance.evidence / 2)
        self.gain = (1 - self.shrink) / np.maximum(instance.cost, PENNY)
        useful = np.where(instance.evidence > 0, self.gain, -1.0)
        self.ranked = [np.argsort(-row, kind="stable")[: int((row > 0).sum())] for row in useful]
        self.error = surrogate(instance, np.zeros((0, 2), np.int64)).tolist()
        self.room, self.most = instance.capacity.tolist(), instance.new_label_limits[1].tolist()
        self.groups, self.group_room = _groups_of(instance), task_limits(instance)[2].tolist()
        self.onward = [array("i", range(row.size + 1)) for row in self.ranked]
        self.place = [0] * instance.n_tasks
        self.taken: list[set[int]] = [set() for _ in range(instance.n_tasks)]
        self.barred: list[set[int]] = [set() for _ in range(instance.n_tasks)]
        for task, worker in instance.barred.tolist():
            self.barred[task].add(worker)

    def worth(self, task: int) -> float:
        kind, place = self.kind[task], self.place[task]
        if len(self.taken[task]) >= self.most[task]:
            return 0.0
        ranked = self.ranked[kind]
        while (place := self._open(kind, place)) < ranked.size:
            worker = int(ranked[place])
            if not (worker in self.taken[task] or worker in self.barred[task] or self.is_full(task, worker)):
                break
            place += 1  # groups do not regain room
        self.place[task] = place
        return 0.0 if place == ranked.size else float(self.error[task] * self.gain[kind, ranked[place]])

    def _open(self, kind: int, place: int) -> int:
        """The first worker from a place on who has room and can be paid, for all tasks of a kind."""
        # Workers do not regain room and money does not come back: whoever is passed once is passed by all, and each
        # look halves the way of the next.
        onward, ranked, price = self.onward[kind], self.ranked[kind], self.instance.cost[kind]
        while place < ranked.size:
            if onward[place] != place:
                onward[place] = onward[onward[place]]
                place = onward[place]
                continue
            worker = ranked[place]
            if self.room[worker] > 0 and price[worker] <= self.money:
                break
            onward[place] = place + 1
        return place

    def is_full(self, task: int, worker: int) -> bool:
        return any(self.group_room[group][task] <= 0 for group in self.groups[worker])

    def take(self, task: int, worker: int) -> None:
        for group in self.groups[worker]:
            self.group_room[group][task] -= 1
        kind = self.kind[task]
        self.taken[task].add(worker)
        self.room[worker] -= 1
        self.money -= float(self.instance.cost[kind, worker])
        self.error[task] *= float(self.shrink[kind, worker])

    def pairs(self) -> Ints:
        task = np.repeat(np.arange(len(self.taken)), [len(workers) for workers in self.taken])
        worker = np.array([j for workers in self.taken for j in sorted(workers)], dtype=np.int64)
        return np.column_stack([task, worker]).astype(np.int64)


def _groups_of(instance: AssignmentInstance) -> list[list[int]]:
    member = membership(instance)[task_limits(instance)[0]]
    return [np.flatnonzero(member[:, worker]).tolist() for worker in range(instance.n_workers)]


def kept_on_average(instance: AssignmentInstance, clock: Clock) -> Ints | None:
    """Pairs bought for as little money as keeps the average target, or None where no sum of money does.

    instance: under the rule mean-error; clock: when to look for no smaller sum.
    """
    if instance.new_label_limits[0].any() or instance.min_load.any():
        return None  # labels that help least may be asked for, which are then never bought
    most = float((np.minimum(instance.capacity, instance.n_tasks) * instance.cost.max(axis=0)).sum())
    most = most if instance.budget is None else min(most, instance.budget)
    low, money = 0.0, min(most, instance.n_tasks * float(instance.cost.mean()))
    best = _bought(instance, money)
    while best is None and money < most:  # small sums first: errors of small votes are soon counted
        low, money = money, min(most, 2 * money + 1)
        best = _bought(instance, money)
    for _ in range(HALVINGS):
        if best is None or clock.over:
            return best
        high = float(instance.prices(best).sum())
        money = (min(low, high) + high) / 2
        pairs = _bought(instance, money)
        low, best = (money, best) if pairs is None else (low, pairs)
    return best


def _bought(instance: AssignmentInstance, money: float) -> Ints | None:
    pairs, target = spend(instance, money), instance.epsilon.mean()
    if breaches(instance, pairs):
        return None
    enough = np.mean(surrogate(instance, pairs)) <= target or most_errors(instance, pairs).mean() <= target
    return pairs if enough else None
