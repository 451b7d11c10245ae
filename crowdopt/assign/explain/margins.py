"""What one more unit is worth where there is a plan: prices of tasks, values of capacities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.explain.questions import ElasticPoint, Probe
from crowdopt.core.certificate import pulling_sides
from crowdopt.core.program import Program
from crowdopt.crowd.alike import Classes, classes_of
from crowdopt.crowd.group_limits import task_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import aggregated
from crowdopt.programs.assignment import shares_of


@dataclass(frozen=True, eq=False)
class Margins:
    """First-order answers of the LP over classes."""

    cost: float  # optimum of the LP
    # what the task's need costs at the margin: multiplier times need, and the same of its fewest labels
    task_price: Floats  # (tasks,)
    capacity_value: Floats  # (workers,): what one more unit of the worker's capacity saves at most
    # what loosening a joint limit by one saves at most: one label of a group more, or fewer, for each task; one label
    # of a group beyond its share; one unit of an own row. The limit in words is the key
    limit_value: dict[str, float]


def margins(instance: AssignmentInstance, probe: Probe) -> Margins | None:
    """Multipliers of the LP relaxation as prices; None where it has no point.

    The LP's optimum is convex in needs and capacities: a tangent never promises less than one more unit of capacity
    brings.
    """
    classes = classes_of(relaxation(instance), joint=True)
    program = aggregated.of_classes(classes)
    point = probe.run(program)
    if point is None or point.dual is None:
        return None
    cost = float((program.cost * point.primal).sum())
    price, value = _tangents(classes, program, point)
    limits = _limit_values(classes, program, point)
    task, worker = classes.task_class, classes.worker_class
    return Margins(cost, price[task], value[worker], limits)


def _tangents(classes: Classes, program: Program, point: ElasticPoint) -> tuple[Floats, Floats]:
    assert point.dual is not None
    pulls = pulling_sides(program, point.dual)
    rows = {block.name: block.view(pulls) for block in program.rows}
    labels = np.maximum(rows.get("labels", np.zeros(classes.need.size)), 0.0)
    price = rows["cover"] * classes.floor + labels * classes.fewest
    if "group" in rows:
        fewest = task_limits(classes.instance)[1][:, classes.first_task]
        price = price + (np.maximum(rows["group"], 0.0) * fewest).sum(axis=0)
    return price, np.maximum(-rows["capacity"], 0.0)


def _limit_values(classes: Classes, program: Program, point: ElasticPoint) -> dict[str, float]:
    """Multipliers of joint limits, by name: the optimum is convex in their sides."""
    assert point.dual is not None
    pulls, groups = pulling_sides(program, point.dual), classes.instance.groups
    rows = {block.name: block.view(pulls) for block in program.rows}
    values: dict[str, float] = {}
    if "group" in rows:
        each = rows["group"] * classes.tasks_in
        for g, row in zip(task_limits(classes.instance)[0], each, strict=True):
            values[f"group {groups[g].name}, max_per_task one more"] = float(np.maximum(-row, 0.0).sum())
            values[f"group {groups[g].name}, min_per_task one less"] = float(np.maximum(row, 0.0).sum())
    for block, _, bound in shares_of(classes.instance):
        side = "one label above max_share" if block == "most_share" else "one label below min_share"
        values |= {f"group {groups[g].name}, {side}": float(abs(rows[block][k])) for k, g in enumerate(bound)}
    own = () if classes.instance.own_rows is None else classes.instance.own_rows.names
    return values | {f"row {name}, one unit looser": float(abs(rows["own"][k])) for k, name in enumerate(own)}
