"""Prices from workers seen: the LP over kinds of tasks and a handful of workers, and what to do if it is infeasible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.core.solution import INTERIOR, WARM, Options, Solution, Solve, Status
from crowdopt.programs import largest_share
from crowdopt.programs.market import GroupedMarket, Market, grouped, of_groups

SECOND_TRIES = (WARM, INTERIOR)  # with presolve
LIMIT = Options(time_limit=60.0, presolve=False)
INSIDE = 1 - 1e-6  # of the largest feasible share: prices at the very edge are arbitrary
REMEDIES = ("scale", "drop")


@dataclass(frozen=True, eq=False)
class TaskPrices:
    """What a unit of evidence is worth, and what had to give."""

    price: Floats  # (kinds,): of a task of each kind
    share: float = 1.0  # how much of every need is covered
    kept: Floats | None = None  # (kinds,): share of each kind's tasks that are not dropped; None: nothing is dropped


def prices(market: Market, solve: Solve, remedy: str = "scale") -> TaskPrices:
    """``x*`` of ``min sum c u  s.t.  sum_j q_kj u_kj >= n_k C_k,  sum_k u_kj <= M_j,  0 <= u_kj <= n_k``.

    That is the paper's LP over interchangeable tasks (Ho et al. 2013, Sections 4.2 and 5.1). Where it has no point,
    the paper advises to drop tasks or to raise epsilon and go on.

    remedy: ``scale``: cover the largest share of every need that can be covered; ``drop``: cover as many tasks as can
    be.
    """
    if market.need.size == 1:
        return _one_kind(market)
    groups = grouped(market)
    solution = solve(of_groups(groups, market.need), WARM, LIMIT)
    if solution.status is Status.OPTIMAL and solution.dual is not None:
        return TaskPrices(_duals(solution))
    kept = _most(groups, market.need, solve, joint=remedy == "scale")
    price = _duals(_settled(of_groups(groups, market.need * kept * INSIDE), solve))
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


def _most(groups: GroupedMarket, need: Floats, solve: Solve, joint: bool) -> Floats:
    """The largest shares of the kinds' demands that can be covered: one for all, or the most tasks in all, (kinds,)."""
    solution = _settled(largest_share.of_groups(groups, need, joint), solve)
    if solution.primal is None:
        raise RuntimeError(f"the largest share that can be covered was not found: {solution.raw}")
    share: Floats = np.broadcast_to(solution.program.column("share").view(solution.primal), need.shape)
    return np.clip(share, 0.0, 1.0)


def _settled(program: Program, solve: Solve) -> Solution:
    """A program that has an optimum, by the first method to find it: simplex without presolve may end undecided."""
    solution = solve(program, WARM, LIMIT)
    for backend in SECOND_TRIES:
        if solution.status is Status.OPTIMAL and solution.dual is not None:
            break
        solution = solve(program, backend, Options(time_limit=LIMIT.time_limit))
    return solution


def _duals(solution: Solution) -> Floats:
    if solution.dual is None:
        raise RuntimeError(f"the pricing program ended without multipliers: {solution.raw}")
    return np.maximum(0.0, solution.program.row("cover").view(solution.dual))
