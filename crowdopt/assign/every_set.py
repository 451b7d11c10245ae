"""Small instances under a checked rule: every set of labels that settles a task, and the cheapest choice of them.

Mending plans label by label finds plans where there is room; a handful of tasks may have one plan alone, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Ints
from crowdopt.assign.direct import JOINT
from crowdopt.assign.plan import Plan, breaches
from crowdopt.core.certificate import Certificate, certify
from crowdopt.core.program import Program
from crowdopt.core.solution import BRANCHING, Options, Solve
from crowdopt.crowd.classes import each_its_own
from crowdopt.crowd.exactness import CERTAIN, errors_of
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.programs import assignment, label_sets

MOST = 20_000  # sets of labels that are looked at, all tasks together
WORKERS = 12


def has_few_sets(instance: AssignmentInstance) -> bool:
    """Whether all sets of labels of all tasks can be looked at."""
    return instance.n_workers <= WORKERS and instance.n_tasks * 2**instance.n_workers <= MOST


def by_every_set(plan: Plan, solve: Solve, options: Options) -> Plan:
    """The plan of least cost among all choices of one settling set for each task, or that there is none.

    ``min sum c z  s.t.  one set a task, capacities, least loads, budget, groups, shares, rows of one's own,
    z in {0, 1}``: the master over sets with every set in it, so its optimum is the instance's (Dantzig & Wolfe 1960).
    Infeasible: on the solver's word.

    plan: what is known: its bound and multipliers stay where the search proves less; solve:
    ``solve(program, backend, options)``; options: limits of the search; -> the plan as given where the search came to
    no end.
    """
    instance = plan.instance
    task, chosen = settling_sets(instance)
    ones = np.ones(instance.n_tasks, np.int64)
    sets = [np.flatnonzero(row) for row in chosen]
    classes = each_its_own(instance)
    if len(sets) == 0:
        return _planned(plan, np.inf, None, options)
    program = label_sets.of_sets(classes, ones, instance.capacity, task.tolist(), sets)
    program = joint_rows(program, instance, task, chosen, JOINT)
    without, given = program.column("without"), program.column("given")
    upper = np.ones(program.cost.size)
    upper[without.span] = 0.0
    solution = solve(replace(program, upper=upper, integer=np.ones(upper.size, bool)), BRANCHING, options)
    known = certify(solution)
    if solution.primal is None or not known.is_feasible():
        return _planned(plan, np.inf, None, options) if known.bound == np.inf else plan
    taken = np.flatnonzero(given.view(solution.primal) > 0.5)
    pairs = np.argwhere(chosen[taken])
    pairs = np.column_stack([task[taken][pairs[:, 0]], pairs[:, 1]])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return plan if breaches(instance, pairs) else _planned(plan, known.bound, pairs, options)


def joint_rows(
    program: Program, instance: AssignmentInstance, task: Ints, chosen: Bools, names: Sequence[str]
) -> Program:
    """A program over sets with rows that tie pairs together: a set counts what its pairs count there.

    task (k,): whose set each is; chosen (k, workers): who labels it; names: blocks of the program over pairs.
    """
    whole = assignment.of_sums(instance)
    which, worker = np.nonzero(chosen)
    place = task[which] * instance.n_workers + worker, program.column("given").start + which
    pairs_of = sparse.csc_array((np.ones(which.size), place), shape=(whole.cost.size, program.cost.size))
    for block in whole.rows:
        if block.name in names:
            rows, sides = whole.matrix.tocsr()[block.span] @ pairs_of, (whole.row_lower, whole.row_upper)
            program = program.with_rows(block.name, block.shape, rows, *map(block.view, sides))
    return program


def settling_sets(instance: AssignmentInstance) -> tuple[Ints, Bools]:
    """Every set of new labels with which a task keeps its target and its own limits.

    instance: with few sets; -> task (k,): whose set it is; chosen (k, workers): who labels it.
    """
    n, m = instance.n_tasks, instance.n_workers
    every = subsets(m)
    barred, fixed, known = (pair_table(pairs, n, m) for pairs in (instance.barred, instance.fixed, instance.collected))
    fewest, most = instance.new_label_limits
    size = every.sum(axis=1)
    allowed = (size >= fewest[:, None]) & (size <= most[:, None])
    allowed &= ~(every & barred[:, None]).any(axis=2) & (every | ~fixed[:, None]).all(axis=2)
    worth = instance.evidence[instance.task_type] @ every.T
    allowed &= worth >= instance.residual_need[:, None] - COVERAGE
    task, which = np.nonzero(allowed)
    hands = every[which] if instance.observed else every[which] | known[task]
    keeps = errors_of(instance, task, [np.flatnonzero(hand) for hand in hands]) <= instance.epsilon[task] + CERTAIN
    return task[keeps], every[which[keeps]]


def subsets(m: int) -> Bools:
    """All sets of m workers, (2^m, m)."""
    return (np.arange(2**m)[:, None] >> np.arange(m)) & 1 > 0


def pair_table(pairs: Ints, n: int, m: int) -> Bools:
    """Which pairs are there, (n, m); pairs (k, 2): task and worker."""
    there = np.zeros((n, m), bool)
    there[pairs[:, 0], pairs[:, 1]] = True
    return there


def _planned(plan: Plan, bound: float, pairs: Ints | None, options: Options) -> Plan:
    """What is known of the plan, with the search's answer in its place."""
    known = Certificate(None, bound, "solver", None, None)
    if pairs is not None and plan.bound >= bound:
        known = replace(plan.certificate, value=None, violation=None, fraction=None)
    return Plan.of(
        plan.instance,
        "ip",
        known,
        plan.certified_bound,
        plan.duals,
        pairs,
        method=plan.method,
        backend="highs",
        seed=options.seed,
    )
