"""Column generation over levels: sets of levels for tasks, and whose labels count in which level.

``min sum_tg c_tg u_tg`` such that each task has a set of levels, each level of a class of tasks has the labels that
its sets take, and each class of workers gives no more than it has. Workers appear in one row each, where every
column is simple; sets touch the rows of levels only, of which there are few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.engine.cheapest_sets import priced
from crowdopt.assign.engine.prepared import row_of_need
from crowdopt.assign.levels.cut import Levels
from crowdopt.core.clock import ENOUGH
from crowdopt.core.master import MakeMaster, MasterPoint
from crowdopt.crowd.alike import Classes
from crowdopt.programs.level_sets import columns_of, of_levels

Values: TypeAlias = list[Floats]  # of a label in each level, per class of tasks
Set: TypeAlias = tuple[int, Ints]  # a class of tasks and the levels of one task's labels, sorted

Seconds: TypeAlias = Callable[[], float]  # how many are left

PULLS = (0.7, 0.35, 0.0)  # towards the best multipliers so far, tried in turn until a column comes
NEGATIVE = 1e-7  # relative; a reduced cost above minus this brings no column
STEPS, CLOSE = 50_000, 1e-6  # of a search for a set; how near it is to the cheapest, relative
SMALL = 1e-9  # evidence; a skill worth less is no help
USED = 1e-7  # a share above this is in use


@dataclass(frozen=True, eq=False)
class Enough:
    """``sum of worths >= floor_t``: a minimum knapsack."""

    classes: Classes

    def most(self, kind: int, tops: Floats) -> Ints:
        """Labels of each level that a set can make use of, (L,)."""
        return np.ceil(self.classes.need[kind] / np.maximum(tops, SMALL)).astype(np.int64) + 1

    def holds(self, kind: int, worth: Floats) -> bool:
        """Whether labels of these worths are enough."""
        return bool(worth.sum() >= self.classes.floor[kind])

    def cheapest(self, kind: int, value: Floats, tops: Floats, items: Ints) -> tuple[float, list[Ints]]:
        """A lower bound on what a set costs, and the cheapest sets met, as sorted levels; roughly first.

        value, tops (L,): price of a label of each level, and what it is worth; items (k,): the level of each label that
        a set can have, sorted.
        """
        room = np.bincount(items, minlength=tops.size)
        row = row_of_need(tops, room, float(self.classes.floor[kind]))
        return priced(row, value).cheapest(0, STEPS, CLOSE)


@dataclass(eq=False)
class LevelBlocks:
    """The master over some levels; ``center`` are the values of labels with the best bound so far."""

    levels: Levels
    enough: Enough  # which sets will do
    make_master: MakeMaster
    center: Values  # list of (L_t,) float: values to begin with
    given: list[Set]  # sets to begin with
    bound: float = -np.inf
    sets: list[Set] = field(default_factory=list)
    known: set[tuple[int, bytes]] = field(default_factory=set)
    point: MasterPoint | None = None

    def __post_init__(self) -> None:
        classes, levels = self.levels.classes, self.levels
        kinds = classes.need.size
        self.starts = levels.starts
        self.supply = (classes.workers_in * classes.capacity).astype(np.float64)
        self.items = [self._items(kind) for kind in range(kinds)]
        program = of_levels(classes, levels.of, self.starts, [], [])
        self.rows = program.row_lower, program.row_upper
        self.master = self.make_master(program)
        self.before = program.cost.size  # columns that are no sets
        self._add([one for one in self.given if self._is_possible(*one)])
        self._price(self.center, None)

    def _items(self, kind: int) -> Ints:
        """The levels of one task's possible labels, one entry for each label."""
        classes, top = self.levels.classes, self.levels.tops[kind]
        there = np.bincount(self.levels.of[kind], weights=classes.room[kind], minlength=top.size).astype(np.int64)
        most = np.minimum(there, self.enough.most(kind, top))
        return np.repeat(np.arange(top.size), np.where(top > 0, most, 0))

    def _is_possible(self, kind: int, chosen: Ints) -> bool:
        """Whether a task can have so many labels of each level; where levels were cut it may not be so any more."""
        size = self.levels.tops[kind].size
        return bool((np.bincount(chosen, minlength=size) <= np.bincount(self.items[kind], minlength=size)).all())

    def _add(self, sets: list[Set]) -> int:
        """Keep the sets that are new as columns; returns how many."""
        new = [(kind, chosen) for kind, chosen in sets if (kind, chosen.tobytes()) not in self.known]
        new = list({(kind, chosen.tobytes()): (kind, chosen) for kind, chosen in new}.values())
        if new:
            self.known.update((kind, chosen.tobytes()) for kind, chosen in new)
            self.sets += new
            self.master.add_columns(np.zeros(len(new)), self.columns(new))
        return len(new)

    def columns(self, sets: list[Set]) -> sparse.csc_array:
        """A task in its class's row, minus its labels in the rows of their levels."""
        kinds, chosen = [kind for kind, _ in sets], [levels for _, levels in sets]
        return columns_of(self.levels.of, self.starts, kinds, chosen)

    def _cheapest(self, kind: int, value: Floats) -> tuple[float, list[Set]]:
        bound, sets = self.enough.cheapest(kind, value, self.levels.tops[kind], self.items[kind])
        return bound, [(kind, chosen) for chosen in sets]

    def worker_prices(self, values: Values) -> Floats:
        """What a label of each class of workers is worth beyond its cost where it is worth most, (G,)."""
        each = np.array([value[of] for value, of in zip(values, self.levels.of, strict=True)])
        return np.maximum(0.0, (each - self.levels.classes.cost).max(axis=0))

    def asked(self, values: Values) -> Values:
        """What the cheapest worker of each level asks for a label at the prices that the values prove: no less."""
        asked = self.levels.classes.cost + self.worker_prices(values)
        least = [np.full(value.size, np.inf) for value in values]
        for kind, of in enumerate(self.levels.of):
            np.minimum.at(least[kind], of, asked[kind])
        return [
            np.where(np.isfinite(low), np.maximum(low, value), value) for low, value in zip(least, values, strict=True)
        ]

    def _price(self, values: Values, outer: tuple[Floats, Values] | None) -> int:
        """Price at ``values``, keep the bound if it is the best, and the sets that help at the master's multipliers."""
        values = self.asked(values)
        priced = [self._cheapest(kind, value) for kind, value in enumerate(values)]
        tasks = self.levels.classes.tasks_in
        bound = float((tasks * [value for value, _ in priced]).sum() - (self.supply * self.worker_prices(values)).sum())
        if bound > self.bound:
            self.bound, self.center = bound, values
        sets = [chosen for _, several in priced for chosen in several]
        if outer is not None:
            task, at = outer
            least = task - NEGATIVE * np.maximum(1.0, np.abs(task))
            sets = [(kind, chosen) for kind, chosen in sets if at[kind][chosen].sum() < least[kind]]
        return self._add(sets)

    def values(self, point: MasterPoint) -> tuple[Floats, Values]:
        """The master's multipliers: of the tasks (T,), and of the labels in each level."""
        kinds = self.levels.of.shape[0]
        return point.dual[:kinds], np.split(point.dual[kinds : kinds + self.starts[-1]], self.starts[1:-1])

    def generate(self, rounds: int, near: float, left: Seconds) -> None:
        """Add columns until the bound is within ``near`` of the master, relatively, or nothing comes."""
        for _ in range(rounds):
            self.point = point = self.master.solve(max(0.0, left()))
            if point is None or point.value - self.bound <= near * abs(point.value):
                return
            outer = self.values(point)
            for pull in PULLS:
                mixed = [pull * one + (1 - pull) * other for one, other in zip(self.center, outer[1], strict=True)]
                if left() > ENOUGH and self._price(mixed, outer):
                    break
            else:
                return

    def with_sets_for_all(self, left: Seconds) -> MasterPoint | None:
        """The master as its rows are now, with new sets for as long as tasks or levels go without."""
        inner = int(self.starts[-1]) + self.levels.of.shape[0]
        while True:
            point = self.master.solve(max(0.0, left()))
            if point is None or point.primal[:inner].sum() <= USED or left() <= ENOUGH:
                return point
            outer = self.values(point)
            if not self._price(outer[1], outer):
                return point

    def shares(self, point: MasterPoint) -> tuple[Floats, Floats]:
        """Labels of each class of workers for each class of tasks (T, G), and tasks with each set."""
        kinds, groups = self.levels.of.shape
        first = self.before - kinds * groups
        return point.primal[first : self.before].reshape(kinds, groups), point.primal[self.before :]

    def refined(self) -> tuple[Levels, Values, list[Set], float]:
        """Levels cut where sets in use rest on rounding, or on a worker who labels a task twice.

        With values, sets in use, and how many tasks rest on that.
        """
        assert self.point is not None
        labels, tasks = self.shares(self.point)
        used, in_use, cheated = labels > USED, np.flatnonzero(tasks > USED), 0.0
        lowest = [self._lowest(kind, used[kind]) for kind in range(len(self.center))]
        doubtful: list[set[int]] = [set() for _ in self.center]
        for k in in_use.tolist():
            kind, chosen = self.sets[k]
            if not self.enough.holds(kind, lowest[kind][chosen]):
                doubtful[kind].update(chosen.tolist())
                cheated += tasks[k]
        cuts = [self.levels.finer(t, np.array(sorted(some), np.int64), used[t]) for t, some in enumerate(doubtful)]
        for kind, reach in enumerate(self._reach(tasks, in_use)):
            crowded = np.flatnonzero(labels[kind] > reach[self.levels.of[kind]] + USED)
            cheated += float((labels[kind] - reach[self.levels.of[kind]])[crowded].sum())
            cuts[kind] = np.append(cuts[kind], self.levels.around(kind, crowded))
        levels, origin = self.levels.split(cuts)
        last = [np.append(np.flatnonzero(np.diff(old)), old.size - 1) for old in origin]
        values = [value[old] for value, old in zip(self.center, origin, strict=True)]
        sets = [(kind, last[kind][chosen]) for kind, chosen in (self.sets[k] for k in in_use.tolist())]
        return levels, values, sets, cheated

    def _reach(self, tasks: Floats, in_use: Ints) -> Values:
        """How many tasks have labels of each level: what one worker in it can give at most without repeating a task."""
        reach = [np.zeros(top.size) for top in self.levels.tops]
        for k in in_use.tolist():
            kind, chosen = self.sets[k]
            reach[kind][np.unique(chosen)] += tasks[k]
        return reach

    def _lowest(self, kind: int, used: Bools) -> Floats:
        """The least worth of those in use in each level."""
        low = self.levels.tops[kind].copy()
        np.minimum.at(low, self.levels.of[kind][used], self.levels.classes.evidence[kind][used])
        return low
