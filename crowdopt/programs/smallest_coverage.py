"""The largest evidence that every task can have at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, extended, relax
from crowdopt.crowd.classes import Classes
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import aggregated, assignment


def build(instance: AssignmentInstance) -> Program:
    """``max C  s.t.  sum_j q_ij y_ij + collected_i >= C`` and the assignment LP's other rows, as a minimum.

    Its optimum is the need up to which the instance is feasible, as an LP, whatever its own targets are: by the
    rule's error bound that is the smallest uniform epsilon that any plan could promise.

    Columns: ``y`` (tasks, workers), ``level`` (1,).
    """
    base, each = relax(assignment.build(instance)), np.ones(instance.n_tasks)
    ceiling = float(instance.evidence.sum(axis=1).max() + instance.collected_evidence.max())
    return _raised(base, each, instance.collected_evidence, ceiling)


def of_classes(classes: Classes) -> Program:
    """The same over classes: ``max C  s.t.  sum_g q_tg u_tg + n_t collected_t >= n_t C``, the aggregated LP's rows.

    Tasks of a class that have collected different evidence count with the most of it: the optimum stays a bound.

    Columns: ``u`` (T, G), ``level`` (1,).
    """
    base = aggregated.of_classes(classes)
    collected = np.zeros(classes.need.size)
    np.maximum.at(collected, classes.task_class, classes.instance.collected_evidence)
    ceiling = float((classes.evidence * classes.workers_in).sum(axis=1).max() + collected.max())
    return _raised(base, classes.tasks_in, collected, ceiling)


def _raised(base: Program, tasks: NDArray[Any], collected: Floats, ceiling: float) -> Program:
    """An LP whose rows ``cover`` stand for so many tasks each, with their common level in place of their needs."""
    cover = base.row("cover").span
    entries = np.zeros((base.row_lower.size, 1))
    entries[cover, 0] = -tasks
    row_lower = base.row_lower.copy()
    row_lower[cover] = -tasks * collected
    base = replace(base, name="smallest-coverage", row_lower=row_lower)
    return extended(base, [("level", (1,))], sparse.csc_array(entries), cost=-1.0, upper=ceiling)
