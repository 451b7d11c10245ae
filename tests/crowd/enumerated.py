"""Every way to label a task with its chance, and what a vote errs with over all of them: no formula is believed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np


def coin(accuracy: Any, classes: int = 2) -> np.ndarray:
    """``P(label | class)`` of one-coin workers, (workers, classes, labels)."""
    right = np.asarray(accuracy, float)[..., None, None]
    return np.where(np.eye(classes, dtype=bool), right, (1 - right) / (classes - 1))


def ways(classes: int, workers: int) -> np.ndarray:
    """Every way in which workers can label a task, (ways, workers)."""
    return np.array(list(product(range(classes), repeat=workers)), np.int64).reshape(classes**workers, workers)


def joint(prior: Any, *parts: np.ndarray, share: Sequence[float] = (1.0,)) -> np.ndarray:
    """``P(class, labels)``, (classes, ways): a mixture of parts, tables as of `coin`, in which workers err alone."""
    total = np.zeros(1)
    for part, each in zip(parts, share, strict=True):
        chance = each * np.asarray(prior, float)[:, None]
        for table in part:
            chance = (chance[:, :, None] * table[:, None, :]).reshape(len(table), -1)
        total = total + chance
    return total


def least_error(chance: np.ndarray) -> float:
    """What naming the likeliest class errs with."""
    return float((chance.sum(axis=0) - chance.max(axis=0)).sum())


def vote_error(chance: np.ndarray, weight: Any, lean: Any = 0.0) -> float:
    """What naming the class of the largest sum errs with: ``lean`` and the weights for it; ties are a fair draw."""
    classes, weight = len(chance), np.asarray(weight, float)
    sums = (ways(classes, weight.size)[:, :, None] == np.arange(classes)).transpose(0, 2, 1) @ weight + lean
    top = sums >= sums.max(axis=1, keepdims=True) - 1e-9 * (1 + np.abs(weight).sum())
    return float(chance.sum() - (chance.T * top / top.sum(axis=1, keepdims=True)).sum())
