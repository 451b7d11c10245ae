"""The cheapest set of labels for tasks of one row at given prices: what an oracle of evidence knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.engine.prepared import ANY, Labels, TaskRow

TABLE = 3_000_000  # numbers in a table of completions, about
CELLS, MOST_CELLS = 500, 8_000  # of evidence, at least and at most
EXACT = 16  # labels up to which a most is counted in the table; more are only counted in the search
KEPT = 4  # sets of a search that are kept
WALKS = 4  # times through all items, each with a set at its end, that a search may always take
STEPS, CLOSE = 60_000, 1e-8  # of a search; how near its best set is to the cheapest, relative


@dataclass(frozen=True, eq=False)
class PricedRow:
    """A row of tasks at prices: its items, and the table of what completes a set.

    Parameters
    ----------
    row : TaskRow
    price : (G,) float
    item : (items,) int
        The class of workers of each label that could be of use.
    task : tuple
        As :func:`crowdopt.assign.engine.completion_kernels.cheapest` takes it.
    rest : array
        Completions.
    """

    row: TaskRow
    price: Floats
    item: Ints
    task: tuple[tuple[Floats, Floats, Ints, Ints], tuple[Ints, Ints], float, bool]
    rest: Floats

    def cheapest(self, need: float, steps: int = STEPS, close: float = CLOSE) -> tuple[float, list[Labels]]:
        """A lower bound on what any set costs at these prices, and the best sets found, the cheapest first.

        Parameters
        ----------
        need : float
            Evidence beside that of the labels that are given.
        steps : int
            After which the search ends, beside those of a few first sets; the bound holds all the same.
        close : float
            Relative distance from the cheapest set at which it ends.
        """
        from crowdopt.assign.engine import completion_kernels as kernels

        sets, sizes = np.empty((KEPT, self.item.size), np.int64), np.empty(KEPT, np.int64)
        bound, _ = kernels.cheapest(
            self.task, self.rest, need, self.row.most, (steps + WALKS * self.item.size, close), sets, sizes
        )
        given = float(self.price[self.row.given].sum())
        return float(bound) + given, list(self._labels(sets, sizes))

    def through(self, need: float, rate: float, most: int) -> list[Labels]:
        """About the cheapest set with each of some classes of workers, the cheapest sets first.

        Parameters
        ----------
        need : float
        rate : float
            What a unit of evidence costs: those nearest to it are looked at.
        most : int
            Classes that are looked at.
        """
        from crowdopt.assign.engine import completion_kernels as kernels

        (price, worth, _, after), _, _, _ = self.task
        first = np.flatnonzero(np.append(True, after[1:] != after[:-1])[: after.size])
        some = first[np.argsort(price[first] - rate * worth[first], kind="stable")[:most]]
        sets, sizes = np.empty((some.size, self.item.size), np.int64), np.empty(some.size, np.int64)
        kernels.through_each(self.task, self.rest, need, self.row.most, some, sets, sizes)
        found = list(self._labels(sets, sizes))
        return sorted(found, key=lambda one: float(self.price[one].sum()))

    def _labels(self, sets: Ints, sizes: Ints) -> Iterator[Labels]:
        for chosen, size in zip(sets, sizes.tolist(), strict=True):
            if size >= 0:
                yield np.sort(np.concatenate([self.row.given, self.item[chosen[:size]]]))


def priced(row: TaskRow, price: Floats, closed: Bools | None = None, table: int = TABLE) -> PricedRow:
    """The row at prices of labels.

    Parameters
    ----------
    row : TaskRow
    price : (G,) float
        Of a label of each class; may be negative.
    closed : (G,) bool, optional
        Classes without room for a label more.
    table : int
        Numbers in the table, about: the more, the fewer steps a search takes.

    Returns
    -------
    PricedRow
    """
    from crowdopt.assign.engine import completion_kernels as kernels

    copies = _copies(row, price)
    if closed is not None:
        copies = np.where(closed, 0, copies)
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
    cells = int(np.clip(table // max(1, numbers), CELLS, MOST_CELLS))
    unit = max(float(row.need[-1]), 1e-9) / cells
    worth = row.evidence[item]
    width = np.minimum(np.ceil(worth / unit - 1e-9), cells).astype(np.int64)
    items = price[item], width, row.group[item], after
    rest = kernels.completions(items, (row.low, row.top), (own, int(counted), row.fewest), exact, cells)
    if (inside < row.low).any():
        rest[:] = np.inf  # a group of which every task needs labels has none to give
    task = (price[item], worth, row.group[item], after), (row.low, row.top), unit, exact
    return PricedRow(row, price, item, task, rest)


def _copies(row: TaskRow, price: Floats) -> Ints:
    """Labels of each class that could be of use in one set.

    At a positive price no more than the need, the fewest labels and those of its group take.
    """
    need = float(row.need[-1])
    low, top = row.low[row.group], row.top[row.group]
    enough = np.where(row.evidence > 0, np.ceil(need / np.maximum(row.evidence, 1e-300)), 0)
    useful = np.maximum(np.minimum(enough, 1e9).astype(np.int64), np.maximum(row.fewest, low))
    copies = np.where(price > 0, np.minimum(useful, row.room), row.room)
    return np.minimum(copies, np.minimum(top, row.most))
