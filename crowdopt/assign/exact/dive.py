"""Diving: fix the sets that the master likes best, a part of the tasks at a time, and price again in what is left."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.exact.blocks import PULLS, BlockPrices, Blocks, Seconds
from crowdopt.core.certificate import next_integer
from crowdopt.core.clock import ENOUGH
from crowdopt.core.master import MasterPoint
from crowdopt.elementary import dot

WHOLE = 1e-6  # a share this close to a whole task is one
PART = 0.5  # of the tasks left, fixed at a time
LAST = 100  # tasks, of which a smaller part may be fixed
SETTLED = 1e-6  # of the goal; between the master's value and the bound on what is left
JITTER = 0.15  # how far chance may change the order of the fractional shares


@dataclass(frozen=True)
class DiveSettings:
    """How much is done at each step: rounds of pricing, ways to fix a part of the tasks, how far chance has a say.

    ``gentle`` is the part of the tasks left that is fixed at a time when they are the last ones. Without pricing a few
    may go without a set. ``loose`` are the parts of the best dive's tasks from which later dives take the sets again,
    one part after another; empty, where each dive begins from nothing.
    """

    repricings: int = 0
    tries: int = 1
    gentle: float = PART
    jitter: float = 0.0
    loose: tuple[float, ...] = ()


@dataclass(eq=False)
class FixedSets:
    """How many tasks have each set, tasks that have none (T,), and capacity not used, per class of workers (G,)."""

    left: Ints
    room: Ints
    counts: dict[int, int] = field(default_factory=dict)

    def copy(self) -> FixedSets:
        """The same sets fixed, to be changed apart."""
        return FixedSets(self.left.copy(), self.room.copy(), dict(self.counts))

    def fix(self, kind: int, groups: Ints, column: int, tasks: int) -> int:
        """Give so many tasks a set, as far as capacity allows; returns how many.

        kind: class of tasks; groups (size,): worker classes of the set's labels, sorted; column: number of the set;
        tasks: how many are to have it.
        """
        label, each = np.unique(groups, return_counts=True)
        tasks = int(min(tasks, self.left[kind], (self.room[label] // each).min(initial=tasks)))
        if tasks > 0:
            self.counts[column] = self.counts.get(column, 0) + tasks
            self.left[kind] -= tasks
            self.room[label] -= tasks * each
        return max(0, tasks)

    def loosen(self, kind: int, groups: Ints, column: int, tasks: int) -> int:
        """Take a set from so many tasks that have it; returns how many."""
        self.counts[column] -= tasks
        if self.counts[column] == 0:
            del self.counts[column]
        self.left[kind] += tasks
        np.add.at(self.room, groups, tasks)
        return tasks

    def loosened(self, blocks: Blocks, tasks: int, rng: np.random.Generator) -> FixedSets:
        """The same but for so many tasks that have their sets no longer: the dearest at the best prices, more or less.

        blocks: whose prices say which sets are dear; tasks: how many are loosened; rng: has a say in which.
        """
        dived, columns = self.copy(), np.array(sorted(self.counts))
        kind = np.array([blocks.kinds[k] for k in columns])
        price = np.array(
            [blocks.pricing.reduced(t, blocks.center)[blocks.sets[k]].sum() for t, k in zip(kind, columns, strict=True)]
        )
        least = np.full(blocks.tasks.size, np.inf)
        np.minimum.at(least, kind, price)
        for place in np.argsort((least[kind] - price) * rng.exponential(size=kind.size), kind="stable").tolist():
            column = int(columns[place])
            many = min(tasks, self.counts[column])
            if many > 0:
                tasks -= dived.loosen(int(kind[place]), blocks.sets[column], column, many)
        return dived

    def hands(self, blocks: Blocks) -> list[tuple[int, Ints, int]]:
        """Class of tasks, set, and how many tasks have it."""
        return [(blocks.kinds[k], blocks.sets[k], count) for k, count in sorted(self.counts.items())]


@dataclass(frozen=True, eq=False)
class Step:
    """Where a dive stands: what is fixed, the master's optimum on what is left, and what both cost together."""

    dived: FixedSets
    point: MasterPoint | None
    value: float


