"""What plans are made of: kinds of tasks with limits of their own, and rows that tie tasks together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints, alike
from crowdopt.assign.engine.vote_law import ANSWERS, VoteLaw, law_of
from crowdopt.crowd.alike import Classes, classes_of, labels_in
from crowdopt.crowd.group_limits import bounds_know_overlaps, labels_had, membership, task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.programs.aggregated import own_entries
from crowdopt.programs.assignment import shares_of

Labels = Ints  # the classes of workers in a set, sorted; a class as often as it gives labels
ANY = 1 << 40  # labels of a group, or of a task, without a most
ROWS, CELLS = 2_000, 100_000  # tables of completions at most, unless they are of so few classes of workers in all
LEVELS, BY_ERROR = 40, 4  # needs of a row that plans tell apart; times as many of all rows where kinds are many


class Overlaps(NamedTuple):
    """Limits per task of groups that are not apart; bounds do without them where they are many."""

    member: Bools  # (groups, G)
    low: Ints  # (groups,)
    top: Ints  # (groups,)

    @classmethod
    def none(cls, workers: int) -> Overlaps:
        """No such groups."""
        return cls(np.zeros((0, workers), bool), np.zeros(0, np.int64), np.zeros(0, np.int64))

    def of(self, item: Ints) -> Overlaps:
        """The same about single labels, by their classes of workers."""
        return Overlaps(np.ascontiguousarray(self.member[:, item]), self.low, self.top)

    def keeps(self, labels: Labels) -> bool:
        """Whether a set keeps them."""
        inside = self.member[:, labels].sum(axis=1)
        return bool((inside >= self.low).all() and (inside <= self.top).all())


@dataclass(frozen=True, eq=False)
class TaskRow:
    """Kinds of tasks that differ in their need only: one table of completions serves them all."""

    # of one label of each class of workers
    evidence: Floats  # (G,)
    cost: Floats  # (G,)
    given: Labels  # (labels,): classes of workers who must label the task; counted in no other field
    room: Ints  # (G,): labels of each class, at most
    group: Ints  # (G,): groups with limits per task, which are apart; the last one is of everybody else
    low: Ints  # (groups,)
    top: Ints  # (groups,)
    # labels of one task
    fewest: int
    most: int
    kinds: Ints  # (k,)
    need: Floats  # (k,): evidence, rising
    beside: Overlaps  # groups with limits per task that share members with those before
    law: VoteLaw  # says which sets are enough; the need is evidence that every such set has

    def chosen(self, labels: Labels) -> Labels:
        """A set without the labels that are given."""
        left = labels.tolist()
        for one in self.given.tolist():
            left.remove(one)
        return np.array(left, np.int64)

    @property
    def has_room(self) -> bool:
        """Whether a task may have any number of labels."""
        return self.most >= ANY and self.low.size == 1 and not self.beside.low.size


@dataclass(frozen=True, eq=False)
class Coupling:
    """Rows that tie tasks together: loads of the classes of workers, shares of groups, own rows, money."""

    weight: Floats  # (shares, G): what a label counts in each row of shares
    own: Floats  # (own rows, rows of tasks, G): what a label counts in each own row
    cost: Floats  # (rows, G): price of a label for a task of each row of tasks
    has_budget: bool  # whether money is the last row
    lower: Floats  # (G + shares + own rows + budget,)
    upper: Floats  # (G + shares + own rows + budget,)
    # price of a label that is given for a load's sake alone; infinite where other limits may be in its way
    spare: Floats  # (G,)

    @property
    def workers(self) -> int:
        """Classes of workers: so many rows are of loads."""
        return int(self.cost.shape[1])

    @property
    def ties(self) -> int:
        """Rows that are not of loads."""
        return int(self.lower.size) - self.workers

    @property
    def spent(self) -> Bools:
        """Rows that labels only take from: loads and money; a share grows with everybody else's labels."""
        rows: Bools = np.ones(self.lower.size, bool)
        rows[self.workers : self.workers + len(self.weight) + len(self.own)] = False
        return rows

    def prices(self, row: int, duals: Floats) -> Floats:
        """Price of a label of each class for a task of a row: its cost, less what multipliers pay for it, (G,)."""
        shares, own = np.split(
            duals[self.workers : self.workers + len(self.weight) + len(self.own)], [len(self.weight)]
        )
        money = duals[-1] if self.has_budget else 0.0
        pull = shares @ self.weight + own @ self.own[:, row]
        return (1 - money) * self.cost[row] - duals[: self.workers] - pull

    def pull(self, duals: Floats) -> float:
        """What the sides of the rows are worth: ``sum l [d]+ - u [d]-``."""
        up, down = np.maximum(duals, 0.0), np.minimum(duals, 0.0)
        sides = np.where(up > 0, self.lower, 0.0) * up + np.where(down < 0, self.upper, 0.0) * down
        return float(sides.sum())

    def valid(self, duals: Floats) -> Floats:
        """Multipliers without those that pull at a side that is not there, or pay more for a load than it costs."""
        duals = duals.copy()
        duals[: self.workers] = np.minimum(duals[: self.workers], self.spare)
        duals = np.where(np.isfinite(self.upper), duals, np.maximum(duals, 0.0))
        return np.where(np.isfinite(self.lower), duals, np.minimum(duals, 0.0))

    def use(self, rows: Ints, sets: list[Labels]) -> sparse.csc_array:
        """What sets take from the rows, (rows, sets)."""
        size = np.array([one.size for one in sets], np.int64)
        label, which = np.concatenate([*sets, np.zeros(0, np.int64)]), np.repeat(np.arange(size.size), size)
        parts = [sparse.csr_array((np.ones(label.size), (label, which)), shape=(self.workers, size.size))]
        for weight in self.weight:
            parts.append(sparse.csr_array(np.bincount(which, weight[label], size.size)[None]))
        for counts in self.own:
            parts.append(sparse.csr_array(np.bincount(which, counts[rows[which], label], size.size)[None]))
        if self.has_budget:
            paid = self.cost[rows[which], label]
            parts.append(sparse.csr_array(np.bincount(which, paid, size.size)[None]))
        return sparse.csc_array(sparse.vstack(parts))


