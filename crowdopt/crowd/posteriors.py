"""What labels say of a task if the workers' skills are what they are believed to be."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.evidence import BHATTACHARYYA
from crowdopt.crowd.instance import AssignmentInstance

LEAST = 1e-12  # probability; no class is ruled out entirely


def posteriors(instance: AssignmentInstance, pairs: Ints, label: Ints) -> Floats:
    """``P(class | labels)`` of each task: prior times ``exp(sum of log-odds of the labels that say so)``.

    Exact for one-coin workers: right with chance p, otherwise wrong uniformly over the other classes. Accuracies are
    clipped as in the evidence.

    Parameters
    ----------
    instance : AssignmentInstance
        Of the skills and the prior.
    pairs : (k, 2) int
        Task and worker of each label.
    label : (k,) int
        Its class.

    Returns
    -------
    (tasks, classes) float
        Each row adds up to 1.
    """
    p = instance.accuracy[instance.task_type[pairs[:, 0]], pairs[:, 1]]
    return _softmax(vote_sums(instance, pairs, label, BHATTACHARYYA.weight(p, instance.classes)))


def vote_sums(
    instance: AssignmentInstance, pairs: Ints, label: Ints, weight: Floats, heeds_prior: bool = True
) -> Floats:
    """Sum of the weights of each task's labels for each class, and the log of its prior.

    Parameters
    ----------
    instance : AssignmentInstance
        Of the prior.
    pairs : (k, 2) int
        Task and worker of each label.
    label : (k,) int
        Its class.
    weight : (k,) float
        What it counts.
    heeds_prior : bool
        Whether the log of the prior is added.

    Returns
    -------
    (tasks, classes) float
    """
    n, classes = instance.n_tasks, instance.classes
    cell = pairs[:, 0] * classes + label
    votes: Floats = np.bincount(cell, weights=weight, minlength=n * classes).astype(np.float64).reshape(n, classes)
    return votes + np.log(instance.prior) if heeds_prior else votes


def _softmax(scores: Floats) -> Floats:
    chances = np.maximum(np.exp(scores - scores.max(axis=1, keepdims=True)), LEAST)
    posterior: Floats = chances / chances.sum(axis=1, keepdims=True)
    return posterior
