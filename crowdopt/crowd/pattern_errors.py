"""Patterns: how many labels of each skill a task gets, and how much its vote then errs."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.voting import vote_errors


class Errors:
    """Errors of the votes by log-odds over patterns of these skills, each computed once.

    Parameters
    ----------
    skill : (G,) float
        p of each pool, in [1/2, 1).
    prior : float
        Probability of class 1.
    """

    def __init__(self, skill: Floats, prior: float) -> None:
        self.skill, self.prior = skill, prior
        self.weight = np.log(skill) - np.log1p(-skill)
        self.evidence = -np.log(4 * skill * (1 - skill))
        self._known: dict[bytes, float] = {}

    def of(self, patterns: Ints) -> Floats:
        """At most each pattern's error, (k,) for (k, G); exact but for many labels that all differ (vote_errors)."""
        keys = [row.tobytes() for row in np.ascontiguousarray(patterns, dtype=np.int64)]
        new = [k for k, key in enumerate(keys) if key not in self._known]
        if new:
            errors = self._computed(patterns[new])
            self._known.update(zip([keys[k] for k in new], errors.tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.float64)

    def _computed(self, patterns: Ints) -> Floats:
        flat = patterns.reshape(-1)
        pool = np.repeat(np.tile(np.arange(self.skill.size), len(patterns)), flat)
        starts = np.concatenate([[0], np.cumsum(patterns.sum(axis=1))]).astype(np.int64)
        lean = np.full(len(patterns), np.log(self.prior) - np.log1p(-self.prior))
        chance = np.full(len(patterns), self.prior)
        above, width = vote_errors(starts, self.skill[pool], self.weight[pool], chance, lean)
        return above - width
