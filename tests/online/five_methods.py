"""A policy of one's own with the five methods and nothing else: every worker does the tasks that have fewest labels."""

import numpy as np

from crowdopt.online.arrivals import Decision


class Evenly:
    name = "evenly"

    def start(self, known, solve):
        self.known, self.count, self.served = known, np.zeros(known.n_tasks, np.int64), -1

    def decide(self, arrival, rng):
        if self.served == arrival.number:
            return None
        self.served = arrival.number
        free = np.setdiff1d(np.flatnonzero(self.known.need > 0), arrival.barred)
        self.given = free[np.argsort(self.count[free], kind="stable")[: arrival.capacity]]
        return Decision("work", self.given)

    def learn(self, labels):
        self.count[self.given[labels >= 0]] += 1

    def snapshot(self):
        return {"count": self.count.copy()}

    def restore(self, arrays):
        self.count = np.array(arrays["count"])


POLICY = Evenly
