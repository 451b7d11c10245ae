"""Workers in exact order: the distinct values that tallies lead to, as fractions of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

TABLE = 1 << 22  # cells of a table of all tallies (correct, asked) that still beats sorting the workers
WHOLE = 2.0**62  # sums of whole numbers stay below this, or are added up in Python's own


@dataclass(frozen=True, eq=False)
class Levels:
    """Distinct values, greatest first, and who has which: equal fractions are one level, whatever float64 thinks.

    Parameters
    ----------
    numerator, denominator : (levels,) int
    of : (workers,) int
        Each worker's level; ``np.argsort(of, kind="stable")`` is the stable descending order.
    """

    numerator: Ints
    denominator: Ints
    of: NDArray[np.integer[Any]]

    @cached_property
    def value(self) -> Floats:
        """The levels in float64, strictly descending but for rounding, shape (levels,)."""
        quotient: Floats = self.numerator / self.denominator
        return quotient

    @cached_property
    def count(self) -> Ints:
        """Workers on each level, shape (levels,)."""
        return np.bincount(self.of, minlength=self.numerator.size)

    def fraction(self, level: int) -> Fraction:
        """One level, exactly."""
        return Fraction(int(self.numerator[level]), int(self.denominator[level]))

    def total(self, count: Ints) -> Fraction:
        """Sum of ``count`` times the values, exactly."""
        order = np.argsort(self.denominator, kind="stable")
        order = order[count[order] > 0]
        if order.size == 0:
            return Fraction(0)
        numerator, denominator = self.numerator[order], self.denominator[order]
        if float(np.abs(numerator).max()) * float(count.sum()) >= WHOLE:
            numerator = numerator.astype(object)
        first = np.flatnonzero(np.diff(denominator, prepend=-1))
        sums = np.add.reduceat(numerator * count[order], first)
        return sum((Fraction(int(s), int(d)) for s, d in zip(sums, denominator[first], strict=True)), Fraction(0))


def levels(correct: Ints, asked: Ints, classes: int, value: Callable[[Ints, Ints, int], tuple[Ints, Ints]]) -> Levels:
    """Sort workers into the levels of ``value(correct, asked, classes)``, a fraction, which is taken once per tally."""
    pairs, place = _distinct(correct, asked)
    numerator, denominator = value(*pairs, classes)
    order = _descending(numerator, denominator)
    top, bottom = numerator[order], denominator[order]
    fresh = np.ones(order.size, bool)
    fresh[1:] = [int(a) * int(d) != int(c) * int(b) for a, b, c, d in _neighbours(top, bottom)]
    rank = np.empty(order.size, np.uint16 if fresh.sum() < 2**16 else np.int64)
    rank[order] = np.cumsum(fresh) - 1
    return Levels(top[fresh], bottom[fresh], rank[place])


def _neighbours(top: Ints, bottom: Ints) -> zip[tuple[int, int, int, int]]:
    a, b = top.tolist(), bottom.tolist()
    return zip(a, b, a[1:], b[1:], strict=False)


def _distinct(correct: Ints, asked: Ints) -> tuple[tuple[Ints, Ints], NDArray[Any]]:
    """The distinct tallies (correct, asked), and which of them each worker has."""
    width = int(asked.max()) + 1
    if int(asked.min()) == width - 1:
        key, cells = correct, width
    else:
        key, cells = asked * width + correct, width * width
    place: NDArray[Any]
    if cells > TABLE:
        distinct, where = np.unique(key, return_inverse=True)
        place = where.astype(np.int64)
    else:
        distinct = np.flatnonzero(np.bincount(key, minlength=cells))
        table = np.zeros(cells, np.uint16 if distinct.size < 2**16 else np.int64)
        table[distinct] = np.arange(distinct.size)
        place = table[key]
    if cells == width:
        return (distinct, np.full(distinct.size, width - 1)), place
    return (distinct % width, distinct // width), place


def _descending(numerator: Ints, denominator: Ints) -> Ints:
    """Order by value, greatest first, exactly.

    A quotient in float64 is correctly rounded, so equal fractions are equal floats; different ones differ by at least
    ``1 / d^2``, which float64 resolves unless d is huge.
    """
    value = numerator / denominator
    least = 1.0 / float(denominator.max()) ** 2
    if least > 4 * np.spacing(float(np.abs(value).max())):
        return np.argsort(-value, kind="stable")
    exact = [Fraction(int(a), int(b)) for a, b in zip(numerator, denominator, strict=True)]
    return np.array(sorted(range(len(exact)), key=lambda k: -exact[k]), np.int64)
