"""The offline optimum as a policy: it is told the true skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.labels import WORK
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError
from crowdopt.labelers.policy import Fixed
from crowdopt.labelers.sets import VOTES, bought_set
from crowdopt.labelers.task_arrivals import Ask, KnownLabelers, TaskArrival


@dataclass
class Oracle(Fixed):
    """``S* = argmax U(S) - price C(S)`` for every task, by the true skills."""

    votes: str = "majority"  # ``majority``, or ``weighted`` by the true log-odds
    price: float = 0.0  # accuracy that a unit of money is worth

    name: ClassVar[str] = "oracle"
    what: ClassVar[str] = "the best set by the true skills: what regret is measured against"
    shows_skill: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.votes not in VOTES or self.price < 0:
            raise InputError(f"policy {self.name}: votes is one of {', '.join(VOTES)}, and price at least 0")

    def start(self, known: KnownLabelers) -> None:
        """Begin with no set worked out."""
        super().start(known)
        self._kept: dict[bytes, Ask] = {}

    def chosen(self, arrival: TaskArrival) -> Ask:
        """The best set for this task's skills."""
        assert arrival.accuracy is not None
        key = arrival.accuracy.tobytes()
        if key not in self._kept:
            self._kept[key] = self._best(arrival.accuracy)
        best = self._kept[key]
        return Ask(WORK, self.rest(arrival), best.workers, best.weight)

    def _best(self, skill: Floats) -> Ask:
        members = bought_set(skill, self.known.cost, self.price, self.votes, self.known.classes)
        odds = log_odds(skill[members], self.known.classes)
        return Ask(WORK, np.zeros(0, np.int64), members, odds if self.votes == "weighted" else None)


POLICY = Oracle
