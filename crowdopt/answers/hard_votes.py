"""Votes where some tasks are hard for everybody: sums over labels from which a task's posterior follows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty import Difficulty, label_terms, mixed_odds


@dataclass(frozen=True, eq=False)
class HardVotes:
    """Sums over a task's labels from which its posterior follows; open to more labels.

    Parameters
    ----------
    difficulty : Difficulty
        With a share above 0.
    edge : (workers,) float
        2p - 1.
    sums : (3, tasks) float
        Of crowdopt.crowd.difficulty.label_terms.
    beside : (tasks,) float
        Log odds of class 1 beside the labels: of the prior, or of a known answer.
    """

    difficulty: Difficulty
    edge: Floats
    sums: Floats
    beside: Floats

    @property
    def posterior(self) -> Floats:
        """Chance of each class, (tasks, 2)."""
        odds, _ = mixed_odds(self.sums, self.difficulty.share)
        second = 1 / (1 + np.exp(-np.clip(odds + self.beside, -700, 700)))
        return np.column_stack([1 - second, second])

    def with_labels(self, task: Ints, worker: Ints, label: Ints) -> HardVotes:
        """With new labels added, each (k,); how hard tasks are stays as it is."""
        return replace(self, sums=self.sums + _sums(task, self.edge[worker] * (2 * label - 1), self))


def _sums(task: Ints, edge: Floats, votes: HardVotes) -> Floats:
    terms = label_terms(edge, votes.difficulty)
    return np.stack([np.bincount(task, term, votes.beside.size) for term in terms])
