"""How workers are cut into levels: for each class of tasks by what a label of theirs is worth to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.alike import Classes

ALIKE = 1e-6  # relative; gains this close are the same


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels l of a class t of tasks: whoever is worth more than the level below and at most ``tops[t][l]``.

    Counting everybody in a level as its best member relaxes the problem, so that what is proven of levels is proven
    of workers; with a level for each worker nothing is lost.
    """

    classes: Classes
    tops: tuple[Floats, ...]  # T arrays, (L_t,): ascending
    of: Ints  # (T, G): the level of each worker class

    @classmethod
    def cut(cls, classes: Classes, tops: list[Floats]) -> Levels:
        """Levels that end where they are told to."""
        of = [np.searchsorted(top, worth) for top, worth in zip(tops, classes.evidence, strict=True)]
        return cls(classes, tuple(tops), np.array(of, np.int64))

    @classmethod
    def by_use(cls, classes: Classes, count: int, price: Floats) -> Levels:
        """Levels with as many workers each of those who are best used for a class of tasks, and wider ones of all.

        count: levels of the workers used, about; of all there are a third as many; price (T,): of evidence, by which a
        worker's use is judged.
        """
        gains, parts, wide = price[:, None] * classes.evidence - classes.cost, _ends(count), _ends(count // 3)
        used = (gains >= gains.max(axis=0) - ALIKE * (1 + np.abs(gains).max(axis=0))) & (gains > 0)
        tops = []
        for worth, mine in zip(classes.evidence, used, strict=True):
            ends = np.quantile(worth[mine], parts, method="higher") if mine.any() else parts[:0]
            tops.append(np.union1d(ends, np.quantile(worth, wide, method="higher")))
        return cls.cut(classes, tops)

    @property
    def starts(self) -> Ints:
        """Where each class's levels begin, when all are counted through; the last entry is their number."""
        return np.concatenate([[0], np.cumsum([top.size for top in self.tops])])

    def finer(self, kind: int, which: Ints, used: Bools) -> Floats:
        """Where to cut those levels of a class of tasks: at the median of the workers in use, below the top."""
        worth, cuts = self.classes.evidence[kind], []
        for level in which.tolist():
            inside = np.sort(worth[used & (self.of[kind] == level)])
            below = inside[inside < self.tops[kind][level]]
            if below.size:
                cuts.append(min(inside[(inside.size - 1) // 2], below[-1]))
        return np.array(cuts, np.float64)

    def around(self, kind: int, groups: Ints) -> Floats:
        """Where to cut the levels of a class of tasks so that those workers are alone in theirs."""
        worth, of, cuts = self.classes.evidence[kind], self.of[kind], []
        for group in groups.tolist():
            inside = worth[of == of[group]]
            below = inside[inside < worth[group]]
            cuts += [worth[group], *np.sort(below)[-1:]]
        return np.unique(np.array(cuts, np.float64))

    def split(self, cuts: list[Floats]) -> tuple[Levels, list[Ints]]:
        """Levels with those ends too, and the old level that each of them comes from."""
        tops = [np.union1d(old, new) for old, new in zip(self.tops, cuts, strict=True)]
        origin = [np.searchsorted(old, new) for old, new in zip(self.tops, tops, strict=True)]
        return Levels.cut(self.classes, tops), origin


def _ends(count: int) -> Floats:
    """Ends of so many equal parts of the unit interval."""
    return np.linspace(0, 1, count + 1)[1:]
