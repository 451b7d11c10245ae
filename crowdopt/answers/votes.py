"""Votes whose weights are known beforehand: majority, and weighted majority voting (Li & Liu 2015, eq. 1-2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.answers.answers import Answers
from crowdopt.arrays import Floats
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import Coins, Given, Law, class_votes
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError

ROWS = 1e-6  # absolute; by how much a row of a confusion table may miss 1
TRUNCATION = 0.05  # accuracies are kept this far from 0 and 1 where a logarithm needs it
SURE = 1e300  # what a known class is ahead by


def majority(labels: Labels, truth: Any = None) -> Answers:
    """Every label counts 1; confidence is the answer's share of the labels.

    truth (tasks,): known classes, -1 where unknown: they stay what they are.
    """
    score = tally(labels) + known(labels, truth)
    return Answers("majority", score, np.ones(len(labels.workers)), labels.per_task)


def wmv_linear(labels: Labels, accuracy: Any, truncation: float = TRUNCATION) -> Answers:
    """Weights ``L w - 1`` (Li & Liu 2015, eq. 2): a worker at chance has none, one below it speaks against.

    accuracy (workers,): w, as estimated from control questions; truncation: for the confidence alone, which takes
    log-odds.
    """
    found = wmv_log(labels, accuracy, truncation)
    weight = len(labels.classes) * np.asarray(found.accuracy) - 1
    return replace(found, method="wmv-linear", score=tally(labels, weight[labels.worker]), weight=weight)


def wmv_log(labels: Labels, accuracy: Any, truncation: float = TRUNCATION) -> Answers:
    """Weights ``logit(w) - logit(1/L)`` (Li & Liu 2015, Section 2), best for one-coin workers of known w."""
    given, classes = np.array(accuracy, dtype=np.float64), max(2, len(labels.classes))
    if given.shape != (len(labels.workers),):
        raise InputError(f"accuracy has shape {given.shape}; give one per worker, that is {len(labels.workers)}")
    if np.isnan(given).any():
        who = labels.workers[int(np.flatnonzero(np.isnan(given))[0])]
        raise InputError(f"worker {who} has no gold, so no weight; ask some, leave the worker's labels out, or use EM")
    if ((given < 0) | (given > 1)).any():
        raise InputError("accuracies must lie in [0, 1]")
    if not 0 < truncation < 0.5:
        raise InputError(f"the truncation must lie strictly between 0 and 1/2, not {truncation}")
    weight = log_odds(given, classes, truncation)
    score, law = tally(labels, weight[labels.worker]), coins(given, classes, truncation)
    return Answers("wmv-log", score, weight, labels.per_task, law, score[None], given)


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
    law, right = Law.tables(table[None]), np.trace(table, axis1=1, axis2=2) / classes
    score = law.likelihood(Given(labels.task, 0, labels.worker, labels.label), len(labels.tasks))
    return Answers("wmv-confusion", score, class_votes(table), labels.per_task, law, score[None], right, table)


def coins(accuracy: Floats, classes: int, least: float) -> Law:
    """The law of workers of one coin, believed in [least, 1 - least]; accuracy (workers,)."""
    return Law(np.ones(1), Coins(accuracy[None, None], classes, within=(least, 1 - least)))


def known(labels: Labels, truth: Any) -> Floats:
    """SURE for each task's known class, else 0, (tasks, classes).

    truth (tasks,): known classes, -1 where unknown, or None; InputError where they do not fit the labels.
    """
    true = np.full(len(labels.tasks), -1) if truth is None else np.asarray(truth, dtype=np.int64)
    if true.shape != (len(labels.tasks),) or true.max(initial=-1) >= len(labels.classes):
        raise InputError("truth needs one class per task, counted from 0, and -1 where it is unknown")
    return np.where(true[:, None] == np.arange(len(labels.classes)), SURE, 0.0)


def tally(labels: Labels, weight: Floats | None = None) -> Floats:
    """Sum of the weights (labels,) of a task's labels by class, (tasks, classes); without weights each counts 1."""
    shape = (len(labels.tasks), len(labels.classes))
    cell = labels.task * shape[1] + labels.label
    votes = np.bincount(cell, weights=weight, minlength=shape[0] * shape[1])
    return votes.reshape(shape).astype(np.float64, copy=False)


def incidence(labels: Labels) -> sparse.csr_array:
    """A row for each class and task, a column for each worker, 1 where they said so: products add up votes."""
    size = len(labels.classes) * len(labels.tasks), len(labels.workers)
    row = labels.label * len(labels.tasks) + labels.task
    return sparse.csr_array((np.ones(row.size), (row, labels.worker)), shape=size)
