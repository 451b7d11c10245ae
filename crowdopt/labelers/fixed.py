"""Comparators that learn nothing from labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Ints
from crowdopt.core.resumable import Arrays
from crowdopt.labelers.policy import BaseLabelerPolicy, Chance
from crowdopt.labelers.task_arrivals import Ask, KnownLabelers, TaskArrival


@dataclass
class Fixed(BaseLabelerPolicy):
    """What comparators share: no state, no exploration."""

    of_one_arrival: ClassVar[tuple[str, ...] | None] = ()

    def start(self, known: KnownLabelers) -> None:
        """Take note of the labelers."""
        self.known = known

    def rest(self, arrival: TaskArrival) -> Ints:
        """The task and all after it where every task is of one kind, else the task alone."""
        last = self.known.horizon + 1 if self.known.kinds == 1 else arrival.number + 1
        return np.arange(arrival.number, last)

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """Ask the chosen set; never explore."""
        return self.chosen(arrival)

    def chosen(self, arrival: TaskArrival) -> Ask:
        """The set to ask about a task."""
        raise NotImplementedError

    def learn(self, ask: Ask, labels: Ints, votes: Ints, chance: Chance) -> None:
        """Nothing is learnt."""

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """No state."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """No state."""
