"""The Primal Approximation Algorithm: each worker gets the tasks that are worth their price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.core.solution import Solve
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Known
from crowdopt.online.covering import AsPrinted


@dataclass
class PrimalApproximation(AsPrinted):
    """Tasks with ``q x - c >= 0``, highest first, at most M_j of them (Ho et al. 2013, Algorithm 1), for given x.

    As printed it neither stops at a covered task nor repairs a short one, and breaks ties at random; ``stop``,
    ``repair`` and ``ties=least-covered`` change that. The prices are those of the offline LP unless others are given:
    this policy is clairvoyant, a yardstick for those that are not.
    """

    name: ClassVar[str] = "primal-approximation"
    what: ClassVar[str] = "given prices: tasks whose evidence is worth its cost (Ho et al. 2013, Algorithm 1)"

    def start(self, known: Known, solve: Solve) -> None:
        """Take the prices."""
        if known.prices is None:
            raise InputError(f"policy {self.name} needs prices; there are none, because the offline LP has no solution")
        super().start(known, solve)
        self.price = known.prices[np.unique(self.kind, return_index=True)[1]]

    def kind_columns(self, known: Known) -> list[NDArray[Any]]:
        """Tasks of one kind also share their price."""
        return [*super().kind_columns(known), np.zeros(0) if known.prices is None else known.prices]

    def prices(self) -> Floats:
        """The given prices, (tasks,)."""
        return self.price[self.kind]


POLICY = PrimalApproximation
