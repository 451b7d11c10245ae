"""A comparator that looks at answers: where a label is expected to tell most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import REFUSED
from crowdopt.online.covering import Doubting


@dataclass
class Entropy(Doubting):
    """Tasks by expected gain of information, ``H(post) - E H(post | label)``; done at ``max post >= 1 - eps``.

    Posteriors are by the one-coin model. What it knows of answers no covering policy knows; it buys what tells most,
    whatever that costs later.
    """

    name: ClassVar[str] = "entropy"
    what: ClassVar[str] = "tasks by expected gain of information, until their posterior is sure enough"

    def value(self) -> Floats:
        """Expected gain per cost, in nats, per task."""
        every = np.arange(self.known.n_tasks)
        right, before = self.right(every), self.posterior(every)
        wrong = (1 - right) / (self.known.classes - 1)
        chance = wrong[:, None] + (right - wrong)[:, None] * before  # of each label
        told = -(right * np.log(right) + (1 - right) * np.log(wrong))  # entropy of a label whose truth is known
        gain = -(chance * np.log(chance)).sum(axis=1) - told
        return np.where(gain > 1e-9, gain / np.maximum(self.cost[self.kind], 1e-12), -1.0)

    def learn(self, labels: Ints) -> None:
        """Multiply each task's posterior by its label's likelihood."""
        if self._met:
            got = labels != REFUSED
            self.heed(self._given[got], labels[got])
        super().learn(labels)
        sure = self.posterior(np.arange(self.known.n_tasks)).max(axis=1) >= 1 - self.known.epsilon
        self.open = ~sure & (self.need > 0)


POLICY = Entropy
