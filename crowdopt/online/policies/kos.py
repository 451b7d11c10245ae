"""The paper's comparator: a random regular assignment, and inference by message passing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.answers import FROM_LABELS
from crowdopt.arrays import Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.labels import REFUSED, WORK
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Known
from crowdopt.online.covering import Covering


@dataclass
class Kos(Covering):
    """Labels spread evenly over tasks and over workers, at random (Karger, Oh & Shah 2011), without looking at skill.

    Every worker does ``labels / m`` tasks, drawn at random among those with the fewest labels so far: each task ends
    with the same number, give or take one.
    """

    labels: int = 0  # in all; 0: as many as ``equal``'s run took, gold included
    equal: str = ""  # the policy of the same comparison whose total is matched
    inference: str = "kos"  # ``kos``, or majority, one-coin, dawid-skene on the same assignment
    iterations: int = 20  # of the inference; results depend on it
    within: bool = False  # whether workers' capacities are kept; otherwise they may be exceeded, and that is reported

    name: ClassVar[str] = "kos"
    what: ClassVar[str] = "a random regular assignment of as many labels as another policy took (Karger et al. 2011)"
    over_capacity: ClassVar[bool] = True
    state: ClassVar[tuple[str, ...]] = ("count",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inference not in FROM_LABELS:
            raise InputError(f"policy {self.name}: option inference is one of {', '.join(FROM_LABELS)}")
        if self.labels < 0 or self.iterations < 1:
            raise InputError(f"policy {self.name}: labels must be at least 0 and iterations at least 1")

    @property
    def shows_skill(self) -> bool:
        """False: the policy does not look at skills."""
        return False

    def start(self, known: Known, solve: Solve) -> None:
        """Begin with no labels counted."""
        super().start(known, solve)
        self.count = np.zeros(known.n_tasks, np.int64)

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """The worker's share, from the tasks with the fewest labels."""
        if self._number != (arrival.preliminary, arrival.number):
            self._welcome(arrival)
            self._met, self._left = True, self._share(arrival)
        share, self._left = self._left, 0
        if not share:
            return None
        free = np.ones(self.known.n_tasks, bool)
        free[arrival.barred] = False
        candidates = np.flatnonzero(free & (self.known.need > 0))
        order = np.lexsort((rng.random(candidates.size), (self.count + self.hoped)[candidates]))
        self._given = candidates[order[:share]]
        return Decision(WORK, self._given) if self._given.size else None

    def expect(self, tasks: Ints, workers: Ints) -> bool:
        """Labels that are out, each (k,), count as labels."""
        self.hoped = np.bincount(tasks, minlength=self.known.n_tasks).astype(np.float64)
        return True

    def learn(self, labels: Ints) -> None:
        """Count the labels that came."""
        self.count[self._given[labels != REFUSED]] += 1
        self._given = self._given[labels == REFUSED]

    def lapsed(self, tasks: Ints) -> None:
        """As many others in place of those that did not come."""
        self._left = self._given.size

    def answers(self) -> str:
        """How answers are made of the labels: the option ``inference``."""
        return self.inference

    def notes(self) -> list[str]:
        """How labels per task were rounded."""
        asked = self.count[self.known.need > 0]
        if asked.size == 0 or asked.min() == asked.max():
            return []
        return [f"tasks have {asked.min()} to {asked.max()} labels each: {self.labels} do not divide evenly"]

    def _share(self, arrival: Arrival) -> int:
        m, j = self.known.workers, arrival.number
        share = self.labels * (j + 1) // m - self.labels * j // m
        return min(share, arrival.capacity) if self.within else share


POLICY = Kos
