"""Tasks of a row of evidence taken together, their needs averaged: where prices start and amounts aim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.sweep import Prices
from crowdopt.core.solution import BY_SIZE, Options, Solve
from crowdopt.crowd.alike import Classes
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.programs import aggregated

ROWS = 128  # up to which their linear program is solved


def averaged(tasks: OwnTasks) -> Classes:
    """Each row as a class of tasks that all need what its tasks need on average; every worker a class."""
    arrays, m = tasks.arrays, tasks.room.size
    rows, place, count = np.unique(arrays.row, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=arrays.floor) / count
    shape = rows.size, m
    return Classes(
        instance=tasks.instance,
        task_class=place,
        worker_class=np.arange(m),
        tasks_in=count,
        workers_in=np.ones(m, np.int64),
        evidence=arrays.worth[rows],
        cost=np.array(np.broadcast_to(arrays.cost, shape) if len(arrays.cost) == 1 else arrays.cost[rows]),
        need=mean,
        floor=mean,
        fewest=np.zeros(rows.size, np.int64),
        most=np.full(rows.size, UNLIMITED),
        capacity=tasks.room,
        min_load=tasks.least,
        least=np.zeros(shape, np.int64),
        room=np.ones(shape, np.int64),
    )


@dataclass(frozen=True, eq=False)
class RowsPoint:
    """The optimum of the averaged rows' linear program: ``amounts`` (rows, m) of labels, and prices of workers."""

    amounts: Floats
    prices: Prices


def rows_point(tasks: OwnTasks, solve: Solve, options: Options) -> RowsPoint | None:
    """The linear program of the averaged rows; None where rows are too many, or it has no point."""
    if np.unique(tasks.arrays.row).size > ROWS or not tasks.is_shared:
        return None
    program = aggregated.of_classes(averaged(tasks))
    solution = solve(program, BY_SIZE, options)
    if solution.dual is None or solution.primal is None:
        return None
    worker = program.row("capacity").view(solution.dual)
    worker = np.where(tasks.least > 0, worker, np.minimum(worker, 0.0))
    budget = 0.0 if tasks.budget is None else min(0.0, float(program.row("budget").view(solution.dual)[0]))
    amounts = program.column("u").view(solution.primal).copy()
    return RowsPoint(amounts, Prices(np.ascontiguousarray(worker), budget))


def starting_prices(tasks: OwnTasks, solve: Solve, options: Options) -> Prices | None:
    """Prices from the linear program of the averaged rows; None where rows are too many."""
    point = rows_point(tasks, solve, options)
    return None if point is None else point.prices
