"""What stored multipliers prove: a lower bound on every plan, evaluated task by task, by rows and by sets of labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, alike, parts_of
from crowdopt.core.certificate import BOUND, DEPTH, UNIT, lowered, sum_below
from crowdopt.crowd.alike import bounds_know_overlaps, in_several, membership, task_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.documents import is_number
from crowdopt.io.plan import StoredPlan
from crowdopt.io.tables import Table
from crowdopt.recheck.error_sets import ALLOWED, CASES, Search, TaskLimits, least_by_error
from crowdopt.recheck.findings import Report


def beside_fixed(instance: AssignmentInstance) -> tuple[AssignmentInstance, float]:
    """The campaign whose fixed pairs are labels that are in, and what they cost; -> as it is, and 0, where that errs.

    A vote hears a fixed label as it hears one that is in, unless what was answered is known; and money, loads and rows
    of one's own have that much less left.
    """
    task, worker = instance.fixed.T
    cost = float(instance.cost[instance.task_type[task], worker].sum())
    if not task.size or instance.observed or cost > (np.inf if instance.budget is None else instance.budget):
        return instance, 0.0
    load, own = np.zeros(instance.n_workers, np.int64), instance.own_rows
    np.add.at(load, worker, 1)
    if own is not None:
        is_fixed = np.zeros((instance.n_tasks, instance.n_workers))
        is_fixed[task, worker] = 1
        brings = np.zeros(len(own.names))
        np.add.at(brings, own.row, own.coefficient * is_fixed[tuple(own.pairs.T)])
        own = replace(own, lower=own.lower - brings, upper=own.upper - brings)
    left = replace(
        instance,
        collected=np.vstack([instance.collected, instance.fixed]),
        fixed=np.empty((0, 2), np.int64),
        capacity=instance.capacity - load,
        min_load=(instance.min_load - load).clip(0),
        budget=None if instance.budget is None else instance.budget - cost,
        own_rows=own,
    )
    return left, cost


def workers_by_task(pairs: Ints) -> dict[int, tuple[int, ...]]:
    """The workers of each task that has a pair, ascending; pairs (k, 2): task and worker."""
    ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    tasks, starts = np.unique(ordered[:, 0], return_index=True)
    parts = np.split(ordered[:, 1], starts[1:])
    return {task: tuple(part.tolist()) for task, part in zip(tasks.tolist(), parts, strict=False)}  # no pair: one part


DIGITS = 12  # behind the point, at most
EXACT = 1 << 53  # whole numbers up to which floats are exact


def price_step(cost: Floats) -> tuple[int, int] | None:
    """Whole numbers (a, 10^d) such that every price, as it is written in decimals, is a multiple of a / 10^d.

    -> None where they have more digits, or cost nothing.
    """
    written = [format(float(one), f".{DIGITS}f") for one in np.unique(cost).tolist()]
    if any(float(text) != one for text, one in zip(written, np.unique(cost).tolist(), strict=True)):
        return None
    digits = max(len(text.rstrip("0").partition(".")[2]) for text in written)
    whole = [int(text.replace(".", "")[: len(text) - 1 - (DIGITS - digits)]) for text in written]
    largest = int(np.gcd.reduce(np.array(whole, dtype=object)))
    return (largest, 10**digits) if largest > 0 and max(whole) < EXACT else None


PER_TASK, MOST_SHARE, LEAST_SHARE, OWN = "per_task", "max_share", "min_share", "row"  # as limits.csv names them


@dataclass(frozen=True, eq=False)
class JointPull:
    """What multipliers of joint rows bring to a bound."""

    terms: Floats  # (k,): by themselves
    pull: Floats  # (rows, workers): off the cost of a pair; tasks with the same pulls share a row
    size: Floats  # (rows, workers): of what was added up for each pair, so that rounding can be taken off
    row_of: Ints  # (tasks,)

    @classmethod
    def none(cls, instance: AssignmentInstance) -> JointPull:
        """Without any multiplier."""
        nothing = np.zeros((1, instance.n_workers))
        return cls(np.zeros(1), nothing, nothing, np.zeros(instance.n_tasks, np.int64))


class JointRow(NamedTuple):
    """A row ``low <= sum of counts over its pairs + before <= high``; ``at``: where a pull has those pairs."""

    low: float
    high: float
    before: float
    at: Any
    counts: Floats


def joint_pull(instance: AssignmentInstance, table: Table | None, report: Report) -> JointPull:
    """The multipliers in limits.csv, evaluated row by row; those that pull on a side that is not there count as 0.

    table: limits.csv, where there is one; report: takes a complaint about each that the campaign has no row for.
    """
    if table is None:
        return JointPull.none(instance)
    by_task = bool({PER_TASK, OWN} & set(table["limit"]))
    pull = np.zeros((instance.n_tasks if by_task else 1, instance.n_workers))
    size, added = np.zeros_like(pull), np.zeros_like(pull)  # added: how often, since each time rounds
    terms, rows = [0.0], _JointRows(instance)
    entries = zip(table["limit"], table["name"], table["task"], table.numbers("dual").tolist(), strict=True)
    for limit, name, task, dual in entries:
        row = rows.find(limit, name, task)
        if isinstance(row, str):
            report.complain(table.path.name, f"has a multiplier of {row}, which the campaign does not have")
            continue
        side = row.low if dual > 0 else row.high
        if not np.isfinite(side):
            continue
        terms += [dual * side, -dual * row.before]
        np.add.at(pull, row.at, dual * row.counts)
        np.add.at(size, row.at, np.abs(dual * row.counts))
        np.add.at(added, row.at, 1)
    first, row_of = _alike(pull, size)
    if not by_task:
        row_of = np.zeros(instance.n_tasks, np.int64)
    return JointPull(np.array(terms), pull[first], size[first] * (4 + added.max()), row_of)


class _JointRows:
    """The rows of a campaign by what limits.csv calls them."""

    def __init__(self, instance: AssignmentInstance) -> None:
        own = instance.own_rows
        self.instance = instance
        self.group = {group.name: group for group in instance.groups}
        self.task = instance.task_places
        self.own = {} if own is None else {name: k for k, name in enumerate(own.names)}

    def find(self, limit: str, name: str, task: str) -> JointRow | str:
        known = self.own if limit == OWN else self.group
        if name not in known or limit not in (PER_TASK, MOST_SHARE, LEAST_SHARE, OWN):
            return f"{limit} {name}"
        if limit == OWN:
            return self._own_row(self.own[name])
        if limit == PER_TASK:
            return self._per_task(name, self.task[task]) if task in self.task else f"the unknown task {task!r}"
        collected, inside, group = self.instance.collected, self._members(name), self.group[name]
        had = float(inside[collected[:, 1]].sum())
        if limit == MOST_SHARE:
            return JointRow(-np.inf, group.max_share * len(collected), had, ..., inside - group.max_share)
        return JointRow(group.min_share * len(collected), np.inf, had, ..., inside - group.min_share)

    def _members(self, name: str) -> Floats:
        return np.isin(np.arange(self.instance.n_workers), self.group[name].members).astype(np.float64)

    def _per_task(self, name: str, task: int) -> JointRow:
        group, inside, collected = self.group[name], self._members(name), self.instance.collected
        had = int(inside[collected[collected[:, 0] == task, 1]].sum())
        most = np.inf if group.max_per_task is None else max(0, group.max_per_task - had)  # none can be taken back
        return JointRow(max(0, group.min_per_task - had), most, 0.0, task, inside)

    def _own_row(self, number: int) -> JointRow:
        own = self.instance.own_rows
        assert own is not None
        mine = own.row == number
        low, high = float(own.lower[number]), float(own.upper[number])
        return JointRow(low, high, 0.0, tuple(own.pairs[mine].T), own.coefficient[mine])


def _alike(pull: Floats, size: Floats) -> tuple[Ints, Ints]:
    known: dict[bytes, int] = {}
    row_of = [known.setdefault(a.tobytes() + b.tobytes(), len(known)) for a, b in zip(pull, size, strict=True)]
    return np.unique(row_of, return_index=True)[1], np.array(row_of, np.int64)


def prove(
    instance: AssignmentInstance,
    task: Floats,
    worker: Floats,
    labels: Floats,
    budget: float,
    joint: JointPull | None = None,
) -> float:
    """``min over y of the Lagrangian``: a lower bound on every plan's cost, whatever the multipliers.

    ``sum_i C_i x_i + a_i [l_i]+ - b_i [l_i]- + sum_j L_j [w_j]+ - M_j [w_j]- - B [b]- + sum_ij min(0, r_ij)`` with
    ``r_ij = (1 - b) c_ij - q_ij x_i - l_i - w_j``; a fixed pair counts r_ij itself, a barred one nothing. Multipliers
    that pull on a side that is not there count as 0. ``joint``: what groups and own rows bring, with
    which ``r_ij`` is less by their pull. Evaluated task by task, independently of the program's matrix, and less what
    rounding may have added.

    task (tasks,): x, multipliers of the needs; labels (tasks,): l, multipliers of the label limits; joint: of groups
    and own rows.
    """
    fewest, most = instance.new_label_limits
    x = np.maximum(task, 0.0)
    limit = np.where((labels < 0) & (most == UNLIMITED), 0.0, labels)
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    spend = min(budget, 0.0) if instance.budget is not None else 0.0
    rows = [
        instance.floor * x,
        np.where(limit > 0, fewest, np.where(most == UNLIMITED, 0, most)) * limit,
        np.where(load > 0, instance.min_load, instance.capacity) * load,
        np.array([spend * (instance.budget or 0.0)]),
    ]
    off = _roundings(instance, x, limit, load, spend)
    kinds, joint = instance.task_type, joint or JointPull.none(instance)

    def reduced(i: Ints, j: Ints) -> Floats:
        """The reduced costs of pairs, at most: less what rounding may have added to them."""
        kind = kinds[i]
        exact = (1 - spend) * instance.cost[kind, j] - instance.evidence[kind, j] * x[i] - limit[i] - load[j]
        pulls = joint.row_of[i], j
        return exact - joint.pull[pulls] - 8 * UNIT * joint.size[pulls] - off[i]

    everybody = np.arange(instance.n_workers)[None, :]
    step = max(1, 2_000_000 // instance.n_workers)
    gains = [0.0]
    for start in range(0, instance.n_tasks, step):
        some = np.arange(start, min(start + step, instance.n_tasks))[:, None]
        gains.append(float(np.minimum(0.0, reduced(some, everybody)).sum()))
    barred, fixed = instance.barred, instance.fixed
    spared = np.minimum(0.0, reduced(barred[:, 0], barred[:, 1]))
    forced = np.maximum(0.0, reduced(fixed[:, 0], fixed[:, 1]))
    terms = np.concatenate([*rows, gains, -spared, forced, joint.terms])
    return sum_below(terms)


def _roundings(instance: AssignmentInstance, x: Floats, limit: Floats, load: Floats, spend: float) -> Floats:
    """By how much float64 may be off in the reduced costs of a task's pairs, (tasks,): multipliers have any size."""
    dearest, best = instance.cost.max(axis=1)[instance.task_type], instance.evidence.max(axis=1)[instance.task_type]
    size = (1 - spend) * dearest + best * x + np.abs(limit) + np.abs(load).max(initial=0.0)
    return 8 * UNIT * size


