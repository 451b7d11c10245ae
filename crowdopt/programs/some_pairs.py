"""The assignment's relaxation over some pairs of kinds and workers, with what they cannot give bought dearly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack


@dataclass(frozen=True, eq=False)
class SomePairs:
    """Pairs that may have shares of labels."""

    # whose they are; kinds of tasks and workers are 0, 1, ..
    task: Ints  # (k,)
    worker: Ints  # (k,)
    worth: Floats  # (k,): evidence
    cost: Floats  # (k,): price of the label
    most: Floats  # (k,): labels: so many tasks are of the kind


@dataclass(frozen=True, eq=False)
class PairLimits:
    """What kinds of tasks need in all, workers have room for, and money there is."""

    need: Floats  # (n,): C
    # labels of a task; inf where there is no limit
    fewest: Floats  # (n,)
    most: Floats  # (n,)
    least: Floats  # (m,): L
    room: Floats  # (m,): M
    money: float  # B; inf where there is no budget


def of_pairs(pairs: SomePairs, sides: PairLimits, dear: tuple[float, float]) -> Program:
    """``min sum c y + d sum_i short_i + e (sum_i few_i + sum_j under_j)`` over the pairs given, the others at 0.

    s.t. ``sum_j q_ij y_ij + short_i >= C_i``, ``L_j <= sum_i y_ij + under_j``, ``sum_i y_ij <= M_j``,
    ``a_i <= sum_j y_ij + few_i``, ``sum_j y_ij <= b_i``, ``sum c y <= B``, ``0 <= y <= n``. There is always a point.

    Columns: ``y`` (k,), ``short`` (n,), ``few`` (n,), ``under`` (m,). Rows: ``cover`` (n,), ``capacity`` (m,),
    ``labels`` (n,), ``budget`` (1,).

    dear (float, float): d, of a unit of evidence that is not there, and e, of a label.
    """
    k, n, m = pairs.task.size, sides.need.size, sides.room.size
    one, place, task, worker = np.ones(k), np.arange(k), np.arange(n), np.arange(m)
    labels, budget = n + m, 2 * n + m
    # without label limits a task's pairs have no entry in its row `labels`: large programs stay sparse
    limited = np.isfinite(sides.most) | (sides.fewest > 0)
    counts = limited[pairs.task]
    row = [pairs.task, n + pairs.worker, labels + pairs.task[counts], task, labels + task, n + worker]
    column = [place, place, place[counts], k + task, k + n + task, k + 2 * n + worker]
    value = [pairs.worth, one, one[counts], np.ones(n), np.ones(n), np.ones(m)]
    if np.isfinite(sides.money):
        row, column, value = [*row, np.full(k, budget)], [*column, place], [*value, pairs.cost]
    entries = np.concatenate(value), (np.concatenate(row), np.concatenate(column))
    return Program(
        name="some-pairs",
        cost=np.concatenate([pairs.cost, np.full(n, dear[0]), np.full(n + m, dear[1])]),
        matrix=sparse.csc_array(entries, shape=(budget + 1, k + 2 * n + m)),
        row_lower=np.concatenate(
            [
                sides.need,
                np.where(sides.least > 0, sides.least, -np.inf),
                np.where(sides.fewest > 0, sides.fewest, -np.inf),
                [-np.inf],
            ]
        ),
        row_upper=np.concatenate([np.full(n, np.inf), sides.room, sides.most, [sides.money]]),
        # what is short or over may only be bought where a limit stands; the columns exist everywhere
        lower=np.zeros(k + 2 * n + m),
        upper=np.concatenate(
            [
                pairs.most,
                np.where(sides.need > 0, np.inf, 0.0),
                np.where(sides.fewest > 0, np.inf, 0.0),
                np.where(sides.least > 0, np.inf, 0.0),
            ]
        ),
        integer=np.zeros(k + 2 * n + m, bool),
        columns=stack([("y", (k,)), ("short", (n,)), ("few", (n,)), ("under", (m,))]),
        rows=stack([("cover", (n,)), ("capacity", (m,)), ("labels", (n,)), ("budget", (1,))]),
    )
