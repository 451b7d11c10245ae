"""Whole amounts per pair of classes, near the point of the target LP."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.dealt import Rows
from crowdopt.assign.exact.alarm import NEVER
from crowdopt.crowd.alike import Classes

CLOSE = 1e-9  # evidence; rows that lack less need no polish, and so no compiled code
POLISHED = 3_000  # worker classes up to which exchanges of two of them are looked at
WHOLE = 1e-7  # a share this close to a whole label is one


def round_amounts(classes: Classes, aimed: Floats, slack: float, money: float, rung: Bools = NEVER) -> Ints:
    """Floor, give the largest fractions back while money and capacity last, help the rows that lack most, polish.

    aimed (T, G): the target LP's amounts; slack: evidence per task beyond the need that the target LP found room for;
    -> (T, G): labels per class of tasks and of workers.
    """
    amounts: Ints = np.maximum(np.floor(aimed + WHOLE).astype(np.int64), classes.tasks_in[:, None] * classes.least)
    left = classes.workers_in * classes.capacity - amounts.sum(axis=0)
    upper = classes.tasks_in[:, None] * classes.room
    spare = np.array([money - float((classes.cost * amounts).sum())])
    _give_back(classes, aimed - amounts, amounts, left, upper, spare)
    _help(classes, amounts, left, upper, spare)
    needed = classes.tasks_in * classes.need
    excess = (classes.evidence * amounts).sum(axis=1) - needed
    wanted: Floats = np.full(needed.size, slack) * classes.tasks_in
    if (wanted - excess).max() <= CLOSE or left.size > POLISHED:
        return amounts
    from crowdopt.assign.exact import kernels
    from crowdopt.assign.exact.compiling import get_ready

    get_ready()
    kernels.shift(Rows(amounts, excess, wanted, classes.evidence, classes.cost, upper, left, spare), rung)
    return amounts


def _give_back(classes: Classes, fractions: Floats, amounts: Ints, left: Ints, upper: Ints, spare: Floats) -> None:
    """Round the largest fractions up."""
    rows, groups = np.nonzero(fractions > WHOLE)
    for k in np.argsort(-fractions[rows, groups], kind="stable"):
        t, g = rows[k], groups[k]
        if left[g] > 0 and amounts[t, g] < upper[t, g] and classes.cost[t, g] <= spare[0] + WHOLE:
            amounts[t, g] += 1
            left[g] -= 1
            spare[0] -= classes.cost[t, g]


def _help(classes: Classes, amounts: Ints, left: Ints, upper: Ints, spare: Floats) -> None:
    """Spend what money is left on the row with the least slack per task, where it buys most evidence."""
    excess = (classes.evidence * amounts).sum(axis=1) / classes.tasks_in - classes.need
    active = np.ones(excess.size, bool)
    while active.any():
        t = int(np.where(active, excess, np.inf).argmin())
        able = (left > 0) & (amounts[t] < upper[t]) & (classes.cost[t] <= spare[0] + WHOLE) & (classes.cost[t] > 0)
        if not able.any():
            active[t] = False
            continue
        g = int(np.where(able, classes.evidence[t] / np.maximum(classes.cost[t], 1e-12), -1.0).argmax())
        amounts[t, g] += 1
        left[g] -= 1
        spare[0] -= classes.cost[t, g]
        excess[t] += classes.evidence[t, g] / classes.tasks_in[t]
