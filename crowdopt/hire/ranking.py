"""Rules that hire by rank: Algorithm 1 of Li & Liu 2015 and those it is held against.

Every answer comes with the same proof of what no set of at most K workers can score, so that each rule's distance from
the optimum is known; Algorithm 1's is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.core.certificate import Certificate
from crowdopt.core.solution import Status
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.crowd.hiring.score_levels import ScoreLevels
from crowdopt.errors import InputError
from crowdopt.hire.ranking_proof import RankingProof
from crowdopt.hire.selected import Selection

ROUNDING = 8 * 2.0**-53  # relative and per term; what float64 may have moved a sum by, with room to spare
TIE = 1e-12  # relative; where scores are no fractions, closer ones are equal


def algorithm1(instance: SelectionInstance) -> Selection:
    """Sort by G, take the first k workers with the largest ``(G_(1) + ... + G_(k)) / sqrt(k)``, the smallest such k.

    Solves problem (11) exactly (Li & Liu 2015, Algorithm 1 and Theorem 4). Workers of equal G keep their order, and
    equal means equal fractions. Time in proportion to the workers, plus sorting the distinct tallies. Raises InputError
    if the instance limits more than the number of workers.
    """
    _refuse_limits(instance, "Algorithm 1")
    total, size = _best_prefix(instance.gain_levels, instance.sizes)
    proof = _proof(instance, total, size)
    return _selection(instance, _first(instance.gain_levels, size), proof, "algorithm1")


def plug_in(instance: SelectionInstance) -> Selection:
    """Algorithm 1 with ``(L w - 1)^2`` for G: exact for the biased score (9) (Li & Liu 2015, Section 4)."""
    _refuse_limits(instance, "the plug-in rule")
    _, size = _best_prefix(instance.plug_in_levels, instance.sizes)
    return _selection(instance, _first(instance.plug_in_levels, size), prove(instance), "plug-in")


def top_k(instance: SelectionInstance, rng: np.random.Generator) -> Selection:
    """The K workers with the largest shares of correct answers; who is in among equals is up to chance."""
    _refuse_limits(instance, "the top-K rule")
    shuffled = rng.permutation(instance.n_workers)
    order = shuffled[np.argsort(instance.reliability_levels.of[shuffled], kind="stable")]
    return _selection(instance, order[: instance.sizes], prove(instance), "top-k")


def random_k(instance: SelectionInstance, rng: np.random.Generator) -> Selection:
    """K workers drawn without regard to their answers."""
    _refuse_limits(instance, "the random rule")
    drawn = rng.choice(instance.n_workers, instance.sizes, replace=False)
    return _selection(instance, drawn, prove(instance), "random-k")


def variance_normalised(instance: SelectionInstance) -> Selection:
    """Sort by G, take the first k workers with the largest ``sum G / sqrt(sum (L w - 1)^2)``: not Algorithm 1.

    ``sqrt(|S|)`` in F charges each worker a noise of 1 while their vote's variance is about ``(L w - 1)^2``. A rule of
    ours, without a guarantee; where the ranking's first workers have no variance the next ones join them.
    """
    _refuse_limits(instance, "the variance-normalised rule")
    ranked = _first(instance.gain_levels, instance.sizes)
    gains, noise = np.cumsum(instance.gain[ranked]), np.sqrt(np.cumsum(instance.plug_in_gain[ranked]))
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(noise > 0, gains / noise, -np.inf)
    best = scores.max()
    size = 1 if best == -np.inf else int(np.argmax(scores >= best - TIE * max(1.0, abs(best)))) + 1
    return _selection(instance, ranked[:size], prove(instance), "variance-normalised")


def prove(instance: SelectionInstance) -> RankingProof:
    """What no set of at most K workers scores above, with the multipliers that show it."""
    return _proof(instance, *_best_prefix(instance.gain_levels, instance.sizes))


def _proof(instance: SelectionInstance, total: Fraction, size: int) -> RankingProof:
    """One threshold per level: ``G_(k)`` is the best of all thresholds for size k."""
    levels = instance.gain_levels
    last = np.minimum(np.cumsum(levels.count), instance.sizes)
    needed = int(np.searchsorted(last, instance.sizes)) + 1
    return RankingProof(total, size, levels.numerator[:needed], levels.denominator[:needed], last[:needed])


def _best_prefix(levels: ScoreLevels, most: int) -> tuple[Fraction, int]:
    # Along workers of one gain v the score is ``(a + v k) / sqrt(k)`` with a >= 0: it falls for v <= 0 and is first
    # falling, then rising otherwise, so only the first and the last worker of each level can be the best to stop at.
    last = np.minimum(np.cumsum(levels.count), most)
    levels_in = int(np.searchsorted(last, most)) + 1
    last = last[:levels_in]
    first = np.concatenate([[0], last[:-1]]) + 1
    size = np.concatenate([first, last])
    level = np.tile(np.arange(levels_in), 2)
    before = np.concatenate([[0.0], np.cumsum(levels.value[:levels_in] * (last - first + 1))[:-1]])
    score = (before[level] + levels.value[level] * (size - first[level] + 1)) / np.sqrt(size)
    best = score.max()
    # float64 only shortlists; which of the shortlisted is best is decided in fractions
    noise = ROUNDING * (levels_in + 10) * float(np.abs(score).max())
    close = np.unique(size[score >= best - noise])  # those that float64 cannot tell apart
    return _exact_best(levels, close)


def _exact_best(levels: ScoreLevels, sizes: Ints) -> tuple[Fraction, int]:
    """Of the given prefixes, ascending in size, the first with the largest score; ``g |g| / k`` orders scores."""
    reach = np.cumsum(levels.count)
    size = int(sizes[0])
    here = total = levels.total(np.clip(size - (reach - levels.count), 0, levels.count))
    square = total * abs(total) / size
    for before, k in pairwise(sizes.tolist()):
        here += _between(levels, reach, before, k)
        if here * abs(here) / k > square:
            total, size, square = here, k, here * abs(here) / k
    return total, size


def _between(levels: ScoreLevels, reach: Ints, before: int, k: int) -> Fraction:
    """The gains that the ranking's workers from the one after ``before`` to the k-th have together."""
    total, level = Fraction(0), int(np.searchsorted(reach, before, side="right"))
    while before < k:
        taken = min(int(reach[level]), k) - before
        total += taken * levels.fraction(level)
        before, level = before + taken, level + 1
    return total


