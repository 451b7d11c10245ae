"""The least capacity that is missing: labels beyond the workers' limits, as cheap as can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, stack
from crowdopt.crowd.classes import Classes
from crowdopt.programs import Formulation, aggregated


def of_classes(classes: Classes) -> Program:
    """``min sum_g c_g e_g  s.t.  sum_t u_tg - e_g <= s_g M_g`` and the aggregated LP's other rows, the budget aside.

    c_g is the mean price of a label of g, 1 where it is free; 0 <= e_g, and no worker gets more than all tasks.

    Columns: ``u`` (T, G), ``extra`` (G,). Rows as in ``aggregated`` without a budget.
    """
    base = aggregated.of_classes(replace(classes, instance=replace(classes.instance, budget=None)))
    price = classes.cost.mean(axis=0)
    unit = -sparse.eye_array(base.row_lower.size, price.size, k=-base.row("capacity").start, format="csc")
    ceiling = classes.workers_in * np.maximum(0.0, classes.instance.n_tasks - classes.capacity)
    return replace(
        base,
        name="extra-capacity",
        cost=np.concatenate([np.zeros_like(base.cost), np.where(price > 0, price, 1.0)]),
        matrix=sparse.hstack([base.matrix, unit], format="csc"),
        lower=np.append(base.lower, np.zeros(price.size)),
        upper=np.append(base.upper, ceiling),
        integer=np.zeros(base.cost.size + price.size, bool),
        columns=stack([("u", base.columns[0].shape), ("extra", (price.size,))]),
    )


PROGRAM = Formulation("extra-capacity", "the cheapest labels beyond the workers' capacities that make room", "own")
