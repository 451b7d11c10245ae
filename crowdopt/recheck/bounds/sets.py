"""The bound of the form ``sets``: each task's cheapest set of labels that keeps every limit of one task, found anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, parts_of
from crowdopt.core.roundoff import DEPTH, UNIT, lowered, sum_below
from crowdopt.crowd.group_limits import bounds_know_overlaps, in_several, membership, task_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.recheck.bounds.by_task import workers_by_task
from crowdopt.recheck.bounds.error_sets import ALLOWED, CASES, Search, TaskLimits, least_by_error
from crowdopt.recheck.bounds.joint_pull import JointPull

BELOW_MINIMUM = 1e-8  # relative; how far a task's bound may stay below its minimum
LARGEST = 1e300  # of a sum of prices: beyond, differences of sums are no numbers
STATES = 400_000  # partial sets that are followed together, where labels have limits
FOLLOWED, MORE = 4_000, 40_000  # where they have none; and where that leaves much open
OPEN = 1e-4  # relative; that is much
TABLE = 4_000_000  # numbers in a table of completions; a task that needs more has its limits left out
# part of the way from the linear bound to a set that the first search looks at, and how much further the next one does
FIRST, WIDER = 1 / 500, 1.5
# prices of evidence that complete partial sets, in that of the linear bound
BESIDE = (0.0, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25)


# groups that share nobody: members (groups, workers), fewest and most new labels of each task (groups, tasks)
GroupLimits: TypeAlias = tuple[Bools, Ints, Ints]


@dataclass(frozen=True, eq=False)
class PairPrices:
    """Prices of pairs, of any sign: tasks of a type with the same pulls share a row."""

    price: Floats  # (rows, workers)
    size: Floats  # (rows,): of what went into a price
    row_of: Ints  # (tasks,)

    @classmethod
    def of(cls, instance: AssignmentInstance, load: Floats, spend: float, joint: JointPull) -> PairPrices:
        """``(1 - b) c_ij - w_j - s_ij``."""
        rows, row_of = np.unique(instance.task_type * len(joint.pull) + joint.row_of, return_inverse=True)
        kind, row = np.divmod(rows, len(joint.pull))
        paid = (1 - spend) * instance.cost
        size = paid.max(axis=1)[kind] + np.abs(load).max(initial=0.0) + joint.size.max(axis=1)[row]
        return cls(paid[kind] - load - joint.pull[row], size, row_of.reshape(-1))


def prove_sets(
    instance: AssignmentInstance,
    worker: Floats,
    budget: float,
    joint: JointPull,
    wrong: float = 0.0,
    cases: int = CASES,
) -> float:
    """``sum_i v_i + sum_j L_j [w_j]+ - M_j [w_j]- + b B + joint terms``: a lower bound on every plan of whole labels.

    ``v_i = min over i's sets S of labels of sum_{j in S} ((1 - b) c_ij - w_j - s_ij)``: sets that meet the need, have
    the fixed pairs and no barred one, and keep the limits on the task's labels and on those of groups. Groups that
    overlap are looked at for each number of labels that those in several of them may give; where that is too much,
    all that share somebody with one before are left out, which can only lower v_i. Valid for any w, b <= 0 and s; equal
    tasks are solved once. Where exact errors are checked the best vote's error over S and the labels already in must be
    at most the target (crowdopt.recheck.bounds.error_sets). Where the average of the errors is, a set costs ``-r``
    times its own on top, and all targets together count ``r`` times.

    joint: s, what multipliers of groups, shares and own rows bring; wrong: r <= 0, of the row of errors; cases:
    combinations of answers that are told apart, beyond which votes count as better; -> infinite where some task has no
    set at all.
    """
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    spend = min(budget, 0.0) if instance.budget is not None else 0.0
    room = np.minimum(instance.capacity, instance.n_tasks)
    price = -min(wrong, 0.0) if instance.the_rule.average else 0.0
    rows = [
        np.where(load > 0, instance.min_load, room) * load,
        -price * (instance.epsilon + ALLOWED),
        np.array([spend * (instance.budget or 0.0)]),
        joint.terms,
    ]
    sides = np.concatenate(rows)
    prices = PairPrices.of(instance, load, spend, joint)
    if not (np.isfinite(sides).all() and (prices.size * instance.n_workers < LARGEST).all()):
        return -np.inf
    rule = instance.the_rule
    by_error, by_evidence = rule.checked, not rule.average and rule.name != EXACT_ERROR.name
    least = np.full(instance.n_tasks, np.inf)
    for limits in _ways(instance):
        found = np.full(instance.n_tasks, -np.inf)
        if by_evidence:
            found = _each(instance, prices, limits)
        if by_error:
            found = np.maximum(found, _each_by_error(instance, prices, limits, Search(price, cases)))
        least = np.minimum(least, found)
    return np.inf if np.isposinf(least).any() else sum_below(np.concatenate([sides, least]))


def _each_by_error(instance: AssignmentInstance, prices: PairPrices, limits: GroupLimits, how: Search) -> Floats:
    """The least set of each task by exact errors, less what rounding may have added."""
    member, fewest, most = limits
    few, many = instance.new_label_limits
    low, high = np.vstack([few, fewest]), np.vstack([many, most])
    held = np.zeros((0, 2), np.int64) if instance.observed else instance.collected
    barred, fixed, known = (workers_by_task(pairs) for pairs in (instance.barred, instance.fixed, held))
    asked = [
        TaskLimits(member, low[:, i], high[:, i], barred.get(i, ()), fixed.get(i, ()), known.get(i, ()))
        for i in range(instance.n_tasks)
    ]
    least = least_by_error(instance, prices.price, prices.row_of, asked, how)
    size = prices.size[prices.row_of] * instance.n_workers + how.wrong
    return np.where(np.isposinf(least), least, least - max(DEPTH, instance.n_workers) * UNIT * size)


def _each(instance: AssignmentInstance, prices: PairPrices, limits: GroupLimits) -> Floats:
    member, fewest, most = limits
    few, many = instance.new_label_limits
    low, high = np.vstack([few, fewest]), np.vstack([many, most])
    least, tied = np.empty(instance.n_tasks), np.logical_or(low > 0, high < instance.n_workers)
    free: Bools = ~np.any(tied, axis=0)
    least[free] = least_by_evidence(instance, prices, np.flatnonzero(free))
    barred, fixed = workers_by_task(instance.barred), workers_by_task(instance.fixed)
    alike: dict[tuple[object, ...], AlikeTasks] = {}
    order = np.argsort(instance.floor, kind="stable")
    for task in order[~free[order]].tolist():
        row, forced = int(prices.row_of[task]), fixed.get(task, ())
        key = (row, low[:, task].tobytes(), high[:, task].tobytes(), forced)
        if key not in alike:
            worth = instance.evidence[instance.task_type[task]]
            limited = member, low[:, task], high[:, task]
            alike[key] = AlikeTasks(prices.price[row], worth, limited, forced, float(prices.size[row]))
        least[task] = alike[key].least(float(instance.floor[task]), barred.get(task, ()))
    return least


def least_by_evidence(instance: AssignmentInstance, prices: PairPrices, tasks: Ints) -> Floats:
    """The least sets of tasks that only their needs and own pairs limit."""
    from crowdopt.recheck.bounds.set_kernels import cheapest_bounds

    n, fixed = instance.n_tasks, instance.fixed
    own = np.concatenate([instance.barred, fixed])
    own = own[np.lexsort((own[:, 1], own[:, 0]))]
    starts = np.concatenate([[0], np.cumsum(np.bincount(own[:, 0], minlength=n))]).astype(np.int64)
    need = instance.floor - instance.supply(fixed)
    worth = np.ascontiguousarray(instance.evidence)
    value, rough = np.zeros((2, n))

    def solve(some: Ints, states: int) -> None:
        ends, index = parts_of(starts, some, own[:, 1])
        found, off = np.zeros((2, some.size))
        cheapest_bounds(
            instance.task_type[some], prices.row_of[some], need[some], ends, index, worth,
            prices.price, BELOW_MINIMUM, states, found, off,
        )  # fmt: skip
        value[some], rough[some] = found, off

    solve(tasks, FOLLOWED)
    rest = tasks[rough[tasks] > OPEN]
    if rest.size:
        solve(rest, MORE)
    paid = np.bincount(fixed[:, 0], prices.price[prices.row_of[fixed[:, 0]], fixed[:, 1]], n)
    size = prices.size[prices.row_of] * instance.n_workers
    return np.asarray((value + paid - max(DEPTH, instance.n_workers) * UNIT * size)[tasks])


def _ways(instance: AssignmentInstance) -> Iterator[GroupLimits]:
    """Groups that share nobody, for each number of labels of those in several groups: every set keeps one of these."""
    if not bounds_know_overlaps(instance):
        yield _apart(instance)
        return
    limited, fewest, most = task_limits(instance)
    inside = membership(instance)[limited]
    shared, top = in_several(instance)
    several = [(inside == one[:, None]).all(axis=0) for one in shared]
    alone = inside & (inside.sum(axis=0) == 1)
    for count in product(*(range(many + 1) for many in top.tolist())):
        given = np.array(count, np.int64)
        exactly = np.repeat(given[:, None], instance.n_tasks, axis=1)
        taken = (shared * given[:, None]).sum(axis=0)[:, None]
        member = np.array([*several, *alone], bool).reshape(-1, instance.n_workers)
        yield member, np.vstack([exactly, np.maximum(0, fewest - taken)]), np.vstack([exactly, most - taken])


def _apart(instance: AssignmentInstance) -> GroupLimits:
    """Groups that share nobody, those of which tasks need labels first."""
    limited, fewest, most = task_limits(instance)
    member, kept = membership(instance), []
    taken = np.zeros(instance.n_workers, bool)
    for k in np.argsort(~(fewest > 0).any(axis=1), kind="stable").tolist():
        g = limited[k]
        if not (taken & member[g]).any():
            kept.append(k)
            taken |= member[g]
    return member[[limited[k] for k in kept]], fewest[kept], most[kept]


@dataclass(frozen=True, eq=False)
class SetOfAlike:
    """The least set of some labels of each kind."""

    value: float  # at most its price
    evidence: float
    taken: Ints  # (kinds,): at least as many of each as it has


class AlikeTasks:
    """Tasks alike but for their needs and whom they bar: their least sets, less what rounding may have added.

    Labels of equal price, evidence and group are told apart by their number alone. A set found for a smaller need, with
    more of them than a task has, bounds it from below, and is its least set if it meets the need and the task has all
    of it: so few sets do for many tasks, the smallest need first. Fixed labels are taken off every limit.
    """

    def __init__(self, cost: Floats, worth: Floats, limits: GroupLimits, forced: tuple[int, ...], size: float) -> None:
        member, low, high = limits
        given = list(forced)
        inside = np.vstack([np.ones((1, cost.size), bool), member])
        had = inside[:, given].sum(axis=1)
        self._low, self._high = np.maximum(low - had, 0), high - had
        self._paid, self._had = float(cost[given].sum()), float(worth[given].sum())
        self._size = size * cost.size * max(1.0, cost.size / DEPTH)
        free = np.ones(cost.size, bool)
        free[given] = False
        group = np.vstack([member, ~member.any(axis=0)]).argmax(axis=0)
        items, kind = np.unique(np.column_stack([group, cost, worth])[free], axis=0, return_inverse=True)
        self._group, self._cost, self._worth = items[:, 0].astype(np.int64), items[:, 1].copy(), items[:, 2].copy()
        self._kind = np.full(cost.size, -1)
        self._kind[free] = kind.reshape(-1)
        self._number = np.bincount(self._kind[free], minlength=len(items))
        self._known: dict[bytes, SetOfAlike] = {}

    def least(self, need: float, barred: tuple[int, ...]) -> float:
        """The bound of a task with this need, no smaller than those asked before, who bars these workers."""
        missing = self._kind[list(barred)]
        has = self._number - np.bincount(missing[missing >= 0], minlength=self._number.size)
        counted = np.zeros(self._number.size, bool)  # kinds of which the task's own number is looked at
        while True:
            found = self._found(need - self._had, np.where(counted, has, self._number))
            short = (has < found.taken) & ~counted
            if not short.any():
                return found.value
            counted |= short

    def _found(self, need: float, number: Ints) -> SetOfAlike:
        known = self._known.get(number.tobytes())
        if known is None or known.evidence < need:
            known = self._known[number.tobytes()] = self._least(need, number)
        return known

    def _least(self, need: float, number: Ints) -> SetOfAlike:
        room = np.append(number.sum(), np.bincount(self._group, number, self._low.size)[:-1]).astype(np.int64)
        low, high = np.append(self._low, 0), np.append(np.where(self._high >= room, -1, self._high), -1)
        if (self._high < 0).any() or (self._low > np.minimum(room, self._high)).any():
            return SetOfAlike(np.inf, np.inf, 0 * number)
        kind = np.repeat(np.arange(number.size), number)
        value, scale, chosen = _least(self._cost[kind], self._worth[kind], need, self._group[kind], low, high)
        if not value < np.inf:
            return SetOfAlike(np.inf, np.inf, 0 * number)
        value = lowered(self._paid + value, self._size + scale)
        if chosen is None:
            return SetOfAlike(value, need, number)
        return SetOfAlike(
            value, float(self._worth[kind[chosen]].sum()), np.bincount(kind[chosen], minlength=number.size)
        )


def _least(
    cost: Floats, worth: Floats, need: float, group: Ints, low: Ints, high: Ints
) -> tuple[float, float, Bools | None]:
    """A lower bound on the cheapest set, the size of what went into it beside the costs, and who is in that set.

    Items of a group are next to each other; -> None where the set is not known.
    """
    from crowdopt.recheck.bounds.limited_kernels import CountLimits, cheapest_below, completions, evidence_price

    if not cost.size:
        return (0.0, 0.0, None) if need <= 1e-12 else (np.inf, 0.0, None)
    low, high = _that_fit(cost.size, low, high)
    full = np.where(high >= 0, high, low)
    cells = int((full[1:].max() + 1) * (full[0] + 1))
    limits = CountLimits(
        low[1:].copy(), high[1:].copy(), int(low[0]), int(high[0]), full[1:].copy(), int(full[0]), cells
    )
    price, linear, above = evidence_price(cost, worth, need, group, limits)
    scale = price * (max(need, 0.0) + float(worth.sum())) if price < np.inf else 0.0
    close = max(BELOW_MINIMUM * max(abs(linear), abs(above)), np.finfo(np.float64).tiny)
    if not above < np.inf:
        return linear, scale, None
    order = np.lexsort((-np.abs(cost - price * worth), group))  # labels that prices leave open last: few sets till then
    items = cost[order], worth[order], need, group[order]
    prices = price * np.array(BESIDE)
    tables = np.stack([completions(items[0] - x * items[1], items[1], items[3], limits)[0] for x in prices])
    reach, proved, chosen = max(FIRST * (above - linear), close), linear, np.zeros(cost.size, bool)
    while True:
        top = min(linear + reach, above + close)
        found, all_seen, traced = cheapest_below(*items, limits, (prices, tables), top, STATES, chosen)
        if not all_seen or found < top or top > above:
            who = np.zeros(cost.size, bool)
            who[order] = chosen
            return min(max(found, proved), above), 2 * scale, who if traced else None
        proved, reach = top, reach * WIDER


def _that_fit(items: int, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """The limits that a table has room for: without those of groups, then without those of all labels."""
    for kept in (len(low), 1, 0):
        low, high = np.append(low[:kept], 0 * low[kept:]), np.append(high[:kept], 0 * high[kept:] - 1)
        full = np.where(high >= 0, high, low)
        if (items + 1) * (full[1:].max() + 1) * (full[0] + 1) <= TABLE:
            break
    return low, high
