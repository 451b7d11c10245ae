"""Answers from labels, open to more labels without a refit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from crowdopt.answers.hard_votes import HardVotes
from crowdopt.answers.hedge import Hedge
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.checks import integers
from crowdopt.crowd.law import softmax
from crowdopt.errors import InputError
from crowdopt.notebooks import InNotebooks

TIE = 1e-9  # relative to the largest weight; votes closer than this are equal


@dataclass(frozen=True, eq=False)
class Answers(InNotebooks):
    """Votes added up: a task's answer is the class with the largest score; ties go to the first class.

    Parameters
    ----------
    method : str
    score : (tasks, classes) float
        Sum of the votes of a task's labels.
    weight : (workers,) or (workers, classes, classes) float
        What a worker's label adds to the score: the worker's weight for the class it says, or a row per class said.
    evidence : (tasks, classes) float, optional
        Log-likelihoods up to a constant, for the confidence; absent where nothing is known of the workers.
    speech : like weight, optional
        What a label adds to the evidence.
    count : (tasks,) int
        Labels of each task.
    accuracy : (workers,) float, optional
        Each worker's chance to be right, given or estimated.
    confusion : (workers, classes, classes) float, optional
        Chance that a worker says the third class where the second is true.
    iterations : int
        What an iterative method took.
    converged : bool
        Whether it stopped because nothing moved any more.
    hard : HardVotes, optional
        Where some tasks are hard for all workers: what the posterior is worked out from (crowdopt.answers.hard_votes).
    hedge : Hedge, optional
        Where the method is believed by half: what its posterior is averaged with (crowdopt.answers.hedge); the answer
        is then the likeliest class.
    """

    method: str
    score: Floats
    weight: Floats
    evidence: Floats | None
    speech: Floats | None
    count: Ints
    accuracy: Floats | None = None
    confusion: Floats | None = None
    iterations: int = 0
    converged: bool = True
    hard: HardVotes | None = None
    hedge: Hedge | None = None

    @cached_property
    def answer(self) -> Ints:
        """Class of each task, -1 for one without labels, shape (tasks,)."""
        if self.hedge is not None:
            return decide(self.posterior, self.count)
        return decide(self.score, self.count, float(np.abs(self.weight).max(initial=0.0)))

    @cached_property
    def posterior(self) -> Floats:
        """Chance of each class given a task's labels, shape (tasks, classes).

        By the one-coin model with ``accuracy``, or the full one with ``confusion``; where nothing is known of the
        workers, the classes' shares of the labels. Uniform, or the prior, for a task without labels. With a hedge, the
        mean of that and of the shares.
        """
        return self._by_method if self.hedge is None else self.hedge.posterior(self._by_method)

    @property
    def _by_method(self) -> Floats:
        if self.hard is not None:
            return self.hard.posterior
        classes = self.score.shape[1]
        if self.evidence is not None:
            return softmax(self.evidence)
        total = self.score.sum(axis=1, keepdims=True)
        return np.where(total > 0, self.score / np.maximum(total, 1), 1 / classes)

    @cached_property
    def confidence(self) -> Floats:
        """The posterior of each task's answer; 1/classes for a task without labels, shape (tasks,)."""
        place = np.maximum(self.answer, 0)
        chosen: Floats = np.take_along_axis(self.posterior, place[:, None], axis=1)[:, 0]
        return np.where(self.answer >= 0, chosen, 1 / self.score.shape[1])

    def with_labels(self, task: Any, worker: Any, label: Any) -> Answers:
        """The answers with new labels added to the votes; what is believed of the workers stays as it is.

        Parameters
        ----------
        task, worker, label : (k,) int
            Indices; a label that is in already counts again.

        Raises
        ------
        InputError
            If an index is out of range.
        """
        t, w, k = (
            self._checked(*pair) for pair in zip(("task", "worker", "label"), (task, worker, label), strict=True)
        )
        if not t.size == w.size == k.size:
            raise InputError(
                f"there are {t.size} tasks, {w.size} workers and {k.size} labels; give one of each a label"
            )
        score = _added(self.score, self.weight, t, w, k)
        if self.evidence is self.score and self.speech is self.weight:
            evidence: Floats | None = score
        elif self.evidence is None or self.speech is None:
            evidence = None
        else:
            evidence = _added(self.evidence, self.speech, t, w, k)
        count = self.count + np.bincount(t, minlength=self.count.size)
        hard = None if self.hard is None else self.hard.with_labels(t, w, k)
        hedge = None if self.hedge is None else self.hedge.with_labels(t, k)
        return replace(self, score=score, evidence=evidence, count=count, hard=hard, hedge=hedge)

    def _checked(self, name: str, values: Any) -> Ints:
        given = np.atleast_1d(integers(name, values))
        limit = {"task": self.count.size, "worker": len(self.weight), "label": self.score.shape[1]}[name]
        outside = given[(given < 0) | (given >= limit)]
        if outside.size:
            raise InputError(f"{name} {outside[0]} is unknown: these votes have {limit}, counted from 0; fit again")
        return given


def decide(score: Floats, count: Ints, scale: float = 1.0) -> Ints:
    """The first class whose score is within TIE times ``scale`` of the largest; -1 for a task without labels.

    score (tasks, classes): sums of weights, or whatever is largest for the answer; count (tasks,): labels of each task;
    scale: the largest weight of a vote; -> (tasks,): class of each task.
    """
    best = score[:, 0].copy()
    for k in range(1, score.shape[1]):
        np.maximum(best, score[:, k], out=best)
    best -= TIE * scale
    answer = np.full(best.size, -1, np.int64)
    for k in range(score.shape[1] - 1, -1, -1):
        answer[score[:, k] >= best] = k
    answer[count == 0] = -1
    return answer


def _added(table: Floats, weight: Floats, task: Ints, worker: Ints, label: Ints) -> Floats:
    classes = table.shape[1]
    if weight.ndim == 1:
        cell, votes = task * classes + label, weight[worker]
    else:
        cell = (task[:, None] * classes + np.arange(classes)).reshape(-1)
        votes = weight[worker, label].reshape(-1)
    gained = np.bincount(cell, weights=votes, minlength=table.size)
    return table + gained.reshape(table.shape)
