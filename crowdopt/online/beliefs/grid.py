"""Skills on a grid: what a label by each is worth, and where they are expected before anybody is seen."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats

CELLS = 40
ODD = 0.1  # how much rarer than good ones workers are expected to be who are wrong more often than right

GRID: Floats = (np.arange(CELLS) + 0.5) / CELLS  # g, the chance of a right label
INFORMATION: Floats = (2 * GRID - 1) * np.log(GRID / (1 - GRID))  # nats that a label moves a task's log odds by


def expected() -> Floats:
    """The prior's prior: ``w0 ~ 2 - 2g`` for g > 1/2, a little mass below.

    Returns
    -------
    (cells,) float
        Adds up to 1.
    """
    weight = np.where(GRID > 0.5, 2 - 2 * GRID, ODD * (2 * GRID) ** 2)
    prior: Floats = weight / weight.sum()
    return prior


def odds_at_error(chance: Floats) -> Floats:
    """``ln((1 - e) / e)``, the ``|log odds|`` at which a task's posterior error is e.

    Parameters
    ----------
    chance : array of float
        e, of any shape, in (0, 1).

    Returns
    -------
    array of float
        Of the same shape.
    """
    return np.asarray(np.log((1 - chance) / chance))
