"""The fewest tasks whose absence makes room for the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, extended
from crowdopt.crowd.alike import Classes, task_limits
from crowdopt.programs import aggregated


def of_classes(classes: Classes) -> Program:
    """``min sum_t d_t  s.t.  sum_g q_tg u_tg + C_t d_t >= n_t C_t``, d_t in {0..n_t}, and ``aggregated``'s other rows.

    A dropped task needs no labels either: with least numbers, ``sum_g u_tg + a_t d_t >= n_t a_t``, and likewise those
    of a group. The u are shares of labels.

    Columns: ``u`` (T, G), ``dropped`` (T,), integer. Rows as in ``aggregated``.
    """
    base = aggregated.of_classes(classes)
    count = classes.need.size
    entries = sparse.lil_array((base.row_lower.size, count))
    kinds = np.arange(count)
    entries[base.row("cover").start + kinds, kinds] = classes.floor
    if any(block.name == "labels" for block in base.rows):
        entries[base.row("labels").start + kinds, kinds] = classes.fewest.astype(np.float64)
    for k, fewest in enumerate(task_limits(classes.instance)[1][:, classes.first_task]):
        entries[base.row("group").start + k * count + kinds, kinds] = fewest.astype(np.float64)
    base = replace(base, name="dropped-tasks")
    program = extended(base, [("dropped", (count,))], entries.tocsc(), cost=1.0, upper=classes.tasks_in)
    return replace(program, integer=np.append(np.zeros(base.cost.size, bool), np.ones(count, bool)))
