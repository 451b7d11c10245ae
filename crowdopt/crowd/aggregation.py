"""Answers from labels."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.crowd.labels import Labels

Floats: TypeAlias = NDArray[np.float64]

SMOOTHING = 1.0  # labels a worker is credited as right, and as wrong, before the data speak: no log-odds is infinite
ITERATIONS = 100  # Li & Liu 2015, Section 4
CONVERGED = 1e-10  # largest change of an accuracy at which EM stops


def majority_posterior(labels: Labels) -> Floats:
    """Share of a task's labels for each class, shape (tasks, classes); uniform where there is none."""
    counts = _votes(labels, np.ones(labels.task.size))
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.maximum(total, 1), 1 / len(labels.classes))


def one_coin(labels: Labels, iterations: int = ITERATIONS) -> tuple[Floats, Floats]:
    """One-coin EM (Dawid & Skene 1979, one accuracy per worker): posteriors (tasks, classes), accuracies (workers,).

    Worker j is right with probability w_j and otherwise wrong uniformly over the other L - 1 classes. Starts from
    the shares of votes; classes are equally likely beforehand; accuracies are smoothed by SMOOTHING right and
    wrong labels. Stops after ``iterations`` or when no accuracy moves. Deterministic.
    """
    count = len(labels.classes)
    posterior, accuracy = majority_posterior(labels), np.full(len(labels.workers), np.nan)
    given = labels.counts
    for _ in range(iterations):
        right = np.bincount(labels.worker, posterior[labels.task, labels.label], minlength=given.size)
        before, accuracy = accuracy, (right + SMOOTHING) / (given + 2 * SMOOTHING)
        log_odds = np.log(accuracy / (1 - accuracy)) + np.log(count - 1) if count > 1 else np.zeros(given.size)
        scores = _votes(labels, log_odds[labels.worker])
        scores -= scores.max(axis=1, keepdims=True)
        posterior = np.exp(scores)
        posterior /= posterior.sum(axis=1, keepdims=True)
        if np.abs(accuracy - before).max() <= CONVERGED:
            break
    return posterior, accuracy


def _votes(labels: Labels, weight: Floats) -> Floats:
    shape = (len(labels.tasks), len(labels.classes))
    cell = labels.task * shape[1] + labels.label
    votes: Floats = np.bincount(cell, weights=weight, minlength=shape[0] * shape[1]).astype(np.float64)
    return votes.reshape(shape)
