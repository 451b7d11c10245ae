"""Weighted votes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def weighted_vote(task: Ints, label: Ints, weight: Floats, tasks: int, classes: int = 2) -> Ints:
    """``argmax_k sum of the weights of the labels that say k``, one answer per task, shape (tasks,).

    With two classes this is ``sign(sum w l)``. Ties go to the smallest class; a task without labels answers -1.

    Parameters
    ----------
    task, label : (k,) int
        Task and class of each label.
    weight : (k,) float
        Its weight; a negative one speaks against its class.
    """
    votes = np.bincount(task * classes + label, weights=weight, minlength=tasks * classes)
    answers = votes.reshape(tasks, classes).argmax(axis=1)
    return np.where(np.bincount(task, minlength=tasks) > 0, answers, -1)


def hoeffding_bound(accuracy: Any, weight: Any) -> float:
    """``exp(-1/2 (sum w(2p-1))^2 / sum w^2)``, which no weighted vote's error exceeds (Ho et al. 2013, Lemma 1).

    The lemma as printed needs ``sum w (2p - 1) >= 0``; where that fails nothing better than 1 is known, and 1 is
    returned, as it is without any weight.
    """
    p, w = np.asarray(accuracy, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    drift = float(w @ (2 * p - 1))
    if drift <= 0:
        return 1.0
    return float(np.exp(-0.5 * drift**2 / (w @ w)))
