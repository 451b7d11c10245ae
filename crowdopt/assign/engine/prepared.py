"""What plans are made of: kinds of tasks with limits of their own, and rows that tie tasks together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.classes import Classes, classes_of, firsts
from crowdopt.crowd.group_limits import labels_had, membership, task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.programs.assignment import shares_of

Labels = Ints  # the classes of workers in a set, sorted; a class as often as it gives labels
ANY = 1 << 40  # labels of a group, or of a task, without a most
SMALL = 4_000  # pairs up to which the whole program is searched from the start
ROWS = 400  # tables of completions at most
LEVELS = 40  # needs of a row that plans tell apart


@dataclass(frozen=True, eq=False)
class TaskRow:
    """Kinds of tasks that differ in their need only: one table of completions serves them all.

    Parameters
    ----------
    evidence, cost : (G,) float
        Of one label of each class of workers.
    given : (labels,) int
        Classes of workers who must label the task; counted in no other field.
    room : (G,) int
        Labels of each class, at most.
    group : (G,) int
        Groups with limits per task, which are apart; the last one is of everybody else.
    low, top : (groups,) int
    fewest, most : int
        Labels of one task.
    kinds : (k,) int
    need : (k,) float
        Evidence, rising.
    """

    evidence: Floats
    cost: Floats
    given: Labels
    room: Ints
    group: Ints
    low: Ints
    top: Ints
    fewest: int
    most: int
    kinds: Ints
    need: Floats


@dataclass(frozen=True, eq=False)
class Coupling:
    """Rows that tie tasks together: loads of the classes of workers, shares of groups, money.

    Parameters
    ----------
    weight : (shares, G) float
        What a label counts in each row of shares.
    cost : (rows, G) float
        Price of a label for a task of each row of tasks.
    has_budget : bool
        Whether money is the last row.
    lower, upper : (G + shares + budget,) float
    """

    weight: Floats
    cost: Floats
    has_budget: bool
    lower: Floats
    upper: Floats

    @property
    def workers(self) -> int:
        """Classes of workers: so many rows are of loads."""
        return int(self.cost.shape[1])

    @property
    def spent(self) -> Bools:
        """Rows that labels only take from: loads and money; a share grows with everybody else's labels."""
        rows: Bools = np.ones(self.lower.size, bool)
        rows[self.workers : self.workers + len(self.weight)] = False
        return rows

    def prices(self, row: int, duals: Floats) -> Floats:
        """Price of a label of each class for a task of a row: its cost, less what multipliers pay for it, (G,)."""
        shares = duals[self.workers : self.workers + len(self.weight)]
        money = duals[-1] if self.has_budget else 0.0
        price: Floats = (1 - money) * self.cost[row] - duals[: self.workers] - shares @ self.weight
        return price

    def pull(self, duals: Floats) -> float:
        """What the sides of the rows are worth: ``sum l [d]+ - u [d]-``."""
        up, down = np.maximum(duals, 0.0), np.minimum(duals, 0.0)
        sides = np.where(up > 0, self.lower, 0.0) * up + np.where(down < 0, self.upper, 0.0) * down
        return float(sides.sum())

    def valid(self, duals: Floats) -> Floats:
        """Multipliers without those that pull at a side that is not there."""
        duals = np.where(np.isfinite(self.upper), duals, np.maximum(duals, 0.0))
        return np.where(np.isfinite(self.lower), duals, np.minimum(duals, 0.0))

    def use(self, rows: Ints, sets: list[Labels]) -> sparse.csc_array:
        """What sets take from the rows, (rows, sets)."""
        size = np.array([one.size for one in sets], np.int64)
        label, which = np.concatenate([*sets, np.zeros(0, np.int64)]), np.repeat(np.arange(size.size), size)
        parts = [sparse.csr_array((np.ones(label.size), (label, which)), shape=(self.workers, size.size))]
        for weight in self.weight:
            parts.append(sparse.csr_array(np.bincount(which, weight[label], size.size)[None]))
        if self.has_budget:
            paid = self.cost[rows[which], label]
            parts.append(sparse.csr_array(np.bincount(which, paid, size.size)[None]))
        return sparse.csc_array(sparse.vstack(parts))


@dataclass(frozen=True, eq=False)
class Prepared:
    """An instance as the engine sees it.

    Parameters
    ----------
    classes : Classes
    rows : list of TaskRow
    row_of : (kinds,) int
    count : (kinds,) int
        Tasks of each kind.
    kind_of : (task classes,) int
        The kind of each class of tasks; several classes are one kind where needs are brought to levels.
    coupling : Coupling
    """

    classes: Classes
    rows: list[TaskRow]
    row_of: Ints
    count: Ints
    kind_of: Ints
    coupling: Coupling


