"""Rules that hire by rank, Algorithm 1 of Li & Liu 2015 and those it is held against, and why no set scores more.

The proof is the selection program's LP dual in closed form, in whole numbers over one denominator. For any threshold t,
a set of k workers has gains of at most ``k t + sum_i max(0, G_i - t)``: with ``lambda_k = t / sqrt(k)`` and
``mu_ki = max(0, G_i / sqrt(k) - lambda_k)`` that is the dual's row of ``u_k``. So a bound ``B = total / sqrt(size)`` on
every score is proven by thresholds such that for each size k some t has ``k t + sum_i max(0, G_i - t) <= B sqrt(k)``.
The difference of the two sides is a quadratic in ``sqrt(k)``, so that one threshold serves a whole stretch of sizes.

Whom to hire, together with what is known to be true of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, lcm, log, sqrt
from typing import Any, ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import Certificate
from crowdopt.core.solution import PROVEN, Status
from crowdopt.crowd.rules import rule_named
from crowdopt.crowd.skills import averaged
from crowdopt.errors import InputError
from crowdopt.hire.candidates import SelectionInstance, counted, exceeds, levels, plug_in_fractions, score
from crowdopt.notebooks import InFrames

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


STEP = 1e-12  # relative; a frontier's next point scores more by at least this, so that rounding makes none
FIXED_IN_ADVANCE = (
    "the interval holds for a set fixed before the control questions were answered; this one was chosen by the same "
    "answers, so its true score is likely below the estimate"
)
NO_BETTER = "no worker did better on the control questions than chance explains; ask more, or other workers"


def linear_vote_bound(score: float, classes: int) -> float:
    """``(L - 1) exp(-F^2 / (2 (L - 1)^4))``, at most 1: no WMV-linear vote with unbiased weights errs more often.

    Li & Liu 2015, Theorem 1, corrected: a vote's contribution has a range of ``2 (L - 1)``, not L.

    score: F of eq. (5), with the true accuracies; an estimate gives an estimate.
    """
    return min(1.0, (classes - 1) * exp(-(score**2) / (2 * (classes - 1) ** 4)))


def best_vote_bound(accuracy: Any, classes: int) -> float:
    """Bhattacharyya's bound on the error of the log-odds vote, true accuracies (members,); at most 1 - 1/L."""
    rule = rule_named("bhattacharyya", classes)
    evidence = rule.evidence(np.asarray(accuracy, np.float64), classes).sum()
    return min(1 - 1 / classes, float(rule.error(evidence, classes)))


def interval_half_width(asked: Any, classes: int, coverage: float = 0.95) -> float:
    """``a (L - 1)^2 sqrt(mean((n_i/(n_i - 1))^2))`` with ``1 - 2 exp(-2 a^2)`` = coverage (Li & Liu 2015, Theorem 3).

    The score's estimate is within so much of the true score with that probability, for a set fixed in advance.

    asked (members,): control questions of each worker of the set; equal ones give the paper's ``n/(n - 1)``; coverage:
    in (0, 1).
    """
    if not 0 < coverage < 1:
        raise InputError(f"the coverage of an interval must lie strictly between 0 and 1, not {coverage}")
    n = np.asarray(asked, np.float64)
    width = sqrt(log(2 / (1 - coverage)) / 2) * (classes - 1) ** 2
    return float(width * np.sqrt(np.mean((n / (n - 1)) ** 2)))


@dataclass(frozen=True, eq=False)
class Frontier:
    """Sets that no other beats in both coordinates, cheapest first."""

    size: Ints  # (points,): workers in the set
    score: Floats  # (points,): F-hat, ascending
    members: list[Ints]  # the sets, each (size,)
    cost: Floats | None = None  # (points,): what the set costs, ascending; None for the frontier of score against size


