"""What an error target costs: the LP's optimum as a function of epsilon, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.explain.questions import ElasticPoint, Probe, without_budget
from crowdopt.core.certificate import pulling_sides
from crowdopt.core.program import Program
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import aggregated

FLAT = 1e-7  # relative; a tangent this close to the curve is the curve
MOST = 240  # LPs solved for the pieces
GRID = 9  # targets for which a plan of whole labels is looked for
Ask: TypeAlias = Callable[[Program], "ElasticPoint | None"]
LARGEST = 0.45  # error target at the right end


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Cost by error target, all tasks alike."""

    epsilon: Floats  # (k,): ascending
    bound: Floats  # (k,): least cost by the LP: no plan costs less
    # change of the bound per unit of epsilon, from the LP's multipliers; NaN where the rule has no such tangent
    slope: Floats  # (k,)
    plan: Floats  # (k,): cost of a plan that was found; NaN where none was looked for, or none found
    # whether the bound is linear in the need between neighbouring points, so that these are all its pieces
    complete: bool


def curve(instance: AssignmentInstance, probe: Probe, least: float) -> CostCurve:
    """The curve from the smallest target within reach to LARGEST, budget aside.

    Where every task's need is the same function of epsilon the LP's optimum is convex and piecewise linear in the
    need. Two tangents that miss each other's point are cut where they meet, and the LP is solved there: either the
    point lies on both, a breakpoint, or the halves are treated alike. Every tangent is so checked by solving again.
    """
    free = without_budget(instance)
    grid = np.geomspace(least, LARGEST, GRID)
    convex = not instance.the_rule.checked and instance.prior.ndim == 1 and not (instance.dependence > 1).any()
    ask = probe.again()
    points = {float(e): _solved(free, ask, float(e)) for e in grid}
    complete = convex and _cut(free, probe, ask, points)
    points = {e: point for e, point in points.items() if np.isfinite(point[1])}
    epsilon = np.array(sorted(points))
    plan = np.array([_plan_cost(free, probe, e) if e in grid else np.nan for e in epsilon.tolist()])
    need = np.array([points[e] for e in epsilon.tolist()]).reshape(-1, 3)
    slope = need[:, 2] * _steepness(instance, epsilon) if convex else np.full(epsilon.size, np.nan)
    return CostCurve(epsilon, need[:, 1], slope, plan, complete)


def _solved(instance: AssignmentInstance, ask: Ask, epsilon: float) -> tuple[float, float, float]:
    need = float(np.max(instance.the_rule.need(epsilon, instance.classes, instance.prior)))
    classes = classes_of(relaxation(instance.with_epsilon(epsilon)), joint=True)
    program = aggregated.of_classes(classes)
    point = ask(program)
    if point is None or point.dual is None:
        return need, np.inf, np.nan
    cover = program.row("cover").view(pulling_sides(program, point.dual))
    still = classes.need > 0
    return need, float((program.cost * point.primal).sum()), float((cover * classes.tasks_in)[still].sum())


def _steepness(instance: AssignmentInstance, epsilon: Floats) -> Floats:
    """Change of the need per unit of epsilon: -2 / epsilon for the rules that bound errors by e^(-A/2)."""
    wanted = instance.the_rule.need(epsilon, instance.classes, instance.prior)
    return np.where(wanted > 0, -2 / epsilon, 0.0) * instance.demand[0]


def _cut(instance: AssignmentInstance, probe: Probe, ask: Ask, points: dict[float, tuple[float, float, float]]) -> bool:
    known = sorted(points.values())
    open_ = [pair for pair in pairwise(known) if np.isfinite(pair[1][1])]
    while open_ and len(points) < MOST and not probe.clock.over:
        left, right = open_.pop(0)
        near = FLAT * max(1.0, right[1])
        if abs(left[1] + left[2] * (right[0] - left[0]) - right[1]) <= near or right[0] - left[0] <= FLAT:
            continue
        if right[2] - left[2] <= FLAT * max(1.0, right[2]):
            continue
        need = (left[1] - right[1] + right[2] * right[0] - left[2] * left[0]) / (right[2] - left[2])
        epsilon = float(instance.the_rule.error(need, instance.classes, instance.prior))
        middle = _solved(instance, ask, epsilon)
        points[epsilon] = middle
        if abs(left[1] + left[2] * (need - left[0]) - middle[1]) > near:
            open_ += [(left, middle), (middle, right)]
    return not open_


def _plan_cost(instance: AssignmentInstance, probe: Probe, epsilon: float) -> float:
    pairs = probe.find(instance.with_epsilon(epsilon))
    return np.nan if pairs is None else float(instance.prices(pairs).sum())