def _first(levels: ScoreLevels, size: int) -> Ints:
    cut = int(np.searchsorted(np.cumsum(levels.count), size))
    candidates = np.flatnonzero(levels.of <= cut)
    return candidates[np.argsort(levels.of[candidates], kind="stable")][:size]


def _selection(instance: SelectionInstance, workers: Ints, proof: RankingProof, method: str) -> Selection:
    ranked = workers[np.argsort(instance.gain_levels.of[workers], kind="stable")]
    levels = instance.gain_levels
    total = levels.total(np.bincount(levels.of[ranked], minlength=levels.count.size))
    value = float(total) / float(np.sqrt(ranked.size))
    certificate = Certificate(-value, -proof.bound, "certificate", 0.0, 0.0)
    reached = total * abs(total) * proof.size == proof.total * abs(proof.total) * ranked.size
    return Selection(instance, Status.OPTIMAL if reached else Status.FEASIBLE, ranked, certificate, proof, method)


def _refuse_limits(instance: SelectionInstance, who: str) -> None:
    if not instance.is_plain:
        raise InputError(
            f"{who} ranks workers and knows no money, required or barred workers, or groups; use the method program"
        )


Ranking = Callable[[SelectionInstance], Selection]
"""A rule without chance."""
RANKINGS: dict[str, Ranking] = {
    "algorithm1": algorithm1,
    "plug-in": plug_in,
    "variance-normalised": variance_normalised,
}
DRAWN: dict[str, Callable[[SelectionInstance, np.random.Generator], Selection]] = {"top-k": top_k, "random-k": random_k}
