"""Any plan of whole labels, soon: a little money beyond the bound makes splitting easy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.checked import solve_checked
from crowdopt.assign.exact.relaxation import relax_classes
from crowdopt.assign.exact.rounding import round_amounts
from crowdopt.assign.exact.search import Solvers
from crowdopt.assign.exact.split import Split, deal_evenly
from crowdopt.assign.exact.stages import solve_exact
from crowdopt.assign.plan import Plan, breaches
from crowdopt.core.solution import Options, Solve
from crowdopt.crowd.classes import Classes, classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import target

SMALL = 5_000  # pairs up to which the exact method is as quick
BEYOND = 1.03  # times the bound: what a plan may cost
WORK = 2_000  # pairs looked at


def quick_plan(instance: AssignmentInstance, solvers: Solvers, seconds: float) -> Ints | None:
    """Pairs of a plan that keeps every limit, under any rule; None where none was found, which proves nothing."""
    options = Options(time_limit=seconds, gap=1.0)
    if instance.the_rule.checked:
        return solve_checked(instance, lambda one, given: _as_plan(one, solvers, given), options).pairs
    return _pairs(instance, solvers, options)


def _as_plan(instance: AssignmentInstance, solvers: Solvers, options: Options) -> Plan:
    linear = solve_exact(instance, "lp", solvers, options)
    return replace(
        linear, program="ip", pairs=_pairs(instance, solvers, options) if linear.found else None, amounts=None
    )


def _pairs(instance: AssignmentInstance, solvers: Solvers, options: Options) -> Ints | None:
    if instance.n_tasks * instance.n_workers <= SMALL:
        return solve_exact(instance, "ip", solvers, options).pairs
    classes = classes_of(instance)
    bound = relax_classes(classes, solvers.solve, options, whole=True).certificate.bound
    if not np.isfinite(bound):
        return None
    money = bound * BEYOND + 5 * float(instance.cost.max())
    pairs = _aimed(classes, min(money, np.inf if instance.budget is None else instance.budget), solvers.solve, options)
    return None if pairs is None or breaches(instance, pairs) else pairs


def _aimed(classes: Classes, money: float, solve: Solve, options: Options) -> Ints | None:
    """Round and split the point with the most slack that so much money buys."""
    aimed = solve(target.of_classes(classes, money), "highs-simplex", options)
    if aimed.primal is None:
        return None
    amounts = aimed.program.column("u").view(aimed.primal)
    whole = round_amounts(classes, amounts, float(aimed.primal[-1]), money)
    pairs = deal_evenly(classes, whole)
    if pairs is not None:
        return pairs
    split = Split.of_amounts(classes, whole, money, seed=0)
    split.level()
    split.finish(WORK)
    if not split.covered and split.everybody.size <= SMALL:
        split.trade(WORK)
    return None if not split.covered and split.top_up() else split.pairs()
