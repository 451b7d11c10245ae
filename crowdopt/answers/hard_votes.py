"""Confidences that heed difficulty: what a task's labels say where some tasks are hard for everybody."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.answers.voted import Answers
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty import Difficulty, fitted, label_terms, mixed_odds
from crowdopt.crowd.labels import Labels

ROUNDS = 5  # of accuracies and difficulty in turn, where accuracies are the method's own


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


def heeding(answers: Answers, labels: Labels, truth: Ints | None = None) -> Answers:
    """The same answers with confidences that integrate over the difficulty of tasks, where labels show any.

    Two classes, and a method that knows each worker's accuracy; others' answers come back as they are.

    Parameters
    ----------
    answers : Answers
        Of a method whose votes are sums of weights.
    labels : Labels
        What they were made of.
    truth : (tasks,) int, optional
        Known classes, -1 where unknown: where several labelled such a task their common errors show most.

    Returns
    -------
    Answers
    """
    speech = answers.speech
    if answers.accuracy is None or answers.evidence is None or speech is None or speech.ndim > 1:
        return answers
    if len(labels.classes) != 2:
        return answers
    votes = np.bincount(labels.task, (2.0 * labels.label - 1) * speech[labels.worker], len(labels.tasks))
    beside = answers.evidence[:, 1] - answers.evidence[:, 0] - votes
    accuracy, hard = answers.accuracy, None
    for _ in range(ROUNDS if answers.iterations else 1):
        hard = _hard(accuracy, labels, truth, beside)
        if hard is None:
            return answers
        accuracy = _accuracy(hard.posterior, labels)
    return replace(answers, hard=hard)


def _hard(accuracy: Floats, labels: Labels, truth: Ints | None, beside: Floats) -> HardVotes | None:
    """Votes by these accuracies, with the difficulty that is likeliest then; None where there is none."""
    edge, sign = 2 * accuracy - 1, 2.0 * labels.label - 1
    difficulty = fitted(labels.task, sign * edge[labels.worker], beside.size, truth)
    if not difficulty.share:
        return None
    empty = HardVotes(difficulty, edge, np.zeros((3, beside.size)), beside)
    return empty.with_labels(labels.task, labels.worker, labels.label)


def _accuracy(posterior: Floats, labels: Labels) -> Floats:
    """Each worker's share of right labels, as EM finds it, with a right and a wrong one added."""
    right = np.bincount(labels.worker, posterior[labels.task, labels.label], len(labels.workers))
    return np.asarray((right + 1) / (labels.counts + 2))


def _sums(task: Ints, edge: Floats, votes: HardVotes) -> Floats:
    terms = label_terms(edge, votes.difficulty)
    return np.stack([np.bincount(task, term, votes.beside.size) for term in terms])
