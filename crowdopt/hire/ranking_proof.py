"""Why no set of at most K workers scores more: the selection program's LP dual in closed form, exactly.

For any threshold t, a set of k workers has gains of at most ``k t + sum_i max(0, G_i - t)``: with
``lambda_k = t / sqrt(k)`` and ``mu_ki = max(0, G_i / sqrt(k) - lambda_k)`` that is the dual's row of ``u_k``. So a
bound ``B = total / sqrt(size)`` on every score is proven by thresholds such that for each size k some t has
``k t + sum_i max(0, G_i - t) <= B sqrt(k)``. The difference of the two sides is a quadratic in ``sqrt(k)``, so that
one threshold serves a whole stretch of sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.crowd.hiring.score_levels import fraction_sum, whole_sums

ONE_BY_ONE = 50  # tallies; so few are added to a sum that is known, or taken from it, one by one
BAND = 1e-12  # relative; how far float64 may have moved a gain
ROUNDING = 16 * 2.0**-53  # relative and per term; what float64 decides by more than this needs no fractions


@dataclass(frozen=True, eq=False)
class RankingProof:
    """No set of 1 to K workers scores more than ``total / sqrt(size)``."""

    total: Fraction
    size: int
    # a threshold per stretch of sizes
    numerator: Ints  # (stretches,)
    denominator: Ints  # (stretches,)
    last: Ints  # (stretches,): the largest size of each stretch, ascending; the first begins at 1, the last ends at K

    @property
    def bound(self) -> float:
        """What no set scores above, in float64."""
        return float(self.total) / sqrt(self.size)

    def holds(self, instance: SelectionInstance) -> bool:
        """Recompute from the tallies alone whether the thresholds prove the bound for every allowed size."""
        if self.last.size == 0 or self.last[-1] != instance.sizes or (np.diff(self.last, prepend=0) < 1).any():
            return False
        if not self.numerator.shape == self.denominator.shape == self.last.shape:
            return False
        if self.size < 1 or (self.denominator < 1).any():
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
        excess, terms = pool.excess(threshold)
        called = []
        # both ends of each stretch, for the difference of the sides is concave in between (see _covers)
        for sizes in (first, self.last):
            line = sizes * threshold + excess
            ceiling = self.bound * np.sqrt(sizes)
            scale = np.abs(sizes * threshold) + terms + np.abs(ceiling)
            close = np.flatnonzero(line > ceiling - ROUNDING * (pool.count.size + 10) * scale)
            called += [(pool, int(j), int(sizes[j])) for j in close]
        slow = np.flatnonzero((threshold < 0) & (self.bound <= 0))  # there a stretch's first size has to be looked at
        return called + [(pool, int(j), int(first[j])) for j in slow]

    def _covers(self, pool: _Pool, stretch: int, size: int) -> bool:
        """``k t + sum_i max(0, G_i - t) <= B sqrt(k)``, exactly, at an end of a stretch, and what makes ends enough."""
        # ``B s - t s^2 - sum`` is concave in ``s = sqrt(k)`` for t >= 0: both ends decide. For t < 0 it ascends from
        # its vertex ``B / (2 t)`` on: the first size decides, if it is not before the vertex.
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
        top = (instance.classes * c - n) ** 2 * (n - 1) - square * c * (n - c)
        gain: Floats = top / (n * n * (n - 1))
        order = np.argsort(-gain, kind="stable")
        self.top, self.asked, self.gain, self.count = top[order], n[order], gain[order], self.count[order]
        self.workers = np.concatenate([[0], np.cumsum(self.count)])
        self.known = (0, Fraction(0))  # of the first so many tallies the gains' exact sum

    def excess(self, threshold: Floats) -> tuple[Floats, Floats]:
        """``sum_i max(0, G_i - t)`` in float64, and the size of what it is the difference of, shape (thresholds,)."""
        gains = np.concatenate([[0.0], np.cumsum(self.gain * self.count)])
        sizes = np.concatenate([[0.0], np.cumsum(np.abs(self.gain) * self.count)])
        above = np.searchsorted(-self.gain, -threshold)
        paid = threshold * self.workers[above]
        return np.maximum(0.0, gains[above] - paid), sizes[above] + np.abs(paid)

    def exact_excess(self, threshold: Fraction) -> Fraction:
        """``sum_i max(0, G_i - t)``; gains within BAND of the threshold are compared as fractions."""
        middle = float(threshold)
        band = BAND * max(1.0, abs(middle))
        above = int(np.searchsorted(-self.gain, -(middle + band)))
        equal = int(np.searchsorted(-self.gain, -(middle - band), side="right"))
        total = self.total(above) - threshold * int(self.workers[above])
        for k in range(above, equal):
            total += max(Fraction(0), self._gain(k) - threshold) * int(self.count[k])
        return total

    def total(self, first: int | None = None) -> Fraction:
        end = self.count.size if first is None else first
        start, total = self.known
        # thresholds come in order, so most sums are the last one and a few tallies more or fewer
        if abs(end - start) > ONE_BY_ONE:
            asked, of = np.unique(self.asked[:end], return_inverse=True)
            sums = whole_sums(self.top[:end], self.count[:end], of, asked.size)
            total = fraction_sum(sums, asked * asked * (asked - 1))
        else:
            for k in range(min(start, end), max(start, end)):
                total += (1 if end > start else -1) * int(self.count[k]) * self._gain(k)
        self.known = (end, total)
        return total

    def _gain(self, k: int) -> Fraction:
        n = int(self.asked[k])
        return Fraction(int(self.top[k]), n * n * (n - 1))


def _tallies(correct: Ints, asked: Ints) -> tuple[Ints, Ints, Ints]:
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
