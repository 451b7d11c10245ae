"""The comparator that asks a random set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.crowd.labels import WORK
from crowdopt.errors import InputError
from crowdopt.labelers.policy import Chance, Fixed
from crowdopt.labelers.task_arrivals import Ask, KnownLabelers, TaskArrival


@dataclass
class RandomSet(Fixed):
    """The simple majority of a random set, a fresh one for every task."""

    size: int = 0  # labelers of a set; 0: half of them, made odd

    name: ClassVar[str] = "random-set"
    what: ClassVar[str] = "a random set for every task, one vote each"

    def __post_init__(self) -> None:
        if self.size < 0:
            raise InputError(f"policy {self.name}: size must be at least 0, not {self.size}")

    def start(self, known: KnownLabelers) -> None:
        """Take the size of the sets, by default an odd number, about half of all."""
        super().start(known)
        self.members = self.size or (known.labelers // 2) | 1
        if self.members > known.labelers:
            raise InputError(f"policy {self.name}: a set of {self.members} is more than the {known.labelers} labelers")

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """A set for this task alone."""
        order = chance().permutation(self.known.labelers)
        return Ask(WORK, np.array([arrival.number]), np.sort(order[: self.members]))

    def chosen(self, arrival: TaskArrival) -> Ask:
        """One set of that size, to stand for all."""
        order = np.random.default_rng([arrival.number]).permutation(self.known.labelers)
        return Ask(WORK, np.array([arrival.number]), np.sort(order[: self.members]))


POLICY = RandomSet