@dataclass(frozen=True, eq=False)
class Prepared:
    """An instance as the engine sees it."""

    classes: Classes
    rows: list[TaskRow]
    row_of: Ints  # (kinds,)
    count: Ints  # (kinds,): tasks of each kind
    # the kind of each class of tasks; several classes are one kind where needs are brought to levels
    kind_of: Ints  # (task classes,)
    coupling: Coupling


def accepts(instance: AssignmentInstance) -> bool:
    """Whether the engine knows the rule: one by which exact errors decide, task by task."""
    return instance.the_rule.checked and not instance.the_rule.average


def problem_of(instance: AssignmentInstance, pooled: bool = False) -> Prepared | None:
    """Kinds, rows and coupling; None where rows of tasks, or labels that a task has already, are too many.

    pooled: whether workers are alike who differ in their loads only.
    """
    if _skills_told_apart(instance) > ROWS:
        return None
    classes = classes_of(instance, joint=True, pooled=pooled)
    limits = _limits_per_task(instance, classes)
    row_of, first = alike(_told_apart_by(classes, limits))
    if first.size > ROWS and first.size * classes.capacity.size > CELLS:
        return None
    rows = [_row(classes, limits, t, np.flatnonzero(row_of == row)) for row, t in enumerate(first.tolist())]
    if any(row.law.begun(row.given) > ANSWERS for row in rows):
        return None
    count = classes.tasks_in.astype(np.int64)
    return Prepared(classes, rows, row_of, count, np.arange(count.size), _coupling(classes, (rows, first)))


class LimitsPerTask(NamedTuple):
    """Least and most labels of groups per task: of groups that are apart, and of the others."""

    group: Ints  # (G,): groups that are apart; the last one is of everybody else
    low: Ints  # (apart, task classes)
    top: Ints  # (apart, task classes)
    member: Bools  # (others, G)
    low_beside: Ints  # (others, task classes)
    top_beside: Ints  # (others, task classes)


