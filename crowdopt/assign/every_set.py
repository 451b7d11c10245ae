"""Small instances: every set of labels of every task, and a choice of one for each by branch and bound.

Mending plans label by label finds plans where there is room; a handful of tasks may have one plan alone, or none. Where
not all tasks can be served, the choice that serves the most is of the same program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.certificate import certify
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BRANCHING, Options, Solution, Solve
from crowdopt.crowd.alike import quotient
from crowdopt.crowd.group_limits import task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.crowd.kept import breaches
from crowdopt.crowd.vote_errors import CERTAIN, errors_of
from crowdopt.programs import assignment, label_sets

MOST_SHORT = 4_000  # sets of labels that are looked at, all tasks together; where some tasks go short
WORKERS = 12
SAME = 1e-9  # error; how closely the least sum of errors is kept while labels are saved
TYING = ("most_share", "least_share", "own")  # joint limits that are not of single tasks


@dataclass(frozen=True, eq=False)
class SetChoices:
    """The sets of new labels that keep a task's most labels, in all and of each group, and its pairs."""

    instance: AssignmentInstance
    task: Ints  # (k,): whose
    chosen: Bools  # (k, workers): who labels it
    serves: Bools  # (k,): whether the task gets what it asks for
    error: Floats  # (k,): of the vote, with the labels that are in

    def which(self, some: Bools) -> SetChoices:
        """Those alone, (k,)."""
        return SetChoices(self.instance, self.task[some], self.chosen[some], self.serves[some], self.error[some])

    @property
    def excess(self) -> Floats:
        """By how much errors are above targets, 0 where a task is served; where their average counts errors, (k,)."""
        if self.instance.the_rule.average:
            return self.error
        above = np.maximum(0.0, self.error - self.instance.epsilon[self.task])
        return np.where(self.serves, 0.0, above)

    def program(self) -> Program:
        """``min sum c z  s.t.  one set a task, capacities, loads, budget, shares, own rows, z in {0, 1}``.

        The master over sets with every set in it, so its optimum is the instance's (Dantzig & Wolfe 1960).
        """
        n = self.instance.n_tasks
        free = replace(self.instance, min_labels=np.zeros(n, np.int64), max_labels=np.full(n, UNLIMITED))
        classes = quotient(free, np.arange(n), np.arange(free.n_workers))  # every task and every worker alone
        sets, ones = [np.flatnonzero(row) for row in self.chosen], np.ones(n, np.int64)
        program = label_sets.of_sets(classes, ones, free.capacity, self.task.tolist(), sets)
        program = self._with_joint_rows(program)
        upper = np.ones(program.cost.size)
        upper[program.column("without").span] = 0.0
        return replace(program, upper=upper, integer=np.ones(upper.size, bool))

    def _with_joint_rows(self, program: Program) -> Program:
        """With rows that tie pairs of several tasks together: a set counts what its pairs count there."""
        whole = assignment.of_sums(self.instance)
        which, worker = np.nonzero(self.chosen)
        place = self.task[which] * self.instance.n_workers + worker, program.column("given").start + which
        pairs_of = sparse.csc_array((np.ones(which.size), place), shape=(whole.cost.size, program.cost.size))
        for block in whole.rows:
            if block.name in TYING:
                rows, sides = whole.matrix.tocsr()[block.span] @ pairs_of, (whole.row_lower, whole.row_upper)
                program = program.with_rows(block.name, block.shape, rows, *map(block.view, sides))
        return program

    def taken(self, solution: Solution) -> Ints | None:
        """Which sets a solution takes; None where it has no point that holds."""
        if solution.primal is None or not certify(solution).is_feasible():
            return None
        return np.flatnonzero(solution.program.column("given").view(solution.primal) > 0.5)

    def pairs(self, taken: Ints) -> Ints:
        """Task and worker of each label of some sets, in order, (labels, 2)."""
        which, worker = np.nonzero(self.chosen[taken])
        pairs = np.column_stack([self.task[taken][which], worker])
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def has_few_sets(instance: AssignmentInstance, most: int = MOST_SHORT) -> bool:
    """Whether all sets of labels of all tasks can be looked at: so many of them, at most."""
    return instance.n_workers <= WORKERS and instance.n_tasks * 2**instance.n_workers <= most


def most_served(instance: AssignmentInstance, solve: Solve, seconds: float, seed: int = 0) -> Ints | None:
    """Labels that serve as many tasks as possible; of those with the least errors of the others; of those the cheapest.

    ``max sum of served tasks``, then ``min sum of max(0, error - target)``, then ``min sum c z``, each over the choices
    of one set a task.

    seconds: for all three; -> (k, 2): task and worker of each label; None where no labels keep the limits that are not
    of single tasks, or time ran out.
    """
    choices = set_choices(instance)
    if np.unique(choices.task).size < instance.n_tasks:
        return None
    program, clock = choices.program(), Clock(seconds)
    given = program.column("given")
    unserved, excess, price = np.zeros((3, program.cost.size))
    unserved[given.span], excess[given.span] = ~choices.serves, choices.excess
    price[given.span] = program.cost[given.span]
    best: Ints | None = None
    for number, (cost, room) in enumerate(((unserved, 0.5), (excess, SAME), (price, 0.0))):
        taken = choices.taken(solve(replace(program, cost=cost), BRANCHING, Options(time_limit=clock.left, seed=seed)))
        if taken is None:
            break
        best, value = taken, float(cost[given.span][taken].sum())
        program = program.with_rows(f"stage {number}", (1,), cost[None, :], -np.inf, value + room)
    if best is None:
        return None
    pairs, short = choices.pairs(best), choices.task[best][~choices.serves[best]]
    return None if breaches(instance, pairs, short=short) else pairs


def set_choices(instance: AssignmentInstance) -> SetChoices:
    """Every set of new labels that a task may have; instance: with few sets."""
    n, m = instance.n_tasks, instance.n_workers
    every = (np.arange(2**m)[:, None] >> np.arange(m)) & 1 > 0  # (2^m, m)
    barred, fixed, known = (_pair_table(pairs, n, m) for pairs in (instance.barred, instance.fixed, instance.collected))
    fewest, most = instance.new_label_limits
    size = every.sum(axis=1)
    enough = size >= fewest[:, None]
    allowed = (size <= most[:, None]) & (every | ~fixed[:, None]).all(axis=2) & ~(every & barred[:, None]).any(axis=2)
    for g, least, room in zip(*task_limits(instance), strict=True):
        mine = every[:, list(instance.groups[g].members)].sum(axis=1)
        allowed &= (mine <= room[:, None]) | (room[:, None] == UNBOUNDED)
        enough &= mine >= least[:, None]
    enough &= instance.evidence[instance.task_type] @ every.T >= instance.residual_need[:, None] - COVERAGE
    task, which = np.nonzero(allowed)
    hands = every[which] if instance.observed else every[which] | known[task]
    error = errors_of(instance, task, [np.flatnonzero(hand) for hand in hands])
    serves = enough[task, which]
    if instance.the_rule.checked:
        serves &= error <= instance.epsilon[task] + CERTAIN
    return SetChoices(instance, task, every[which], serves, error)


def _pair_table(pairs: Ints, n: int, m: int) -> Bools:
    """Which pairs are there, (n, m); pairs (k, 2): task and worker."""
    there = np.zeros((n, m), bool)
    there[pairs[:, 0], pairs[:, 1]] = True
    return there
