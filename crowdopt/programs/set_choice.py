"""The master over sets of labels: how many tasks of each kind get which set, under all rows that tie tasks together."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack


def of_sets(
    sides: tuple[Floats, Floats],
    tasks_in: Ints,
    cost: Floats,
    matrix: sparse.csc_array,
    dear: float | Floats,
    slack: tuple[Floats, Floats],
) -> Program:
    """``min sum c_s x_s + D sum without_t + sum d_r short_r + e_r over_r  s.t.  sum_{s of t} x_s + without_t >= n_t``.

    And the shared rows, ``l_r - short_r <= sum_s a_rs x_s <= u_r + over_r``, a_rs what the set s takes of row r: loads,
    shares of groups, money. A set keeps what is of its task alone. What is short or over is paid for, so that there is
    always a point, and the multiplier of a shared row is from -e_r to d_r.

    Columns: ``without`` (T,), ``short`` (rows,), ``over`` (rows,), ``set`` (S,).
    Rows: ``task`` (T,), ``shared`` (rows,).

    sides two (rows,) arrays: l and u; tasks_in (T,): n_t; cost (S,); matrix (T + rows, S) sparse array; dear: D, or
    (T,) of each kind; slack two (rows,) arrays: d and e.
    """
    kinds, rows = tasks_in.size, slack[0].size
    short = sparse.eye_array(kinds + rows, format="csc")
    over = sparse.eye_array(kinds + rows, rows, k=-kinds, format="csc")
    size = before_sets(kinds, rows) + cost.size
    return Program(
        name="set-choice",
        cost=np.concatenate([np.broadcast_to(dear, (kinds,)), *slack, cost]),
        matrix=sparse.csc_array(sparse.hstack([short, -over, matrix], format="csc")),
        row_lower=np.concatenate([tasks_in.astype(np.float64), sides[0]]),
        row_upper=np.concatenate([np.full(kinds, np.inf), sides[1]]),
        lower=np.zeros(size),
        upper=np.full(size, np.inf),
        integer=np.zeros(size, bool),
        columns=stack([("without", (kinds,)), ("short", (rows,)), ("over", (rows,)), ("set", (cost.size,))]),
        rows=stack([("task", (kinds,)), ("shared", (rows,))]),
    )


def before_sets(kinds: int, rows: int) -> int:
    """The number of columns before those of sets."""
    return kinds + 2 * rows
