"""The bound of whole sets where tasks are many and not alike: the statement of ``prove_blocks``, compiled."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.roundoff import DEPTH, UNIT
from crowdopt.crowd.instance import AssignmentInstance

BELOW_MINIMUM = 1e-8  # relative; how far a task's bound may stay below its minimum
STATES, MORE = 4_000, 40_000  # partial sets that are followed; and where that leaves much open
OPEN = 1e-4  # relative; that is much


def least_sets(instance: AssignmentInstance, reduced: Floats, limit: Floats, pay: float) -> Floats:
    """``v_i = min sum_j (pay c_ij - w_j - l_i) y_j  s.t.  sum_j q_ij y_j >= C_i`` and i's own pairs, from below.

    reduced (workers,): w, what comes off the price of a worker's labels; limit (tasks,): l, what comes off the price of
    a task's labels; pay: ``1 - b``; -> (tasks,): at most v; infinite where no set meets the need.
    """
    from crowdopt.recheck.bounds.set_kernels import cheapest_bounds

    n, fixed = instance.n_tasks, instance.fixed
    own = np.concatenate([instance.barred, fixed])
    own = own[np.lexsort((own[:, 1], own[:, 0]))]
    starts = np.concatenate([[0], np.cumsum(np.bincount(own[:, 0], minlength=n))]).astype(np.int64)
    need = instance.floor - instance.supply(fixed)
    one_row = instance.cost.strides[0] == 0
    cost = np.array(instance.cost[:1] if one_row else instance.cost, order="C")
    worth = np.ascontiguousarray(instance.evidence)
    value, rough = np.zeros((2, n))

    def solve(some: Ints, states: int) -> None:
        begin, end = starts[some], starts[some + 1]
        index = np.concatenate([own[b:e, 1] for b, e in zip(begin, end, strict=True)] + [np.zeros(0, np.int64)])
        ends = np.concatenate([[0], np.cumsum(end - begin)]).astype(np.int64)
        found, off = np.zeros((2, some.size))
        cheapest_bounds(
            instance.task_type[some], need[some], ends, index.astype(np.int64), limit[some], worth, cost, pay,
            np.ascontiguousarray(reduced), BELOW_MINIMUM, states, found, off,
        )  # fmt: skip
        value[some], rough[some] = found, off

    solve(np.arange(n), STATES)
    rest = np.flatnonzero(rough > OPEN)
    if rest.size:
        solve(rest, MORE)
    paid = pay * instance.prices(fixed) - reduced[fixed[:, 1]] - limit[fixed[:, 0]]
    value = value + np.bincount(fixed[:, 0], weights=paid, minlength=n)
    size = pay * float(cost.max()) + float(np.abs(reduced).max(initial=0.0)) + np.abs(limit)
    return np.asarray(value - DEPTH * UNIT * size * instance.n_workers)
