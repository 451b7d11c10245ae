"""Tasks that ask nothing are left out of every program; what is known of the others is known of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.plan import Duals, Plan
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.reach import open_tasks
from crowdopt.crowd.subset import of_tasks


def presolved(instance: AssignmentInstance, solve: Callable[[AssignmentInstance], Plan]) -> Plan:
    """The plan of the open tasks alone (crowdopt.crowd.reach) as a plan of all.

    Cost and bound stay what they are: a task that is left out needs no label, and with multipliers 0 it takes nothing
    from the bound, whatever the prices of time and money are.
    """
    kept = open_tasks(instance)
    if kept.size == instance.n_tasks:
        return solve(instance)
    plan = solve(of_tasks(instance, kept))
    duals = None if plan.duals is None else _duals_of_all(instance.n_tasks, kept, plan.duals)

    def of_all(pairs: Ints | None) -> Ints | None:
        return None if pairs is None else np.column_stack([kept[pairs[:, 0]], pairs[:, 1]])

    return replace(plan, instance=instance, pairs=of_all(plan.pairs), partial=of_all(plan.partial), duals=duals)


def _duals_of_all(n: int, kept: Ints, duals: Duals) -> Duals:
    """Multipliers of some tasks as those of all: 0 for the others."""

    def spread(values: Floats) -> Floats:
        every = np.zeros((*values.shape[:-1], n))
        every[..., kept] = values
        return every

    joint = {name: spread(values) if name == "group" else values for name, values in duals.joint.items()}
    return replace(duals, task=spread(duals.task), labels=spread(duals.labels), joint=joint)
