"""The market: the assignment LP over kinds of interchangeable tasks and the workers seen so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack


@dataclass(frozen=True, eq=False)
class Market:
    """Workers seen, and how much of each kind they are to cover."""

    # of one label
    evidence: Floats  # (kinds, workers)
    cost: Floats  # (kinds, workers)
    capacity: NDArray[np.integer]  # (workers,): M_j
    tasks_in: NDArray[np.integer]  # (kinds,): n_k
    need: Floats  # (kinds,): evidence wanted for each task of the kind, on average


@dataclass(frozen=True, eq=False)
class GroupedMarket:
    """The market with workers who are alike written once."""

    # of one label
    evidence: Floats  # (kinds, groups)
    cost: Floats  # (kinds, groups)
    capacity: Floats  # (groups,): of one worker
    tasks_in: NDArray[np.integer]  # (kinds,): n_k
    count: Ints  # (groups,): workers in the group


def grouped(market: Market) -> GroupedMarket:
    """Workers with equal columns and capacity as one group."""
    table = np.vstack([market.evidence, market.cost, market.capacity[None]])
    joint, count = np.unique(table, axis=1, return_counts=True)
    kinds = market.need.size
    return GroupedMarket(joint[:kinds], joint[kinds:-1], joint[-1], market.tasks_in, count)


def of_groups(market: GroupedMarket, need: Floats) -> Program:
    """``min sum c_kg u_kg  s.t.  sum_g q_kg u_kg >= n_k C_k,  sum_k u_kg <= s_g M_g,  0 <= u_kg <= n_k s_g``.

    The paper's LP over interchangeable tasks (Ho et al. 2013, Sections 4.2 and 5.1), of the workers seen; the
    multipliers of ``cover`` are the task weights x. A label without evidence has no column.

    Columns: ``u`` (pairs with evidence,). Rows: ``cover`` (kinds,), ``capacity`` (groups,).

    need (kinds,): C_k, evidence for each task of the kind.
    """
    kind, group = np.nonzero(market.evidence > 0)
    kinds, count, lines = need.size, market.count.size, kind.size
    value = np.empty((lines, 2))
    value[:, 0], value[:, 1] = market.evidence[kind, group], 1.0
    index = np.column_stack([kind, kinds + group]).astype(np.int32)
    ends = np.arange(0, 2 * lines + 1, 2, dtype=np.int32)
    rows = kinds + count
    return Program(
        name="market",
        cost=market.cost[kind, group],
        matrix=sparse.csc_array((value.reshape(-1), index.reshape(-1), ends), shape=(rows, lines)),
        row_lower=np.concatenate([market.tasks_in * need, np.full(count, -np.inf)]),
        row_upper=np.concatenate([np.full(kinds, np.inf), market.count * market.capacity]),
        lower=np.zeros(lines),
        upper=(market.tasks_in[kind] * market.count[group]).astype(np.float64),
        integer=np.zeros(lines, bool),
        columns=stack([("u", (lines,))]),
        rows=stack([("cover", (kinds,)), ("capacity", (count,))]),
    )