def dive(
    blocks: Blocks,
    settings: DiveSettings,
    rng: np.random.Generator,
    enough: float,
    left: Seconds,
    start: FixedSets | None = None,
) -> FixedSets:
    """Fix a part of the remaining tasks at a time: whole shares first, then the largest fractions.

    A step that costs more than the goal is tried again with other fractions; if none does better the goal is what the
    best of them costs. The dive ends where that is no better than ``enough``.

    blocks: with a solved master, whose rows are as before when the dive ends; settings: how much is fixed at a time,
    and what is tried again; rng: breaks ties among fractions; enough: cost of the best plan known; left: seconds left;
    start: what is fixed already; nothing by default; -> what is fixed; some tasks may be left.
    """
    goal = blocks.goal
    if start is None:
        step = Step(FixedSets(blocks.tasks.copy(), blocks.room.copy()), blocks.point, -np.inf)
    else:
        paid = _hold(blocks, start)
        point = _repriced(blocks, start, settings.repricings, goal - paid, left)
        value = np.inf if point is None else paid + point.value
        step, goal = Step(start, point, value), max(goal, next_integer(value - WHOLE) if blocks.whole else value)
    while step.point is not None and step.dived.left.any() and goal < enough - WHOLE:
        after = _step(blocks, step, settings, rng, goal, left)
        if after is None or after.value == np.inf:
            break
        step, goal = after, max(goal, next_integer(after.value) if blocks.whole else after.value * (1 + SETTLED))
    blocks.master.set_rows(*blocks.rows)
    return step.dived


def _step(
    blocks: Blocks, step: Step, settings: DiveSettings, rng: np.random.Generator, goal: float, left: Seconds
) -> Step | None:
    """The first of a few ways to fix a part of the tasks that meets the goal, or else the cheapest."""
    best: Step | None = None
    for number in range(settings.tries if blocks.whole else 1):
        dived = step.dived.copy()
        assert step.point is not None
        if not _fix_some(blocks, dived, step.point, rng, settings, JITTER * number):
            break
        paid, point, value = _hold(blocks, dived), None, 0.0
        if dived.left.any():
            point = _repriced(blocks, dived, settings.repricings, goal - paid, left)
            value = np.inf if point is None else point.value
        if best is None or paid + value < best.value:
            best = Step(dived, point, paid + value)
        if best.value <= goal + WHOLE:
            break
    return best


def _fix_some(
    blocks: Blocks,
    dived: FixedSets,
    point: MasterPoint,
    rng: np.random.Generator,
    settings: DiveSettings,
    jitter: float,
) -> int:
    """Fix the whole shares and then the largest fractions, a part of the tasks left in all; returns how many tasks."""
    shares, many = point.primal[blocks.tasks.size :], int(dived.left.sum())
    quota, fixed = max(1, int((PART if many > LAST else settings.gentle) * many)), 0
    whole = np.floor(shares + WHOLE).astype(np.int64)
    fraction = shares - whole
    likely = np.flatnonzero(fraction > WHOLE)
    score = fraction[likely] + (settings.jitter + jitter) * rng.random(likely.size)
    for column in np.flatnonzero(whole).tolist():
        fixed += dived.fix(blocks.kinds[column], blocks.sets[column], column, int(whole[column]))
    for column in likely[np.argsort(-score, kind="stable")].tolist():
        if fixed >= quota:
            break
        fixed += dived.fix(blocks.kinds[column], blocks.sets[column], column, 1)
    return fixed


def _hold(blocks: Blocks, dived: FixedSets) -> float:
    """Leave the master what the fixed sets leave; returns what they cost."""
    lower, upper = blocks.rows
    paid, used = _used(blocks, dived)
    blocks.master.set_rows(lower - used, upper - used)
    return paid


def _used(blocks: Blocks, dived: FixedSets) -> tuple[float, Floats]:
    """What the fixed sets cost, and what they take of the master's rows."""
    columns = sorted(dived.counts)
    counts = np.array([float(dived.counts[k]) for k in columns])
    cost, matrix = blocks.columns(columns)
    return float(dot(cost, counts)), matrix @ counts


def _repriced(blocks: Blocks, dived: FixedSets, rounds: int, goal: float, left: Seconds) -> MasterPoint | None:
    """The master's optimum on what is left, priced again without workers used up until it meets the goal."""
    # Prices are pulled towards those with the best bound on what is left, as when the columns were first generated.
    point, center, best = blocks.solve(left()), blocks.center, -np.inf
    for _ in range(rounds):
        if point is None or point.value <= goal + WHOLE:
            break
        task, outer = blocks.prices(point)
        for pull in PULLS:
            trial = outer.towards(center, pull)
            new, bound = _price(blocks, dived, trial, task, outer, left)
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


def _price(
    blocks: Blocks, dived: FixedSets, trial: BlockPrices, task: Floats, outer: BlockPrices, left: Seconds
) -> tuple[int, float]:
    values, new = np.zeros(task.size), 0
    for kind in np.flatnonzero(dived.left).tolist():
        if left() <= ENOUGH:
            return 0, -np.inf
        values[kind], sets = blocks.pricing.cheapest(kind, trial, dived.room)
        new += blocks.add_helpful(kind, sets, task, outer)
    return new, blocks.pricing.bound(values, trial, dived.left, dived.room)
