"""Weighted votes and their exact error."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.votes.class_votes import in_threads, labels_of
from crowdopt.errors import InputError

EXACT = 4_096  # values of half a vote's sum up to which it is exact: 24 workers who all differ, more where some agree
LATTICE = 131_072  # cells of the lattice beyond, per half
CLASSWISE = 2_000_000  # score vectors that a vote among more than two classes may have
LEAST_FOR_THREADS = 64  # tasks below which threads do not pay


def are_compiled(classes: int = 2) -> bool:
    """Whether the compiled loops for votes among so many classes are kept from earlier, or in memory."""
    from crowdopt.compiled_kernels import is_compiled
    from crowdopt.crowd.votes import class_vote_kernels, vote_kernels

    return is_compiled(vote_kernels.errors if classes == 2 else class_vote_kernels.errors)


def weighted_vote(task: Ints, label: Ints, weight: Floats, tasks: int, classes: int = 2) -> Ints:
    """``argmax_k sum of the weights of the labels that say k``, one answer per task.

    With two classes this is ``sign(sum w l)``. Ties go to the smallest class.

    task, label (k,): task and class of each label; weight (k,): its weight; a negative one speaks against its class;
    tasks, classes: how many of each; -> (tasks,): class of each task; -1 without labels.
    """
    votes = np.bincount(task * classes + label, weights=weight, minlength=tasks * classes)
    answers = votes.reshape(tasks, classes).argmax(axis=1)
    return np.where(np.bincount(task, minlength=tasks) > 0, answers, -1)


def log_odds(accuracy: Any, classes: int = 2) -> Floats:
    """``ln((K - 1) p / (1 - p))``, the weights of the vote that errs least; infinite at 0 and 1."""
    p = np.asarray(accuracy, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # not a number where p is no chance
        odds: Floats = np.log(p) - np.log1p(-p) + np.log(classes - 1)
    return odds


def poisson_binomial(accuracy: Any) -> Floats:
    """``P(c of the labels are right)``, (k + 1,), by convolution label by label; accuracy (k,)."""
    law = np.ones(1)
    for right in np.asarray(accuracy, dtype=np.float64):
        law = np.append(law * (1 - right), 0.0) + np.append(0.0, law * right)
    return law


def weighted_error(accuracy: Any, weights: Any = None, prior: float = 0.5, bias: float | None = None) -> float:
    """``P(the weighted vote of two classes is wrong)``, ties broken by a fair coin; exact up to rounding.

    The vote says class 1 where ``bias + sum w_j l_j > 0``, l = +1 for class 1, -1 for the other.

    accuracy (k,): p of each label; below 1/2 and exactly 0 or 1 are allowed.
    weights (k,): w. Default: log-odds, which no vote beats; certainties outweigh all others.
    prior: probability of class 1.
    bias: default: ``ln(prior / (1 - prior))``, which belongs to log-odds weights; give 0 for votes that ignore the
    prior.
    -> where more than about 24 labels all differ, an upper bound: see :func:`vote_errors` for its width.
    """
    p = _probabilities("accuracy", accuracy)
    w = _finite_weights(p) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != p.shape or not np.isfinite(w).all():
        raise InputError(f"weights must be {p.size} finite numbers, one per accuracy")
    lean = float(_finite_weights(np.array([prior]))[0]) if bias is None else bias
    starts = np.array([0, p.size])
    above, _ = vote_errors(starts, p, w, np.array([prior]), np.array([lean]))
    return float(above[0])


def vote_errors(
    starts: Ints, accuracy: Floats, weight: Floats, prior: Floats, bias: Floats, cells: int = LATTICE
) -> tuple[Floats, Floats]:
    """Errors of many votes between two classes at once.

    The error lies in ``[above - width, above]``. The law of a vote's sum is built in two halves that meet in the
    middle; workers with equal accuracy and weight are convolved as a class. While either half takes at most EXACT
    values (24 workers who all differ) the width is 0; beyond, sums are rounded down, label by label, to a lattice, and
    the width is what that may have added.

    starts (tasks + 1,): task i has the labels from ``starts[i]`` to the one before ``starts[i + 1]``; accuracy, weight
    (k,): p and w of each label; prior, bias (tasks,): probability of class 1, and what is added to the vote for it;
    cells: cells of the lattice per half; -> above, width (tasks,).
    """
    votes = Votes(starts, accuracy, weight, prior, bias)
    above, width = _in_threads(votes, np.arange(starts.size - 1), EXACT)
    rough = np.flatnonzero(width > 0)
    if rough.size:
        above[rough], width[rough] = _in_threads(votes, rough, cells)
    return above, width


class Votes(NamedTuple):
    """Votes between two classes, as the compiled loops take them; see :func:`vote_errors`."""

    starts: Ints  # (tasks + 1,): task i has the labels from ``starts[i]`` to the one before ``starts[i + 1]``
    # p and w of each label
    accuracy: Floats  # (k,)
    weight: Floats  # (k,)
    # probability of class 1, and what is added to the vote for it
    prior: Floats  # (tasks,)
    bias: Floats  # (tasks,)


def _in_threads(votes: Votes, tasks: Ints, cells: int) -> tuple[Floats, Floats]:
    """Run the kernel over some tasks, each independent of all others, so that threads change nothing."""
    from crowdopt.crowd.votes import vote_kernels

    ends, label = labels_of(votes.starts, tasks)
    above, width = np.empty(tasks.size), np.empty(tasks.size)
    some = Votes(ends, votes.accuracy[label], votes.weight[label], votes.prior[tasks], votes.bias[tasks])
    in_threads(vote_kernels.errors, (some, cells, above, width), tasks.size, LEAST_FOR_THREADS)
    return above, width


def plurality_error(accuracy: Any, weights: Any, prior: Any) -> float:
    """``P(argmax_k (ln prior_k + sum of the weights for k) is not the truth)``, L classes, ties broken fairly; exact.

    Each label is right with chance p and otherwise wrong uniformly over the other classes (one coin). The law of the
    score vectors is built label by label; equal vectors are joined, so that crowds of few kinds stay small.

    accuracy, weights (k,): p and w of each label; prior (L,): probabilities of the classes, all positive.
    """
    p, w = _probabilities("accuracy", accuracy), np.asarray(weights, dtype=np.float64)
    chances = np.asarray(prior, dtype=np.float64)
    return float(sum(chance * _missed(p, w, chances, truth) for truth, chance in enumerate(chances)))


def _missed(p: Floats, w: Floats, prior: Floats, truth: int) -> float:
    classes = prior.size
    scores, mass = np.log(prior)[None], np.ones(1)
    near = 1e-11 * (np.abs(w).sum() + np.abs(scores).sum() + 1)
    for right, weight in zip(p, w, strict=True):
        chance = np.full(classes, (1 - right) / (classes - 1))
        chance[truth] = right
        scores = (scores[:, None] + weight * np.eye(classes)).reshape(-1, classes)
        mass = (mass[:, None] * chance).reshape(-1)
        _, first, place = np.unique(np.rint(scores / near), axis=0, return_index=True, return_inverse=True)
        scores, mass = scores[first], np.bincount(place.reshape(-1), weights=mass).astype(np.float64)
        if mass.size > CLASSWISE // classes:
            raise InputError(f"{p.size} such labels of {classes} classes can fall in too many ways for an exact error")
    winners = scores >= scores.max(axis=1, keepdims=True) - near
    return float(mass @ (1 - winners[:, truth] / winners.sum(axis=1)))


def _finite_weights(p: Floats) -> Floats:
    """Log-odds, with certainties outweighing all others together."""
    odds = log_odds(p)
    sure = np.isinf(odds)
    most = 1.0 + 2 * np.abs(odds[~sure]).sum() + 50.0
    return np.where(sure, np.sign(odds) * most, odds)


def _probabilities(name: str, values: Any) -> Floats:
    p = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"{name} must be a list of numbers in [0, 1]")
    return p
