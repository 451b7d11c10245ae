"""Column generation where tasks of a row differ in their needs: a set found for one task serves all that need no more.

The master counts the tasks that get a set, so its columns are few and the sets of a few tasks bring nearly all of them.
Its value, once no set pays, is the bound that prices can prove (Dantzig & Wolfe 1960).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.individual.prices.ascent import DEEPER, MOST_NODES
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.sweep import CLOSE, NODES, Prices, Sweep, Sweeper
from crowdopt.core.clock import Clock
from crowdopt.core.master import MakeMaster, MasterPoint
from crowdopt.programs import nested_sets
from crowdopt.programs.own_sets import KnownSets

SAMPLE = 400  # tasks priced at a time, evenly over the levels
PULLS = (0.7, 0.35, 0.0)  # towards the best prices; the last ones are the master's
PAYS = 1e-7  # a set that saves less brings nothing
MEETS = 5e-6  # relative; the master's value and the bound, which sweeps know no better
DEAR = 10.0  # what a task without a set costs, times the dearest set
BARRED = 4  # workers whom a task may not have, on average, at most: the master does not know them
PAD = -1  # behind the last worker of a set


@dataclass(frozen=True, eq=False)
class LevelsOfNeed:
    """Levels by row and then by need, ascending."""

    tasks: OwnTasks
    row: Ints  # (L,): row of evidence of each level
    need: Floats  # (L,): evidence that serves each of its tasks
    count: Ints  # (L,): how many tasks it has
    order: Ints  # (k,): the tasks, level by level
    first: Ints  # (rows + 1,): where the levels of each row begin

    @classmethod
    def of(cls, tasks: OwnTasks) -> LevelsOfNeed:
        """Each need a level."""
        row = tasks.arrays.row
        order = np.lexsort((tasks.target, row))
        sorted_row, need = row[order], tasks.target[order]
        new = np.append(True, (np.diff(sorted_row) != 0) | (np.diff(need) != 0))
        start = np.flatnonzero(new)
        count = np.diff(np.append(start, order.size))
        first = np.searchsorted(sorted_row[start], np.arange(len(tasks.arrays.worth) + 1))
        return cls(tasks, sorted_row[start], need[start], count, order, first)

    def met(self, row: Ints, have: Floats) -> Ints:
        """The highest level that so much evidence meets, (sets,); -1: none.

        row (sets,): row of each set; have (sets,): its evidence there.
        """
        level = np.full(row.size, -1)
        for r in np.unique(row).tolist():
            some = row == r
            begin, end = self.first[r], self.first[r + 1]
            rank = np.searchsorted(self.need[begin:end], have[some], side="right")
            level[some] = np.where(rank > 0, begin + rank - 1, -1)
        return level


def pays(tasks: OwnTasks) -> bool:
    """Whether tasks have nothing but needs and barred workers of their own, beside rows that they share."""
    plain = not tasks.is_limited and tasks.budget is None and tasks.is_shared and not tasks.least.any()
    return plain and tasks.arrays.barred.size <= BARRED * tasks.size


class Nested:
    """Sets ``workers[s]`` (descending, padded) of level ``level[s]``, and a master that grows by them."""

    def __init__(self, tasks: OwnTasks, sweeper: Sweeper, make_master: MakeMaster) -> None:
        self.tasks, self.sweeper, self.make_master = tasks, sweeper, make_master
        self.levels = LevelsOfNeed.of(tasks)
        self.level = np.zeros(0, np.int64)
        self.workers: NDArray[Any] = np.zeros((0, sweeper.width), sweeper.type)
        self.point: MasterPoint | None = None
        self.samples = self._samples()

    def _samples(self) -> list[Sweeper]:
        """Some tasks at a time, in turn all of them."""
        every, order = -(-self.tasks.size // SAMPLE), self.levels.order
        parts = [self.tasks.part(np.sort(order[begin::every])) for begin in range(every)]
        return [Sweeper(part, self.sweeper.threads, width=self.sweeper.width) for part in parts]

    def add(self, tasks: OwnTasks, hands: NDArray[Any], held: Ints, point: MasterPoint | None = None) -> int:
        """Keep sets that are new, of those that pay at the master's multipliers; returns how many.

        tasks: all tasks, or some; hands (k, width), held (k,): a set for each; held is -1 where there is none; point:
        of the master that has all sets kept before; any set pays where it is not given.
        """
        some = np.flatnonzero((held > 0) & (held <= self.workers.shape[1]))
        inside = np.arange(hands.shape[1]) < held[some][:, None]
        sets = -np.sort(-np.where(inside, hands[some], PAD), axis=1)[:, : self.workers.shape[1]]
        wide = self.workers.shape[1] - sets.shape[1]
        sets = np.pad(sets, ((0, 0), (0, wide)), constant_values=PAD).astype(self.workers.dtype)
        row = tasks.arrays.row[some]
        level = self.levels.met(row, self._sum(tasks.arrays.worth, row, sets))
        good = level >= 0
        if point is not None:
            task, price = self._multipliers(point)
            shown = self.costs(level, sets) - self._sum(price.worker[None], np.zeros_like(row), sets)
            good &= shown < task[level] - PAYS
        level, sets = level[good], sets[good]
        before = self.level.size
        self.level, self.workers = np.append(self.level, level), np.concatenate([self.workers, sets])
        self._keep_new(before)
        return self.level.size - before

    def _keep_new(self, before: int) -> None:
        """Each set once, those known before in their places."""
        order = np.lexsort((*self.workers.T, self.level))
        level, sets = self.level[order], self.workers[order]
        again = np.append(False, (level[1:] == level[:-1]) & (sets[1:] == sets[:-1]).all(axis=1))
        kept = np.ones(order.size, bool)
        kept[order[again]] = False  # the sort is stable: the first of equal ones is the oldest
        assert kept[:before].all()
        self.level, self.workers = self.level[kept], self.workers[kept]

    def _sum(self, table: Floats, row: Ints, sets: NDArray[Any]) -> Floats:
        """Of each set, ``sum_j table[row, j]``."""
        total = np.zeros(row.size)
        for t in range(sets.shape[1]):
            there = np.flatnonzero(sets[:, t] != PAD)
            if not there.size:
                break
            total[there] += table[row[there], sets[there, t]]
        return total

    def costs(self, level: Ints, sets: NDArray[Any]) -> Floats:
        """Price of each set, (sets,)."""
        cost, row = self.tasks.arrays.cost, self.levels.row[level]
        return self._sum(cost, row if len(cost) > 1 else np.zeros_like(row), sets)

    def known(self, begin: int = 0) -> KnownSets:
        """The sets from one on, as the master's columns."""
        level, sets = self.level[begin:], self.workers[begin:]
        inside = sets != PAD
        starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        return KnownSets(level, self.costs(level, sets), starts, sets[inside].astype(np.int64))

    def shares(self) -> Floats:
        """How many tasks have each set that the master knows, at its optimum."""
        assert self.point is not None
        return self.point.primal[self.levels.row.size :]  # beside as many columns as there are levels

    @property
    def dear(self) -> float:
        """What a task without a set costs: more than it can be worth."""
        return DEAR * float(self.costs(self.level, self.workers).max(initial=0.0)) + 1.0

    def grow(self, center: Prices, visit: Callable[[Prices, int], Sweep | None], clock: Clock) -> bool:
        """Add sets until none pays and the prices prove as much as the master's value; whether it came to that.

        Some tasks are priced while that brings sets, then all of them; where those bring none either, and prove less
        than the value, searches for a set were cut short: they get more nodes.

        center: towards which the master's prices are pulled until better ones are known; visit: prices all tasks with
        so many nodes for each; None where that is to be the end.
        """
        levels, room, best, rounds = self.levels, self.tasks.room.astype(float), -np.inf, 0
        program = nested_sets.of_sets(self.known(), levels.row, levels.count, room, self.dear, False)
        self.master, nodes = self.make_master(program), NODES
        while not clock.over:
            point = self.master.solve(clock.left)
            if point is None:
                return False
            self.point, rounds, before = point, rounds + 1, self.level.size
            outer = self._multipliers(point)[1]
            some, new = self.samples[rounds % len(self.samples)], 0
            while not new and not clock.over:
                new, is_short = self._price_some(some, outer, center, nodes, clock)
                if new or (is_short and nodes < MOST_NODES):
                    nodes = nodes if new else DEEPER * nodes
                    continue
                sweep = visit(outer, nodes)
                if sweep is None:
                    return False
                if sweep.bound > best:
                    center, best = sweep.prices, sweep.bound
                if point.value + self.tasks.constant - best <= MEETS * abs(best):
                    return True
                new = self.add(self.tasks, sweep.hands, sweep.held, point)
                if not new and nodes >= MOST_NODES:
                    return False
                nodes = nodes if new else DEEPER * nodes
            self._hand_over(before)
        return False

    def _price_some(self, some: Sweeper, outer: Prices, center: Prices, nodes: int, clock: Clock) -> tuple[int, bool]:
        """Sets of some tasks at prices between two: how many, and whether searches for them were cut short."""
        assert self.point is not None
        new, is_short, task = 0, False, self._multipliers(self.point)[0]
        least = task[self.levels.met(some.tasks.arrays.row, some.tasks.target)]
        for pull in PULLS:
            sweep = some.sweep(outer.towards(center, pull), clock, CLOSE, nodes)
            if sweep is None:
                return 0, False
            new += self.add(some.tasks, sweep.hands, sweep.held, self.point)
            is_short = bool((least - sweep.value).sum() > MEETS * np.abs(least).sum())
        return new, is_short

    def _hand_over(self, begin: int) -> None:
        """Give the master its new columns."""
        new = self.known(begin)
        self.master.add_columns(new.cost, nested_sets.columns_of(new, self.levels.row.size, self.tasks.room.size))

    def _multipliers(self, point: MasterPoint) -> tuple[Floats, Prices]:
        """Of the levels, and the workers' prices."""
        levels = self.levels.row.size
        return point.dual[:levels], Prices(np.ascontiguousarray(np.minimum(point.dual[levels:], 0.0)))
