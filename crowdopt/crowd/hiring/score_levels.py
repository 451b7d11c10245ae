"""Workers in exact order: the distinct values that tallies lead to, as fractions of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints

TABLE = 1 << 22  # cells of a table of all tallies (correct, asked) that still beats sorting the workers
WHOLE = 2.0**62  # sums of whole numbers stay below this, or are added up in Python's own


@dataclass(frozen=True, eq=False)
class ScoreLevels:
    """Distinct values, greatest first, and the workers of each; equal fractions are one level."""

    numerator: Ints  # (levels,)
    denominator: Ints  # (levels,)
    # each worker's level; ``np.argsort(of, kind="stable")`` is the stable descending order
    of: NDArray[np.integer[Any]]  # (workers,)

    @cached_property
    def value(self) -> Floats:
        """The levels in float64, strictly descending but for rounding, shape (levels,)."""
        return self.numerator / self.denominator

    @cached_property
    def count(self) -> Ints:
        """Workers on each level, shape (levels,)."""
        return np.bincount(self.of, minlength=self.numerator.size)

    def fraction(self, level: int) -> Fraction:
        """One level, exactly."""
        return Fraction(int(self.numerator[level]), int(self.denominator[level]))

    def total(self, count: Ints) -> Fraction:
        """Sum of ``count`` times the values, exactly."""
        kinds, of = self._denominators
        return fraction_sum(whole_sums(self.numerator, count, of, kinds.size), kinds)

    @cached_property
    def _denominators(self) -> tuple[Ints, Ints]:
        kinds, of = np.unique(self.denominator, return_inverse=True)
        return kinds, of.astype(np.int64)


def whole_sums(values: Ints, count: Ints, of: Ints, kinds: int) -> list[int]:
    """Sum of ``count`` times whole values per kind, exactly, whatever their size.

    values (levels,): whole values; count (levels,): how often each counts; of (levels,): the sum it belongs to; -> one
    sum per kind.
    """
    bound = float(np.abs(values).max(initial=0)) * float(count.sum())
    sums = np.zeros(kinds, np.int64 if bound < WHOLE else object)
    np.add.at(sums, of, values.astype(sums.dtype) * count)
    return [int(one) for one in sums]


def fraction_sum(numerators: list[int], denominators: Ints) -> Fraction:
    """The sum of fractions over one common denominator, quicker than Fractions that are each reduced on the way."""
    bottoms = denominators.tolist()
    common = lcm(*bottoms)
    return Fraction(sum(top * (common // bottom) for top, bottom in zip(numerators, bottoms, strict=True)), common)


def levels(
    correct: Ints, asked: Ints, classes: int, value: Callable[[Ints, Ints, int], tuple[Ints, Ints]]
) -> ScoreLevels:
    """Sort workers into the levels of ``value(correct, asked, classes)``, a fraction, which is taken once per tally.

    value: one of crowd.hiring.gains' fractions: two arrays (workers,) in, numerators and denominators (workers,) out.
    """
    pairs, place = _distinct(correct, asked)
    numerator, denominator = value(*pairs, classes)
    order, distinct = _descending(numerator, denominator)
    top, bottom = numerator[order], denominator[order]
    fresh = np.concatenate([[True], distinct])
    rank = np.empty(order.size, np.uint16 if fresh.sum() < 2**16 else np.int64)
    rank[order] = np.cumsum(fresh) - 1
    return ScoreLevels(top[fresh], bottom[fresh], rank[place])


def _distinct(correct: Ints, asked: Ints) -> tuple[tuple[Ints, Ints], NDArray[Any]]:
    """The distinct tallies (correct, asked) and which each worker has; all workers' own where a table is too large."""
    width = int(asked.max()) + 1
    alike = int(asked.min()) == width - 1
    key, cells = (correct, width) if alike else (asked * width + correct, width * width)
    if cells > TABLE:
        return (correct, asked), np.arange(correct.size)
    there = np.flatnonzero(np.bincount(key, minlength=cells))
    table = np.zeros(cells, np.uint16 if there.size < 2**16 else np.int64)
    table[there] = np.arange(there.size)
    return (there, np.full(there.size, width - 1)) if alike else (there % width, there // width), table[key]


def _descending(numerator: Ints, denominator: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    # A quotient in float64 is correctly rounded, so equal fractions are equal floats; different ones differ by at
    # least ``1 / d^2``, which float64 resolves unless d is huge.
    value = numerator / denominator
    least = 1.0 / float(denominator.max()) ** 2
    if least > 4 * np.spacing(float(np.abs(value).max())):
        order = np.argsort(-value, kind="stable")
        return order, np.diff(value[order]) != 0
    exact = [Fraction(int(a), int(b)) for a, b in zip(numerator, denominator, strict=True)]
    ranked = sorted(range(len(exact)), key=lambda k: -exact[k])
    return np.array(ranked, np.int64), np.array([exact[a] != exact[b] for a, b in pairwise(ranked)], bool)
