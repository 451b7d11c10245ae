"""Skills from gold alone, by a prior on the grid that is fitted to all tallies."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.gold.skills import empirical_bayes
from crowdopt.online.beliefs.grid import GRID, expected

PSEUDO, ROUNDS = (2.0, 4.0), 100  # of the prior's fit: workers like the expected ones, fewer as others come


def gold_skills(right: Ints, asked: Ints, classes: int) -> Floats:
    """``E[g | c of s]`` by each type's own prior, the likeliest one beside a few workers like the expected ones.

    A Beta prior fits a crowd badly of which some guess among K classes: it takes guessers who had no luck for workers
    who know what is wrong. Where workers differ no more than by chance all get the type's share of right answers.

    right, asked (types, workers): c and s; -> (types, workers): the prior's mean for a worker without gold.
    """
    from crowdopt.online.beliefs.belief_kernels import fit

    means = np.array(empirical_bayes(right, asked))
    for kind in np.flatnonzero(np.ptp(means, axis=1) > 0):
        c, s = right[kind, :, None], asked[kind, :, None]
        logs = c * np.log(GRID) + (s - c) * np.log1p(-GRID)
        likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
        seen = np.flatnonzero(s)
        prior = expected(classes)
        if seen.size:
            strength = PSEUDO[0] + PSEUDO[1] / (1 + 0.2 * seen.size)
            prior = fit(np.ascontiguousarray(likelihood[seen]), prior, strength, ROUNDS)
        posterior = likelihood * prior
        means[kind] = (posterior @ GRID) / posterior.sum(axis=1)
    return means
