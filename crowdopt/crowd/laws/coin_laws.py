"""Laws of right and wrong votes, each a mixture of independent ones; here independent workers and latent difficulty.

``P(x) = sum_m s_m prod_j p_mj^{x_j} (1 - p_mj)^{1 - x_j}``, x_j = 1 where worker j is right on the item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty

INDEPENDENT, LATENT, PAIRWISE = "independent", "latent difficulty", "pairwise"
TINY = 1e-300  # chance; in place of 0, where a logarithm is taken
EDGES: Floats = np.arange(-196, 197) / 200  # of a worker on easy items, on a grid
LEFT: Floats = np.arange(20) / 20  # s, what is left of an edge on hard items
MOST = 0.6  # share of hard items
EXTRA = 2.0  # votes like the crowd's mean that each worker is given beside their own
ROUNDS = 100  # of expectation and maximisation, for each s
TOGETHER = 2**18  # votes that a fit looks at in one array


@dataclass(frozen=True, eq=False)
class CoinLaw:
    """A mixture of independent votes; an accuracy may be 0 or 1, so that a part is one way in which all can vote."""

    name: str
    share: Floats  # (parts,): adds up to 1
    accuracy: Floats  # (parts, workers)
    difficulty: Difficulty = NONE  # of which the parts are easy and hard items

    def log_chance(self, right: Ints) -> Floats:
        """``ln P(x)`` of each item; right (items, workers): 1 right, 0 wrong, -1 not asked; -> (items,)."""
        return np.logaddexp.reduce(self.terms(right), axis=1)

    def terms(self, right: Ints) -> Floats:
        """``ln s_m P(x | part m)``, (items, parts); right as above."""
        return _terms(right, self.share, self.accuracy)


def _terms(right: Ints, share: Floats, accuracy: Floats) -> Floats:
    """As above for several laws at once: share (..., parts), accuracy (..., parts, workers) -> (..., items, parts)."""
    hit, miss = (np.log(np.maximum(one, TINY)).swapaxes(-1, -2) for one in (accuracy, 1 - accuracy))
    return (right == 1) @ hit + (right == 0) @ miss + np.log(np.maximum(share, TINY))[..., None, :]


def independent_law(right: Ints) -> CoinLaw:
    """Accuracies by their tallies, with a few votes like the crowd's mean; right (items, workers): 1, 0 or -1."""
    mean = _crowd_mean(right)
    accuracy = ((right == 1).sum(axis=0) + EXTRA * mean) / ((right >= 0).sum(axis=0) + EXTRA)
    return CoinLaw(INDEPENDENT, np.ones(1), accuracy[None])


def latent_law(right: Ints) -> CoinLaw:
    """The likeliest share h of hard items, edge s left there and edges on easy ones; right as above.

    Expectation and maximisation in h and the edges for each s of a grid. An item that is hard for one worker is hard
    for all: a worker of edge x is right with chance ``(1 + x) / 2`` on easy items and ``(1 + s x) / 2`` on hard ones.
    """
    patterns, count = np.unique(right, axis=0, return_counts=True)
    start = independent_law(right).accuracy[0], _crowd_mean(right)
    together = max(1, TOGETHER // patterns.size)  # values of s
    cuts = np.arange(together, LEFT.size, together)
    fits = [law for left in np.split(LEFT, cuts) for law in _fitted((patterns, count), start, left)]
    return max(fits, key=lambda fit: float(fit.log_chance(patterns) @ count))


def _fitted(items: tuple[Ints, Ints], start: tuple[Floats, float], left: Floats) -> list[CoinLaw]:
    """The likeliest law with each edge left on hard items; items: patterns of votes and how often each occurs."""
    (right, count), (alone, mean) = items, start
    share = np.tile((0.8, 0.2), (left.size, 1))
    edge = np.tile(np.clip(2 * alone - 1, EDGES[0], EDGES[-1]), (left.size, 1))
    grid = np.stack(np.broadcast_arrays(EDGES, left[:, None] * EDGES), axis=1)
    table = np.log(np.concatenate([(1 + grid) / 2, (1 - grid) / 2], axis=1))  # right easy, right hard, wrong ...
    going = np.arange(left.size)  # those that still move
    for _ in range(ROUNDS):
        terms = _terms(right, share[going], _accuracy(edge[going], left[going]))
        chance = np.exp(terms - np.logaddexp.reduce(terms, axis=-1)[..., None]) * count[:, None]
        votes = [
            (right == vote).T @ chance + EXTRA * part * share[going, None] for vote, part in ((1, mean), (0, 1 - mean))
        ]
        counts = np.concatenate(votes, axis=-1)  # (going, workers, 4)
        fresh = EDGES[(counts @ table[going]).argmax(axis=-1)]
        hard = np.minimum(MOST, chance[:, :, 1].sum(axis=-1) / count.sum())
        still = (fresh == edge[going]).all(axis=-1) & (np.abs(hard - share[going, 1]) < 1e-7)
        edge[going], share[going] = fresh, np.stack([1 - hard, hard], axis=-1)
        going = going[~still]
        if not going.size:
            break
    laws = zip(share, _accuracy(edge, left), left.tolist(), strict=True)
    return [CoinLaw(LATENT, parts, skill, Difficulty(float(parts[1]), rest)) for parts, skill, rest in laws]


def _accuracy(edge: Floats, left: Floats) -> Floats:
    """On easy and on hard items, (left, 2, workers); edge (left, workers)."""
    return (1 + np.stack([edge, left[:, None] * edge], axis=1)) / 2


def _crowd_mean(right: Ints) -> float:
    """The crowd's share of right votes, with one vote of each kind beside."""
    return float(((right == 1).sum() + 1) / ((right >= 0).sum() + 2))
