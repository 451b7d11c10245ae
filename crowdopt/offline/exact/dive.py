"""Diving: fix the sets that the master likes best, a part of the tasks at a time, and price again in what is left."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowdopt.core.master import Point
from crowdopt.crowd.classes import Floats, Ints
from crowdopt.offline.exact.blocks import PULLS, Blocks, Prices, Seconds

WHOLE = 1e-6  # a share this close to a whole task is one
PART = 0.5  # of the tasks left, fixed at a time
SETTLED = 1e-5  # of the goal; between the master's value and the bound on what is left
JITTER = 0.15  # how far chance may change the order of the fractional shares


@dataclass(eq=False)
class Dived:
    """How many tasks have each set, tasks that have none (T,), and capacity not used, per class of workers (G,)."""

    left: Ints
    room: Ints
    counts: dict[int, int] = field(default_factory=dict)

    def fix(self, kind: int, groups: Ints, column: int, tasks: int) -> int:
        """Give so many tasks a set, as far as capacity allows; returns how many."""
        label, each = np.unique(groups, return_counts=True)
        tasks = int(min(tasks, self.left[kind], (self.room[label] // each).min(initial=tasks)))
        if tasks > 0:
            self.counts[column] = self.counts.get(column, 0) + tasks
            self.left[kind] -= tasks
            self.room[label] -= tasks * each
        return max(0, tasks)

    def hands(self, blocks: Blocks) -> list[tuple[int, Ints, int]]:
        """Class of tasks, set, and how many tasks have it."""
        return [(blocks.kinds[k], blocks.sets[k], count) for k, count in sorted(self.counts.items())]


def dive(blocks: Blocks, repricings: int, rng: np.random.Generator | None, left: Seconds) -> Dived:
    """Fix a part of the remaining tasks at a time: whole shares first, then the largest fractions.

    Parameters
    ----------
    repricings : int
        Rounds of pricing after each fixing; without any it is done at once, and a few tasks may go without a set.
    rng : Generator, optional
        Shuffles the order of the fractions a little.
    """
    dived, point = Dived(blocks.tasks.copy(), blocks.room.copy()), blocks.point
    lower, upper = blocks.rows
    while dived.left.any() and point is not None and _fix_some(blocks, dived, point, rng):
        paid, used = _used(blocks, dived)
        blocks.master.set_rows(lower - used, upper - used)
        point = _repriced(blocks, dived, repricings, blocks.goal - paid, left) if dived.left.any() else None
    blocks.master.set_rows(lower, upper)
    return dived


def _fix_some(blocks: Blocks, dived: Dived, point: Point, rng: np.random.Generator | None) -> int:
    """Fix the whole shares and then the largest fractions, PART of the tasks left in all; returns how many tasks."""
    shares = point.primal[blocks.tasks.size :]
    quota, fixed = max(1, int(PART * dived.left.sum())), 0
    whole = np.floor(shares + WHOLE).astype(np.int64)
    fraction = shares - whole
    likely = np.flatnonzero(fraction > WHOLE)
    score = fraction[likely] + (0.0 if rng is None else JITTER * rng.random(likely.size))
    for column in np.flatnonzero(whole).tolist():
        fixed += dived.fix(blocks.kinds[column], blocks.sets[column], column, int(whole[column]))
    for column in likely[np.argsort(-score, kind="stable")].tolist():
        if fixed >= quota:
            break
        fixed += dived.fix(blocks.kinds[column], blocks.sets[column], column, 1)
    return fixed


def _used(blocks: Blocks, dived: Dived) -> tuple[float, Floats]:
    """What the fixed sets cost, and what they take of the master's rows."""
    columns = sorted(dived.counts)
    counts = np.array([float(dived.counts[k]) for k in columns])
    cost, matrix = blocks.columns(columns)
    return float(cost @ counts), matrix @ counts


def _repriced(blocks: Blocks, dived: Dived, rounds: int, goal: float, left: Seconds) -> Point | None:
    """The master's optimum on what is left, priced again without workers used up until it meets the goal.

    Prices are pulled towards those with the best bound on what is left, as when the columns were first generated.
    """
    point, center, best = blocks.solve(left()), blocks.center, -np.inf
    for _ in range(rounds):
        if point is None or point.value <= goal + WHOLE:
            break
        task, outer = blocks.prices(point)
        for pull in PULLS:
            trial = outer.towards(center, pull)
            new, bound = _price(blocks, dived, trial, task, outer)
            if bound > best:
                best, center = bound, trial
            if new:
                break
        else:
            break
        if point.value - best <= SETTLED * blocks.goal:
            break
        point = blocks.solve(left())
    return point


def _price(blocks: Blocks, dived: Dived, trial: Prices, task: Floats, outer: Prices) -> tuple[int, float]:
    values, new = np.zeros(task.size), 0
    for kind in np.flatnonzero(dived.left).tolist():
        values[kind], sets = blocks.pricing.cheapest(kind, trial, dived.room)
        new += blocks.add_helpful(kind, sets, task, outer)
    return new, blocks.pricing.bound(values, trial, dived.left, dived.room)
