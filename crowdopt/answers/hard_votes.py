"""Votes where some tasks are hard for all workers: sums over labels from which a task's posterior follows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.difficult_classes import class_likelihoods
from crowdopt.crowd.difficulty.hard_tasks import Difficulty


@dataclass(frozen=True, eq=False)
class HardVotes:
    """Sums over a task's labels from which its posterior follows; open to more labels."""

    difficulty: Difficulty  # with a share above 0
    edge: Floats  # (workers,): ``(K p - 1) / (K - 1)``
    # log-likelihoods of the labels if the task is easy, and if it is hard
    easy: Floats  # (tasks, classes)
    hard: Floats  # (tasks, classes)
    beside: Floats  # (tasks, classes): logarithms beside the labels': of the prior, or of a known answer

    @property
    def posterior(self) -> Floats:
        """``P(k | labels) ~ pi_k [(1 - h) P(labels | k, easy) + h P(labels | k, hard)]``, (tasks, classes)."""
        share = self.difficulty.share
        score = self.beside + np.logaddexp(np.log1p(-share) + self.easy, np.log(share) + self.hard)
        chances = np.exp(score - score.max(axis=1, keepdims=True))
        return chances / chances.sum(axis=1, keepdims=True)

    def with_labels(self, task: Ints, worker: Ints, label: Ints) -> HardVotes:
        """With new labels added, each (k,); how hard tasks are stays as it is."""
        edge, how = self.edge[worker], self.difficulty
        easy, hard = (class_likelihoods(task, label, u * edge, self.easy.shape) for u in (how.easy, how.hard))
        return replace(self, easy=self.easy + easy, hard=self.hard + hard)
