"""Votes whose weights are known beforehand: majority, and weighted majority voting (Li & Liu 2015, eq. 1-2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.answers.voted import Answers
from crowdopt.arrays import Floats
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import class_votes
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError

ROWS = 1e-6  # absolute; by how much a row of a confusion table may miss 1
TRUNCATION = 0.05  # accuracies are kept this far from 0 and 1 where a logarithm needs it


def majority(labels: Labels) -> Answers:
    """Every label counts 1; confidence is the answer's share of the labels."""
    weight = np.ones(len(labels.workers))
    return Answers("majority", tally(labels, weight), weight, None, None, labels.per_task)


def wmv_linear(labels: Labels, accuracy: Any, truncation: float = TRUNCATION) -> Answers:
    """Weights ``L w - 1`` (Li & Liu 2015, eq. 2): a worker at chance has none, one below it speaks against.

    accuracy (workers,): w, as estimated from control questions; truncation: for the confidence alone, which takes
    log-odds.
    """
    given = _accuracies(labels, accuracy, truncation)
    weight = len(labels.classes) * given - 1
    speech = log_odds(given, len(labels.classes), truncation)
    return Answers(
        "wmv-linear", tally(labels, weight), weight, tally(labels, speech), speech, labels.per_task, accuracy=given
    )


def wmv_log(labels: Labels, accuracy: Any, truncation: float = TRUNCATION) -> Answers:
    """Weights ``logit(w) - logit(1/L)`` (Li & Liu 2015, Section 2), best for one-coin workers of known w."""
    given = _accuracies(labels, accuracy, truncation)
    weight = log_odds(given, len(labels.classes), truncation)
    score = tally(labels, weight)
    return Answers("wmv-log", score, weight, score, weight, labels.per_task, accuracy=given)


def wmv_confusion(labels: Labels, confusion: Any) -> Answers:
    """Log-likelihoods ``ln P_j(label | class)``, the best there are for workers of known confusion tables.

    confusion (workers, classes, classes): chance that a worker says the third class where the second is true, above 0
    (crowdopt.crowd.skills).
    """
    table, classes = np.array(confusion, dtype=np.float64), len(labels.classes)
    shape = (len(labels.workers), classes, classes)
    if table.shape != shape:
        raise InputError(f"confusion has shape {table.shape}; workers, true classes and answers make {shape}")
    if not (table > 0).all() or np.abs(table.sum(axis=2) - 1).max() > ROWS:
        raise InputError("confusion tables need chances above 0 that add up to 1 for each worker and true class")
    nothing, speech = np.zeros((len(labels.tasks), classes)), class_votes(table)
    count = np.zeros(len(labels.tasks), np.int64)
    right = np.trace(table, axis1=1, axis2=2) / classes
    empty = Answers("wmv-confusion", nothing, speech, nothing, speech, count, right, table)
    return empty.with_labels(labels.task, labels.worker, labels.label)


def tally(labels: Labels, weight: Floats) -> Floats:
    """Sum of the weights (workers,) of a task's labels by class, (tasks, classes)."""
    shape = (len(labels.tasks), len(labels.classes))
    cell = labels.task * shape[1] + labels.label
    votes = np.bincount(cell, weights=weight[labels.worker], minlength=shape[0] * shape[1])
    return votes.reshape(shape).astype(np.float64, copy=False)


def _accuracies(labels: Labels, accuracy: Any, truncation: float) -> Floats:
    if not 0 < truncation < 0.5:
        raise InputError(f"the truncation must lie strictly between 0 and 1/2, not {truncation}")
    given = np.array(accuracy, dtype=np.float64)
    if given.shape != (len(labels.workers),):
        raise InputError(f"accuracy has shape {given.shape}; give one per worker, that is {len(labels.workers)}")
    if np.isnan(given).any():
        who = labels.workers[int(np.flatnonzero(np.isnan(given))[0])]
        raise InputError(f"worker {who} has no gold, so no weight; ask some, leave the worker's labels out, or use EM")
    if ((given < 0) | (given > 1)).any():
        raise InputError("accuracies must lie in [0, 1]")
    return given
