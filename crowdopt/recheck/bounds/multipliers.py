"""What multipliers of the assignment program's rows prove, evaluated task by task."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.roundoff import UNIT, sum_below
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.recheck.bounds.joint_pull import JointPull


def prove(
    instance: AssignmentInstance,
    task: Floats,
    worker: Floats,
    labels: Floats,
    budget: float,
    joint: JointPull | None = None,
) -> float:
    """``min over y of the Lagrangian``: a lower bound on every plan's cost, whatever the multipliers.

    ``sum_i C_i x_i + a_i [l_i]+ - b_i [l_i]- + sum_j L_j [w_j]+ - M_j [w_j]- - B [b]- + sum_ij min(0, r_ij)`` with
    ``r_ij = (1 - b) c_ij - q_ij x_i - l_i - w_j``; a fixed pair counts r_ij itself, a barred one nothing. Multipliers
    that pull on a side that is not there count as 0. ``joint``: what groups and own rows bring, with
    which ``r_ij`` is less by their pull. Evaluated task by task, independently of the program's matrix, and less what
    rounding may have added.

    task (tasks,): x, multipliers of the needs; labels (tasks,): l, multipliers of the label limits; joint: of groups
    and own rows.
    """
    fewest, most = instance.new_label_limits
    x = np.maximum(task, 0.0)
    limit = np.where((labels < 0) & (most == UNLIMITED), 0.0, labels)
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    spend = min(budget, 0.0) if instance.budget is not None else 0.0
    rows = [
        instance.floor * x,
        np.where(limit > 0, fewest, np.where(most == UNLIMITED, 0, most)) * limit,
        np.where(load > 0, instance.min_load, instance.capacity) * load,
        np.array([spend * (instance.budget or 0.0)]),
    ]
    off = _roundings(instance, x, limit, load, spend)
    kinds, joint = instance.task_type, joint or JointPull.none(instance)

    def reduced(i: Ints, j: Ints) -> Floats:
        """The reduced costs of pairs, at most: less what rounding may have added to them."""
        kind = kinds[i]
        exact = (1 - spend) * instance.cost[kind, j] - instance.evidence[kind, j] * x[i] - limit[i] - load[j]
        pulls = joint.row_of[i], j
        return exact - joint.pull[pulls] - 8 * UNIT * joint.size[pulls] - off[i]

    everybody = np.arange(instance.n_workers)[None, :]
    step = max(1, 2_000_000 // instance.n_workers)
    gains = [0.0]
    for start in range(0, instance.n_tasks, step):
        some = np.arange(start, min(start + step, instance.n_tasks))[:, None]
        gains.append(float(np.minimum(0.0, reduced(some, everybody)).sum()))
    barred, fixed = instance.barred, instance.fixed
    spared = np.minimum(0.0, reduced(barred[:, 0], barred[:, 1]))
    forced = np.maximum(0.0, reduced(fixed[:, 0], fixed[:, 1]))
    terms = np.concatenate([*rows, gains, -spared, forced, joint.terms])
    return sum_below(terms)


def _roundings(instance: AssignmentInstance, x: Floats, limit: Floats, load: Floats, spend: float) -> Floats:
    """By how much float64 may be off in the reduced costs of a task's pairs, (tasks,): multipliers have any size."""
    dearest, best = instance.cost.max(axis=1)[instance.task_type], instance.evidence.max(axis=1)[instance.task_type]
    size = (1 - spend) * dearest + best * x + np.abs(limit) + np.abs(load).max(initial=0.0)
    return 8 * UNIT * size
