"""Rules that hire by rank, Algorithm 1 of Li & Liu 2015 and those it is held against, and why no set scores more.

The proof is the selection program's LP dual in closed form, in whole numbers over one denominator. For any threshold t,
a set of k workers has gains of at most ``k t + sum_i max(0, G_i - t)``: with ``lambda_k = t / sqrt(k)`` and
``mu_ki = max(0, G_i / sqrt(k) - lambda_k)`` that is the dual's row of ``u_k``. So a bound ``B = total / sqrt(size)`` on
every score is proven by thresholds such that for each size k some t has ``k t + sum_i max(0, G_i - t) <= B sqrt(k)``.
The difference of the two sides is a quadratic in ``sqrt(k)``, so that one threshold serves a whole stretch of sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, sqrt

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.hire.candidates import SelectionInstance, counted, exceeds, levels, plug_in_fractions

TIE = 1e-12  # relative; where scores are no fractions, closer ones are equal


def algorithm1(instance: SelectionInstance, rng: np.random.Generator) -> Ints:
    """Sort by G, take the first k workers with the largest ``(G_(1) + ... + G_(k)) / sqrt(k)``, the smallest such k.

    Solves problem (11) exactly (Li & Liu 2015, Algorithm 1 and Theorem 4). Workers of equal G keep their order, and
    equal means equal fractions. Time in proportion to the workers, plus sorting the distinct tallies.
    """
    return instance.gain_levels.ranking[: instance.gain_levels.best_prefix[1]]


def plug_in(instance: SelectionInstance, rng: np.random.Generator) -> Ints:
    """Algorithm 1 with ``(L w - 1)^2`` for G: exact for the biased score (9) (Li & Liu 2015, Section 4)."""
    squares = levels(instance, plug_in_fractions)
    return squares.ranking[: squares.best_prefix[1]]


def variance_normalised(instance: SelectionInstance, rng: np.random.Generator) -> Ints:
    """Sort by G, take the first k workers with the largest ``sum G / sqrt(sum (L w - 1)^2)``: not Algorithm 1.

    ``sqrt(|S|)`` in F charges each worker a noise of 1 while their vote's variance is about ``(L w - 1)^2``. A rule of
    ours, without a guarantee; where the ranking's first workers have no variance the next ones join them.
    """
    ranked = instance.gain_levels.ranking[: instance.sizes]
    gains, noise = np.cumsum(instance.gain[ranked]), np.sqrt(np.cumsum(instance.weight[ranked] ** 2))
    scores = np.divide(gains, noise, out=np.full(ranked.size, -np.inf), where=noise > 0)
    best = scores.max()
    size = 1 if best == -np.inf else int(np.argmax(scores >= best - TIE * max(1.0, abs(best)))) + 1
    return ranked[:size]


def top_k(instance: SelectionInstance, rng: np.random.Generator) -> Ints:
    """The K workers with the largest shares of correct answers; who is in among equals is up to chance."""
    shuffled = rng.permutation(instance.n_workers)
    share = instance.correct / instance.asked  # different shares are different in float64 too
    return shuffled[np.argsort(-share[shuffled], kind="stable")][: instance.sizes]


def random_k(instance: SelectionInstance, rng: np.random.Generator) -> Ints:
    """K workers drawn without regard to their answers."""
    return rng.choice(instance.n_workers, instance.sizes, replace=False)


RULES: dict[str, Callable[[SelectionInstance, np.random.Generator], Ints]] = {
    "algorithm1": algorithm1,
    "plug-in": plug_in,
    "variance-normalised": variance_normalised,
    "top-k": top_k,
    "random-k": random_k,
}


@dataclass(frozen=True, eq=False)
class RankingProof:
    """No set of 1 to K workers scores more than ``total / sqrt(size)``."""

    total: Fraction
    size: int
    # a threshold per stretch of sizes, in descending order
    numerator: Ints  # (stretches,)
    denominator: Ints  # (stretches,)
    last: Ints  # (stretches,): the largest size of each stretch, ascending; the first begins at 1, the last ends at K

    @property
    def bound(self) -> float:
        """What no set scores above, in float64."""
        return float(self.total) / sqrt(self.size)

    def holds(self, instance: SelectionInstance) -> bool:
        """Recompute from the tallies alone whether the thresholds prove the bound for every allowed size."""
        alike = self.numerator.shape == self.denominator.shape == self.last.shape
        if not alike or self.last.size == 0 or self.last[-1] != instance.sizes or self.size < 1:
            return False
        if (self.denominator < 1).any() or (np.diff(self.last, prepend=0) < 1).any():
            return False
        pool, bottoms = _pool(instance.correct, instance.asked, instance.classes), self.denominator.tolist()
        every = {self.total.denominator, *bottoms, *(bottom for _, _, bottom, _ in pool)}
        common = lcm(*every)
        share = {bottom: common // bottom for bottom in every}
        bound, size = int(self.total * common), self.size
        above, paid, hired, first, before = 0, 0, 0, 1, None
        for top, bottom, last in zip(self.numerator.tolist(), bottoms, self.last.tolist(), strict=True):
            t = top * share[bottom]
            if before is not None and t > before:
                return False
            while above < len(pool) and pool[above][1] * bottom > top * pool[above][2]:
                _, its_top, its_bottom, count = pool[above]
                above, paid, hired = above + 1, paid + count * its_top * share[its_bottom], hired + count
            excess = paid - hired * t
            # ``B s - t s^2 - excess`` is concave in ``s = sqrt(k)`` for t >= 0: both ends decide. For t < 0 it ascends
            # from its vertex ``B / (2 t)`` on: the first size decides, if it is not before the vertex.
            if any(exceeds(k * t + excess, k, bound, size) for k in {first, last}):
                return False
            if t < 0 and bound < 0 and bound * bound > 4 * size * first * t * t:
                return False
            first, before = last + 1, t
        return True

    def is_attained(self, instance: SelectionInstance, workers: Ints) -> bool:
        """Whether the set is allowed and scores exactly the bound, and the bound holds: it is optimal."""
        if not 1 <= workers.size <= instance.sizes or workers.min() < 0 or workers.max() >= instance.n_workers:
            return False
        if np.bincount(workers).max() > 1:
            return False
        return self.is_reached(total_gain(instance, workers), workers.size) and self.holds(instance)

    def is_reached(self, total: Fraction, size: int) -> bool:
        """Whether so many workers with gains of so much together score exactly the bound."""
        return total * abs(total) * self.size == self.total * abs(self.total) * size


def prove(instance: SelectionInstance) -> RankingProof:
    """What no set of at most K workers scores above, with a threshold per level: ``G_(k)`` is the best for size k."""
    gains = instance.gain_levels
    last = np.minimum(np.cumsum(gains.count), instance.sizes)
    needed = int(np.searchsorted(last, instance.sizes)) + 1
    return RankingProof(*gains.best_prefix, gains.numerator[:needed], gains.denominator[:needed], last[:needed])


def total_gain(instance: SelectionInstance, workers: Ints) -> Fraction:
    """The sum of the gains of some workers, (k,), exactly."""
    pool = _pool(instance.correct[workers], instance.asked[workers], instance.classes)
    common = lcm(*{bottom for _, _, bottom, _ in pool})
    return Fraction(sum(count * top * (common // bottom) for _, top, bottom, count in pool), common)


def _pool(correct: Ints, asked: Ints, classes: int) -> list[tuple[int, int, int, int]]:
    """The distinct tallies by gain (8), (10), the greatest first: 84 binary digits, numerator, denominator, workers."""
    width = int(asked.max()) + 1
    key, count, _ = counted(asked * width + correct)
    c, n = key % width, key // width
    top, bottom = (classes * c - n) ** 2 * (n - 1) - classes**2 * c * (n - c), n * n * (n - 1)
    columns = zip(top.tolist(), bottom.tolist(), count.tolist(), strict=True)
    # denominators are below 2^40, so so many digits tell different gains apart
    return sorted((((a << 84) // b, a, b, number) for a, b, number in columns), reverse=True)
