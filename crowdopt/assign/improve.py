"""Better plans from a plan: some tasks give their sets back and are given others, by prices of what is then left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.choose import Chooser, activity_of
from crowdopt.assign.oracle import Sets


@dataclass(frozen=True)
class ImproveParams:
    """How plans are improved."""

    shares: tuple[float, ...] = (0.04, 0.1, 0.2, 0.02)  # of the tasks that give their sets back, in turn
    least: int = 12  # tasks
    idle: int = 40  # tries without a better plan that end it
    tries: int = 10_000  # at most


def score(chooser: Chooser, sets: Sets, of: Ints) -> tuple[float, float]:
    """What is wrong with sets that tasks have, then what they cost, loads filled up: less is better."""
    problem, short = chooser.problem, chooser.master.short
    coupling, activity = problem.coupling, activity_of(sets, problem)
    cost = float(problem.rows.cost[problem.rows.type[sets.row[sets.owner]], sets.label].sum())
    lacks = np.maximum(0.0, coupling.lower[: coupling.loads] - activity[: coupling.loads])
    cost += float(coupling.spare @ lacks)
    activity[: coupling.loads] += lacks
    shares = slice(coupling.loads, coupling.loads + len(coupling.weight))
    activity[shares] += coupling.weight @ lacks
    if coupling.has_budget:
        activity[-1] += float(coupling.spare @ lacks)
    over = np.maximum(0.0, activity - coupling.upper) + np.maximum(0.0, coupling.lower - activity)
    without = np.ones(problem.tasks, bool)
    without[of] = False
    if coupling.averages:
        wrong = activity[coupling.last_own]
        cost = coupling.goal * cost + coupling.wrong * float(wrong)
    return float(np.round(over.sum(), 6)), cost + 2 * float(short[problem.kind_of[without]].sum())


def improve(
    chooser: Chooser,
    sets: Sets,
    of: Ints,
    duals: Floats,
    hear: Callable[[Sets, Ints], bool],
    params: ImproveParams = ImproveParams(),
) -> tuple[Sets, Ints]:
    """Until ``hear``, of each better plan, says that will do, nothing gets better, or the time is over."""
    pool, problem, rng = chooser.master.pool, chooser.master.pool.problem, chooser.rng
    best, idle, number = score(chooser, sets, of), 0, 0
    while not chooser.clock.over and idle < params.idle and number < params.tries:
        price = pool.prices(duals)
        least = np.minimum(pool.cheapest(price)[0], chooser.master.short)
        table = problem.coupling.prices(duals)
        mine = np.bincount(sets.owner, table[problem.rows.type[sets.row[sets.owner]], sets.label], of.size)
        regret = np.maximum(0.0, mine - least[problem.kind_of[of]]) + 0.01 * np.abs(mine)
        drawn = regret * rng.exponential(size=of.size)
        size = max(params.least, int(params.shares[number % len(params.shares)] * problem.tasks))
        out = np.zeros(of.size, bool)
        out[np.argsort(-drawn)[:size]] = True
        kept = np.flatnonzero(~out)
        without = np.ones(problem.tasks, bool)
        without[of[kept]] = False
        trial, trial_of = chooser.dive(np.flatnonzero(without), sets.some(kept), of[kept], duals)
        found = score(chooser, trial, trial_of)
        number += 1
        if found <= best:
            idle = 0 if found < best else idle + 1
            better = found < best
            best, sets, of = found, trial, trial_of
            if better and hear(sets, of):
                break
        else:
            idle += 1
    return sets, of
