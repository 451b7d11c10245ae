"""What an infeasible instance lacks: the elastic assignment LP."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, extended, relax
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import assignment

SINGLE = ("cover", "capacity", "labels", "budget")
JOINT = ("group", "most_share", "least_share", "own")  # rows that may be missed and exceeded


def build(instance: AssignmentInstance) -> Program:
    """``min sum of s  s.t.  sum_j q_ij y_ij + s_i >= C_i`` and the assignment LP's other rows, s >= 0.

    Minimum labels, minimum loads and the budget may be missed at the same price of 1 per unit, so the program is
    always feasible: capacities, largest numbers of labels, forbidden and fixed pairs stay hard. Its optimum is 0
    exactly where the LP is feasible.

    Rows of groups and of one's own may be missed and exceeded likewise.

    Columns: ``y`` (tasks, workers), then ``missing.cover`` (tasks,) and, where the instance has them,
    ``missing.labels`` (tasks,), ``missing.capacity`` (workers,; a load below its minimum), ``missing.budget`` (1,),
    ``missing.`` and ``beyond.`` of group, most_share, least_share and own.
    """
    return elastic(relax(assignment.build(instance)))


def elastic(base: Program, soft: Collection[str] | None = None) -> Program:
    """The elastic form of an LP with rows ``cover``, ``capacity`` [, ``labels``] [, ``budget``].

    Columns: the LP's own, then ``missing.`` with the name of each block of rows that may be missed.

    soft: blocks of rows that may be missed, SINGLE or JOINT; all unless said.
    """
    parts, matrices = [], []
    for block in base.rows:
        if soft is not None and block.name not in soft:
            continue
        lacks = -1.0 if block.name == "budget" else 1.0
        if block.name == "budget" or np.isfinite(base.row_lower[block.span]).any():
            parts.append((f"missing.{block.name}", block.shape))
            unit = sparse.eye_array(base.row_lower.size, block.size, k=-block.start, format="csc")
            matrices.append(lacks * unit)
        if block.name in JOINT and np.isfinite(base.row_upper[block.span]).any():
            parts.append((f"beyond.{block.name}", block.shape))
            matrices.append(-sparse.eye_array(base.row_lower.size, block.size, k=-block.start, format="csc"))
    base = replace(base, name="missing")
    return extended(base, parts, sparse.hstack(matrices, format="csc"), cost=1.0, upper=np.inf)
