"""Posteriors of tasks' classes, given labels and the skills that are believed."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.hard_needs import on_hard_tasks
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.laws.coin_laws import CoinLaw
from crowdopt.crowd.votes.evidence import BHATTACHARYYA, CLIP

LEAST = 1e-12  # probability; no class is ruled out entirely


def posteriors(instance: AssignmentInstance, pairs: Ints, label: Ints) -> Floats:
    """``P(class | labels)`` of each task: prior times ``exp(sum of log-odds of the labels that say so)``.

    Exact for one-coin workers: right with chance p, otherwise wrong uniformly over the other classes; and for confusion
    tables, where labels add log-likelihoods. Accuracies are clipped as in the evidence. Where tasks may be hard it is
    ``prior times [(1 - h) P(labels | class, easy) + h P(labels | class, hard)]``. A law of votes takes their place.

    -> (tasks, classes): each row adds up to 1.
    """
    cell = instance.cells(pairs)
    if instance.vote_law is not None:
        return _softmax(np.log(instance.prior) + _by_law(instance, instance.vote_law, pairs, label))
    if instance.votes is not None:
        return _softmax(vote_sums(instance, pairs, label, instance.votes[(*cell, label)]))
    p = instance.accuracy[cell]
    if not instance.difficulty.share:
        return _softmax(vote_sums(instance, pairs, label, BHATTACHARYYA.weight(p, instance.classes)))
    return _softmax(np.log(instance.prior) + np.logaddexp(*_by_hardness(instance, pairs, label)))


def _by_law(instance: AssignmentInstance, law: CoinLaw, pairs: Ints, label: Ints) -> Floats:
    """``ln P(labels | class)`` of each task by the law of right and wrong votes, (tasks, classes)."""
    said = np.full((instance.n_tasks, instance.n_workers), -1)
    said[pairs[:, 0], pairs[:, 1]] = label
    rows, of = np.unique(said, axis=0, return_inverse=True)
    told = [law.log_chance(np.where(rows < 0, -1, rows == k)) for k in range(int(instance.classes))]
    return np.stack(told, axis=1)[of.reshape(-1)]


def hard_chances(instance: AssignmentInstance, pairs: Ints, label: Ints) -> Floats:
    """``P(hard | class, labels)`` of each task, (tasks, classes); the share of hard tasks where there are no labels."""
    easy, hard = _by_hardness(instance, pairs, label)
    return np.exp(hard - np.logaddexp(easy, hard))


def _by_hardness(instance: AssignmentInstance, pairs: Ints, label: Ints) -> tuple[Floats, Floats]:
    """``ln P(easy, labels | class)`` and ``ln P(hard, labels | class)``, each (tasks, classes)."""
    p = np.clip(instance.accuracy[instance.cells(pairs)], CLIP, 1 - CLIP)
    share = instance.difficulty.share
    easy = _likelihoods(instance, pairs, label, p)
    hard = _likelihoods(instance, pairs, label, on_hard_tasks(p, instance.difficulty))
    return np.log1p(-share) + easy, np.log(share) + hard


def _likelihoods(instance: AssignmentInstance, pairs: Ints, label: Ints, p: Floats) -> Floats:
    miss = np.log1p(-p) - np.log(instance.classes - 1)
    own = vote_sums(instance, pairs, label, np.log(p) - miss, heeds_prior=False)
    return own + np.bincount(pairs[:, 0], miss, instance.n_tasks)[:, None]


def vote_sums(
    instance: AssignmentInstance, pairs: Ints, label: Ints, weight: Floats, heeds_prior: bool = True
) -> Floats:
    """Sum of the weights of each task's labels for each class, and the log of its prior.

    label (k,): its class; weight (k,) or (k, classes) float: what it counts: for its own class, or for each;
    heeds_prior: whether the log of the prior is added; -> (tasks, classes).
    """
    n, classes = instance.n_tasks, instance.classes
    cell = pairs[:, 0] * classes + label
    if weight.ndim > 1:
        cell = pairs[:, :1] * classes + np.arange(classes)
    votes: Floats = np.bincount(cell.ravel(), weights=weight.ravel(), minlength=n * classes).astype(np.float64)
    votes = votes.reshape(n, classes)
    return votes + np.log(instance.prior) if heeds_prior else votes


def _softmax(scores: Floats) -> Floats:
    chances = np.maximum(np.exp(scores - scores.max(axis=1, keepdims=True)), LEAST)
    return chances / chances.sum(axis=1, keepdims=True)
