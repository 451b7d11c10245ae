"""Message passing of Karger, Oh & Shah (2011), for any number of classes, without messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.answers.answers import Answers, decide
from crowdopt.answers.votes import incidence, wmv_log
from crowdopt.crowd.labels import Labels
from crowdopt.errors import InputError

ITERATIONS = 100
SMOOTHING = 1.0  # labels a worker is credited as agreeing, and as disagreeing, with the answers
LARGE = 1e100  # messages grow geometrically; beyond this all are scaled back, which changes no answer


def kos(labels: Labels, iterations: int = ITERATIONS, start: Any = None) -> Answers:
    """Iterate ``x_ij = sum_{j' != j} a_ij' y_ij'``, ``y_ij = sum_{i' != i} <a_i'j, x_i'j>``; answer by ``sum_j a y``.

    A label l is the vector ``a = e_l - 1/L``; for two classes that is Karger, Oh & Shah's algorithm with its +1 and -1,
    scaled. Because ``<a, a>`` is the same for all labels, the messages stay of the form
    ``y_ij = r y0_ij + B_j - <a_ij, C_i>``, so an iteration costs two products with the sparse label table.

    Answers are by the final messages; what new labels add is by each worker's mean message; an accuracy is
    the worker's agreement with the answers (smoothed), and confidence follows from accuracies by the one-coin model.

    start (labels,): the first messages y0; default: all 1, which needs no chance. The paper draws them from N(1, 1).
    """
    if iterations < 0:
        raise InputError(f"the number of iterations must be at least 0, not {iterations}")
    y0 = np.ones(labels.task.size) if start is None else np.array(start, dtype=np.float64)
    if y0.shape != labels.task.shape or not np.isfinite(y0).all():
        raise InputError(f"start needs one finite number per label, that is {labels.task.size}")
    n, count, size = len(labels.tasks), len(labels.classes), np.asarray(labels.counts, np.float64)
    # a row for each class and task: marks counts the labels there, z0 and s0 sum the first messages
    cell, table = labels.label * n + labels.task, incidence(labels)
    marks, z0 = np.bincount(cell, minlength=n * count), np.bincount(cell, weights=y0, minlength=n * count)
    s0 = np.bincount(labels.worker, weights=y0, minlength=size.size)
    b, c, share, self_ = np.zeros(size.size), np.zeros(n * count), 1.0, 1 - 1 / count
    for step in range(iterations + 1):
        # messages to tasks, then back to workers, each as a whole; subtracting takes out a label's own message
        t = (share * z0 + table @ b - marks * c).reshape(count, n)
        t = (t - t.sum(axis=0) / count).reshape(-1)
        if step == iterations:
            break
        w = table.T @ (t + self_ * c) - self_ * (share * s0 + size * b)
        b, c, share = self_ * b + w, self_ * c + t, self_ * share
        largest = max(np.abs(b).max(initial=0.0), np.abs(c).max(initial=0.0))
        # only ratios matter for the answer: all three are scaled together before they overflow
        if largest > LARGE:
            b, c, share = b / largest, c / largest, share / largest
    message = (share * s0 + size * b - table.T @ c) / np.maximum(size, 1)
    scale = float(np.abs(message).max(initial=0.0)) or 1.0
    score = np.ascontiguousarray(t.reshape(count, n).T) / scale
    agrees = decide(score, labels.per_task)[labels.task] == labels.label
    right = np.bincount(labels.worker, weights=agrees, minlength=size.size)
    believed = wmv_log(labels, (right + SMOOTHING) / (size + 2 * SMOOTHING))
    return replace(believed, method="kos", score=score, weight=message / scale, iterations=iterations)
