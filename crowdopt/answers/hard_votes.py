"""Votes where some tasks are hard for all workers: sums over labels from which a task's posterior follows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.law import LARGEST, Coins, Difficulty, Given, Law, softmax


@dataclass(frozen=True, eq=False)
class HardVotes:
    """Sums over a task's labels from which its posterior follows; open to more labels."""

    difficulty: Difficulty  # with a share above 0
    law: Law
    likelihood: Floats  # (2, tasks, classes): ln P(labels | class) if the task is easy, and if it is hard
    beside: Floats  # (tasks, classes): logarithms beside the labels': of the prior, or of a known answer

    @classmethod
    def of(cls, difficulty: Difficulty, accuracy: Floats, beside: Floats) -> HardVotes:
        """Without labels; accuracy (workers,): believed of each; no edge is above LARGEST on any task."""
        classes = beside.shape[1]
        within = (1 - LARGEST) / classes, 1 - (1 - LARGEST) * (classes - 1) / classes
        law = Law.coins(accuracy[None], classes, difficulty)
        assert isinstance(law.speech, Coins)
        law = replace(law, speech=replace(law.speech, within=within))
        return cls(difficulty, law, np.zeros((2, *beside.shape)), beside)

    @property
    def posterior(self) -> Floats:
        """``P(k | labels) ~ pi_k [(1 - h) P(labels | k, easy) + h P(labels | k, hard)]``, (tasks, classes)."""
        each = np.log(self.law.share)[:, None, None] + self.likelihood
        return softmax(self.beside + np.logaddexp(*each))

    def with_labels(self, task: Ints, worker: Ints, label: Ints) -> HardVotes:
        """With new labels added, each (k,); how hard tasks are stays as it is."""
        given = Given(task, 0, worker, label)
        more = [self.law.speech.logs(m, given, len(self.beside)) for m in range(2)]
        return replace(self, likelihood=self.likelihood + np.stack(more))
