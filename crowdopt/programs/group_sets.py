"""The master over sets of labels under limits of groups: how many tasks of each kind get which set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack
from crowdopt.programs import Formulation


@dataclass(frozen=True, eq=False)
class MasterRows:
    """What all tasks share.

    Parameters
    ----------
    weight : (rows, G) float
        What one label of each class of workers counts in each row: capacities, least loads, shares of groups.
    lower, upper : (rows,) float
        Sides.
    """

    weight: Floats
    lower: Floats
    upper: Floats


def of_sets(
    shared: MasterRows, tasks_in: Floats, kind: Ints, count: Ints, cost: Floats, dear: float, slack: Floats
) -> Program:
    """``min sum c_s x_s + D sum short_t + sum d_r (short_r + over_r)  s.t.  sum_{s of t} x_s + short_t >= n_t``.

    And the shared rows, ``l_r - short_r <= sum_s (sum_g w_rg a_sg) x_s <= u_r + over_r``, a_sg the labels of g in the
    set s, which keeps the need and the limits of groups of its task. What is short or over is paid for, so that there
    is always a point, and no multiplier of a shared row is above d_r.

    Columns: ``short`` (T + rows,), ``over`` (rows,), ``set`` (S,). Rows: ``task`` (T,), ``shared`` (rows,).

    Parameters
    ----------
    shared : MasterRows
    tasks_in : (T,) float
        n_t.
    kind : (S,) int
        The kind of task whose set it is.
    count : (S, G) int
        a_s.
    cost : (S,) float
    dear : float
        D.
    slack : (rows,) float
        d.

    Returns
    -------
    Program
    """
    kinds, rows = tasks_in.size, shared.lower.size
    short = sparse.eye_array(kinds + rows, format="csc")
    over = sparse.eye_array(kinds + rows, rows, k=-kinds, format="csc")
    return Program(
        name="group-sets",
        cost=np.concatenate([np.full(kinds, dear), slack, slack, cost]),
        matrix=sparse.csc_array(sparse.hstack([short, -over, columns(shared, kinds, kind, count)], format="csc")),
        row_lower=np.concatenate([tasks_in, shared.lower]),
        row_upper=np.concatenate([np.full(kinds, np.inf), shared.upper]),
        lower=np.zeros(kinds + 2 * rows + cost.size),
        upper=np.full(kinds + 2 * rows + cost.size, np.inf),
        integer=np.zeros(kinds + 2 * rows + cost.size, bool),
        columns=stack([("short", (kinds + rows,)), ("over", (rows,)), ("set", (cost.size,))]),
        rows=stack([("task", (kinds,)), ("shared", (rows,))]),
    )


def columns(shared: MasterRows, kinds: int, kind: Ints, count: Ints) -> sparse.csc_array:
    """The columns of sets, (T + rows, S).

    Parameters
    ----------
    shared : MasterRows
    kinds : int
        T.
    kind : (S,) int
    count : (S, G) int

    Returns
    -------
    (T + rows, S) sparse array
    """
    own = (np.arange(kinds)[:, None] == kind[None, :]).astype(np.float64)
    return sparse.csc_array(np.vstack([own, shared.weight @ count.T]))


PROGRAM = Formulation(
    "group-sets",
    "how many tasks of each kind get which set of labels that keeps the limits of groups",
    "own; the master of Dantzig & Wolfe 1960",
)
