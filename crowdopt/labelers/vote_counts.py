"""Votes as they are counted: by label, by weight, within a tolerance, ties by a coin that belongs to the task."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints

ROUNDING = 1e-12  # of the sum of |weights|: a difference below it is none


def voted(labels: Ints, weight: Floats | None, tolerance: float, classes: int, coin: Floats) -> Ints:
    """``argmax_k sum of the weights of the labels for k``; all within the tolerance of the most are tied.

    labels (tasks, workers): -1 where there is none; weight (workers,): None: one each; tolerance: in the unit of the
    weights; coin (tasks,): in [0, 1): picks one of those tied; alone it answers a task without labels; -> (tasks,):
    class of each task.
    """
    return picked(tallied_votes(labels, weight, classes), tolerance, coin)


def tallied_votes(labels: Ints, weight: Floats | None, classes: int) -> Floats:
    """Sums of weights (workers,), or of ones, by class; labels (tasks, workers), -1 for none -> (tasks, classes)."""
    score = np.empty((len(labels), classes))
    for k in range(classes):
        says = labels == k
        score[:, k] = says.sum(axis=1) if weight is None else row_sums(says * weight)
    return score


def row_sums(table: Floats) -> Floats:
    """Sums along rows, left to right: the same bytes for a row alone and among others, unlike a matrix product."""
    if table.shape[1] == 0:
        return np.zeros(len(table))
    return np.cumsum(table, axis=1)[:, -1]


def picked(score: Floats, tolerance: float, coin: Floats) -> Ints:
    """The class of the largest sum, a fair one of those within the tolerance of it.

    score (tasks, classes): sums of weights; tolerance: in the unit of the weights; coin (tasks,): in [0, 1);
    -> (tasks,): class of each task.
    """
    near = tolerance + ROUNDING * (1 + np.abs(score).sum(axis=1, keepdims=True))
    best = score >= score.max(axis=1, keepdims=True) - near
    if (ties := best.sum(axis=1)).max() == 1:
        return best.argmax(axis=1)
    place = (coin * ties).astype(np.int64)
    return ((np.cumsum(best, axis=1) > place[:, None]) & best).argmax(axis=1)
