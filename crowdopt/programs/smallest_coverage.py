"""The largest evidence that every task can have at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, extended
from crowdopt.crowd.alike import Classes
from crowdopt.programs import aggregated


def of_classes(classes: Classes) -> Program:
    """``max C  s.t.  sum_g q_tg u_tg + n_t collected_t >= n_t C`` and the aggregated LP's other rows, as a minimum.

    Its optimum is the need up to which the instance is feasible, as an LP, whatever its own targets are: by the
    rule's error bound that is the smallest uniform epsilon that any plan could promise. Tasks of a class that have
    collected different evidence count with the most of it: the optimum stays a bound.

    Columns: ``u`` (T, G), ``level`` (1,).
    """
    base = aggregated.of_classes(classes)
    collected = np.zeros(classes.need.size)
    np.maximum.at(collected, classes.task_class, classes.instance.collected_evidence)
    cover = base.row("cover").span
    entries = np.zeros((base.row_lower.size, 1))
    entries[cover, 0] = -classes.tasks_in
    row_lower = base.row_lower.copy()
    row_lower[cover] = -classes.tasks_in * collected
    base = replace(base, name="smallest-coverage", row_lower=row_lower)
    ceiling = float((classes.evidence * classes.workers_in).sum(axis=1).max() + collected.max())
    return extended(base, [("level", (1,))], sparse.csc_array(entries), cost=-1.0, upper=ceiling)
