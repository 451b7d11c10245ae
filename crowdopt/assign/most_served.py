"""Small instances without a plan: every set of labels of every task, and the choice that serves the most tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.every_set import WORKERS, joint_rows, pair_table, subsets
from crowdopt.assign.plan import breaches
from crowdopt.core.certificate import certify
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BRANCHING, Options, Solve
from crowdopt.crowd.classes import each_its_own
from crowdopt.crowd.exactness import CERTAIN, errors_of
from crowdopt.crowd.group_limits import task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import COVERAGE, UNLIMITED, AssignmentInstance
from crowdopt.programs import label_sets

MOST = 4_000  # sets of labels that are looked at, all tasks together
SAME = 1e-9  # error; how closely the least sum of errors is kept while labels are saved
TYING = ("most_share", "least_share", "own")  # joint limits that are not of single tasks


@dataclass(frozen=True, eq=False)
class LabelChoice:
    """A set of labels that a task may have."""

    task: Ints  # (k,): whose
    chosen: Bools  # (k, workers): who labels it
    serves: Bools  # (k,): whether the task gets what it asks for
    # (k,): by how much the task's error is above its target, 0 where it is served; the error itself where their
    # average counts
    excess: Floats


def has_few_choices(instance: AssignmentInstance) -> bool:
    """Whether all sets of labels of all tasks can be looked at, those that serve no task too."""
    return instance.n_workers <= WORKERS and instance.n_tasks * 2**instance.n_workers <= MOST


def most_served(instance: AssignmentInstance, solve: Solve, seconds: float, seed: int = 0) -> Ints | None:
    """Labels that serve as many tasks as possible; of those with the least errors of the others; of those the cheapest.

    ``max sum of served tasks``, then ``min sum of max(0, error - target)``, then ``min sum c z``, each subject to one
    set a task, capacities, least loads, budget, shares and rows of one's own, z in {0, 1}.

    instance: with few choices; seconds: for all three; -> (k, 2): task and worker of each label; None where no labels
    keep the limits that are not of single tasks, or time ran out.
    """
    choices = _choices(instance)
    if np.unique(choices.task).size < instance.n_tasks:
        return None
    program, clock = _program(instance, choices), Clock(seconds)
    given = program.column("given")
    unserved, excess, price = np.zeros((3, program.cost.size))
    unserved[given.span], excess[given.span] = ~choices.serves, choices.excess
    price[given.span] = program.cost[given.span]
    taken: Ints | None = None
    for number, (cost, room) in enumerate(((unserved, 0.5), (excess, SAME), (price, 0.0))):
        solution = solve(replace(program, cost=cost), BRANCHING, Options(time_limit=clock.left, seed=seed))
        if solution.primal is None or not certify(solution).is_feasible():
            break
        taken = np.flatnonzero(given.view(solution.primal) > 0.5)
        value = float(cost[given.span][taken].sum())
        program = program.with_rows(f"stage {number}", (1,), cost[None, :], -np.inf, value + room)
    if taken is None:
        return None
    pairs = np.argwhere(choices.chosen[taken])
    pairs = np.column_stack([choices.task[taken][pairs[:, 0]], pairs[:, 1]])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    short = choices.task[taken][~choices.serves[taken]]
    return None if breaches(instance, pairs, short=short) else pairs


def _choices(instance: AssignmentInstance) -> LabelChoice:
    """Every set of new labels that keeps a task's most labels, in all and of each group, and its pairs."""
    n, m = instance.n_tasks, instance.n_workers
    every = subsets(m)
    barred, fixed, known = (pair_table(pairs, n, m) for pairs in (instance.barred, instance.fixed, instance.collected))
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
    above = np.where(serves, 0.0, np.maximum(0.0, error - instance.epsilon[task]))
    return LabelChoice(task, every[which], serves, error if instance.the_rule.average else above)


def _program(instance: AssignmentInstance, choices: LabelChoice) -> Program:
    """One set a task, and everything that ties tasks together."""
    n = instance.n_tasks
    free = replace(instance, min_labels=np.zeros(n, np.int64), max_labels=np.full(n, UNLIMITED))
    sets = [np.flatnonzero(row) for row in choices.chosen]
    ones = np.ones(n, np.int64)
    program = label_sets.of_sets(each_its_own(free), ones, free.capacity, choices.task.tolist(), sets)
    program = joint_rows(program, instance, choices.task, choices.chosen, TYING)
    upper = np.ones(program.cost.size)
    upper[program.column("without").span] = 0.0
    return replace(program, upper=upper, integer=np.ones(upper.size, bool))
