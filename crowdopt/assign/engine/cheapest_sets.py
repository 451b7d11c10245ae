"""The cheapest set of labels for tasks of one row at given prices: what an oracle of evidence knows."""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.engine.prepared import ANY, Labels, Overlaps, TaskRow, problem_of
from crowdopt.crowd.recipes import recipe

CELLS = 500, 8_000, 3_000_000  # of evidence, at least and at most; numbers in a table of completions, about
EXACT = 16  # labels up to which a most is counted in the table; more are only counted in the search
KEPT = 4  # sets of a search that are kept
WALKS = 4  # times through all items, each with a set at its end, that a search may always take
THROUGH, EACH = 150, 40  # classes of workers through which sets are looked for at a time, and sets kept, at most
LOOKED = 2  # times the sets wanted: classes that are looked through
STEPS, CLOSE = 60_000, 1e-8  # of a search; how near its best set is to the cheapest, relative
_gone: deque[Floats] = deque(maxlen=2)  # memory of tables that nobody uses any longer: for as many threads


@dataclass(frozen=True, eq=False)
class PricedRow:
    """A row of tasks at prices: its items, and the table of what completes a set."""

    row: TaskRow
    price: Floats  # (G,)
    item: Ints  # (items,): the class of workers of each label that could be of use
    # as :func:`crowdopt.assign.engine.completion_kernels.cheapest` takes it
    task: tuple[tuple[Floats, Floats, Ints, Ints], tuple[Ints, Ints], float, bool]
    rest: Floats  # array: completions
    usable: Ints  # (G,): labels of each class that a task could have

    def cheapest(
        self, place: int, steps: int = STEPS, close: float = CLOSE, limit: float = np.inf
    ) -> tuple[float, list[Labels]]:
        """A lower bound on what any set costs at these prices, and the best sets found, the cheapest first.

        place: of the row's kinds; steps: after which the search ends, beside those of a few first sets; the bound holds
        all the same; close: relative distance from the cheapest set at which it ends; limit: what a set that is known
        costs; not needed here.
        """
        from crowdopt.assign.engine import completion_kernels as kernels

        sets, sizes = np.empty((KEPT, self.item.size), np.int64), np.empty(KEPT, np.int64)
        bound, _ = kernels.cheapest(
            self.task,
            self.rest,
            float(self.row.need[place]),
            self.row.most,
            self._beside,
            (steps + WALKS * self.item.size, close),
            sets,
            sizes,
        )
        given = float(self.price[self.row.given].sum())
        return float(bound) + given, list(self._labels(sets, sizes))

    def others(self, place: int, best: list[Labels], most: int) -> list[Labels]:
        """So many sets through workers who are about as good as those in the best one."""
        if not best:
            return []
        rate = float(self.price[best[0]].sum()) / max(1e-12, float(self.row.evidence[best[0]].sum()))
        return self.through(float(self.row.need[place]), rate, min(THROUGH, LOOKED * most))[: min(EACH, most)]

    def dearer(self, labels: Labels, most: int) -> list[Labels]:
        """The set by other workers whose labels are alike: of each kind of label the next dearer ones, and so on."""
        chosen = self.row.chosen(labels)
        if not chosen.size or self.row.beside.low.size:
            return []
        usable = np.flatnonzero(self.usable > 0)
        ranked = usable[np.lexsort((self.price[usable], self.row.like[usable]))]
        begin = np.searchsorted(self.row.like[ranked], np.arange(self.row.like.max() + 2))
        kinds, number = np.unique(self.row.like[chosen], return_counts=True)
        spare = begin[kinds + 1] - begin[kinds] - number
        if (spare < 0).any():  # workers of a class give several of the labels: there are others enough
            return []
        found: list[Labels] = []
        for step in range(1, min(EACH, most) + 1):
            if (step * number > spare).all():
                break
            at = begin[kinds] + np.minimum(step * number, spare)
            taken = [ranked[a : a + k] for a, k in zip(at.tolist(), number.tolist(), strict=True)]
            found.append(np.sort(np.concatenate([self.row.given, *taken])))
        return found

    def through(self, need: float, rate: float, most: int) -> list[Labels]:
        """About the cheapest set with each of some classes of workers, the cheapest sets first.

        rate: what a unit of evidence costs: those nearest to it are looked at; most: classes that are looked at.
        """
        from crowdopt.assign.engine import completion_kernels as kernels

        (price, worth, _, after), _, _, _ = self.task
        first = np.flatnonzero(np.append(True, after[1:] != after[:-1])[: after.size])
        some = first[np.argsort(price[first] - rate * worth[first], kind="stable")[:most]]
        sets, sizes = np.empty((some.size, self.item.size), np.int64), np.empty(some.size, np.int64)
        kernels.through_each(self.task, self.rest, need, self.row.most, self._beside, some, sets, sizes)
        found = list(self._labels(sets, sizes))
        return sorted(found, key=lambda one: float(self.price[one].sum()))

    @property
    def _beside(self) -> Overlaps:
        return self.row.beside.of(self.item)

    def _labels(self, sets: Ints, sizes: Ints) -> Iterator[Labels]:
        for chosen, size in zip(sets, sizes.tolist(), strict=True):
            if size >= 0:
                yield np.sort(np.concatenate([self.row.given, self.item[chosen[:size]]]))


