"""The comparator that asks a random set.

The comparator that learns nothing: all labelers, every time.

The offline optimum as a policy: it is told the true skills.

Testers labelled once, skills by one-coin EM, then the best set: no repeats, no exploration after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import TESTER, WORK
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError
from crowdopt.labelers.arrivals import Ask, KnownLabelers, TaskArrival
from crowdopt.labelers.asking import BaseLabelerPolicy, Chance, Fixed
from crowdopt.labelers.sets import VOTES, bought_set
from crowdopt.labelers.theorems import one_coin_skills, warnings


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


@dataclass
class FullMajority(Fixed):
    """The simple majority of all labelers."""

    name: ClassVar[str] = "full-majority"
    what: ClassVar[str] = "all labelers, one vote each"

    def chosen(self, arrival: TaskArrival) -> Ask:
        """All labelers."""
        return Ask(WORK, self.rest(arrival), np.arange(self.known.labelers))


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


FIRST = 8  # testers of the first fit; then whenever their number has doubled


@dataclass
class EmThenExploit(BaseLabelerPolicy):
    """All labelers label the first tasks once; one-coin EM tells skills; from the first fit on they weigh the votes.

    A repeat earns a guess's reward and a new tester the majority's, so nothing is asked twice.
    """

    testers: int = 150
    votes: str = "weighted"  # ``weighted`` by log-odds, or ``majority``: then the best top-m set
    # accuracy that a unit of money is worth: the set that maximises U(S) - price C(S); 0: labels are free
    price: float = 0.0

    name: ClassVar[str] = "em-then-exploit"
    what: ClassVar[str] = "testers labelled once, skills by one-coin EM, then the best set (ours)"

    def __post_init__(self) -> None:
        if self.votes not in VOTES:
            raise InputError(f"policy {self.name}: option votes is one of {', '.join(VOTES)}")
        if self.testers < 1 or self.price < 0:
            raise InputError(f"policy {self.name}: testers must be at least 1 and price at least 0")

    def start(self, known: KnownLabelers) -> None:
        """Begin without labels: every skill counts as 1/2."""
        self.known = known
        self.labels = np.zeros((0, known.labelers), np.int64)
        self.skill = np.full(known.labelers, 0.5)
        self._ask: Ask | None = None

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """All labelers until the next fit, then whom the last one found best."""
        t, came = arrival.number, len(self.labels)
        labelers = np.arange(self.known.labelers)
        if came < self.testers:
            ahead = min(self._next_fit() - came, self.known.horizon + 1 - t)
            return Ask(TESTER, np.arange(t, t + ahead), labelers, self._weight() if came >= FIRST else None)
        chosen = self._best()
        return Ask(WORK, np.arange(t, self.known.horizon + 1), chosen.workers, chosen.weight)

    def learn(self, arrival: TaskArrival, ask: Ask, labels: Ints, votes: Ints, chance: Chance) -> None:
        """Keep testers' labels; fit when they have doubled, and at the last."""
        if ask.kind == WORK:
            return
        due = self._next_fit()
        self.labels = np.concatenate([self.labels, labels])
        if len(self.labels) >= due:
            self.skill = one_coin_skills(self.labels, self.known.classes)
            self._ask = None

    def chosen(self, arrival: TaskArrival) -> Ask:
        """The best set by the last fit."""
        return self._best()

    def skills(self) -> Floats:
        """Chances of a right label by the last fit, (1, labelers)."""
        return self.skill[None]

    def notes(self) -> list[str]:
        """How many testers, and what the labels say about the majority that EM starts from."""
        length = (
            f"explores {min(self.testers, self.known.horizon)} of {self.known.horizon} steps, each tester labelled once"
        )
        return [length, *warnings(self.labels, self.known.classes, self.known.names)]

    def _next_fit(self) -> int:
        size = FIRST
        while size <= len(self.labels):
            size *= 2
        return min(size, self.testers)

    def _weight(self) -> Floats:
        return log_odds(self.skill, self.known.classes)

    def _best(self) -> Ask:
        if self._ask is None:
            none, weight = np.zeros(0, np.int64), self._weight() if self.votes == "weighted" else None
            members = bought_set(self.skill, self.known.cost, self.price, self.votes, self.known.classes)
            self._ask = Ask(WORK, none, members, None if weight is None else weight[members])
        return self._ask


POLICY = (RandomSet, FullMajority, Oracle, EmThenExploit)
