"""The paper's comparator: a random regular assignment, and inference by message passing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crowdopt.answers import FROM_LABELS
from crowdopt.arrays import Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.labels import REFUSED, WORK
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Entry, Known, Out, Verdict
from crowdopt.online.checked_claims import CheckedAnswers
from crowdopt.online.covering import Covering, Here


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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inference not in FROM_LABELS:
            raise InputError(f"policy {self.name}: option inference is one of {', '.join(FROM_LABELS)}")
        if self.labels < 0 or self.iterations < 1:
            raise InputError(f"policy {self.name}: labels must be at least 0 and iterations at least 1")

    @property
    def shows_skill(self) -> bool:  # type: ignore[override]
        """False: the policy does not look at skills."""
        return False

    def start(self, known: Known, solve: Solve) -> None:
        """Begin with no labels counted."""
        super().start(known, solve)
        self.count = np.zeros(known.n_tasks, np.int64)

    def visit(self, arrival: Arrival) -> Here:
        """A share of the labels."""
        self.seen.welcome(arrival)
        return Share(self, arrival, self._share(arrival), np.zeros(self.known.types, np.int64), met=True)

    def hear(self, entry: Entry) -> bool:
        """Labels that are out count as labels."""
        if isinstance(entry, Out):
            self.hoped = np.bincount(entry.tasks, minlength=self.known.n_tasks).astype(np.float64)
            return False
        return super().hear(entry)

    def wants(self, workers: Ints, room: Ints) -> bool:
        """Whoever comes has a share."""
        return True

    def answers(self, looks: CheckedAnswers | None = None) -> Verdict:
        """By the option ``inference``."""
        return replace(super().answers(), how=self.inference)

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


class Share(Here):
    """From the tasks with the fewest labels, at once."""

    policy: Kos

    def next(self, rng: np.random.Generator) -> Decision | None:
        """The worker's share."""
        share, self.left = self.left, 0
        if not share:
            return None
        policy = self.policy
        free = np.ones(policy.known.n_tasks, bool)
        free[self.arrival.barred] = False
        candidates = np.flatnonzero(free & (policy.known.need > 0))
        order = np.lexsort((rng.random(candidates.size), (policy.count + policy.hoped)[candidates]))
        self.given = candidates[order[:share]]
        return Decision(WORK, self.given) if self.given.size else None

    def learn(self, labels: Ints) -> None:
        """Count the labels that came."""
        self.policy.count[self.given[labels != REFUSED]] += 1
        self.given = self.given[labels == REFUSED]

    def lapsed(self, tasks: Ints) -> None:
        """As many others in place of those that did not come."""
        self.left = self.given.size


POLICY = Kos
