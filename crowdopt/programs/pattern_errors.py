"""Patterns: how many labels of each skill a task gets, and how much its vote then errs."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import ClassVotes, class_vote_errors, least_class_errors, vote_errors

CELLS = 256  # beliefs among more than two classes up to which an error is exact


class Errors:
    """Errors of the votes by log-odds over patterns of these skills, each computed once.

    skill (G,): p of each pool, in [1/K, 1); prior float or (K,) float: probability of class 1 of two, or of each of
    more classes.
    """

    def __init__(self, skill: Floats, prior: float | Floats) -> None:
        self.skill = skill
        self.prior: Floats = np.array([1 - prior, prior]) if np.ndim(prior) == 0 else np.asarray(prior)
        self.lean = float(self.prior[1])
        self.weight = np.log(skill) - np.log1p(-skill)
        self.evidence = -np.log(4 * skill * (1 - skill))
        if self.prior.size > 2:
            self.evidence = EXACT_ERROR.evidence(skill, self.prior.size)
        self._known: dict[bytes, float] = {}

    def least_evidence(self, target: float) -> float:
        """Evidence that every vote which keeps a target has (Cauchy and Schwarz; crowdopt.crowd.rules)."""
        with np.errstate(divide="ignore"):
            if self.prior.size > 2:
                return float(EXACT_ERROR.need(target, self.prior.size, self.prior))
            return float(np.log(self.lean * (1 - self.lean)) - np.log(target * (1 - target)))

    def of(self, patterns: Ints) -> Floats:
        """At most each pattern's error, (k,) for (k, G); exact but for many labels that all differ (vote_errors)."""
        keys = [row.tobytes() for row in np.ascontiguousarray(patterns, dtype=np.int64)]
        new = [k for k, key in enumerate(keys) if key not in self._known]
        if new:
            errors = self._computed(patterns[new])
            self._known.update(zip([keys[k] for k in new], errors.tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.float64)

    def promised(self, patterns: Ints) -> Floats:
        """Errors that a plan may promise: the same between two classes, at least each pattern's error among more."""
        if self.prior.size == 2 or not len(patterns):
            return self.of(patterns)
        starts, pool = _labels(patterns)
        votes = ClassVotes(starts, self.skill[pool], np.tile(self.prior, (len(patterns), 1)))
        return class_vote_errors(votes, np.zeros(len(patterns)))[0]

    def _computed(self, patterns: Ints) -> Floats:
        starts, pool = _labels(patterns)
        if self.prior.size > 2:
            prior = np.tile(self.prior, (len(patterns), 1))
            return least_class_errors(ClassVotes(starts, self.skill[pool], prior), CELLS)
        lean = np.full(len(patterns), np.log(self.lean) - np.log1p(-self.lean))
        chance = np.full(len(patterns), self.lean)
        above, width = vote_errors(starts, self.skill[pool], self.weight[pool], chance, lean)
        return above - width


def _labels(patterns: Ints) -> tuple[Ints, Ints]:
    count, pools = patterns.shape
    starts = np.concatenate([[0], np.cumsum(patterns.sum(axis=1))]).astype(np.int64)
    return starts, np.repeat(np.tile(np.arange(pools), count), patterns.reshape(-1))
