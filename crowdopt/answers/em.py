"""EM: answers and accuracies from the labels alone (Dawid & Skene 1979), with one coin or a full table a worker."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from crowdopt.answers.voted import Answers
from crowdopt.answers.votes import tally
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import clipped
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError

PRIORS = ("uniform", "estimated")
SMOOTHING = 1.0  # labels a worker is credited as right, and as wrong, before the data speak: no log-odds is infinite
ITERATIONS = 100  # Li & Liu 2015, Section 4
CONVERGED = 1e-10  # largest change of a worker's chances at which EM stops
LEAST = 1e-10  # chances are kept this far from 0 and 1 where there is no smoothing
IMPOSSIBLE = -700.0  # log-likelihood of a class that is known to be wrong


def one_coin(
    labels: Labels,
    iterations: int = ITERATIONS,
    prior: str = "uniform",
    smoothing: float = SMOOTHING,
    truth: Any = None,
    tolerance: float = CONVERGED,
) -> Answers:
    """One-coin EM: worker j is right with probability w_j and otherwise wrong uniformly over the other L - 1 classes.

    Starts from the shares of votes. Stops after ``iterations`` or when no accuracy moves by more than ``tolerance``.
    Deterministic.

    iterations: the most rounds; prior: ``uniform``: all classes are equally likely beforehand; ``estimated``: as often
    as they are answers; smoothing: labels each worker is credited as right, and as wrong; truth (tasks,): known
    classes, -1 where unknown: they stay what they are; tolerance: largest change of an accuracy that counts as none;
    below 0 every round is done; -> with ``accuracy``, (workers,) float.
    """
    known = _check(labels, iterations, prior, smoothing, truth)
    n, count, given = len(labels.tasks), len(labels.classes), labels.counts
    # (class and task) x worker: one product with posteriors counts right labels, its transpose adds up weights
    votes = _incidence(labels.label * n + labels.task, labels.worker, (count * n, given.size))
    posterior = _start(labels, known)
    accuracy, step, moved = np.full(given.size, np.inf), 0, np.inf
    for step in range(1, iterations + 1):  # noqa: B007
        right = votes.T @ posterior.reshape(-1) + smoothing
        before, share = accuracy, right / np.maximum(given + 2 * smoothing, LEAST)
        accuracy, weight = clipped(share, LEAST), log_odds(share, max(count, 2), LEAST)
        score = (votes @ weight).reshape(count, n) + _log_prior(posterior, prior)
        posterior = _known(_chances(score), known)
        moved = np.abs(accuracy - before).max(initial=0.0)
        if moved <= tolerance:
            break
    evidence = _settled(score, known)
    return Answers(
        "one-coin",
        evidence,
        weight,
        evidence,
        weight,
        labels.per_task,
        accuracy,
        iterations=step,
        converged=bool(moved <= tolerance),
    )


def dawid_skene(
    labels: Labels,
    iterations: int = ITERATIONS,
    prior: str = "estimated",
    smoothing: float = SMOOTHING,
    truth: Any = None,
    tolerance: float = CONVERGED,
) -> Answers:
    """EM of Dawid & Skene 1979: worker j says l where k is true with probability ``pi_j[k, l]``, class k has ``rho_k``.

    Starts from the shares of votes. Stops after ``iterations`` or when no chance moves by more than ``tolerance``.
    Deterministic.

    smoothing: labels each worker is credited with for each true class, spread evenly over what the worker may say;
    iterations, prior, truth, tolerance: as for :func:`one_coin`; -> with ``confusion``, (workers, classes, classes)
    float, and ``accuracy``, (workers,) float.
    """
    known = _check(labels, iterations, prior, smoothing, truth)
    n, count, m = len(labels.tasks), len(labels.classes), len(labels.workers)
    # task x (worker and label): likewise, tallies one way and scores the other
    said = _incidence(labels.task, labels.worker * count + labels.label, (n, m * count))
    posterior = _start(labels, known)
    speech, step, moved = np.full((m, count, count), np.inf), 0, np.inf
    for step in range(1, iterations + 1):  # noqa: B007
        tallies = (said.T @ np.ascontiguousarray(posterior.T)).reshape(m, count, count)  # worker, said, true
        tallies = np.maximum(tallies + smoothing / count, LEAST)
        before, chance = speech, tallies / tallies.sum(axis=1, keepdims=True)
        speech = np.log(chance)
        score = np.ascontiguousarray((said @ speech.reshape(m * count, count)).T) + _log_prior(posterior, prior)
        posterior = _known(_chances(score), known)
        moved = np.abs(chance - np.exp(before)).max(initial=0.0)
        if moved <= tolerance:
            break
    confusion = np.ascontiguousarray(chance.transpose(0, 2, 1))
    evidence = _settled(score, known)
    return Answers(
        "dawid-skene",
        evidence,
        speech,
        evidence,
        speech,
        labels.per_task,
        np.diagonal(confusion, axis1=1, axis2=2) @ posterior.mean(axis=1),
        confusion,
        iterations=step,
        converged=bool(moved <= tolerance),
    )


def _incidence(row: Ints, column: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array((np.ones(row.size), (row, column)), shape=shape)


def _start(labels: Labels, known: Ints | None) -> Floats:
    """Shares of a task's labels, uniform where there is none, shape (classes, tasks)."""
    shares = tally(labels, np.ones(len(labels.workers))).T
    total = shares.sum(axis=0)
    return _known(np.where(total > 0, shares / np.maximum(total, 1), 1 / len(shares)), known)


def _chances(score: Floats) -> Floats:
    """Columns of log-likelihoods turned into probabilities, shape (classes, tasks)."""
    score = np.exp(score - score.max(axis=0))
    score /= score.sum(axis=0)
    return score


def _log_prior(posterior: Floats, prior: str) -> Floats:
    """Logarithm of each class's share of the answers, or nothing where all are taken for equal, shape (classes, 1)."""
    if prior == "uniform":
        return np.zeros((len(posterior), 1))
    shares: Floats = np.log(np.maximum(posterior.mean(axis=1), LEAST))
    return shares[:, None]


def _known(posterior: Floats, known: Ints | None) -> Floats:
    if known is not None:
        sure = np.flatnonzero(known >= 0)
        posterior[:, sure] = 0.0
        posterior[known[sure], sure] = 1.0
    return posterior


def _settled(score: Floats, known: Ints | None) -> Floats:
    table = np.ascontiguousarray(score.T)
    if known is not None:
        sure = np.flatnonzero(known >= 0)
        table[sure] = IMPOSSIBLE
        table[sure, known[sure]] = 0.0
    return table


def _check(labels: Labels, iterations: int, prior: str, smoothing: float, truth: Any) -> Ints | None:
    if iterations < 1:
        raise InputError(f"EM needs at least one iteration, not {iterations}")
    if prior not in PRIORS:
        raise InputError(f"the prior is one of {', '.join(PRIORS)}, not {prior!r}")
    if not 0 <= smoothing < np.inf:
        raise InputError(f"the smoothing must be finite and at least 0, not {smoothing}")
    return None if truth is None else checked_truth(labels, truth)


def checked_truth(labels: Labels, truth: Any) -> Ints:
    """Known classes, (tasks,), -1 where unknown; InputError where they do not fit the labels."""
    known = np.asarray(truth, dtype=np.int64)
    if known.shape != (len(labels.tasks),) or known.max(initial=-1) >= len(labels.classes):
        raise InputError("truth needs one class per task, counted from 0, and -1 where it is unknown")
    return known
