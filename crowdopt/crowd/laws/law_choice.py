"""Which law of votes is believed: the one that gives held-out items the greatest chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.laws.coin_laws import INDEPENDENT, LATENT, CoinLaw, independent_law, latent_law
from crowdopt.errors import InputError

FITS = {INDEPENDENT: independent_law, LATENT: latent_law}
FOLDS = 5  # item i is held out in fold i mod 5: no chance is at work


@dataclass(frozen=True, eq=False)
class LawChoice:
    """The chosen law, fitted to all items, and how well each law told held-out items."""

    law: CoinLaw
    loss: dict[str, float]  # mean -ln P of a held-out item, by law

    def __str__(self) -> str:
        """What a campaign says of its skills."""
        losses = ", ".join(f"{name} {value:.4f}" for name, value in self.loss.items())
        return f"{self.law.name} from gold votes (held-out log loss: {losses})"


def chosen_law(right: Ints, names: tuple[str, ...] = (INDEPENDENT, LATENT)) -> LawChoice:
    """The law with the least held-out log loss; the first of the names where two are equal.

    right (items, workers): 1 where the worker is right, 0 where wrong, -1 where not asked; names: laws to choose from.
    Raises InputError with fewer items than folds.
    """
    if len(right) < FOLDS:
        raise InputError(f"{len(right)} gold items are too few to choose a law from; give at least {FOLDS}")
    fold = np.arange(len(right)) % FOLDS
    loss = {}
    for name in names:
        told = [FITS[name](right[fold != k]).log_chance(right[fold == k]).sum() for k in range(FOLDS)]
        loss[name] = -float(sum(told)) / len(right)
    best = min(names, key=lambda name: loss[name])
    return LawChoice(FITS[best](right), loss)
