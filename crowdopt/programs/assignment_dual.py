"""The dual of the assignment LP, written out as in the paper."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, stack
from crowdopt.crowd.alike import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule
from crowdopt.errors import InputError
from crowdopt.programs.assignment import has_label_limits


def build(instance: AssignmentInstance) -> Program:
    """``max sum C_i x_i - sum M_j z_j - sum t_ij  s.t.  c_ij - q_ij x_i + z_j + t_ij >= 0`` (Ho et al. 2013, 4.3).

    Written as a minimum, so its optimum is minus the LP's. x_i is the *task weight*, the price of one unit of
    evidence; ``q_ij x_i - c_ij`` is the *task value*. A barred pair's t costs nothing: its y is bounded by 0.

    Columns: ``x`` (tasks,), ``z`` (workers,), ``t`` (tasks, workers). Rows: ``value`` (tasks, workers), in the
    orientation ``q_ij x_i - z_j - t_ij <= c_ij``. By the linear rule that implies the instance's where that is checked.

    Raises
    ------
    InputError
        If the instance has limits that the paper's dual does not know (fixed pairs, label limits, minimum loads, a
        budget): for those there is ``dualize(relax(assignment))``.
    """
    extras = {
        "fixed pairs": instance.fixed.size > 0,
        "label limits": has_label_limits(instance),
        "minimum loads": bool((instance.min_load > 0).any()),
        "a budget": instance.budget is not None,
        "groups or own rows": has_joint_limits(instance),
    }
    present = [name for name, there in extras.items() if there]
    if present:
        raise InputError(f"the paper's dual knows no {', '.join(present)}; use dualize(relax(assignment.build(...)))")
    about, instance = f"by {named_rule(instance)}", linear_of(instance)
    n, m = instance.n_tasks, instance.n_workers
    room = np.ones((n, m))
    room[tuple(instance.barred.T)] = 0.0
    evidence = instance.evidence[instance.task_type].reshape(-1)
    pair, nonzero = np.arange(n * m), evidence != 0
    columns = stack([("x", (n,)), ("z", (m,)), ("t", (n, m))])
    values = [evidence[nonzero], -np.ones(n * m), -np.ones(n * m)]
    rows = [pair[nonzero], pair, pair]
    places = [(pair // m)[nonzero], n + pair % m, n + m + pair]
    count = columns[-1].stop
    return Program(
        name="assignment-dual",
        cost=np.concatenate([-instance.floor, instance.capacity, room.reshape(-1)]),
        matrix=sparse.csc_array(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(places))), shape=(n * m, count)
        ),
        row_lower=np.full(n * m, -np.inf),
        row_upper=instance.cost[instance.task_type].reshape(-1).copy(),
        lower=np.zeros(count),
        upper=np.full(count, np.inf),
        integer=np.zeros(count, bool),
        columns=columns,
        rows=stack([("value", (n, m))]),
        about=about,
    )
