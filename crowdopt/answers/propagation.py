"""Belief propagation: answers and skills from the labels alone, with confidences that do not believe themselves.

EM takes the skills that it finds for true, and finds them by its own answers: with few labels a worker it is far too
sure. Here a task's vote weighs each worker by what their *other* labels tell of them (Liu, Peng & Ihler 2012).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from crowdopt.answers.answers import Answers
from crowdopt.answers.votes import TRUNCATION, known, majority, tally, wmv_log
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law import softmax
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError

LEVELS = 32  # skills that are told apart, evenly between 0 and 1
ITERATIONS = 200
CONVERGED = 1e-3  # largest change of a message at which it stops
KEPT = 0.5  # of the old messages and the old prior from one round to the next
LEAST = 1e-6  # share of the workers that every skill is thought to have
TOGETHER = 200_000  # labels whose workers are looked at together: 50 MB a table


def belief_propagation(labels: Labels, iterations: int = ITERATIONS, skills: Any = None, truth: Any = None) -> Answers:
    """Messages ``r_ij``, the chance that j's label of i is right by i's other labels, and j's skill by j's others.

    ``P(p_j = g | others) ~ pi(g) prod_{i' != i} (r_i'j g + (1 - r_i'j)(1 - g)/(L - 1))``; a label then weighs the
    log-odds of the mean. Exact where the table has no cycle. The prior pi of the workers' skills is fitted on the way
    (``pi(g) = mean_j P(p_j = g)``). Starts from the shares of the other votes. Deterministic.

    iterations: the most rounds; skills (levels,): the prior itself, over skills that divide [0, 1] evenly, where it is
    known; then nothing is fitted; truth (tasks,): known classes, -1 where unknown: they stay what they are; -> with
    ``accuracy``, (workers,) float, the mean skill given all labels.
    """
    if iterations < 1:
        raise InputError(f"belief propagation needs at least one iteration, not {iterations}")
    prior = np.ones(LEVELS) if skills is None else np.array(skills, dtype=np.float64)
    if prior.ndim != 1 or not prior.size or not np.isfinite(prior).all() or (prior < 0).any() or not prior.sum() > 0:
        raise InputError("skills needs one share of the workers for each level of skill, none below 0, some above")
    prior = np.maximum(prior / prior.sum(), np.finfo(float).tiny)
    order, sure, count = np.argsort(labels.worker, kind="stable"), known(labels, truth), max(2, len(labels.classes))
    labels = replace(labels, task=labels.task[order], worker=labels.worker[order], label=labels.label[order])
    votes = majority(labels, truth).score
    # the first messages: the share of the task's other votes that agree, with one vote spread over all classes
    right = (votes[labels.task, labels.label] - 1 + 1 / count) / votes[labels.task].sum(axis=1)
    for step in range(1, iterations + 1):  # noqa: B007
        weight, accuracy, fitted = _weigh(labels, right, prior)
        score = tally(labels, weight) + sure
        others = _others(labels, score, weight)[np.arange(weight.size), labels.label]
        # damped, for messages on cycles may swing; so is the prior
        before, right = right, KEPT * right + (1 - KEPT) * others
        prior = prior if skills is not None else KEPT * prior + (1 - KEPT) * fitted
        still = bool(np.abs(right - before).max(initial=0.0) <= CONVERGED)
        if still:
            break
    believed = replace(wmv_log(labels, accuracy), method="belief-propagation", iterations=step, converged=still)
    return replace(believed, score=score, likelihood=score[None])


def agreement_tallies(labels: Labels, task_type: Ints, types: int) -> tuple[Ints, Ints]:
    """Correct and asked answers, each (types, workers), by agreement alone: what as many gold answers would tell.

    Each label is held against the likeliest class k by the task's *other* labels, of chance r:
    ``P(label = k) = b + (r - b) p`` with ``b = (1 - r)/(L - 1)``, so that agreement, less b, over r - b, estimates p
    without bias. It counts as the share ``(r - b)^2 p(1 - p) / q(1 - q)``, q = P(label = k), of an answer with known
    truth: its Fisher information. A label alone on its task has r = 1/L and counts nothing.

    task_type (tasks,): type of each task; types: how many there are.
    """
    fit, classes = belief_propagation(labels), max(2, len(labels.classes))
    assert fit.accuracy is not None
    chance = _others(labels, fit.score, fit.weight[labels.worker])
    chance[labels.per_task[labels.task] < 2] = 1 / len(labels.classes)  # what is left rests on the worker's own labels
    likeliest, top = chance.argmax(axis=1), chance.max(axis=1)
    mean = (fit.accuracy * labels.counts).sum() / likeliest.size
    base = (1 - top) / (classes - 1)
    slope = top - base
    agreed = base + slope * mean
    share = mean * (1 - mean) / (agreed * (1 - agreed)) * slope
    cell, shape = task_type[labels.task] * len(labels.workers) + labels.worker, (types, len(labels.workers))
    asked = np.bincount(cell, share * slope, types * shape[1])
    right = np.bincount(cell, share * ((labels.label == likeliest) - base), asked.size)
    # whole numbers whose sums up to each place are those of the amounts, rounded: the crowd's totals stay
    whole = np.diff(np.ceil(np.cumsum(asked) - LEAST), prepend=0.0)
    correct = np.diff(np.floor(np.cumsum(whole * np.clip(right / np.maximum(asked, LEAST), 0.0, 1.0)) + 0.5), prepend=0)
    return correct.astype(np.int64).reshape(shape), whole.astype(np.int64).reshape(shape)


def _weigh(labels: Labels, right: Floats, prior: Floats) -> tuple[Floats, Floats, Floats]:
    """What each label weighs by its worker's others, each worker's mean skill by all, and the prior that fits them.

    labels: in the order of their workers, who are looked at a few at a time.
    """
    count, skill = max(2, len(labels.classes)), (np.arange(prior.size) + 0.5) / prior.size
    wrong, starts = (1 - skill) / (count - 1), np.concatenate([[0], np.cumsum(labels.counts)])
    weight, accuracy, fitted = np.empty(right.size), np.empty(starts.size - 1), np.zeros(prior.size)
    cuts = np.searchsorted(starts, np.arange(TOGETHER, right.size, TOGETHER), side="right") - 1
    for first, last in pairwise(np.unique([0, *cuts, starts.size - 1]).tolist()):
        some = slice(starts[first], starts[last])
        # f(g) = r g + (1 - r)(1 - g)/(L - 1): the chance of the label at each skill, by what the others say
        likely = wrong + right[some, None] * (skill - wrong)
        total = np.tile(np.log(prior), (last - first, 1))
        busy = first + np.flatnonzero(np.diff(starts[first : last + 1]))
        total[busy - first] += np.add.reduceat(np.log(likely), starts[busy] - starts[first], axis=0)
        chance = softmax(total)
        accuracy[first:last], fitted = chance @ skill, fitted + chance.sum(axis=0)
        # the label's own factor is divided out again, so that its weight rests on the worker's other labels alone
        besides = chance[labels.worker[some] - first] / likely  # up to a factor of the row
        weight[some] = log_odds((besides @ skill) / besides.sum(axis=1), count, TRUNCATION)
    fitted = np.maximum(fitted / accuracy.size, LEAST)
    return weight, accuracy, fitted / fitted.sum()


def _others(labels: Labels, score: Floats, weight: Floats) -> Floats:
    """Chance of each class of each label's task by its other labels, (labels, classes); weight (labels,)."""
    beside = score[labels.task]
    beside[np.arange(weight.size), labels.label] -= weight
    return softmax(beside)
