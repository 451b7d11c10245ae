"""Prices from workers seen: the LP over kinds of tasks and a handful of workers, and what to do if it is infeasible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack
from crowdopt.core.solution import Options, Solution, Solve, Status

BACKEND = "highs-simplex"
SECOND_TRIES = ("highs-simplex", "highs-ipm")  # with presolve
LIMIT = Options(time_limit=60.0, presolve=False)
INSIDE = 1 - 1e-6  # of the largest feasible share: prices at the very edge are arbitrary
REMEDIES = ("scale", "drop")


@dataclass(frozen=True, eq=False)
class Market:
    """Workers seen, and how much of each kind they are to cover.

    Parameters
    ----------
    evidence, cost : (kinds, workers) float
        Of one label.
    capacity : (workers,)
        M_j.
    tasks_in : (kinds,)
        n_k.
    need : (kinds,) float
        Evidence wanted for each task of the kind, on average.
    """

    evidence: Floats
    cost: Floats
    capacity: NDArray[np.integer]
    tasks_in: NDArray[np.integer]
    need: Floats


@dataclass(frozen=True, eq=False)
class TaskPrices:
    """What a unit of evidence is worth, (kinds,), and what had to give: shares of the tasks kept and of the need."""

    price: Floats
    share: float = 1.0
    kept: Floats | None = None


def prices(market: Market, solve: Solve, remedy: str = "scale") -> TaskPrices:
    """``x*`` of ``min sum c u  s.t.  sum_j q_kj u_kj >= n_k C_k,  sum_k u_kj <= M_j,  0 <= u_kj <= n_k``.

    That is the paper's LP over interchangeable tasks (Ho et al. 2013, Sections 4.2 and 5.1). Where it has no point,
    the paper advises to drop tasks or to raise epsilon and go on.

    Parameters
    ----------
    remedy : str
        ``scale``: cover the largest share of every need that can be covered; ``drop``: cover as many tasks as can be.
    """
    if market.need.size == 1:
        return _one_kind(market)
    groups = _groups(market)
    solution = solve(_program(groups, market.need), BACKEND, LIMIT)
    if solution.status is Status.OPTIMAL and solution.dual is not None:
        return TaskPrices(_duals(solution))
    kept = _most(groups, market.need, solve, joint=remedy == "scale")
    price = _duals(_settled(_program(groups, market.need * kept * INSIDE), solve))
    return TaskPrices(price, float(kept[0])) if remedy == "scale" else TaskPrices(price, kept=kept)


def _one_kind(market: Market) -> TaskPrices:
    """The LP with one row is a sort: the price is that of the last worker who is needed, dearest evidence last."""
    evidence, cost = market.evidence[0], market.cost[0]
    able = np.flatnonzero(evidence > 0)
    wanted = float(market.need[0] * market.tasks_in[0])
    if able.size == 0 or wanted <= 0:
        return TaskPrices(np.zeros(1), 0.0 if wanted > 0 else 1.0)
    rate = cost[able] / evidence[able]
    order = np.argsort(rate, kind="stable")
    supply = np.cumsum((evidence[able] * np.minimum(market.capacity[able], market.tasks_in[0]))[order])
    share = min(1.0, float(supply[-1]) / wanted)
    last = min(int(np.searchsorted(supply, wanted * (share if share == 1.0 else share * INSIDE))), order.size - 1)
    return TaskPrices(rate[order[last : last + 1]], share)


@dataclass(frozen=True, eq=False)
class Groups:
    """The market with workers who are alike written once, and how many each group has."""

    evidence: Floats
    cost: Floats
    capacity: Floats
    tasks_in: NDArray[np.integer]
    count: Ints


def _groups(market: Market) -> Groups:
    table = np.vstack([market.evidence, market.cost, market.capacity[None]])
    joint, count = np.unique(table, axis=1, return_counts=True)
    kinds = market.need.size
    return Groups(joint[:kinds], joint[kinds:-1], joint[-1], market.tasks_in, count)


def _program(groups: Groups, need: Floats) -> Program:
    """The LP over kinds and groups; a label without evidence has no column."""
    kind, group = np.nonzero(groups.evidence > 0)
    kinds, count, lines = need.size, groups.count.size, kind.size
    value = np.empty((lines, 2))
    value[:, 0], value[:, 1] = groups.evidence[kind, group], 1.0
    index = np.column_stack([kind, kinds + group]).astype(np.int32)
    ends = np.arange(0, 2 * lines + 1, 2, dtype=np.int32)
    rows = kinds + count
    return Program(
        name="market",
        cost=groups.cost[kind, group],
        matrix=sparse.csc_array((value.reshape(-1), index.reshape(-1), ends), shape=(rows, lines)),
        row_lower=np.concatenate([groups.tasks_in * need, np.full(count, -np.inf)]),
        row_upper=np.concatenate([np.full(kinds, np.inf), groups.count * groups.capacity]),
        lower=np.zeros(lines),
        upper=(groups.tasks_in[kind] * groups.count[group]).astype(np.float64),
        integer=np.zeros(lines, bool),
        columns=stack([("u", (lines,))]),
        rows=stack([("cover", (kinds,)), ("capacity", (count,))]),
    )


def _most(groups: Groups, need: Floats, solve: Solve, joint: bool) -> Floats:
    """The largest shares of the kinds' demands that can be covered: one for all, or the most tasks in all, (kinds,)."""
    program, kinds = _program(groups, need), need.size
    extra = 1 if joint else kinds
    place = np.arange(kinds) * (0 if joint else 1)
    demand = sparse.csc_array((-groups.tasks_in * need, (np.arange(kinds), place)), (program.row_lower.size, extra))
    lower = program.row_lower.copy()
    lower[:kinds] = 0.0
    gain = np.array([1.0]) if joint else groups.tasks_in.astype(np.float64)
    grown = Program(
        "most",
        np.concatenate([np.zeros(program.cost.size), -gain]),
        sparse.csc_array(sparse.hstack([program.matrix, demand])),
        lower,
        program.row_upper,
        np.zeros(program.cost.size + extra),
        np.concatenate([program.upper, np.ones(extra)]),
        np.zeros(program.cost.size + extra, bool),
        stack([("u", (program.cost.size,)), ("share", (extra,))]),
        program.rows,
    )
    solution = _settled(grown, solve)
    if solution.primal is None:
        raise RuntimeError(f"the largest share that can be covered was not found: {solution.raw}")
    share: Floats = np.broadcast_to(solution.primal[-extra:], (kinds,))
    return np.clip(share, 0.0, 1.0)


def _settled(program: Program, solve: Solve) -> Solution:
    """A program that has an optimum, solved by whoever finds it: simplex without presolve at times ends undecided."""
    solution = solve(program, BACKEND, LIMIT)
    for backend in SECOND_TRIES:
        if solution.status is Status.OPTIMAL and solution.dual is not None:
            break
        solution = solve(program, backend, Options(time_limit=LIMIT.time_limit))
    return solution


def _duals(solution: Solution) -> Floats:
    if solution.dual is None:
        raise RuntimeError(f"the pricing program ended without multipliers: {solution.raw}")
    price: Floats = np.maximum(0.0, solution.program.row("cover").view(solution.dual))
    return price