def priced(row: TaskRow, price: Floats, left: Ints | None = None, cells: tuple[int, int, int] = CELLS) -> PricedRow:
    """The row at prices of labels.

    price (G,): of a label of each class; may be negative; left (G,): labels that each class has left; cells: of
    evidence in the table, at least and at most, and about how many numbers: the more, the fewer steps a search takes.
    """
    from crowdopt.assign.engine import completion_kernels as kernels

    room = row.room if left is None else np.minimum(row.room, left)
    usable = np.minimum(room, np.minimum(row.top[row.group], row.most))
    copies = _copies(row, price, usable)
    of_use = np.flatnonzero(copies > 0)
    ratio = np.where(row.evidence[of_use] > 0, price[of_use] / np.maximum(row.evidence[of_use], 1e-300), np.inf)
    of_use = of_use[np.lexsort((of_use, np.where(price[of_use] <= 0, -np.inf, ratio), row.group[of_use]))]
    item = np.repeat(of_use, copies[of_use])
    ends = np.cumsum(copies[of_use])
    after = np.repeat(ends, copies[of_use])
    exact = row.most <= EXACT
    counted = row.most if exact else row.fewest
    inside = np.bincount(row.group[item], minlength=row.low.size)
    own = int(np.minimum(np.where(row.top < ANY, row.top, row.low), inside).max())
    numbers = (item.size + 1) * (own + 1) * (counted + 1)
    count = int(np.clip(cells[2] // max(1, numbers), *cells[:2]))
    unit = max(float(row.need[-1]), 1e-9) / count
    worth = row.evidence[item]
    width = np.minimum(np.ceil(worth / unit - 1e-9), count + kernels.SPARE).astype(np.int64)
    items = price[item], width, row.group[item], after
    shape = item.size + 1, own + 1, int(counted) + 1, count + kernels.SPARE + 1
    memory = _memory(math.prod(shape))
    rest = memory[: math.prod(shape)].reshape(shape)
    kernels.completions(items, (row.low, row.top), row.fewest, exact, rest)
    if (inside < row.low).any():
        rest[:] = np.inf  # a group of which every task needs labels has none to give
    task = (price[item], worth, row.group[item], after), (row.low, row.top), unit, exact
    at = PricedRow(row, price, item, task, rest, usable)
    weakref.finalize(at, _gone.append, memory).atexit = False
    return at


def _memory(size: int) -> Floats:
    """Room for so many numbers, that of a table which is gone if it suffices: new memory takes longer than its loop."""
    try:
        spare = _gone.pop()
    except IndexError:
        return np.empty(size)
    return spare if spare.size >= size else np.empty(size)


def _copies(row: TaskRow, price: Floats, usable: Ints) -> Ints:
    """Labels of each class, of those usable, that could be of use in one set: the cheapest ones of those alike.

    At a positive price no more than the need, the fewest labels and those of its groups take.
    """
    need = float(row.need[-1])
    low = row.low[row.group]
    enough = np.where(row.evidence > 0, np.ceil(need / np.maximum(row.evidence, 1e-300)), 0)
    beside = (row.beside.member * row.beside.low[:, None]).max(axis=0, initial=0)
    useful = np.maximum(np.minimum(enough, 1e9).astype(np.int64), np.maximum(row.fewest, np.maximum(low, beside)))
    copies = np.where(price > 0, np.minimum(useful, usable), usable)
    order = np.lexsort((price, row.like))
    before = np.cumsum(copies[order]) - copies[order]
    first = np.flatnonzero(np.diff(row.like[order], prepend=-1))
    before -= np.repeat(before[first], np.diff(first, append=order.size))
    kept = np.where(price[order] > 0, np.maximum(0, useful[order] - before), copies[order])
    copies[order] = np.minimum(copies[order], kept)
    return copies


def look_once() -> None:
    """Look for sets among next to nothing, so that the loops for it are compiled."""
    problem = problem_of(recipe("K3:3x2"))
    assert problem is not None
    row = problem.rows[0]
    one = priced(row, np.ones(row.room.size))
    one.cheapest(0)
    one.through(1.0, 1.0, 1)
