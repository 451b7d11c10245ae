"""A policy of asking with the five methods and nothing else: the same three labelers every time."""

import numpy as np

from crowdopt.labelers.arrivals import Ask


class Three:
    name = "three"

    def start(self, known):
        self.tasks = 0

    def decide(self, arrival, chance):
        return Ask("work", np.array([arrival.number]), np.arange(3))

    def learn(self, ask, labels, votes, chance):
        self.tasks += len(labels)

    def snapshot(self):
        return {"tasks": np.array([self.tasks])}

    def restore(self, arrays):
        self.tasks = int(arrays["tasks"][0])


POLICY = Three
