"""The master over patterns: the LP over a menu so far, each task free to go without at a price."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, extended, relax
from crowdopt.programs.patterns import PatternSet, of_menu
from crowdopt.programs.pools import Pools


def of_priced_menu(
    pools: Pools, menu: PatternSet, price: float, wrong: float | None = None, least_wrong: bool = False
) -> Program:
    """``min sum c_tP z_tP + D sum_t without_t  s.t.  without_t + sum_P z_tP = n_t`` and the other rows of ``patterns``.

    Shares of tasks, so that multipliers price the rows that link them; always feasible. Where D is more than all
    plans cost its optimum is that of the LP over the menu.

    Columns: ``given`` (k,), ``without`` (T,). Rows as in ``patterns``.

    menu: the patterns so far; price: D, what a task without a pattern costs; wrong: as in
    :func:`crowdopt.programs.patterns.of_menu`; least_wrong: as in :func:`crowdopt.programs.patterns.of_menu`.
    """
    base = relax(of_menu(pools, menu, wrong, least_wrong))
    tasks = base.row("task")
    unit = sparse.eye_array(base.row_lower.size, tasks.size, format="csc")
    program = extended(base, [("without", (tasks.size,))], unit, cost=price, upper=base.row_upper[tasks.span])
    return replace(program, name="pattern-master", cost=np.append(base.cost, np.full(tasks.size, price)))
