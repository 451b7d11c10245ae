"""Whom to hire, together with what is known to be true of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import Certificate
from crowdopt.core.solution import PROVEN, Status
from crowdopt.crowd.hiring import gains
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.crowd.skills import empirical_bayes
from crowdopt.hire import score_bounds
from crowdopt.hire.ranking_proof import RankingProof
from crowdopt.notebooks import InNotebooks

STEP = 1e-12  # relative; a frontier's next point scores more by at least this, so that rounding makes none


@dataclass(frozen=True, eq=False)
class Frontier:
    """Sets that no other beats in both coordinates, cheapest first."""

    size: Ints  # (points,): workers in the set
    score: Floats  # (points,): F-hat, ascending
    cost: Floats | None = None  # (points,): what the set costs, ascending; None for the frontier of score against size
    # the sets; for score against size they are the first of the ranking
    members: tuple[Ints, ...] | None = None  # tuple of (size,) int arrays

    def set_of(self, point: int, instance: SelectionInstance) -> Ints:
        """The workers of one point."""
        if self.members is not None:
            return self.members[point]
        return np.argsort(instance.gain_levels.of, kind="stable")[: self.size[point]]


@dataclass(frozen=True, eq=False)
class Selection(InNotebooks):
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
        vouched = "anyone can recompute that from the tallies"
        if self.proof == "solver":
            vouched = f"on {self.backend}'s word"
        elif self.ranking_proof is None:
            vouched = "by the multipliers of the relaxation"
        if self.proven:
            return f"proven: no allowed set scores more ({vouched})"
        return f"no allowed set scores above {self.best_score:.6g} ({vouched})"

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first of the hired, and how many they are."""
        instance, who = self.instance, self.members[:most].tolist()
        rows = [
            {"worker": instance.worker_id(i), "correct": int(instance.correct[i]), "asked": int(instance.asked[i])}
            for i in who
        ]
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
        return None if self.workers is None else gains.score(self.instance.gain[self.workers])

    @property
    def plug_in_score(self) -> float | None:
        """F-hat-plug of the set (eq. 9), biased upwards."""
        return None if self.workers is None else gains.score(self.instance.plug_in_gain[self.workers])

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
        if self.workers is None:
            return (-np.inf, np.inf)
        middle = gains.score(self.instance.gain[self.workers])
        width = score_bounds.interval_half_width(self.instance.asked[self.workers], self.instance.classes, coverage)
        return middle - width, middle + width

    @property
    def error_estimate(self) -> float:
        """The corrected Theorem 1 at F-hat: an estimate of a bound, not a bound; 1 where the score is not positive."""
        score = self.score
        if score is None or score <= 0:
            return 1.0
        return score_bounds.linear_vote_bound(score, self.instance.classes)

    @property
    def best_vote_estimate(self) -> float:
        """Bhattacharyya's bound for log-odds votes at empirical-Bayes accuracies: an estimate, of another vote."""
        if self.workers is None:
            return 1.0
        accuracy = empirical_bayes(self.instance.correct, self.instance.asked)[0]
        return score_bounds.best_vote_bound(accuracy[self.workers], self.instance.classes)

    @property
    def warnings(self) -> list[str]:
        """What a reader of the numbers has to know."""
        sentences = []
        idle = self.members[self.weights == 0]
        if idle.size:
            names = ", ".join(self.instance.worker_id(int(one)) for one in idle[:5])
            sentences.append(f"hired, but their votes weigh nothing, being right as often as chance: {names}")
        score = self.score
        if score is not None and score <= 0:
            sentences.append(
                "no worker did better on the control questions than chance explains; ask more, or other workers"
            )
        if self.workers is not None:
            sentences.append(score_bounds.FIXED_IN_ADVANCE)
        return sentences

    @cached_property
    def score_by_size(self) -> Floats:
        """The most that 1, 2, ... workers can score, for problem (11), shape (sizes,)."""
        levels = self.instance.gain_levels
        ranked = np.repeat(levels.value, levels.count)[: self.instance.sizes]
        return np.cumsum(ranked) / np.sqrt(np.arange(1, ranked.size + 1))

    @cached_property
    def cost_by_size(self) -> Floats | None:
        """What those best sets cost, the first workers of the ranking, shape (sizes,); None without prices."""
        if self.instance.price is None:
            return None
        order = np.argsort(self.instance.gain_levels.of, kind="stable")[: self.instance.sizes]
        return np.cumsum(self.instance.price[order])

    @cached_property
    def frontier(self) -> Frontier:
        """Score against number of workers: the sizes that score more than every smaller one, for problem (11)."""
        scores = self.score_by_size
        best = records(scores)
        return Frontier(best + 1, scores[best])


def records(scores: Floats) -> Ints:
    """Places where a score exceeds all before by STEP at least; (points,) -> (records,), ascending; -inf is none."""
    before = np.concatenate([[-np.inf], np.maximum.accumulate(scores)[:-1]])
    known = np.where(np.isfinite(before), before, 0.0)
    passed = np.where(np.isfinite(before), known + STEP * np.maximum(1.0, np.abs(known)), -np.inf)
    return np.flatnonzero(scores > passed)