def accepts(instance: AssignmentInstance) -> bool:
    """Whether the engine knows every limit: all but own rows, and groups with limits per task that overlap."""
    if instance.own_rows is not None or instance.the_rule.checked or instance.the_rule.average:
        return False
    if instance.n_tasks * instance.n_workers <= SMALL:
        return False
    limited = membership(instance)[task_limits(instance)[0]]
    return bool((limited.sum(axis=0) <= 1).all())


def problem_of(instance: AssignmentInstance) -> Prepared | None:
    """Kinds, rows and coupling; None where there are too many rows of tasks to have a table each."""
    classes = classes_of(instance, joint=True)
    limited, fewest, most = task_limits(instance)
    worker, task = firsts(classes.worker_class), firsts(classes.task_class)
    member = membership(instance)[:, worker]
    mine = member[limited]
    group = np.where(mine.any(axis=0), mine.argmax(axis=0) if limited else 0, len(limited))
    tops = np.where(most[:, task] >= UNBOUNDED, ANY, most[:, task])
    room = np.where(classes.capacity > 0, classes.room, 0)
    key = np.hstack(
        [
            *(classes.evidence, classes.cost, room, classes.least, fewest[:, task].T, tops.T),
            *(classes.fewest[:, None], classes.most[:, None]),
        ]
    )
    _, first, row_of = np.unique(key, axis=0, return_index=True, return_inverse=True)
    row_of = row_of.reshape(-1)
    if first.size > ROWS:
        return None
    rows = []
    for row, t in enumerate(first.tolist()):
        kinds = np.flatnonzero(row_of == row)
        kinds = kinds[np.argsort(classes.floor[kinds], kind="stable")]
        given = np.repeat(np.arange(worker.size), classes.least[t])
        inside = np.bincount(group[given], minlength=len(limited) + 1)
        low = np.maximum(0, np.append(fewest[:, task[t]], 0) - inside)
        top = np.append(tops[:, t], ANY)
        labels = int(classes.most[t])
        rows.append(
            TaskRow(
                evidence=classes.evidence[t],
                cost=classes.cost[t],
                given=given,
                room=room[t] - classes.least[t],
                group=group,
                low=low,
                top=np.where(top < ANY, np.maximum(0, top - inside), ANY),
                fewest=max(0, int(classes.fewest[t]) - given.size),
                most=ANY if labels >= UNLIMITED else labels - given.size,
                kinds=kinds,
                need=np.maximum(0.0, classes.floor[kinds] - classes.evidence[t, given].sum()),
            )
        )
    count = classes.tasks_in.astype(np.int64)
    problem = Prepared(classes, rows, row_of, count, np.arange(count.size), _coupling(instance, classes, rows, member))
    return problem


def _coupling(instance: AssignmentInstance, classes: Classes, rows: list[TaskRow], member: Bools) -> Coupling:
    load = (classes.workers_in * classes.min_load).astype(np.float64)
    lower, upper = [np.where(load > 0, load, -np.inf)], [(classes.workers_in * classes.capacity).astype(np.float64)]
    weight = [np.zeros((0, load.size))]
    for name, share, bound in shares_of(instance):
        side = share * len(instance.collected) - [labels_had(instance, h).sum() for h in bound]
        weight.append(member[bound].astype(np.float64) - share[:, None])
        lower.append(np.full(len(bound), -np.inf) if name == "most_share" else side)
        upper.append(side if name == "most_share" else np.full(len(bound), np.inf))
    if instance.budget is not None:
        lower.append(np.array([-np.inf]))
        upper.append(np.array([float(instance.budget)]))
    cost = np.array([row.cost for row in rows])
    has_budget = instance.budget is not None
    return Coupling(np.vstack(weight), cost, has_budget, np.concatenate(lower), np.concatenate(upper))


def levelled(problem: Prepared, levels: int = LEVELS) -> Prepared:
    """The same with needs of each row raised to few levels: every set of a level serves all tasks of it.

    Parameters
    ----------
    problem : Prepared
    levels : int

    Returns
    -------
    Prepared
        The problem itself where needs are few.
    """
    if all(row.kinds.size <= levels for row in problem.rows):
        return problem
    rows, kind_of, start = [], np.zeros_like(problem.kind_of), 0
    for row in problem.rows:
        parts = np.array_split(np.arange(row.kinds.size), min(levels, row.kinds.size))
        for k, part in enumerate(parts):
            kind_of[row.kinds[part]] = start + k
        need = np.array([row.need[part[-1]] for part in parts])
        rows.append(replace(row, kinds=start + np.arange(len(parts)), need=need))
        start += len(parts)
    row_of = np.repeat(np.arange(len(rows)), [row.kinds.size for row in rows])
    count = np.bincount(kind_of, problem.count, start).astype(np.int64)
    return Prepared(problem.classes, rows, row_of, count, kind_of, problem.coupling)
