"""Prices and a bound to begin with: linear programs over classes of tasks and workers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.checked import aiming
from crowdopt.assign.engine.alike import may_repeat, of_all
from crowdopt.assign.engine.prepared import Prepared, levelled, levels_of
from crowdopt.assign.engine.set_prices import sweep
from crowdopt.assign.linear.relaxation import has_whole_prices
from crowdopt.assign.plan import Duals
from crowdopt.assign.standing import Standing
from crowdopt.core.certificate import Certificate, certify, next_integer
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE, Options, Solution
from crowdopt.crowd.alike import Classes, classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import aggregated

AIMS = 1.0, 0.85, 0.7  # of what normal votes take, where exact errors decide
FIRST = 0.2  # of the time left, for the multipliers of normal votes
FIRST_LP = 0.4  # of the time left, for a first LP: without its prices a plan begins at none
WIDE, NEEDS = 200_000, 10  # pairs of classes in the first LP; beyond, needs of a row in it


def first_bound(standing: Standing, problem: Prepared) -> Solution:
    """The LP over classes, and what it proves: the first bound."""
    loose = problem.classes.instance
    classes = with_few_needs(_like(problem, relaxation(loose)), problem)
    program = aggregated.of_classes(classes)
    solution = standing.solvers.solve(program, BY_SIZE, _for_a_first_lp(standing))
    known = certify(solution)
    proven = known.proof == "certificate"
    bound = next_integer(known.bound) if proven and has_whole_prices(classes) else known.bound
    standing.interrupted |= solution.interrupted
    standing.known = Certificate(None, bound, known.proof, None, None)
    if proven:
        standing.certified = bound
    if solution.dual is not None:
        standing.duals = of_all(standing.instance, loose, Duals.of_rows(program, solution.dual).of_members(classes))
    return solution


def _for_a_first_lp(standing: Standing) -> Options:
    return replace(standing.options, time_limit=standing.clock.part(FIRST_LP).left)


def _like(problem: Prepared, linear: AssignmentInstance) -> Classes:
    """Classes of an instance made of the problem's, whose workers are told alike in the same way."""
    pooled = problem.classes.pooled
    return classes_of(may_repeat(linear) if pooled else linear, joint=True, pooled=pooled)


def with_few_needs(classes: Classes, problem: Prepared) -> Classes:
    """Classes for a first LP: where it is large, tasks of a row that need equally many labels have few needs.

    Each is the least of several: what no plan costs less than then, no plan does.
    """
    if classes.evidence.size <= WIDE:
        return classes
    row_of = problem.row_of[problem.classes.task_class[classes.first_task]]
    order = np.lexsort((classes.floor, classes.fewest, row_of))
    size = np.bincount(row_of)
    rank = np.arange(order.size) - (np.cumsum(size) - size)[row_of[order]]
    part = row_of[order] * NEEDS + rank * NEEDS // np.maximum(size[row_of[order]], NEEDS)
    first = np.flatnonzero((np.diff(part, prepend=-1) != 0) | (np.diff(classes.fewest[order], prepend=-1) != 0))
    place = np.empty(order.size, np.int64)
    place[order] = np.repeat(np.arange(first.size), np.diff(first, append=order.size))
    few = {name: getattr(classes, name)[order[first]] for name in ("evidence", "cost", "least", "room")}
    few |= {name: np.minimum.reduceat(getattr(classes, name)[order], first) for name in ("need", "floor", "fewest")}
    most = np.maximum.reduceat(classes.most[order], first)
    tasks_in = np.bincount(place, classes.tasks_in).astype(np.int64)
    return replace(classes, task_class=place[classes.task_class], tasks_in=tasks_in, most=most, **few)


def begin(problem: Prepared, standing: Standing, dual: Floats | None) -> tuple[Floats, Floats]:
    """Multipliers to begin with, and how far from 0 they may go at first, about.

    Of those of LPs of normal votes the ones that prove most; where none came in time, none, and they may go as far as
    labels cost. dual: of the LP over classes, where it was solved.
    """
    nothing, cost = np.zeros(problem.coupling.lower.size), float(problem.coupling.cost.mean())
    levels, best, proven = levelled(problem, levels_of(problem, 1)), nothing, -np.inf
    reach, turn = nothing, standing.clock.part(FIRST)
    for aim in AIMS:
        if turn.over and proven > -np.inf:
            break  # each of these LPs takes long, and a plan needs time as well
        first = _aimed_prices(problem, standing, aim)
        reach = np.maximum(reach, np.abs(first))
        bound = sweep(levels, first, rich=False).bound
        if bound > proven:
            best, proven = first, bound
    return best, reach if reach.any() or dual is not None else nothing + cost


def _aimed_prices(problem: Prepared, standing: Standing, aim: float) -> Floats:
    """Multipliers of the LP of normal votes, whose need is so many times what they take."""
    classes = with_few_needs(_like(problem, aiming(problem.classes.instance, aim)), problem)
    program = aggregated.of_classes(classes)
    solution = standing.solvers.solve(program, BY_SIZE, replace(_for_a_first_lp(standing), nodes=None))
    coupling, first = problem.coupling, np.zeros(problem.coupling.lower.size)
    if solution.dual is None:
        return first
    found, groups = _first_prices(program, solution.dual), classes.capacity.size
    first[: coupling.workers] = found[:groups][classes.worker_class[problem.classes.first_worker]]
    first[coupling.workers :] = found[groups:]
    return coupling.valid(first)


def _first_prices(program: Program, dual: Floats) -> Floats:
    """The LP's multipliers of the rows that the engine couples tasks by."""
    names = [block.name for block in program.rows]
    coupled = [name for name in ("capacity", "most_share", "least_share", "own", "budget") if name in names]
    return np.concatenate([program.row(name).view(dual).reshape(-1) for name in coupled])
