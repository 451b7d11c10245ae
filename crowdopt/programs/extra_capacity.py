"""The cheapest labels beyond the workers' capacities that make room for all tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, extended
from crowdopt.crowd.alike import Classes
from crowdopt.programs import aggregated


def of_classes(classes: Classes) -> Program:
    """``min sum_g c_g e_g  s.t.  sum_t u_tg - e_g <= s_g M_g`` and the aggregated LP's other rows, the budget aside.

    c_g is the mean price of a label of g, 1 where it is free; 0 <= e_g, and no worker gets more than all tasks.

    Columns: ``u`` (T, G), ``extra`` (G,). Rows as in ``aggregated`` without a budget.
    """
    base = aggregated.of_classes(replace(classes, instance=replace(classes.instance, budget=None)))
    price = classes.cost.mean(axis=0)
    unit = -sparse.eye_array(base.row_lower.size, price.size, k=-base.row("capacity").start, format="csc")
    ceiling = classes.workers_in * np.maximum(0.0, classes.instance.n_tasks - classes.capacity)
    base = replace(base, name="extra-capacity")
    return extended(base, [("extra", (price.size,))], unit, cost=np.where(price > 0, price, 1.0), upper=ceiling)
