"""Belief propagation: answers and skills from the labels alone, with confidences that do not believe themselves.

EM takes the skills that it finds for true, and finds them by its own answers: with few labels a worker it is far too
sure. Here a task's vote weighs each worker by what their *other* labels tell of them (Liu, Peng & Ihler 2012).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.answers.em import checked_truth
from crowdopt.answers.voted import Answers
from crowdopt.answers.votes import TRUNCATION
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
SURE = 700.0  # log-likelihood by which a known class is ahead
TOGETHER = 200_000  # labels whose workers are looked at together: 50 MB a table


@dataclass(frozen=True, eq=False)
class Edges:
    """Labels in the order of their workers: (labels,) each, and where each worker's begin, (workers + 1,)."""

    task: Ints
    worker: Ints
    label: Ints
    starts: Ints

    @classmethod
    def of(cls, labels: Labels) -> Edges:
        """Those of a table."""
        order = np.argsort(labels.worker, kind="stable")
        starts = np.concatenate([[0], np.cumsum(labels.counts)]).astype(np.int64)
        return cls(labels.task[order], labels.worker[order], labels.label[order], starts)

    def parts(self) -> Iterator[tuple[slice, slice]]:
        """Workers a few at a time, and their labels."""
        cuts = np.searchsorted(self.starts, np.arange(TOGETHER, self.task.size, TOGETHER), side="right") - 1
        ends = np.unique(np.concatenate([[0], cuts, [self.starts.size - 1]]))
        for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            yield slice(first, last), slice(int(self.starts[first]), int(self.starts[last]))


def belief_propagation(
    labels: Labels,
    iterations: int = ITERATIONS,
    skills: Any = None,
    truth: Any = None,
    tolerance: float = CONVERGED,
) -> Answers:
    """Messages ``r_ij``, the chance that j's label of i is right by i's other labels, and j's skill by j's others.

    ``P(p_j = g | others) ~ pi(g) prod_{i' != i} (r_i'j g + (1 - r_i'j)(1 - g)/(L - 1))``; a label then weighs the
    log-odds of the mean. Exact where the table has no cycle. The prior pi of the workers' skills is fitted on the way
    (``pi(g) = mean_j P(p_j = g)``). Starts from the shares of the other votes. Deterministic.

    iterations: the most rounds; skills (levels,): the prior itself, over skills that divide [0, 1] evenly, where it is
    known; then nothing is fitted; truth (tasks,): known classes, -1 where unknown: they stay what they are; tolerance:
    largest change of a message that counts as none; -> with ``accuracy``, (workers,) float, the mean skill given all
    labels.
    """
    known = _known(labels, iterations, truth)
    prior, is_fitted = _prior(skills)
    edges, count = Edges.of(labels), max(2, len(labels.classes))
    sure = np.zeros((len(labels.tasks), len(labels.classes)))
    sure[known >= 0, known[known >= 0]] = SURE
    votes = _votes(edges, np.ones(edges.task.size), sure.shape)
    # the first messages: the share of the task's other votes that agree, with one vote spread over all classes
    others = votes[edges.task].sum(axis=1) - 1
    right = _heeded((votes[edges.task, edges.label] - 1 + 1 / count) / (others + 1), edges, known)
    step, moved = 0, np.inf
    for step in range(1, iterations + 1):  # noqa: B007
        weight, accuracy, fitted = _weigh(edges, right, prior, count)
        score = _votes(edges, weight, sure.shape) + sure
        # damped, for messages on cycles may swing; so is the prior
        before, right = right, KEPT * right + (1 - KEPT) * _heeded(_others(edges, score, weight), edges, known)
        prior = KEPT * prior + (1 - KEPT) * fitted if is_fitted else prior
        moved = float(np.abs(right - before).max(initial=0.0))
        if moved <= tolerance:
            break
    speech = log_odds(accuracy, count, TRUNCATION)
    return Answers(
        "belief-propagation",
        score,
        speech,
        score,
        speech,
        labels.per_task,
        accuracy,
        iterations=step,
        converged=moved <= tolerance,
    )


