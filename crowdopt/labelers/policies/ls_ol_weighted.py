"""The paper's algorithm with weighted votes (Liu & Liu 2015, Section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.labels import WORK
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError
from crowdopt.labelers.exploring import Exploring
from crowdopt.labelers.sets import bought_set
from crowdopt.labelers.task_arrivals import Ask

LEAST_C = 2.0  # C = max 1 / min(p, 1 - p) is never below it
WARM = 10  # testers before which estimates weigh nothing


@dataclass
class LsOlWeighted(Exploring):
    """LS_OL whose exploitation weighs each vote by ``ln(p' / (1 - p'))``.

    With such weights no labeler harms, so all are asked; with a price only those who are worth it.
    """

    tolerance: float = 0.0  # sums of weights this close count as equal sets, and a coin decides
    price: float = 0.0  # accuracy that a unit of money is worth; 0: labels are free
    c: float = LEAST_C  # C of the revised constant; used with printed or tight constants
    # whether testers are voted on by the same weights, once there are ten of them: a better a_min, says Section 4
    weigh_testers: bool = False

    name: ClassVar[str] = "ls-ol-weighted"
    what: ClassVar[str] = "the same, votes weighted by estimated log-odds (Section 4)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tolerance < 0 or self.price < 0 or self.c < LEAST_C:
            raise InputError(f"policy {self.name}: tolerance and price must be at least 0, and c at least {LEAST_C:g}")

    def weighted_constant(self) -> float:
        """The constant C of Theorem 5, an option."""
        return self.c

    def weight(self, cell: int) -> Floats:
        """``ln(p' / (1 - p')) + ln(L - 1)`` of all, (labelers,), p' within [.5/N, 1 - .5/N] by N testers."""
        half = 0.5 / np.maximum(self.testers.seen[cell], 1)
        return log_odds(self.testers.accuracy()[cell], self.known.classes, half)

    def tester_weight(self, cell: int) -> Floats | None:
        """Log-odds of those asked, where testers' votes are to be weighted; None: one each."""
        if not self.weigh_testers or self.testers.per_cell[cell] < WARM:
            return None
        return self.weight(cell)[self.asked]

    def best(self, cell: int) -> Ask:
        """All, or those worth their price."""
        weight = self.weight(cell)
        members = bought_set(1 / (1 + np.exp(-weight)), self.known.cost, self.price, "weighted", self.known.classes)
        return Ask(WORK, np.zeros(0, np.int64), members, weight[members], self.tolerance)


POLICY = LsOlWeighted
