"""The most slack that a given sum of money buys: where to aim before rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, extended
from crowdopt.crowd.alike import Classes
from crowdopt.programs import aggregated

MOST = 10.0  # units of evidence per task; more slack than this is of no use


def of_classes(classes: Classes, money: float) -> Program:
    """``max s  s.t.  sum_g q_tg u_tg >= n_t (C_t + s)``, ``sum c u <= money``, and the aggregated LP's other rows.

    Written as a minimum. Columns: ``u`` (T, G), ``slack`` (1,). Rows as in ``aggregated`` with whole labels, and the
    money in the row ``budget``.
    """
    budget = replace(classes.instance, budget=money)
    base = aggregated.of_classes(replace(classes, instance=budget), whole=True)
    entries = np.zeros((base.row_lower.size, 1))
    entries[base.row("cover").span, 0] = -classes.tasks_in
    ceiling = (classes.workers_in * classes.capacity)[None, :]
    within = np.minimum(base.upper.reshape(classes.evidence.shape), ceiling).reshape(-1)
    base = replace(base, name="target", upper=within)
    return extended(base, [("slack", (1,))], sparse.csc_array(entries), cost=-1.0, upper=MOST)
