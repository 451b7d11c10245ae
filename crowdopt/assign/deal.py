"""Plans of long sets: amounts for each lot, rounded, dealt to its tasks, shared out among them, and completed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.prices import stepped
from crowdopt.assign.problem import Problem
from crowdopt.core.solution import BY_SIZE, Options, Solve
from crowdopt.programs import masters


@dataclass(frozen=True)
class DealParams:
    """How amounts are dealt."""

    cells: int = 60_000_000  # lots x classes^2 up to which exchanges of two classes between lots are looked at
    shifts: int = 400  # such exchanges
    whole: float = 1e-7  # a share this close to a whole label is one


def aimed(problem: Problem, money: float, solve: Solve, options: Options) -> tuple[Floats, float] | None:
    """The amounts (L, G) with the most slack per task that the money buys, and that slack; None: there are none."""
    if problem.is_boxed:
        first = stepped(problem, 0.0, solve, options)
        slack = 0.0 if first is None else max(0.0, money - first.value) / float(first.prices @ problem.tasks_in)
        step = None if first is None else stepped(problem, slack, solve, options)
        return None if step is None else (step.amounts.T, slack)
    program = masters.most_slack(problem.amounts, problem.tasks_in.astype(np.float64), money)
    found = solve(program, BY_SIZE, options)
    if found.primal is None:
        return None
    return np.maximum(found.program.column("u").view(found.primal), 0.0), float(found.primal[-1])


@dataclass(frozen=True, eq=False)
class Asked:
    """What tasks of each lot that are to be served need in all, and what there is."""

    count: Ints  # (L,): tasks
    need: Floats  # (L,): evidence
    left: Ints  # (G,): labels

    @classmethod
    def of(cls, problem: Problem, tasks: Ints, left: Ints) -> Asked:
        """Of some tasks."""
        kind, lots = problem.kind_of[tasks], problem.tasks_in.size
        need = np.bincount(problem.lot_of[kind], problem.target[kind], lots).astype(np.float64)
        return cls(np.bincount(problem.lot_of[kind], minlength=lots), need, left)


def rounded(
    problem: Problem,
    asked: Asked,
    point: Floats,
    slack: float,
    money: float,
    rung: Bools,
    params: DealParams = DealParams(),
) -> Ints:
    """Floor, give the largest fractions back while money and capacity last, help the lots that lack most, polish.

    -> (L, G): labels of each class of workers for each lot.
    """
    from crowdopt.assign.master_kernels import Amounts, shift

    rows, count = problem.rows, asked.count
    worth, cost = rows.worth[problem.lots[0]], rows.cost[problem.lots[0]]
    amounts: Ints = np.floor(point + params.whole).astype(np.int64)
    left = asked.left - amounts.sum(axis=0)
    upper = np.minimum(problem.most, count[:, None] * rows.size)
    spare = money - float((cost * amounts).sum())
    part = point - amounts
    at, groups = np.nonzero(part > params.whole)
    for k in np.argsort(-part[at, groups], kind="stable"):
        r, g = at[k], groups[k]
        if left[g] > 0 and amounts[r, g] < upper[r, g] and cost[r, g] <= spare + params.whole:
            amounts[r, g] += 1
            left[g] -= 1
            spare -= cost[r, g]
    excess = (worth * amounts).sum(axis=1) - asked.need
    active = count > 0
    while active.any():
        r = int(np.where(active, excess / np.maximum(count, 1), np.inf).argmin())
        able = (left > 0) & (amounts[r] < upper[r]) & (cost[r] <= spare + params.whole) & (cost[r] > 0)
        if not able.any():
            active[r] = False
            continue
        g = int(np.where(able, worth[r] / np.maximum(cost[r], 1e-12), -1.0).argmax())
        amounts[r, g] += 1
        left[g] -= 1
        spare -= cost[r, g]
        excess[r] += worth[r, g]
    if amounts.size * problem.room.size <= params.cells:
        wanted = slack * count
        shift(Amounts(amounts, excess, wanted, worth, cost, upper, left, np.array([spare])), params.shifts, rung)
    return amounts
