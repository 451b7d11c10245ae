"""Difficulty among any number of classes: one coin, wrong answers uniform, an edge of ``(K p - 1) / (K - 1)``."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.hard_tasks import LARGEST


def class_terms(edge: Floats, classes: int) -> tuple[Floats, Floats]:
    """``ln(K P(label | class))`` for another class than the label, and what its own adds, (k,); edge (k,): x."""
    x = np.clip(edge, -LARGEST / (classes - 1), LARGEST)
    miss = np.log1p(-x)
    return miss, np.log1p((classes - 1) * x) - miss


def class_likelihoods(task: Ints, label: Ints, edge: Floats, shape: tuple[int, int]) -> Floats:
    """Log-likelihood of each task's labels if a class is true, less that of guesses, (tasks, classes)."""
    miss, more = class_terms(edge, shape[1])
    own = np.bincount(task * shape[1] + label, more, shape[0] * shape[1]).reshape(shape)
    return np.asarray(own + np.bincount(task, miss, shape[0])[:, None], dtype=np.float64)
