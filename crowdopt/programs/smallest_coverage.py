"""The largest evidence that every task can have at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, relax, stack
from crowdopt.crowd.classes import Classes
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import Formulation, aggregated, assignment


def build(instance: AssignmentInstance) -> Program:
    """``max C  s.t.  sum_j q_ij y_ij + collected_i >= C`` and the assignment LP's other rows, as a minimum.

    Its optimum is the need up to which the instance is feasible, as an LP, whatever its own targets are: by the
    rule's error bound that is the smallest uniform epsilon that any plan could promise.

    Columns: ``y`` (tasks, workers), ``level`` (1,).
    """
    base = relax(assignment.build(instance))
    cover = base.row("cover")
    entries = np.zeros((base.row_lower.size, 1))
    entries[cover.span] = -1.0
    row_lower = base.row_lower.copy()
    row_lower[cover.span] = -instance.collected_evidence
    ceiling = float(instance.evidence.sum(axis=1).max() + instance.collected_evidence.max())
    return replace(
        base,
        name="smallest-coverage",
        cost=np.append(np.zeros_like(base.cost), -1.0),
        matrix=sparse.hstack([base.matrix, sparse.csc_array(entries)], format="csc"),
        row_lower=row_lower,
        lower=np.append(base.lower, 0.0),
        upper=np.append(base.upper, ceiling),
        integer=np.zeros(base.cost.size + 1, bool),
        columns=stack([("y", base.columns[0].shape), ("level", (1,))]),
    )


def of_classes(classes: Classes) -> Program:
    """The same over classes: ``max C  s.t.  sum_g q_tg u_tg + n_t collected_t >= n_t C``, the aggregated LP's rows.

    Tasks of a class that have collected different evidence count with the most of it: the optimum stays a bound.

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
    ceiling = float((classes.evidence * classes.workers_in).sum(axis=1).max() + collected.max())
    return replace(
        base,
        name="smallest-coverage",
        cost=np.append(np.zeros_like(base.cost), -1.0),
        matrix=sparse.hstack([base.matrix, sparse.csc_array(entries)], format="csc"),
        row_lower=row_lower,
        lower=np.append(base.lower, 0.0),
        upper=np.append(base.upper, ceiling),
        integer=np.zeros(base.cost.size + 1, bool),
        columns=stack([("u", base.columns[0].shape), ("level", (1,))]),
    )


PROGRAM = Formulation(
    "smallest-coverage",
    "the largest evidence that every task can have at once",
    "own",
)
