"""A policy of one's own of three methods: everybody does the tasks that have fewest labels, and the majority counts."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.core.solution import Solve
from crowdopt.online.arrivals import Arrival, Decision, Known, Verdict
from crowdopt.online.policy import Visit


class Evenly:
    name = "evenly"

    def start(self, known: Known, solve: Solve) -> None:
        self.known, self.count = known, np.zeros(known.n_tasks, np.int64)

    def visit(self, arrival: Arrival) -> OneShare:
        return OneShare(self, arrival)

    def answers(self, looks: object = None) -> Verdict:
        return Verdict("majority")


class OneShare(Visit):
    def __init__(self, policy: Evenly, arrival: Arrival) -> None:
        self.policy, self.arrival, self.asked = policy, arrival, False

    def next(self, rng: np.random.Generator) -> Decision | None:
        if self.asked:
            return None
        self.asked = True
        free = np.setdiff1d(np.flatnonzero(self.policy.known.need > 0), self.arrival.barred)
        self.given = free[np.argsort(self.policy.count[free], kind="stable")[: self.arrival.capacity]]
        return Decision("work", self.given)

    def learn(self, labels: Ints) -> None:
        self.policy.count[self.given[labels >= 0]] += 1


POLICY = Evenly
