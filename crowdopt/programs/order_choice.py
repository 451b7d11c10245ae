"""The master over orders of asking: how many tasks follow which order, under all rows that tie tasks together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, stack


@dataclass(frozen=True, eq=False)
class OrderLimits:
    """The rows' sides: of each start its tasks, of each target its wrong answers, of what ties tasks together."""

    tasks: Floats  # (starts,)
    wrong: Floats  # (targets,)
    lower: Floats  # (shared,)
    upper: Floats  # (shared,)

    @property
    def size(self) -> int:
        """Rows in all."""
        return self.tasks.size + self.wrong.size + self.lower.size


def of_orders(limits: OrderLimits, cost: Floats, matrix: sparse.csc_array, dear: float) -> Program:
    """``min sum c_o x_o + D sum_r W_r excess + D sum (short_r + over_r)``, ``sum_{o of start} x_o = n``,

    ``sum_o wrong_o x_o <= (1 + excess) W_r``, ``l_r - short_r <= sum_o use_ro x_o <= u_r + over_r``: x_o tasks follow
    the order o, wrong_o of whose answers are expected to be wrong. What is beyond a limit is paid for, so that there is
    always a point; for errors it is one multiple of all targets.

    Columns: ``excess`` (1,), ``short`` (shared,), ``over`` (shared,), ``order`` (k,).
    Rows: ``task`` (starts,), ``error`` (targets,), ``shared`` (shared,).

    limits: n, W, l and u; cost (k,): c; matrix (rows, k) sparse array: what a task that follows the order takes of each
    row; dear: D, what a wrong answer too many costs.
    """
    starts, targets, shared = limits.tasks.size, limits.wrong.size, limits.lower.size
    beyond = sparse.csc_array(-np.concatenate([np.zeros(starts), limits.wrong, np.zeros(shared)])[:, None])
    slack = sparse.eye_array(limits.size, shared, k=-(starts + targets), format="csc")
    size = before_orders(limits) + cost.size
    return Program(
        name="order-choice",
        cost=np.concatenate([[dear * max(1e-9, limits.wrong.sum())], np.full(2 * shared, dear), cost]),
        matrix=sparse.csc_array(sparse.hstack([beyond, slack, -slack, matrix], format="csc")),
        row_lower=np.concatenate([limits.tasks, np.full(targets, -np.inf), limits.lower]),
        row_upper=np.concatenate([limits.tasks, limits.wrong, limits.upper]),
        lower=np.zeros(size),
        upper=np.full(size, np.inf),
        integer=np.zeros(size, bool),
        columns=stack([("excess", (1,)), ("short", (shared,)), ("over", (shared,)), ("order", (cost.size,))]),
        rows=stack([("task", (starts,)), ("error", (targets,)), ("shared", (shared,))]),
    )


def before_orders(limits: OrderLimits) -> int:
    """The number of columns before those of orders."""
    return 1 + 2 * limits.lower.size