BELOW_MINIMUM = 1e-8  # relative; how far a task's bound may stay below its minimum
LARGEST = 1e300  # of a sum of prices: beyond, differences of sums are no numbers
STATES = 400_000  # partial sets that are followed together, where labels have limits
FOLLOWED = 4_000, 40_000, 400_000  # where they have none: more and more, until what is claimed is proven
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
    states: int = FOLLOWED[-1],
) -> float:
    """``sum_i v_i + sum_j L_j [w_j]+ - M_j [w_j]- + b B + joint terms``: a lower bound on every plan of whole labels.

    ``v_i = min over i's sets S of labels of sum_{j in S} ((1 - b) c_ij - w_j - s_ij)``: sets that meet the need, have
    the fixed pairs and no barred one, and keep the limits on the task's labels and on those of groups. Groups that
    overlap are looked at for each number of labels that those in several of them may give; where that is too much,
    all that share somebody with one before are left out, which can only lower v_i. Valid for any w, b <= 0 and s; equal
    tasks are solved once. Where exact errors are checked the best vote's error over S and the labels already in must be
    at most the target (crowdopt.recheck.error_sets). Where the average of the errors is, a set costs ``-r``
    times its own on top, and all targets together count ``r`` times.

    joint: s, what multipliers of groups, shares and own rows bring; wrong: r <= 0, of the row of errors; cases:
    combinations of answers that are told apart, beyond which votes count as better; states: partial sets of labels that
    are followed together, beyond which the least completion counts; -> infinite where some task has no
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
            found = _each(instance, prices, limits, states)
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


def _each(instance: AssignmentInstance, prices: PairPrices, limits: GroupLimits, states: int) -> Floats:
    member, fewest, most = limits
    few, many = instance.new_label_limits
    low, high = np.vstack([few, fewest]), np.vstack([many, most])
    least, tied = np.empty(instance.n_tasks), np.logical_or(low > 0, high < instance.n_workers)
    free: Bools = ~np.any(tied, axis=0)
    least[free] = least_by_evidence(instance, prices, np.flatnonzero(free), states)
    barred, fixed = workers_by_task(instance.barred), workers_by_task(instance.fixed)
    known: dict[tuple[object, ...], AlikeTasks] = {}
    order = np.argsort(instance.floor, kind="stable")
    for task in order[~free[order]].tolist():
        row, forced = int(prices.row_of[task]), fixed.get(task, ())
        key = (row, low[:, task].tobytes(), high[:, task].tobytes(), forced)
        if key not in known:
            worth = instance.evidence[instance.task_type[task]]
            limited = member, low[:, task], high[:, task]
            known[key] = AlikeTasks(prices.price[row], worth, limited, forced, float(prices.size[row]))
        least[task] = known[key].least(float(instance.floor[task]), barred.get(task, ()))
    return least


def least_by_evidence(instance: AssignmentInstance, prices: PairPrices, tasks: Ints, states: int) -> Floats:
    """The least sets of tasks that only their needs and own pairs limit."""
    from crowdopt.recheck.evidence_kernels import cheapest_bounds

    n, fixed = instance.n_tasks, instance.fixed
    own = np.concatenate([instance.barred, fixed])
    own = own[np.lexsort((own[:, 1], own[:, 0]))]
    starts = np.concatenate([[0], np.cumsum(np.bincount(own[:, 0], minlength=n))]).astype(np.int64)
    need = instance.floor - instance.supply(fixed)
    worth = np.ascontiguousarray(instance.evidence)
    alone = np.where(np.diff(starts) > 0, np.arange(n), -1)  # tasks with pairs of their own
    number, first = alike(instance.task_type[tasks], prices.row_of[tasks], need[tasks], alone[tasks])
    each, value = tasks[first], np.zeros(n)
    ends, index = parts_of(starts, each, own[:, 1])
    found = np.zeros(each.size)
    cheapest_bounds(
        instance.task_type[each], prices.row_of[each], need[each], ends, index, worth,
        prices.price, BELOW_MINIMUM, states, found,
    )  # fmt: skip
    value[tasks] = found[number]
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
    from crowdopt.recheck.evidence_kernels import CountLimits, cheapest_below, completions, evidence_price

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


MORE_CASES = 1 << 14, 1 << 17, 1 << 20  # combinations of answers that are told apart, one after another


def certified_bound(instance: AssignmentInstance, stored: StoredPlan, report: Report, is_integer: bool) -> float | None:
    """The bound that the stored multipliers prove; it must not be less than plan.json says.

    stored: with its multipliers; -> None where nothing is proven.
    """
    if "" in stored.tasks["dual"] or "" in stored.workers["dual"]:
        if stored.claims.get("certified_bound") is not None:
            report.complain("plan.json", "claims a certified bound, but multipliers are missing")
        return None
    paid = 0.0
    if is_integer:
        instance, paid = beside_fixed(instance)
        instance = relaxation(instance)
    if stored.tasks.rows != instance.n_tasks or stored.workers.rows != instance.n_workers:
        return None
    budget = stored.claims.get("budget_dual", 0.0)
    if not is_number(budget):
        report.complain("plan.json", f"budget_dual says {budget!r}, which is no number")
        return None
    with np.errstate(all="ignore"):
        proven = _proven(instance, stored, float(budget), report, is_integer)
    if not np.isfinite(proven):
        report.complain("tasks.csv and workers.csv", "the multipliers prove nothing: they are too large")
        return None
    proven += paid
    step = price_step(instance.cost)
    if is_integer and step is not None:
        whole, parts = step
        proven = float(np.ceil(proven * parts / whole - BOUND * max(1.0, abs(proven * parts / whole)))) * whole / parts
    return _as_said(stored.claims.get("certified_bound"), proven, report)


def _proven(instance: AssignmentInstance, stored: StoredPlan, budget: float, report: Report, is_integer: bool) -> float:
    """What the multipliers prove: of shares of labels by rows; of whole ones by sets, where rows prove too little."""
    worker, joint = stored.workers.numbers("dual"), joint_pull(instance, stored.limits, report)
    proven = -np.inf
    if not instance.the_rule.average:
        limits = stored.tasks.numbers("labels_dual") if "labels_dual" in stored.tasks else np.zeros(instance.n_tasks)
        proven = prove(instance, stored.tasks.numbers("dual"), worker, limits, budget, joint)
    said: Any = stored.claims.get("certified_bound")
    if is_integer and not (is_number(said) and said <= proven):
        enough = float(said) if is_number(said) else np.inf
        proven = max(proven, proved_by_sets(instance, stored, budget, joint, enough, report))
    return proven


def _as_said(said: Any, proven: float, report: Report) -> float | None:
    if said is None:  # nothing is claimed
        return None
    if not is_number(said):
        report.complain("plan.json", f"certified_bound says {said!r}, but the multipliers prove {proven!r}")
    elif not said <= proven + BOUND * max(1.0, abs(proven)):
        report.complain(
            "plan.json", f"certified_bound says {said!r}, but the multipliers prove no more than {proven!r}"
        )
    return proven


def proved_by_sets(
    instance: AssignmentInstance, stored: StoredPlan, budget: float, joint: JointPull, enough: float, report: Report
) -> float:
    """What whole sets prove, with the stored price of a wrong answer where the rule has one.

    joint: what multipliers of groups, shares and own rows bring; enough: as much as is claimed; until that is proven
    more and more is told apart; -> -inf where the price is no number.
    """
    wrong, proven = stored.claims.get("wrong_dual", 0.0), -np.inf
    if not is_number(wrong):
        report.complain("plan.json", f"wrong_dual says {wrong!r}, which is no number")
        return proven
    for cases, states in zip(MORE_CASES, FOLLOWED, strict=True):
        before = proven
        proven = prove_sets(instance, stored.workers.numbers("dual"), budget, joint, float(wrong), cases, states)
        if proven >= enough - BOUND * max(1.0, abs(enough)) or proven == before:
            break
    return proven
