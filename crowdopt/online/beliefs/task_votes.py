"""What labels of known accuracies say of each task: log odds for two classes, log-likelihoods for more."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.difficult_classes import class_terms
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.votes.evidence import CLIP
from crowdopt.elementary import exp, log, log1p, logaddexp, logsumexp, tanh
from crowdopt.online.beliefs.shared_difficulty import TaskOdds

Ids: TypeAlias = NDArray[np.integer]


class TaskVotes(Protocol):
    """What labels say of each task; ``sums`` is all that adds up, ``level`` and ``answer`` follow from it.

    ``level`` is that of crowdopt.online.beliefs.grid, and ``answer`` the likeliest class, -1 where nothing is known:
    each (tasks,).
    """

    sums: Floats
    level: Floats
    answer: Ints

    def add(self, tasks: Ids, labels: Ints, accuracy: Floats, difficulty: Difficulty) -> None:
        """Labels, each (k,), with the accuracies with which they count; levels wait for :meth:`settle`."""
        ...

    def clear(self) -> None:
        """Forget all labels."""
        ...

    def settle(self, tasks: Ids, difficulty: Difficulty) -> Floats:
        """Levels and answers of some tasks anew; returns their chances of being hard, (k,)."""
        ...


def log_odds(accuracy: Floats) -> Floats:
    """``ln(p / (1 - p))``, p kept off 0 and 1; any shape."""
    right = np.clip(accuracy, CLIP, 1 - CLIP)
    return np.asarray(log(right / (1 - right)))


class PairVotes:
    """Two classes. ``sums`` is (4, tasks): log odds of class 1, and sums of crowd.difficulty.hard_tasks.label_terms."""

    def __init__(self, tasks: int) -> None:
        self.sums = np.zeros((4, tasks))
        self.level, self.answer = np.zeros(tasks), np.full(tasks, -1)

    def add(self, tasks: Ids, labels: Ints, accuracy: Floats, difficulty: Difficulty) -> None:
        """See :class:`TaskVotes`."""
        signs, logits = 2.0 * labels - 1, log_odds(accuracy)
        np.add.at(self.sums[0], tasks, logits * signs)
        if difficulty.share:
            TaskOdds(difficulty, self.sums[1:]).add(tasks, np.asarray(signs * tanh(logits / 2), np.float64))

    def clear(self) -> None:
        """See :class:`TaskVotes`."""
        self.sums[:] = 0.0

    def settle(self, tasks: Ids, difficulty: Difficulty) -> Floats:
        """See :class:`TaskVotes`."""
        odds, chance = self.sums[0, tasks], np.zeros(tasks.size)
        if difficulty.share:
            odds, chance = TaskOdds(difficulty, self.sums[1:]).of(tasks)
        self.level[tasks], self.answer[tasks] = np.abs(odds), np.where(odds == 0, -1, odds > 0)
        return chance


class PluralVotes:
    """One coin over K classes. ``sums`` is (2, tasks, classes): log-likelihoods if the task is easy, and if hard."""

    def __init__(self, tasks: int, classes: int) -> None:
        self.sums = np.zeros((2, tasks, classes))
        self.level, self.answer = np.zeros(tasks), np.full(tasks, -1)

    def add(self, tasks: Ids, labels: Ints, accuracy: Floats, difficulty: Difficulty) -> None:
        """See :class:`TaskVotes`."""
        classes = self.sums.shape[2]
        if not difficulty.share:
            return np.add.at(self.sums[0], (tasks, labels), log_odds(accuracy) + log(classes - 1))
        edge = (classes * accuracy - 1) / (classes - 1)
        for table, left in zip(self.sums, (difficulty.easy, difficulty.hard), strict=True):
            miss, more = class_terms(left * edge, classes)
            np.add.at(table, tasks, miss[:, None])
            np.add.at(table, (tasks, labels), more)

    def clear(self) -> None:
        """See :class:`TaskVotes`."""
        self.sums[:] = 0.0

    def settle(self, tasks: Ids, difficulty: Difficulty) -> Floats:
        """See :class:`TaskVotes`."""
        easy, hard = self.sums[:, tasks]
        share, score, chance = difficulty.share, easy, np.zeros(tasks.size)
        if share:
            easy, hard = easy + log1p(-share), hard + log(share)
            score = logaddexp(easy, hard)
            chance = exp(logsumexp(hard, axis=1) - logsumexp(score, axis=1))
        best = score.argmax(axis=1)
        top = np.take_along_axis(score, best[:, None], axis=1)
        others = score.copy()
        np.put_along_axis(others, best[:, None], -np.inf, axis=1)
        self.level[tasks] = top[:, 0] - logsumexp(others, axis=1) + log(score.shape[1] - 1)
        self.answer[tasks] = np.where((score == top).all(axis=1), -1, best)
        return chance


def votes_of(tasks: int, classes: int) -> TaskVotes:
    """Empty votes on so many tasks."""
    return PairVotes(tasks) if classes == 2 else PluralVotes(tasks, classes)
