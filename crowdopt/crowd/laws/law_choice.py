"""Which law of votes is believed: the one that gives held-out items the greatest chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.laws.coin_laws import INDEPENDENT, LATENT, PAIRWISE, CoinLaw, independent_law, latent_law
from crowdopt.crowd.laws.pairwise_law import pairwise_law
from crowdopt.errors import InputError

FITS = {INDEPENDENT: independent_law, LATENT: latent_law, PAIRWISE: pairwise_law}
COINS = (INDEPENDENT, LATENT)  # one accuracy of each worker, and difficulty
LISTED = 8  # workers up to which a law lists every way in which they can vote
FOLDS = 5  # item i is held out in fold i mod 5: no chance is at work


@dataclass(frozen=True, eq=False)
class LawChoice:
    """The chosen law, fitted to all items, and how well each law told held-out items."""

    law: CoinLaw
    by_coins: CoinLaw  # the better one of independence and latent difficulty, which plans of fixed sets heed
    loss: dict[str, float]  # mean -ln P of a held-out item, by law

    def __str__(self) -> str:
        """What a campaign says of its skills."""
        losses = ", ".join(f"{name} {value:.4f}" for name, value in self.loss.items())
        return f"{self.law.name} from gold votes (held-out log loss: {losses})"


def laws_for(workers: int) -> tuple[str, ...]:
    """The laws that so many workers can be fitted by."""
    return tuple(FITS) if workers <= LISTED else COINS


def chosen_law(right: Ints, names: tuple[str, ...] = COINS) -> LawChoice:
    """The law with the least held-out log loss; the first of the names where two are equal.

    right (items, workers): 1 where the worker is right, 0 where wrong, -1 where not asked; names: laws to choose from,
    with one of COINS. Raises InputError with fewer items than folds.
    """
    return _chosen(np.ascontiguousarray(right, np.int64).tobytes(), right.shape, names)


@lru_cache(maxsize=4)
def _chosen(votes: bytes, shape: tuple[int, int], names: tuple[str, ...]) -> LawChoice:
    right = np.frombuffer(votes, np.int64).reshape(shape)
    if len(right) < FOLDS:
        raise InputError(f"{len(right)} gold items are too few to choose a law from; give at least {FOLDS}")
    fold = np.arange(len(right)) % FOLDS
    loss = {}
    for name in names:
        told = [FITS[name](right[fold != k]).log_chance(right[fold == k]).sum() for k in range(FOLDS)]
        loss[name] = -float(sum(told)) / len(right)
    best = min(names, key=lambda name: loss[name])
    law = FITS[best](right)
    coins = min((name for name in names if name in COINS), key=lambda name: loss[name])
    return LawChoice(law, law if coins == best else FITS[coins](right), loss)