def agreement_tallies(labels: Labels, task_type: Ints, types: int) -> tuple[Ints, Ints]:
    """Correct and asked answers, each (types, workers), by agreement alone: what as many gold answers would tell.

    Each label is held against the likeliest class k by the task's *other* labels, of chance r:
    ``P(label = k) = b + (r - b) p`` with ``b = (1 - r)/(L - 1)``, so that agreement, less b, over r - b, estimates p
    without bias. It counts as the share ``(r - b)^2 p(1 - p) / q(1 - q)``, q = P(label = k), of an answer with known
    truth: its Fisher information. A label alone on its task has r = 1/L and counts nothing.

    task_type (tasks,): type of each task; types: how many there are.
    """
    fit, rows, classes = belief_propagation(labels), np.arange(labels.task.size), max(2, len(labels.classes))
    assert fit.accuracy is not None
    others = fit.score[labels.task]
    others[rows, labels.label] -= fit.weight[labels.worker]
    others[labels.per_task[labels.task] < 2] = 0.0  # its own weight rests on the worker's other labels: not quite 0
    chance = softmax(others)
    likeliest, mean = chance.argmax(axis=1), (fit.accuracy * labels.counts).sum() / rows.size
    base = (1 - chance[rows, likeliest]) / (classes - 1)
    slope = chance[rows, likeliest] - base
    agreed = base + slope * mean
    share = mean * (1 - mean) / (agreed * (1 - agreed)) * slope
    cell, shape = task_type[labels.task] * len(labels.workers) + labels.worker, (types, len(labels.workers))
    asked = np.bincount(cell, share * slope, types * shape[1])
    right = np.bincount(cell, share * ((labels.label == likeliest) - base), asked.size)
    # whole numbers whose sums up to each place are those of the amounts, rounded: the crowd's totals stay
    whole = np.diff(np.ceil(np.cumsum(asked) - LEAST), prepend=0.0)
    correct = np.diff(np.floor(np.cumsum(whole * np.clip(right / np.maximum(asked, LEAST), 0.0, 1.0)) + 0.5), prepend=0)
    return correct.astype(np.int64).reshape(shape), whole.astype(np.int64).reshape(shape)


def _weigh(edges: Edges, right: Floats, prior: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """What each label weighs by its worker's others, each worker's mean skill by all, and the prior that fits them."""
    skill = (np.arange(prior.size) + 0.5) / prior.size
    wrong = (1 - skill) / (count - 1)
    weight, accuracy, fitted = np.empty(right.size), np.empty(edges.starts.size - 1), np.zeros(prior.size)
    for workers, some in edges.parts():
        # f(g) = r g + (1 - r)(1 - g)/(L - 1): the chance of the label at each skill, by what the others say
        likely = wrong + right[some, None] * (skill - wrong)
        total = np.tile(np.log(prior), (workers.stop - workers.start, 1))
        busy = np.flatnonzero(np.diff(edges.starts[workers.start : workers.stop + 1]))
        total[busy] += np.add.reduceat(np.log(likely), edges.starts[workers.start + busy] - some.start, axis=0)
        chance = softmax(total)
        accuracy[workers], fitted = chance @ skill, fitted + chance.sum(axis=0)
        # the label's own factor is divided out again, so that its weight rests on the worker's other labels alone
        besides = chance[edges.worker[some] - workers.start] / likely  # up to a factor of the row
        weight[some] = log_odds((besides @ skill) / besides.sum(axis=1), count, TRUNCATION)
    fitted = np.maximum(fitted / accuracy.size, LEAST)
    return weight, accuracy, fitted / fitted.sum()


def _votes(edges: Edges, weight: Floats, shape: tuple[int, int]) -> Floats:
    cell = edges.task * shape[1] + edges.label
    return np.asarray(np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape), np.float64)


def _others(edges: Edges, score: Floats, weight: Floats) -> Floats:
    """Chance that each label is right by the other labels of its task, (labels,)."""
    beside = score[edges.task]
    beside[np.arange(weight.size), edges.label] -= weight
    return softmax(beside)[np.arange(weight.size), edges.label]


def _heeded(right: Floats, edges: Edges, known: Ints) -> Floats:
    given = known[edges.task]
    return np.asarray(np.where(given >= 0, given == edges.label, right), np.float64)


def _prior(skills: Any) -> tuple[Floats, bool]:
    if skills is None:
        return np.full(LEVELS, 1 / LEVELS), True
    given: NDArray[Any] = np.asarray(skills, dtype=np.float64)
    if given.ndim != 1 or not given.size or not np.isfinite(given).all() or (given < 0).any() or not given.sum() > 0:
        raise InputError("skills needs one share of the workers for each level of skill, none below 0, some above")
    return np.maximum(given / given.sum(), np.finfo(float).tiny), False


def _known(labels: Labels, iterations: int, truth: Any) -> Ints:
    if iterations < 1:
        raise InputError(f"belief propagation needs at least one iteration, not {iterations}")
    return np.full(len(labels.tasks), -1) if truth is None else checked_truth(labels, truth)