@dataclass(frozen=True, eq=False)
class Selection(InFrames):
    """A set of workers, or why there is none, with the certificate.

    Parameters
    ----------
    instance : SelectionInstance
    status : Status
        OPTIMAL only where the bound is attained; INFEASIBLE, UNDECIDED: there is no set.
    workers : (k,) int, optional
        The hired, by gain, greatest first.
    certificate : Certificate
        Of the program's minimum: ``value`` is minus the score, ``bound`` minus the most any allowed set can score.
    ranking_proof : RankingProof, optional
        Where the bound comes from, for problem (11) as printed: recomputed from the tallies by its own ``holds``.
    method, backend, seed
        How it was made.
    """

    instance: SelectionInstance
    status: Status
    workers: Ints | None
    certificate: Certificate
    ranking_proof: RankingProof | None
    method: str
    backend: str = ""
    seed: int = 0

    in_notebooks: ClassVar[tuple[str, ...]] = ("score", "best_score", "cost", "proof", "proven")

    @property
    def in_words(self) -> str:
        """How good the set provably is, as a sentence."""
        if self.proof == "none":
            return "nothing is known about the best"
        vouched = f"on {self.backend}'s word" if self.proof == "solver" else "by the multipliers of the relaxation"
        if self.ranking_proof is not None:
            vouched = "anyone can recompute that from the tallies"
        known = (
            "proven: no allowed set scores more"
            if self.proven
            else f"no allowed set scores above {self.best_score:.6g}"
        )
        return f"{known} ({vouched})"

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first of the hired, and how many they are."""
        instance = self.instance
        tallies = ((i, int(instance.correct[i]), int(instance.asked[i])) for i in self.members[:most].tolist())
        rows = [{"worker": instance.worker_id(i), "correct": c, "asked": n} for i, c, n in tallies]
        return rows, len(self.members)

    @property
    def found(self) -> bool:
        """Whether there is a set at all."""
        return self.workers is not None

    @property
    def members(self) -> Ints:
        """The hired; none where there is no set."""
        return np.zeros(0, np.int64) if self.workers is None else self.workers

    @property
    def score(self) -> float | None:
        """F-hat of the set (Li & Liu 2015, eq. 7), whatever the method went by."""
        return None if self.workers is None else score(self.instance.gain[self.workers])

    @property
    def plug_in_score(self) -> float | None:
        """F-hat-plug of the set (eq. 9), biased upwards."""
        return None if self.workers is None else score(self.instance.weight[self.workers] ** 2)

    @property
    def best_score(self) -> float:
        """What no allowed set scores above; infinite where nothing is known."""
        return -self.certificate.bound

    @property
    def cost(self) -> float | None:
        """What the hired cost; None without prices."""
        return None if self.instance.price is None else float(self.instance.price[self.members].sum())

    @property
    def proof(self) -> str:
        """Where the bound comes from: ``certificate``, ``solver`` or ``none``."""
        return self.certificate.proof

    @property
    def proven(self) -> bool:
        """Whether no allowed set scores more: exactly, by the ranking's proof, or up to PROVEN by a solver's bound."""
        if self.workers is None:
            return False
        if self.ranking_proof is not None:
            return self.ranking_proof.is_attained(self.instance, self.workers)
        return self.proof != "none" and abs(self.certificate.gap) <= PROVEN

    @property
    def weights(self) -> Floats:
        """Votes' weights ``L c/n - 1`` of the hired (eq. 2), shape (k,)."""
        return self.instance.weight[self.members]

    def interval(self, coverage: float = 0.95) -> tuple[float, float]:
        """F-hat plus and minus Theorem 3's width; ``warnings`` says what that is worth for a set that was chosen."""
        middle = self.score
        if middle is None:
            return (-np.inf, np.inf)
        width = interval_half_width(self.instance.asked[self.members], self.instance.classes, coverage)
        return middle - width, middle + width

    @property
    def error_estimate(self) -> float:
        """The corrected Theorem 1 at F-hat: an estimate of a bound, not a bound; 1 where the score is not positive."""
        middle = self.score
        return 1.0 if middle is None or middle <= 0 else linear_vote_bound(middle, self.instance.classes)

    @property
    def best_vote_estimate(self) -> float:
        """Bhattacharyya's bound for log-odds votes at accuracies averaged over priors: an estimate, of another vote."""
        if self.workers is None:
            return 1.0
        accuracy = averaged(self.instance.correct, self.instance.asked, self.instance.classes)[0]
        return best_vote_bound(accuracy[self.workers], self.instance.classes)

    @property
    def warnings(self) -> list[str]:
        """What a reader of the numbers has to know."""
        middle, idle = self.score, self.members[self.weights == 0][:5].tolist()
        if middle is None:
            return []
        names = ", ".join(self.instance.worker_id(one) for one in idle)
        weightless = f"hired, but their votes weigh nothing, being right as often as chance: {names}"
        return [weightless] * bool(idle) + [NO_BETTER] * (middle <= 0) + [FIXED_IN_ADVANCE]

    @cached_property
    def score_by_size(self) -> Floats:
        """The most that 1, 2, ... workers can score, for problem (11), shape (sizes,)."""
        instance = self.instance
        ranked = instance.gain[instance.gain_levels.ranking[: instance.sizes]]
        return np.cumsum(ranked) / np.sqrt(np.arange(1, ranked.size + 1))

    @property
    def cost_by_size(self) -> Floats | None:
        """What those best sets cost, the first workers of the ranking, shape (sizes,); None without prices."""
        if self.instance.price is None:
            return None
        return np.cumsum(self.instance.price[self.instance.gain_levels.ranking[: self.instance.sizes]])

    @property
    def frontier(self) -> Frontier:
        """Score against number of workers: the sizes that score more than every smaller one, for problem (11)."""
        best, ranking = records(self.score_by_size), self.instance.gain_levels.ranking
        return Frontier(best + 1, self.score_by_size[best], [ranking[:k] for k in (best + 1).tolist()])


def records(scores: Floats) -> Ints:
    """Places where a score exceeds all before by STEP at least; (points,) -> (records,), ascending; -inf is none."""
    before = np.append(-np.inf, np.maximum.accumulate(scores)[:-1])
    step = np.where(np.isfinite(before), STEP * np.maximum(1.0, np.abs(before)), 0.0)
    return np.flatnonzero(scores > before + step)


def ranked(instance: SelectionInstance, rule: str = "algorithm1", seed: int = 0) -> Selection:
    """Hire by one of RULES, with the proof of what no set of at most K workers can score: Algorithm 1 reaches it.

    Raises InputError if the instance limits more than the number of workers.
    """
    if not instance.is_plain:
        raise InputError(
            f"{rule} ranks workers and knows no money, required or barred workers, or groups; use the method program"
        )
    proof, drawn = prove(instance), RULES[rule](instance, np.random.default_rng(seed))
    workers = by_gain(instance, drawn)
    total = total_gain(instance, workers)
    value = float(total) / sqrt(workers.size)
    certificate = Certificate(-value, -proof.bound, "certificate", 0.0, 0.0)
    status = Status.OPTIMAL if proof.is_reached(total, workers.size) else Status.FEASIBLE
    return Selection(instance, status, workers, certificate, proof, rule, seed=seed)


def by_gain(instance: SelectionInstance, workers: Ints) -> Ints:
    """Some workers, the greatest gain first."""
    return workers[np.argsort(instance.gain_levels.of[workers], kind="stable")]
