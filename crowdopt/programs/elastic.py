"""What an infeasible program lacks: evidence, capacity, or tasks too many."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from scipy import sparse

from crowdopt.core.program import Program, extended, relax
from crowdopt.crowd.alike import Classes, task_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import aggregated, assignment

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


def with_extra_capacity(classes: Classes) -> Program:
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


def without_some_tasks(classes: Classes) -> Program:
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
