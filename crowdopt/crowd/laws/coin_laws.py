"""Laws of right and wrong votes, each a mixture of independent ones; here independent workers and latent difficulty.

``P(x) = sum_m s_m prod_j p_mj^{x_j} (1 - p_mj)^{1 - x_j}``, x_j = 1 where worker j is right on the item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty
from crowdopt.elementary import dot, exp, log, logsumexp

INDEPENDENT, LATENT, PAIRWISE, TABLE = "independent", "latent difficulty", "pairwise", "table"
TINY = 1e-300  # chance; in place of 0, where a logarithm is taken


class LawParams(NamedTuple):
    """What a fit of a law looks at."""

    edges: Floats = np.arange(-196, 197) / 200  # of a worker on easy items, on a grid
    left: Floats = np.arange(20) / 20  # s, what is left of an edge on hard items
    most: float = 0.6  # share of hard items
    extra: float = 2.0  # votes like the crowd's mean that each worker is given beside their own
    rounds: int = 100  # of expectation and maximisation, for each s
    penalties: tuple[float, ...] = (2.0, 10.0, 50.0, 250.0)  # of squared couplings, in nats
    redrawn: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)  # shares of votes not repeated


@dataclass(frozen=True, eq=False)
class CoinLaw:
    """A mixture of independent votes; an accuracy may be 0 or 1, so that a part is one way in which all can vote."""

    name: str
    share: Floats  # (parts,): adds up to 1
    accuracy: Floats  # (parts, workers)
    difficulty: Difficulty = NONE  # of which the parts are easy and hard items

    def log_chance(self, right: Ints) -> Floats:
        """``ln P(x)`` of each item; right (items, workers): 1 right, 0 wrong, -1 not asked; -> (items,)."""
        return logsumexp(self.terms(right), axis=1)

    def terms(self, right: Ints) -> Floats:
        """``ln s_m P(x | part m)``, (items, parts); right as above."""
        good, bad = (right == 1)[:, None], (right == 0)[:, None]
        hit, miss = log(np.maximum(self.accuracy, TINY)), log(np.maximum(1 - self.accuracy, TINY))
        terms: Floats = dot(good, hit) + dot(bad, miss) + log(np.maximum(self.share, TINY))
        return terms


def independent_law(right: Ints, params: LawParams | None = None) -> CoinLaw:
    """Accuracies by their tallies, with a few votes like the crowd's mean; right (items, workers): 1, 0 or -1."""
    extra = (params or LawParams()).extra
    mean = _crowd_mean(right)
    accuracy = ((right == 1).sum(axis=0) + extra * mean) / ((right >= 0).sum(axis=0) + extra)
    return CoinLaw(INDEPENDENT, np.ones(1), accuracy[None])


def latent_law(right: Ints, params: LawParams | None = None) -> CoinLaw:
    """The likeliest share h of hard items, edge s left there and edges on easy ones; right as above.

    Expectation and maximisation in h and the edges for each s of a grid. An item that is hard for one worker is hard
    for all: a worker of edge x is right with chance ``(1 + x) / 2`` on easy items and ``(1 + s x) / 2`` on hard ones.
    """
    settings = params or LawParams()
    patterns, count = np.unique(right, axis=0, return_counts=True)
    start = independent_law(right, settings).accuracy[0], _crowd_mean(right)
    fits = [_fitted((patterns, count), start, float(left), settings) for left in settings.left]
    return max(fits, key=lambda fit: float(dot(fit.log_chance(patterns), count)))


def _fitted(items: tuple[Ints, Ints], start: tuple[Floats, float], left: float, params: LawParams) -> CoinLaw:
    """The likeliest law with this much edge left on hard items; items: patterns of votes and how often each occurs."""
    (right, count), (alone, mean) = items, start
    share = np.array([0.8, 0.2])
    edge = np.clip(2 * alone - 1, params.edges[0], params.edges[-1])
    grid = np.stack([params.edges, left * params.edges])
    table = log(np.concatenate([(1 + grid) / 2, (1 - grid) / 2]))  # (4, edges): right easy, right hard, wrong ...
    for _ in range(params.rounds):
        accuracy = (1 + np.stack([edge, left * edge])) / 2
        terms = CoinLaw(LATENT, share, accuracy).terms(right)
        chance = exp(terms - logsumexp(terms, axis=1)[:, None]) * count[:, None]
        counts = np.stack(
            [dot((right == vote).T[:, None], chance.T) + params.extra * share * part for vote, part in
             ((1, mean), (0, 1 - mean))], axis=1
        )  # fmt: skip
        fresh = params.edges[dot(counts.reshape(-1, 1, 4), table.T).argmax(axis=1)]
        hard = min(params.most, float(chance[:, 1].sum() / count.sum()))
        still = np.array_equal(fresh, edge) and abs(hard - share[1]) < 1e-7
        edge, share = fresh, np.array([1 - hard, hard])
        if still:
            break
    accuracy = (1 + np.stack([edge, left * edge])) / 2
    return CoinLaw(LATENT, share, accuracy, Difficulty(float(share[1]), left))


def _crowd_mean(right: Ints) -> float:
    """The crowd's share of right votes, with one vote of each kind beside."""
    return float(((right == 1).sum() + 1) / ((right >= 0).sum() + 2))