def _limits_per_task(instance: AssignmentInstance, classes: Classes) -> LimitsPerTask:
    limited, fewest, most = task_limits(instance)
    task = classes.first_task
    member = _members(classes)[limited]
    apart, over = _apart(member)
    mine, low, top = member[apart], fewest[:, task], most[:, task]
    group = np.where(mine.any(axis=0), mine.argmax(axis=0) if apart else 0, len(apart))
    tops = np.where(top[apart] >= UNBOUNDED, ANY, top[apart])
    return LimitsPerTask(group, low[apart], tops, member[over], low[over], top[over])


def _members(classes: Classes) -> Bools:
    """Who is in which group, (groups, G)."""
    return membership(classes.instance)[:, classes.first_worker]


def _told_apart_by(classes: Classes, limits: LimitsPerTask) -> Floats:
    """What makes classes of tasks rows of their own: everything but their needs, (task classes, k)."""
    instance, worker, task = classes.instance, classes.first_worker, classes.first_task
    key = [classes.evidence, classes.cost, _room(classes), classes.least, limits.low.T, limits.top.T]
    key += [classes.fewest[:, None], classes.most[:, None], limits.low_beside.T, limits.top_beside.T]
    if instance.own_rows is not None:
        key.append(np.hstack(list(_own_by_class(classes))))
    key.append(instance.accuracy[instance.task_type[task]][:, worker])
    key.append(labels_in(instance, classes.worker_class)[task][:, None])
    return np.hstack(key)


def _room(classes: Classes) -> Ints:
    """Labels of each class of workers for a task of each class, at most."""
    return np.where(classes.capacity > 0, classes.room, 0)


def _own_by_class(classes: Classes) -> Floats:
    """What a label counts in each own row, (own rows, task classes, G)."""
    return own_entries(classes).toarray().reshape(-1, *classes.room.shape)


def _row(classes: Classes, limits: LimitsPerTask, t: int, kinds: Ints) -> TaskRow:
    """The row of some classes of tasks, of which t is one."""
    instance, task = classes.instance, classes.first_task
    kinds = kinds[np.argsort(classes.floor[kinds], kind="stable")]
    given = np.repeat(np.arange(classes.least.shape[1]), classes.least[t])
    inside = np.bincount(limits.group[given], minlength=len(limits.low) + 1)
    inside_beside = limits.member[:, given].sum(axis=1)
    top, labels = np.append(limits.top[:, t], ANY), int(classes.most[t])
    low_beside = np.maximum(0, limits.low_beside[:, t] - inside_beside)
    top_beside = np.maximum(0, limits.top_beside[:, t] - inside_beside)
    return TaskRow(
        evidence=classes.evidence[t],
        cost=classes.cost[t],
        given=given,
        room=_room(classes)[t] - classes.least[t],
        group=limits.group,
        low=np.maximum(0, np.append(limits.low[:, t], 0) - inside),
        top=np.where(top < ANY, np.maximum(0, top - inside), ANY),
        fewest=max(0, int(classes.fewest[t]) - given.size),
        most=ANY if labels >= UNLIMITED else labels - given.size,
        kinds=kinds,
        need=np.maximum(0.0, classes.floor[kinds] - classes.evidence[t, given].sum()),
        beside=Overlaps(limits.member, low_beside, top_beside),
        law=law_of(instance, task[kinds], classes.first_worker),
    )


def _skills_told_apart(instance: AssignmentInstance) -> int:
    """At most the number of rows of skills among the tasks, by sums in which equal rows are equal."""
    weight = np.arange(1, instance.n_workers + 1) * 0.6180339887498949 % 1  # no two alike
    used = np.bincount(instance.task_type, minlength=instance.n_types) > 0
    return np.unique(np.round(instance.accuracy @ weight, 8)[used]).size


