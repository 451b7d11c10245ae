"""What one more unit is worth where there is a plan: prices of tasks, values of capacities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.explain.questions import ElasticPoint, Probe
from crowdopt.core.certificate import pulling_sides
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.crowd.alike import Classes, classes_of
from crowdopt.crowd.group_limits import task_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import aggregated
from crowdopt.programs.assignment import shares_of

# tangents of each kind that are checked by solving again, the steepest first: as many as columns allow
RESOLVED, FEWEST, COLUMNS = 25, 5, 200_000

Ask = Callable[[Program], ElasticPoint | None]


@dataclass(frozen=True, eq=False)
class Margins:
    """First-order answers of the LP over classes, and what solving again says."""

    cost: float  # optimum of the LP
    # what the task's need costs at the margin: multiplier times need, and the same of its fewest labels
    task_price: Floats  # (tasks,)
    task_saving: Floats  # (tasks,): what the LP saves without one such task, by solving again; NaN where it was not
    capacity_value: Floats  # (workers,): what one more unit of the worker's capacity saves at most
    capacity_saving: Floats  # (workers,): what it saves, by solving again; NaN where it was not
    # what loosening a joint limit by one saves at most: one label of a group more, or fewer, for each task; one label
    # of a group beyond its share; one unit of an own row. The limit in words is the key
    limit_value: dict[str, float]


def margins(instance: AssignmentInstance, probe: Probe) -> Margins | None:
    """Multipliers of the LP relaxation as prices, the steepest checked by solving again; None where it has no point.

    The LP's optimum is convex in needs and capacities: a tangent never promises less than one more unit of capacity
    brings.
    """
    classes = classes_of(relaxation(instance), joint=True)
    program = aggregated.of_classes(classes)
    ask = probe.again()  # one session for all: each solve goes on from the basis of the one before
    point = ask(program)
    if point is None or point.dual is None:
        return None
    cost = float((program.cost * point.primal).sum())
    price, value = _tangents(classes, program, point)
    limits = _limit_values(classes, program, point)
    most = max(FEWEST, min(RESOLVED, COLUMNS // program.cost.size))

    def again(steep: Floats, changed: Callable[[int], Program]) -> Floats:
        return _again(probe.clock, ask, cost, steep, changed, most)

    saving = again(price, lambda kind: _without_one(classes, program, kind))
    gain = again(value, lambda group: _with_one_more(program, group))
    task, worker = classes.task_class, classes.worker_class
    return Margins(cost, price[task], saving[task], value[worker], gain[worker], limits)


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


def _again(clock: Clock, ask: Ask, cost: float, steep: Floats, changed: Callable[[int], Program], most: int) -> Floats:
    """Savings by solving the changed programs, for the steepest tangents that promise anything, at most so many."""
    saving = np.full(steep.size, np.nan)
    for place in np.argsort(-steep, kind="stable")[: min(most, int((steep > 0).sum()))].tolist():
        if clock.over:
            break
        program = changed(place)
        point = ask(program)
        if point is not None:
            saving[place] = cost - float((program.cost * point.primal).sum())
    return saving


def _without_one(classes: Classes, program: Program, kind: int) -> Program:
    """One task of the class less: its share of every row of its class, and of the box."""
    share = 1 - 1 / classes.tasks_in[kind]
    lower, upper = program.row_lower.copy(), program.row_upper.copy()
    for block in program.rows:
        if block.name in ("cover", "labels", "group"):
            rows = block.start + kind + np.arange(0, block.size, classes.need.size)
            lower[rows] *= share
            upper[rows] *= np.where(np.isfinite(upper[rows]), share, 1.0)
    box_low, box = (side.reshape(classes.evidence.shape).copy() for side in (program.lower, program.upper))
    box_low[kind] *= share
    box[kind] *= share
    return replace(program, row_lower=lower, row_upper=upper, lower=box_low.reshape(-1), upper=box.reshape(-1))


def _with_one_more(program: Program, group: int) -> Program:
    upper = program.row_upper.copy()
    upper[program.row("capacity").start + group] += 1
    return replace(program, row_upper=upper)
