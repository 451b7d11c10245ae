"""What one more unit is worth where there is a plan: prices of tasks, values of capacities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.explain.questions import ElasticPoint, Probe
from crowdopt.core.certificate import pulling_sides
from crowdopt.core.program import Program
from crowdopt.crowd.classes import Classes, classes_of
from crowdopt.crowd.exactness import relaxation
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import aggregated

RESOLVED = 25  # tangents of each kind that are checked by solving again, the steepest first


@dataclass(frozen=True, eq=False)
class Margins:
    """First-order answers of the LP over classes, and what solving again says.

    Parameters
    ----------
    cost : float
        Optimum of the LP.
    task_price : (tasks,)
        What the task's need costs at the margin: multiplier times need, and the same of its fewest labels.
    task_saving : (tasks,)
        What the LP saves without one such task, by solving again; NaN where it was not.
    capacity_value : (workers,)
        What one more unit of the worker's capacity saves at most.
    capacity_saving : (workers,)
        What it saves, by solving again; NaN where it was not.
    """

    cost: float
    task_price: Floats
    task_saving: Floats
    capacity_value: Floats
    capacity_saving: Floats


def margins(instance: AssignmentInstance, probe: Probe) -> Margins | None:
    """Multipliers of the LP relaxation as prices, the steepest checked by solving again; None where it has no point.

    The LP's optimum is convex in needs and capacities: a tangent never promises less than one more unit of capacity
    brings.
    """
    classes = classes_of(relaxation(instance))
    program = aggregated.of_classes(classes)
    point = probe.run(program)
    if point is None or point.dual is None:
        return None
    cost = float(program.cost @ point.primal)
    price, value = _tangents(classes, program, point)
    saving = _again(probe, cost, price, lambda kind: _without_one(classes, program, kind))
    gain = _again(probe, cost, value, lambda group: _with_one_more(program, group))
    task, worker = classes.task_class, classes.worker_class
    return Margins(cost, price[task], saving[task], value[worker], gain[worker])


def _tangents(classes: Classes, program: Program, point: ElasticPoint) -> tuple[Floats, Floats]:
    assert point.dual is not None
    pulls = pulling_sides(program, point.dual)
    rows = {block.name: block.view(pulls) for block in program.rows}
    labels = np.maximum(rows.get("labels", np.zeros(classes.need.size)), 0.0)
    return rows["cover"] * classes.floor + labels * classes.fewest, np.maximum(-rows["capacity"], 0.0)


def _again(probe: Probe, cost: float, steep: Floats, changed: Callable[[int], Program]) -> Floats:
    """Savings by solving the changed programs, for the steepest tangents that promise anything."""
    saving = np.full(steep.size, np.nan)
    for place in np.argsort(-steep, kind="stable")[: min(RESOLVED, int((steep > 0).sum()))].tolist():
        if probe.clock.over:
            break
        program = changed(place)
        point = probe.run(program)
        if point is not None:
            saving[place] = cost - float(program.cost @ point.primal)
    return saving


def _without_one(classes: Classes, program: Program, kind: int) -> Program:
    """One task of the class less: its share of every row of its class, and of the box."""
    share = 1 - 1 / classes.tasks_in[kind]
    lower, upper = program.row_lower.copy(), program.row_upper.copy()
    for block in program.rows:
        if block.name in ("cover", "labels"):
            lower[block.start + kind] *= share
            upper[block.start + kind] *= share if share > 0 or np.isfinite(upper[block.start + kind]) else 1.0
    box_low, box = (side.reshape(classes.evidence.shape).copy() for side in (program.lower, program.upper))
    box_low[kind] *= share
    box[kind] *= share
    return replace(program, row_lower=lower, row_upper=upper, lower=box_low.reshape(-1), upper=box.reshape(-1))


def _with_one_more(program: Program, group: int) -> Program:
    """One unit of capacity more for one worker of the class."""
    upper = program.row_upper.copy()
    upper[program.row("capacity").start + group] += 1
    return replace(program, row_upper=upper)
