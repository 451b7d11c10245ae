"""The assignment program: the fewest, or cheapest, labels that give every task its evidence."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program, stack
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.programs import Formulation


def build(instance: AssignmentInstance) -> Program:
    """``min sum c_ij y_ij  s.t.  sum_j q_ij y_ij >= C_i,  sum_i y_ij <= M_j,  y_ij in {0, 1}``.

    Ho et al. 2013, (1)-(3), priced as in their Section 7. Labels already in lower C_i and bar their pair. Beyond the
    paper, each only where the instance asks for it: ``min_load_j <= sum_i y_ij`` in the same row as the capacity;
    rows ``labels``, ``a_i <= sum_j y_ij <= b_i``; a row ``budget``, ``sum c_ij y_ij <= B``; forbidden and fixed pairs
    as bounds.

    Columns: ``y`` (tasks, workers). Rows: ``cover`` (tasks,), ``capacity`` (workers,) [, ``labels`` (tasks,)]
    [, ``budget`` (1,)]. A pair without evidence has no entry in its cover row.
    """
    n, m = instance.n_tasks, instance.n_workers
    kinds = instance.task_type
    cost = instance.cost[kinds]
    limited = has_label_limits(instance)
    rows = [("cover", (n,)), ("capacity", (m,))] + [("labels", (n,))] * limited
    rows += [("budget", (1,))] * (instance.budget is not None)
    blocks = stack(rows)
    parts = [instance.evidence[kinds], None] + [None] * limited + [cost] * (instance.budget is not None)
    lower, upper = _box(instance)
    return Program(
        name="assignment",
        cost=np.ascontiguousarray(cost).reshape(-1),
        matrix=_columns(n, m, [(block.name, block.start, part) for block, part in zip(blocks, parts, strict=True)]),
        row_lower=np.concatenate(_row_lower(instance, limited)),
        row_upper=np.concatenate(_row_upper(instance, limited)),
        lower=lower,
        upper=upper,
        integer=np.ones(n * m, bool),
        columns=stack([("y", (n, m))]),
        rows=blocks,
    )


def has_label_limits(instance: AssignmentInstance) -> bool:
    """Whether any task limits the number of its new labels beyond 0 and infinity."""
    fewest, most = instance.new_label_limits
    return bool((fewest > 0).any() or (most < UNLIMITED).any())


def _row_lower(instance: AssignmentInstance, limited: bool) -> list[Floats]:
    load = instance.min_load.astype(np.float64)
    sides = [instance.floor, np.where(load > 0, load, -np.inf)]
    if limited:
        sides.append(instance.new_label_limits[0].astype(np.float64))
    return sides + [np.array([-np.inf])] * (instance.budget is not None)


def _row_upper(instance: AssignmentInstance, limited: bool) -> list[Floats]:
    sides = [np.full(instance.n_tasks, np.inf), instance.capacity.astype(np.float64)]
    if limited:
        most = instance.new_label_limits[1]
        sides.append(np.where(most == UNLIMITED, np.inf, most))
    return sides + ([] if instance.budget is None else [np.array([instance.budget])])


def _box(instance: AssignmentInstance) -> tuple[Floats, Floats]:
    shape = (instance.n_tasks, instance.n_workers)
    lower, upper = np.zeros(shape), np.ones(shape)
    upper[tuple(instance.barred.T)] = 0.0
    lower[tuple(instance.fixed.T)] = 1.0
    return lower.reshape(-1), upper.reshape(-1)


def _columns(n: int, m: int, parts: list[tuple[str, int, Floats | None]]) -> sparse.csc_array:
    """The matrix, column by column: pair (i, j) has one entry per row block, of value 1 where none is given.

    Blocks of the tasks put it into row ``start + i``, capacity into ``start + j``, budget into ``start``.
    """
    place = {"capacity": np.arange(m, dtype=np.int32)[None], "budget": np.zeros((1, 1), np.int32)}
    of_task = np.arange(n, dtype=np.int32)[:, None]
    index = np.empty((n, m, len(parts)), np.int32)
    value = np.ones((n, m, len(parts)))
    for k, (name, start, entries) in enumerate(parts):
        index[:, :, k] = start + place.get(name, of_task)
        if entries is not None:
            value[:, :, k] = entries
    shape = (max(start + size for start, size in _extents(n, m, parts)), n * m)
    return _compress(index, value, shape)


def _extents(n: int, m: int, parts: list[tuple[str, int, Floats | None]]) -> list[tuple[int, int]]:
    return [(start, {"capacity": m, "budget": 1}.get(name, n)) for name, start, _ in parts]


def _compress(index: NDArray[np.int32], value: Floats, shape: tuple[int, int]) -> sparse.csc_array:
    """CSC from dense stacks of entries (columns..., entries per column), zeros left out."""
    depth = index.shape[-1]
    present = value != 0
    if present.all():
        ends = np.arange(0, value.size + 1, depth, dtype=np.int64)
    else:
        per_column = reduce(np.add, (present[..., k].astype(np.int64) for k in range(depth))).reshape(-1)
        ends = np.concatenate([[0], np.cumsum(per_column)])
        index, value = index[present], value[present]
    kind = np.int32 if value.size < 2**31 else np.int64
    return sparse.csc_array((value.reshape(-1), index.reshape(-1), ends.astype(kind)), shape=shape)


PROGRAM = Formulation(
    "assignment",
    "the fewest, or cheapest, labels that give every task its evidence",
    "Ho, Jabbari & Vaughan 2013, (1)-(3), priced as in Section 7",
    "assignment.mod",
)
