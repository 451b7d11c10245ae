"""A comparator that looks at answers: where a label is expected to tell most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.label_kinds import REFUSED
from crowdopt.elementary import exp, log
from crowdopt.online.arrivals import Known
from crowdopt.online.covering import Covering

KEEP = 1e-6  # accuracies are kept this far from 0 and 1


@dataclass
class Entropy(Covering):
    """Tasks by expected gain of information, ``H(post) - E H(post | label)``; done at ``max post >= 1 - eps``.

    Posteriors are by the one-coin model. What it knows of answers no covering policy knows; it buys what tells most,
    whatever that costs later.
    """

    name: ClassVar[str] = "entropy"
    amends: ClassVar[bool] = False  # what a label told is not kept apart
    what: ClassVar[str] = "tasks by expected gain of information, until their posterior is sure enough"
    state: ClassVar[tuple[str, ...]] = ("log_likelihood",)

    def start(self, known: Known, solve: Solve) -> None:
        """Every class is equally likely."""
        super().start(known, solve)
        self.log_likelihood = np.zeros((known.n_tasks, known.classes))

    @property
    def posterior(self) -> Floats:
        """Chance of each class, (tasks, classes)."""
        chance: Floats = exp(self.log_likelihood - self.log_likelihood.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        return chance

    def value(self) -> Floats:
        """Expected gain per cost, in nats, per task."""
        columns = np.array([self.seen.column(self._arrival.number, False)])
        right = np.clip(self.seen.accuracy(columns)[self.known.task_type, 0], KEEP, 1 - KEEP)
        wrong = (1 - right) / (self.known.classes - 1)
        before = self.posterior
        chance = wrong[:, None] + (right - wrong)[:, None] * before  # of each label
        told = -(right * log(right) + (1 - right) * log(wrong))  # entropy of a label whose truth is known
        gain = -(chance * log(chance)).sum(axis=1) - told
        return np.where(gain > 1e-9, gain / np.maximum(self.cost[self.kind], 1e-12), -1.0)

    def learn(self, labels: Ints) -> None:
        """Multiply each task's posterior by its label's likelihood."""
        if self._met:
            got = labels != REFUSED
            tasks = self._given[got]
            columns = np.array([self.seen.column(self._arrival.number, False)])
            right = np.clip(self.seen.accuracy(columns)[self.known.task_type[tasks], 0], KEEP, 1 - KEEP)
            odds = log(right) - log((1 - right) / (self.known.classes - 1))
            self.log_likelihood[tasks, labels[got]] += odds
        super().learn(labels)
        self.open = (self.posterior.max(axis=1) < 1 - self.known.epsilon) & (self.need > 0)


POLICY = Entropy
