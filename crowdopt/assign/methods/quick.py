"""Any plan of whole labels, soon."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.checked import solve_checked
from crowdopt.assign.compiling import load
from crowdopt.assign.plan import Plan
from crowdopt.assign.search import solve_linear_rule
from crowdopt.assign.standing import Solvers
from crowdopt.core.solution import Options
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.reach import open_tasks
from crowdopt.crowd.subset import of_tasks
from crowdopt.crowd.vote_errors import exact_errors

NODES = 200  # of a search of the whole program


def quick_plan(instance: AssignmentInstance, solvers: Solvers, seconds: float) -> Ints | None:
    """A plan that keeps every limit, under any rule.

    seconds: a limit that only very large instances reach: the work ends by itself, so that the answer does not depend
    on the machine; -> (k, 2) int, or None: task and worker of each label; None where no plan was found, which
    proves nothing.
    """
    get_ready(instance)
    options, kept = Options(time_limit=seconds, gap=1.0, nodes=NODES), open_tasks(instance)  # the first plan ends it
    part = instance if kept.size == instance.n_tasks else of_tasks(instance, kept)

    def linear(one: AssignmentInstance, given: Options) -> Plan:
        return _whole(solve_linear_rule(one, solvers, given))

    pairs = (_whole(solve_checked(part, linear, options)) if part.the_rule.checked else linear(part, options)).pairs
    return None if pairs is None else np.column_stack([kept[pairs[:, 0]], pairs[:, 1]])


def get_ready(instance: AssignmentInstance | None = None) -> None:
    """Compile what looking for a plan may need and is not there yet, before any time is counted."""
    load()
    if instance is not None and instance.the_rule.checked:
        exact_errors(instance, instance.fixed[:0])


def _whole(plan: Plan) -> Plan:
    """A plan whose search came to its own end: Ctrl-C ends whoever asked for it, too."""
    if plan.interrupted:
        raise KeyboardInterrupt
    return plan
