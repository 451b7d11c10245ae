"""Answers from labels, open to more labels without a refit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.groups import integers
from crowdopt.crowd.law import Difficulty, Given, Law, softmax
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
    count : (tasks,) int
        Labels of each task.
    law : Law, optional
        What is believed of the workers, for the confidence; absent where nothing is known of them.
    likelihood : (parts, tasks, classes) float, optional
        ``ln s_m P_m(labels | class)`` by the law, up to a constant of each task, with the prior's logarithm added.
    accuracy : (workers,) float, optional
        Each worker's chance to be right, given or estimated.
    confusion : (workers, classes, classes) float, optional
        Chance that a worker says the third class where the second is true.
    iterations : int
        What an iterative method took.
    converged : bool
        Whether it stopped because nothing moved any more.
    difficulty : Difficulty, optional
        Where some tasks are hard for all workers: how many, and how hard. The law heeds it.
    tally : (tasks, classes) float, optional
        Labels by class, where the method is believed by half: methods that know labels alone take shared errors for
        skill. The posterior is then the mean of the method's and of the shares of the labels, and the answer the
        likeliest class.
    power : float
        Of the chances by the law: below 1 where a method is surer than it may be.
    """

    method: str
    score: Floats
    weight: Floats
    count: Ints
    law: Law | None = None
    likelihood: Floats | None = None
    accuracy: Floats | None = None
    confusion: Floats | None = None
    iterations: int = 0
    converged: bool = True
    difficulty: Difficulty | None = None
    tally: Floats | None = None
    power: float = 1.0

    @cached_property
    def answer(self) -> Ints:
        """Class of each task, -1 for one without labels, shape (tasks,)."""
        if self.tally is not None:
            return decide(self.posterior, self.count)
        return decide(self.score, self.count, float(np.abs(self.weight).max(initial=0.0)))

    @cached_property
    def posterior(self) -> Floats:
        """Chance of each class given a task's labels, shape (tasks, classes).

        By the law of the workers' labels; where nothing is known of them, the classes' shares of the labels. Uniform,
        or the prior, for a task without labels. With a tally, the mean of that and of the shares, one label spread over
        all classes.
        """
        if self.likelihood is None:
            total = self.score.sum(axis=1, keepdims=True)
            chance = np.where(total > 0, self.score / np.maximum(total, 1), 1 / self.score.shape[1])
        else:
            chance = softmax(self.power * np.logaddexp.reduce(self.likelihood))
        if self.tally is None:
            return chance
        shares = (self.tally + 1 / self.tally.shape[1]) / (self.tally.sum(axis=1, keepdims=True) + 1)
        return (shares + chance) / 2

    @cached_property
    def confidence(self) -> Floats:
        """The posterior of each task's answer; 1/classes for a task without labels, shape (tasks,)."""
        chosen = self.posterior[np.arange(self.answer.size), np.maximum(self.answer, 0)]
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
        tasks, classes = self.score.shape
        limits, new = {"task": tasks, "worker": len(self.weight), "label": classes}, []
        for (name, limit), values in zip(limits.items(), (task, worker, label), strict=True):
            new.append(np.atleast_1d(integers(name, values)))
            outside = new[-1][(new[-1] < 0) | (new[-1] >= limit)]
            if outside.size:
                raise InputError(f"{name} {outside[0]} is unknown: these votes have {limit}, counted from 0; fit again")
        t, w, k = new
        if not t.size == w.size == k.size:
            raise InputError(f"there are {t.size} tasks, {w.size} workers, {k.size} labels; give one of each a label")
        score, likelihood = self.score.copy(), self.likelihood
        tally = None if self.tally is None else self.tally.copy()
        if self.weight.ndim == 1:
            np.add.at(score, (t, k), self.weight[w])
        else:
            np.add.at(score, t, self.weight[w, k])
        if likelihood is not None and self.law is not None:
            more = self.law.by_part(Given(t, 0, w, k), tasks) - np.log(self.law.share)[:, None, None]
            likelihood = likelihood + more[..., :classes]
        if tally is not None:
            np.add.at(tally, (t, k), 1.0)
        count = self.count + np.bincount(t, minlength=tasks)
        return replace(self, score=score, likelihood=likelihood, count=count, tally=tally)


def decide(score: Floats, count: Ints, scale: float = 1.0) -> Ints:
    """The first class whose score is within TIE times ``scale`` of the largest; -1 for a task without labels.

    score (tasks, classes): sums of weights, or whatever is largest for the answer; count (tasks,): labels of each task;
    scale: the largest weight of a vote; -> (tasks,): class of each task.
    """
    votes = np.ascontiguousarray(score.T)  # rows of classes are few and long
    near = votes >= votes.max(axis=0) - TIE * scale
    answer = np.full(count.size, -1, np.int64)
    for k in reversed(range(len(near))):
        answer[near[k]] = k
    answer[count == 0] = -1
    return answer