def _coupling(classes: Classes, known: tuple[list[TaskRow], Ints]) -> Coupling:
    instance, (rows, first), member = classes.instance, known, _members(classes)
    load, most = classes.loads
    lower, upper = [np.where(load > 0, load, -np.inf)], [most]
    weight = [np.zeros((0, load.size))]
    for name, share, bound in shares_of(instance):
        side = share * len(instance.collected) - labels_had(instance)[bound].sum(axis=1)
        weight.append(member[bound].astype(np.float64) - share[:, None])
        lower.append(np.full(len(bound), -np.inf) if name == "most_share" else side)
        upper.append(side if name == "most_share" else np.full(len(bound), np.inf))
    own = np.zeros((0, len(rows), load.size))
    if instance.own_rows is not None:
        own = _own_by_class(classes)[:, first]
        lower.append(instance.own_rows.lower)
        upper.append(instance.own_rows.upper)
    if instance.budget is not None:
        lower.append(np.array([-np.inf]))
        upper.append(np.array([float(instance.budget)]))
    cost = np.array([row.cost for row in rows])
    has_budget = instance.budget is not None
    weights, sides = np.vstack(weight), (np.concatenate(lower), np.concatenate(upper))
    spare = np.full(load.size, np.inf)
    if sides[0].size == load.size and all(row.has_room for row in rows):
        spare = np.min([np.where(row.room > 0, row.cost, np.inf) for row in rows], axis=0)
    return Coupling(weights, own, cost, has_budget, *sides, spare)


Levels: TypeAlias = list[list[Ints]]  # of each row: its kinds, by their places, in runs of like need


def levels_of(problem: Prepared, number: int = LEVELS) -> Levels:
    """So many levels of each row; where kinds are many, BY_ERROR times as many of all rows together, about."""
    many = problem.count.size > 2 * BY_ERROR * number
    count = max(1, BY_ERROR * number // len(problem.rows)) if many else number
    return [np.array_split(np.arange(row.kinds.size), min(count, row.kinds.size)) for row in problem.rows]


def finer(levels: Levels, coarse: Bools, times: int) -> Levels:
    """The levels, those that are too coarse cut into so many each. coarse: of all levels, row by row."""
    cut, number = [], 0
    for row in levels:
        mine: list[Ints] = []
        for one in row:
            mine += np.array_split(one, min(times, one.size)) if coarse[number] else [one]
            number += 1
        cut.append(mine)
    return cut


def levelled(problem: Prepared, levels: Levels, hardest: bool = True) -> Prepared:
    """The same with few needs in each row.

    Raised to the hardest of each level, every set serves all tasks of it. They can also be lowered to the easiest one:
    what no plan costs less than then, none of the problem does.

    hardest: whether needs are raised.
    """
    rows: list[TaskRow] = []
    kind_of, start = np.zeros_like(problem.kind_of), 0
    old = np.zeros(problem.count.size, np.int64)
    proven_beside = hardest or bounds_know_overlaps(problem.classes.instance)
    for row, parts in zip(problem.rows, levels, strict=True):
        for k, part in enumerate(parts):
            old[row.kinds[part]] = start + k
        need = np.array([row.need[part[-1 if hardest else 0]] for part in parts])
        law = row.law.of(parts, hardest)
        beside = row.beside if proven_beside else Overlaps.none(row.cost.size)
        rows.append(replace(row, kinds=start + np.arange(len(parts)), need=need, beside=beside, law=law))
        start += len(parts)
    kind_of = old[problem.kind_of]
    row_of = np.repeat(np.arange(len(rows)), [row.kinds.size for row in rows])
    count_of = np.bincount(old, problem.count, start).astype(np.int64)
    return Prepared(problem.classes, rows, row_of, count_of, kind_of, problem.coupling)


def _apart(member: Bools) -> tuple[list[int], list[int]]:
    """Groups that share nobody, the earlier ones first; and the others."""
    apart: list[int] = []
    taken = np.zeros(member.shape[1], bool)
    for k, mine in enumerate(member):
        if not (taken & mine).any():
            apart.append(k)
            taken |= mine
    return apart, [k for k in range(len(member)) if k not in apart]
