"""The largest share of a market's needs that its workers can cover: where to go on if they cannot cover all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, extended
from crowdopt.programs import market


def of_groups(groups: market.GroupedMarket, need: Floats, joint: bool) -> Program:
    """``max r  s.t.  sum_g q_kg u_kg >= r n_k C_k`` and the market's other rows, 0 <= r <= 1: one share for all kinds.

    Or ``max sum_k n_k r_k  s.t.  sum_g q_kg u_kg >= r_k n_k C_k``: the most tasks. Written as a minimum. The paper
    says to drop tasks or to raise epsilon where its LP has no point (Ho et al. 2013, Section 5.1).

    Columns: ``u`` (pairs with evidence,), ``share`` (1,) or (kinds,). Rows as in ``market``.

    groups: kinds of tasks, groups of workers; need (kinds,): C_k, evidence for each task of the kind; joint: whether
    all kinds have one share.
    """
    base, kinds = market.of_groups(groups, need), need.size
    extra = 1 if joint else kinds
    place = np.arange(kinds) * (0 if joint else 1)
    demand = sparse.csc_array((-groups.tasks_in * need, (np.arange(kinds), place)), (base.row_lower.size, extra))
    row_lower = base.row_lower.copy()
    row_lower[base.row("cover").span] = 0.0
    gain = np.array([1.0]) if joint else groups.tasks_in.astype(np.float64)
    base = replace(base, name="largest-share", row_lower=row_lower)
    return extended(base, [("share", (extra,))], demand, cost=-gain, upper=1.0)
