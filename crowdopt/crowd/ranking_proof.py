"""Why no set of at most K workers scores more: the selection program's LP dual in closed form, exactly.

For any threshold t, a set of k workers has gains of at most ``k t + sum_i max(0, G_i - t)``: with
``lambda_k = t / sqrt(k)`` and ``mu_ki = max(0, G_i / sqrt(k) - lambda_k)`` that is the dual's row of ``u_k``. So a
bound ``B = total / sqrt(size)`` on every score is proven by thresholds such that for each size k some t has
``k t + sum_i max(0, G_i - t) <= B sqrt(k)``. The difference of the two sides is a quadratic in ``sqrt(k)``, so that
one threshold serves a whole stretch of sizes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.crowd.selection import SelectionInstance

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

BAND = 1e-12  # relative; how far float64 may have moved a gain
MARGIN = 1e-9  # relative; what float64 decides by more than this needs no fractions


@dataclass(frozen=True, eq=False)
class RankingProof:
    """No set of 1 to K workers scores more than ``total / sqrt(size)``.

    Parameters
    ----------
    total : Fraction
    size : int
    numerator, denominator : (stretches,) int
        A threshold per stretch of sizes.
    last : (stretches,) int
        The largest size of each stretch, ascending; the first begins at 1, the last ends at K.
    """

    total: Fraction
    size: int
    numerator: Ints
    denominator: Ints
    last: Ints

    @property
    def bound(self) -> float:
        """What no set scores above, in float64."""
        return float(self.total) / sqrt(self.size)

    def holds(self, instance: SelectionInstance) -> bool:
        """Recompute from the tallies alone whether the thresholds prove the bound for every allowed size."""
        if self.last.size == 0 or self.last[-1] != instance.sizes or (np.diff(self.last, prepend=0) < 1).any():
            return False
        if self.size < 1 or (self.denominator < 1).any() or self.numerator.shape != self.last.shape:
            return False
        return all(self._covers(*case) for case in self._close_calls(_Pool(instance)))

    def is_attained(self, instance: SelectionInstance, workers: Ints) -> bool:
        """Whether the set is allowed and scores exactly the bound, and the bound holds: it is optimal."""
        hired = np.unique(workers)
        if not 1 <= hired.size == workers.size <= instance.sizes or hired[0] < 0 or hired[-1] >= instance.n_workers:
            return False
        score = _square(_Pool(instance, hired).total(), hired.size)
        return score == _square(self.total, self.size) and self.holds(instance)

    def _close_calls(self, pool: _Pool) -> list[tuple[_Pool, int, int]]:
        """The inequalities that float64 cannot vouch for, as (pool, stretch, size)."""
        threshold, first = self.numerator / self.denominator, np.concatenate([[0], self.last[:-1]]) + 1
        called = []
        for sizes in (first, self.last):
            line = sizes * threshold + pool.excess(threshold)
            ceiling = self.bound * np.sqrt(sizes)
            scale = np.abs(sizes * threshold) + pool.excess(threshold) + np.abs(ceiling)
            called += [(pool, int(j), int(sizes[j])) for j in np.flatnonzero(line > ceiling - MARGIN * scale)]
        slow = np.flatnonzero((threshold < 0) & (self.bound <= 0))  # there a stretch's first size has to be looked at
        return called + [(pool, int(j), int(first[j])) for j in slow]

    def _covers(self, pool: _Pool, stretch: int, size: int) -> bool:
        """``k t + sum_i max(0, G_i - t) <= B sqrt(k)``, exactly, at one end of a stretch, and what makes ends enough.

        ``B s - t s^2 - sum`` is concave in ``s = sqrt(k)`` for t >= 0: both ends decide. For t < 0 it ascends from its
        vertex ``B / (2 t)`` on: the first size decides, if it is not before the vertex.
        """
        t = Fraction(int(self.numerator[stretch]), int(self.denominator[stretch]))
        if _square(size * t + pool.exact_excess(t), size) > _square(self.total, self.size):
            return False
        return t >= 0 or self.total >= 0 or self.total**2 <= 4 * self.size * size * t**2


class _Pool:
    """The distinct tallies with their gains (8), (10), greatest first, and how many workers have each."""

    def __init__(self, instance: SelectionInstance, workers: Ints | None = None) -> None:
        correct, asked = instance.correct, instance.asked
        if workers is not None:
            correct, asked = correct[workers], asked[workers]
        c, n, self.count = _tallies(correct, asked)
        square = instance.classes**2
        self.top = (instance.classes * c - n) ** 2 * (n - 1) - square * c * (n - c)
        self.bottom = n * n * (n - 1)
        self.gain: Floats = self.top / self.bottom
        order = np.argsort(-self.gain, kind="stable")
        self.top, self.bottom = self.top[order], self.bottom[order]
        self.gain, self.count = self.gain[order], self.count[order]

    def excess(self, threshold: Floats) -> Floats:
        """``sum_i max(0, G_i - t)`` in float64, shape (thresholds,)."""
        workers = np.concatenate([[0], np.cumsum(self.count)])
        gains = np.concatenate([[0.0], np.cumsum(self.gain * self.count)])
        above = np.searchsorted(-self.gain, -threshold)
        over: Floats = np.maximum(0.0, gains[above] - threshold * workers[above])
        return over

    def exact_excess(self, threshold: Fraction) -> Fraction:
        """``sum_i max(0, G_i - t)``; gains within BAND of the threshold are compared as fractions."""
        middle = float(threshold)
        band = BAND * max(1.0, abs(middle))
        above = int(np.searchsorted(-self.gain, -(middle + band)))
        equal = int(np.searchsorted(-self.gain, -(middle - band), side="right"))
        total = self.total(above) - threshold * int(self.count[:above].sum())
        for k in range(above, equal):
            over = Fraction(int(self.top[k]), int(self.bottom[k])) - threshold
            total += max(Fraction(0), over) * int(self.count[k])
        return total

    def total(self, first: int | None = None) -> Fraction:
        """Sum of the gains of the workers with the first so many tallies (default: all), exactly."""
        sums: defaultdict[int, int] = defaultdict(int)
        for top, bottom, count in zip(
            self.top[:first].tolist(), self.bottom[:first].tolist(), self.count[:first].tolist(), strict=True
        ):
            sums[bottom] += top * count
        return sum((Fraction(top, bottom) for bottom, top in sums.items()), Fraction(0))


def _tallies(correct: Ints, asked: Ints) -> tuple[Ints, Ints, Ints]:
    """The distinct tallies, and how many workers have each."""
    width = int(asked.max()) + 1
    key = asked * width + correct
    if width * width <= key.size:
        count = np.bincount(key)
        key = np.flatnonzero(count)
        return key % width, key // width, count[key]
    key, count = np.unique(key, return_counts=True)
    return key % width, key // width, count


def _square(total: Fraction, size: int) -> Fraction:
    """``F |F|`` for ``F = total / sqrt(size)``: orders scores exactly."""
    return total * abs(total) / size
