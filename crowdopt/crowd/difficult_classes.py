"""Difficulty among any number of classes: one coin, wrong answers uniform, an edge of ``(K p - 1) / (K - 1)``."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty import FEWEST, GAIN, LARGEST, MOST, NONE, SCALES, Difficulty, searched
from crowdopt.crowd.labels import Labels


def class_terms(edge: Floats, classes: int) -> tuple[Floats, Floats]:
    """``ln(K P(label | class))`` for a class other than the label, and how much more it is for the label's own.

    Parameters
    ----------
    edge : (k,) float
        x of each label: the worker is right with chance ``(1 + (K - 1) x) / K``.
    classes : int
        K.

    Returns
    -------
    miss, more : (k,) float
    """
    x = np.clip(edge, -LARGEST / (classes - 1), LARGEST)
    miss = np.log1p(-x)
    return miss, np.log1p((classes - 1) * x) - miss


def class_likelihoods(task: Ints, label: Ints, edge: Floats, shape: tuple[int, int]) -> Floats:
    """Log-likelihood of each task's labels if a class is true, less that of guesses.

    Parameters
    ----------
    task, label : (k,) int
    edge : (k,) float
    shape : (tasks, classes)

    Returns
    -------
    (tasks, classes) float
    """
    miss, more = class_terms(edge, shape[1])
    own: Floats = np.zeros(shape)
    np.add.at(own, (task, label), more)
    table: Floats = own + np.bincount(task, miss, shape[0]).astype(np.float64)[:, None]
    return table


def fitted_among(labels: Labels, edge: Floats, truth: Ints | None = None) -> Difficulty:
    """The likeliest h and s, as crowdopt.crowd.difficulty.fitted finds them for two classes.

    Parameters
    ----------
    labels : Labels
    edge : (workers,) float
        x of each worker.
    truth : (tasks,) int, optional
        -1 where unknown.

    Returns
    -------
    Difficulty
    """
    count, classes = labels.per_task, len(labels.classes)
    if np.count_nonzero(count >= 2) < FEWEST:
        return NONE
    some = np.flatnonzero(count > 0)
    some = some[:: max(1, some.size // MOST)]
    row = np.full(count.size, -1)
    row[some] = np.arange(some.size)
    mine = row[labels.task] >= 0
    place, label, x = row[labels.task[mine]], labels.label[mine], edge[labels.worker[mine]]
    true = np.full(some.size, -1) if truth is None else truth[some]
    sure = true >= 0
    known, unknown = [], []
    for scale in np.concatenate([-SCALES[:0:-1], SCALES]):
        table = class_likelihoods(place, label, scale * x, (some.size, classes))
        known.append(table[sure, true[sure]])
        unknown.append(np.logaddexp.reduce(table[~sure], axis=1) - np.log(classes))
    return searched(np.stack(known), np.stack(unknown), None, GAIN)
