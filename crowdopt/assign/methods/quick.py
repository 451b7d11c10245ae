"""Any plan of whole labels, soon: a little money beyond the bound makes splitting easy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.checked import solve_checked
from crowdopt.assign.direct import solve_full
from crowdopt.assign.engine.prepared import accepts
from crowdopt.assign.engine.set_engine import SMALL, solve_by_sets
from crowdopt.assign.exact.aim import MODEST, attempt
from crowdopt.assign.exact.compiling import load
from crowdopt.assign.exact.relaxation import relax_classes
from crowdopt.assign.exact.search import Search
from crowdopt.assign.methods.linear_rules import solve_linear
from crowdopt.assign.plan import Plan
from crowdopt.assign.standing import Solvers
from crowdopt.core.clock import Clock
from crowdopt.core.solution import BY_SIZE, Options
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import breaches
from crowdopt.crowd.reach import open_tasks
from crowdopt.crowd.subset import of_tasks
from crowdopt.crowd.vote_errors import exact_errors

NODES, DIVES = 200, 8  # how far is looked where there are joint limits
BEYOND = 1.03  # times the bound: what a plan may cost


def quick_plan(instance: AssignmentInstance, solvers: Solvers, seconds: float) -> Ints | None:
    """A plan that keeps every limit, under any rule.

    seconds: a limit that only very large instances reach: the work ends by itself, so that the answer does not depend
    on the machine; -> (k, 2) int, or None: task and worker of each label; None where no plan was found, which
    proves nothing.
    """
    get_ready(instance)
    options, kept = Options(time_limit=seconds, gap=1.0), open_tasks(instance)
    part = instance if kept.size == instance.n_tasks else of_tasks(instance, kept)
    if part.the_rule.checked:
        pairs = _whole(solve_checked(part, lambda one, given: _as_plan(one, solvers, given), options)).pairs
    else:
        pairs = _pairs(part, solvers, options)
    return None if pairs is None else np.column_stack([kept[pairs[:, 0]], pairs[:, 1]])


def get_ready(instance: AssignmentInstance | None = None) -> None:
    """Compile what looking for a plan may need and is not there yet, before any time is counted."""
    load()
    if instance is not None and instance.the_rule.checked:
        exact_errors(instance, instance.fixed[:0])


def _as_plan(instance: AssignmentInstance, solvers: Solvers, options: Options) -> Plan:
    joint = has_joint_limits(instance)
    linear = (
        solve_full(instance, "lp", solvers.solve, BY_SIZE, options)
        if joint
        else solve_linear(instance, "lp", solvers, options)
    )
    return replace(
        _whole(linear), program="ip", pairs=_pairs(instance, solvers, options) if linear.found else None, amounts=None
    )


def _pairs(instance: AssignmentInstance, solvers: Solvers, options: Options) -> Ints | None:
    if has_joint_limits(instance):
        few = replace(options, gap=1.0, nodes=DIVES)
        plan = solve_by_sets(instance, solvers, few) if accepts(instance) else None
        if plan is not None and (_whole(plan).found or instance.n_tasks * instance.n_workers > SMALL):
            return plan.pairs
        nodes = replace(options, nodes=NODES)
        return _whole(solve_full(instance, "ip", solvers.solve, solvers.backend, nodes, None, BY_SIZE)).pairs
    if instance.n_tasks * instance.n_workers <= MODEST:
        return _whole(solve_linear(instance, "ip", solvers, options, soon=True)).pairs
    clock, classes = Clock(options.time_limit), classes_of(instance)
    search = Search.of(relax_classes(classes, solvers.solve, options, whole=True), solvers, options, clock)
    if not np.isfinite(search.bound):
        return None
    money = search.bound * BEYOND + 5 * float(instance.cost.max())
    pairs = attempt(search, money if instance.budget is None else min(money, instance.budget), seed=0, thorough=False)
    return None if pairs is None or breaches(instance, pairs) else pairs


def _whole(plan: Plan) -> Plan:
    """A plan whose search came to its own end: Ctrl-C ends whoever asked for it, too."""
    if plan.interrupted:
        raise KeyboardInterrupt
    return plan
