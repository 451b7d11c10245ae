"""A policy of one's own of three methods: everybody does the tasks that have fewest labels, and the majority counts."""

import numpy as np

from crowdopt.online.arrivals import Decision, Verdict
from crowdopt.online.policy import Visit


class Evenly:
    name = "evenly"

    def start(self, known, solve):
        self.known, self.count = known, np.zeros(known.n_tasks, np.int64)

    def visit(self, arrival):
        return OneShare(self, arrival)

    def answers(self, looks=None):
        return Verdict("majority")


class OneShare(Visit):
    def __init__(self, policy, arrival):
        self.policy, self.arrival, self.given = policy, arrival, None

    def next(self, rng):
        if self.given is not None:
            return None
        free = np.setdiff1d(np.flatnonzero(self.policy.known.need > 0), self.arrival.barred)
        self.given = free[np.argsort(self.policy.count[free], kind="stable")[: self.arrival.capacity]]
        return Decision("work", self.given)

    def learn(self, labels):
        self.policy.count[self.given[labels >= 0]] += 1


POLICY = Evenly
