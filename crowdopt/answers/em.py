"""EM: answers and accuracies from the labels alone (Dawid & Skene 1979), with one coin or a full table a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from crowdopt.answers.answers import Answers
from crowdopt.answers.votes import coins, incidence, known, majority
from crowdopt.arrays import Floats
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import Law
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError

SMOOTHING = 1.0  # labels a worker is credited as right, and as wrong, before the data speak: no log-odds is infinite
ROUNDS = 100  # Li & Liu 2015, Section 4
CONVERGED = 1e-10  # largest change of a worker's chances at which EM stops
LEAST = 1e-10  # chances are kept this far from 0 and 1 where there is no smoothing

Step: TypeAlias = Callable[[Floats], tuple[Floats, Floats, Floats]]


def one_coin(
    labels: Labels, iterations: int = ROUNDS, prior: str = "uniform", smoothing: float = SMOOTHING, truth: Any = None
) -> Answers:
    """One-coin EM: worker j is right with probability w_j and otherwise wrong uniformly over the other L - 1 classes.

    Starts from the shares of votes. Stops after ``iterations`` or when no accuracy moves any more. Deterministic.

    iterations: the most rounds; prior: ``uniform``: all classes are equally likely beforehand; ``estimated``: as often
    as they are answers; smoothing: labels each worker is credited as right, and as wrong; truth (tasks,): known
    classes, -1 where unknown: they stay what they are; -> with ``accuracy``, (workers,) float.
    """
    votes, labelled, count = incidence(labels), labels.counts, max(2, len(labels.classes))

    def step(posterior: Floats) -> tuple[Floats, Floats, Floats]:
        right = votes.T @ posterior.reshape(-1) + smoothing
        accuracy = np.clip(right / np.maximum(labelled + 2 * smoothing, LEAST), LEAST, 1 - LEAST)
        weight = log_odds(accuracy, count, LEAST)
        return accuracy, weight, (votes @ weight).reshape(posterior.shape)

    answers, accuracy, _ = _fitted("one-coin", labels, step, iterations, prior, smoothing, truth)
    return replace(answers, law=coins(accuracy, count, LEAST), accuracy=accuracy)


def dawid_skene(
    labels: Labels, iterations: int = ROUNDS, prior: str = "estimated", smoothing: float = SMOOTHING, truth: Any = None
) -> Answers:
    """EM of Dawid & Skene 1979: worker j says l where k is true with probability ``pi_j[k, l]``, class k has ``rho_k``.

    Starts from the shares of votes. Stops after ``iterations`` or when no chance moves any more. Deterministic.

    smoothing: labels each worker is credited with for each true class, spread evenly over what the worker may say;
    iterations, prior, truth: as for :func:`one_coin`; -> with ``confusion``, (workers, classes, classes)
    float, and ``accuracy``, (workers,) float.
    """
    count, m = len(labels.classes), len(labels.workers)
    cell = labels.task, labels.worker * count + labels.label
    said = sparse.csr_array((np.ones(labels.task.size), cell), shape=(len(labels.tasks), m * count))

    def step(posterior: Floats) -> tuple[Floats, Floats, Floats]:
        tallies = (said.T @ np.ascontiguousarray(posterior.T)).reshape(m, count, count)  # worker, said, true
        tallies = np.maximum(tallies + smoothing / count, LEAST)
        chance = tallies / tallies.sum(axis=1, keepdims=True)
        speech = np.log(chance)
        return chance, speech, np.ascontiguousarray((said @ speech.reshape(m * count, count)).T)

    answers, chance, share = _fitted("dawid-skene", labels, step, iterations, prior, smoothing, truth)
    confusion = np.ascontiguousarray(chance.transpose(0, 2, 1))
    accuracy = np.diagonal(confusion, axis1=1, axis2=2) @ share
    return replace(answers, law=Law.tables(confusion[None]), accuracy=accuracy, confusion=confusion)


def tallies(labels: Labels, chance: Floats) -> Floats:
    """How often a worker said the third class where the second is true, expected, (workers, classes, classes).

    chance (labels, classes): of each class of a label's task.
    """
    m, count = len(labels.workers), len(labels.classes)
    cell = labels.worker * count + labels.label
    said = [np.bincount(cell, column, m * count) for column in chance.T]
    return np.asarray(said, np.float64).reshape(count, m, count).swapaxes(0, 1)


def _fitted(
    method: str, labels: Labels, step: Step, rounds: int, prior: str, smoothing: float, truth: Any
) -> tuple[Answers, Floats, Floats]:
    """Answers by their last votes, the workers' chances, and each class's share of the answers.

    step: the M-step and the scores that follow: posterior (classes, tasks) -> the workers' chances, what a label of
    each weighs, and the score (classes, tasks), fresh.
    """
    if rounds < 1:
        raise InputError(f"EM needs at least one iteration, not {rounds}")
    if prior not in ("uniform", "estimated"):
        raise InputError(f"the prior is one of uniform, estimated, not {prior!r}")
    if not 0 <= smoothing < np.inf:
        raise InputError(f"the smoothing must be finite and at least 0, not {smoothing}")
    sure, posterior = known(labels, truth).T, np.ascontiguousarray(majority(labels, truth).posterior.T)
    chance = np.asarray(np.inf)
    for number in range(1, rounds + 1):  # noqa: B007
        before = chance
        chance, weight, score = step(posterior)
        if prior == "estimated":
            score += np.log(np.maximum(posterior.mean(axis=1), LEAST))[:, None]
        score += sure
        posterior = np.exp(score - score.max(axis=0))
        posterior /= posterior.sum(axis=0)
        still = bool(np.abs(chance - before).max(initial=0.0) <= CONVERGED)
        if still:
            break
    score = np.ascontiguousarray(score.T)
    answers = Answers(method, score, weight, labels.per_task, None, score[None], iterations=number, converged=still)
    return answers, chance, posterior.mean(axis=1)
