"""The model of a bound by lines: prices for workers' time within a box, tasks taken together in groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack


@dataclass(frozen=True, eq=False)
class Box:
    """Where prices may go: ``lower <= price <= upper`` (m,), and the same of ``lift`` (m,) and of the ``budget``."""

    lower: Floats
    upper: Floats
    lift_lower: Floats
    lift_upper: Floats
    budget: tuple[float, float]


def of_lines(load: Floats, paid: Floats, group: Ints, room: Floats, least: Floats, money: float, box: Box) -> Program:
    """``max sum_g t_g - sum_j M_j z_j + sum_j L_j w_j + b B  s.t.  t_g - load (z - w) + paid b <= paid`` line by line.

    A line is what the sets of the tasks of a group ask of workers (``load``) and cost (``paid``): at any prices the
    group's part of the bound is at most its value. Written as a minimum.

    Columns: ``group`` (G,), ``price`` (m,) z, ``lift`` (m,) w for least loads, ``budget`` (1,) b. Rows: ``line``.

    load (lines, m): labels that the sets of a line ask of each worker; group (lines,): the group that each line is
    about; room, least (m,): M and L, of what no fixed label takes; money: B; 0 where there is no budget, whose
    price is then 0; box: where prices may go.
    """
    lines, m = load.shape
    groups = int(group.max()) + 1
    own = sparse.csc_array((np.ones(lines), (np.arange(lines), group)), shape=(lines, groups))
    asked = sparse.csc_array(load)
    free = np.full(groups, np.inf)
    return Program(
        name="grouped-cuts",
        cost=np.concatenate([np.full(groups, -1.0), room, -least, [-money]]),
        matrix=sparse.hstack([own, -asked, asked, sparse.csc_array(paid[:, None])], format="csc"),
        row_lower=np.full(lines, -np.inf),
        row_upper=paid.copy(),
        lower=np.concatenate([-free, box.lower, box.lift_lower, [box.budget[0]]]),
        upper=np.concatenate([free, box.upper, box.lift_upper, [box.budget[1]]]),
        integer=np.zeros(groups + 2 * m + 1, bool),
        columns=stack([("group", (groups,)), ("price", (m,)), ("lift", (m,)), ("budget", (1,))]),
        rows=stack([("line", (lines,))]),
    )
