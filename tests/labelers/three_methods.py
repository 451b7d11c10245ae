"""A policy of asking with three methods and nothing else: the same three labelers every time."""

import numpy as np

from crowdopt.labelers.arrivals import Ask


class Three:
    name = "three"

    def start(self, known):
        self.tasks = 0

    def decide(self, arrival, chance):
        return Ask("work", np.array([arrival.number]), np.arange(3))

    def learn(self, arrival, ask, labels, votes, chance):
        self.tasks += len(labels)


POLICY = Three
