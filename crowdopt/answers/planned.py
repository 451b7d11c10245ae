"""From labels to answers: votes, posteriors, who is still awaited."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.posteriors import posteriors, vote_sums


@dataclass(frozen=True, eq=False)
class PlanAnswers:
    """What the labels say of each task.

    Parameters
    ----------
    answer : (tasks,) int
        Class that wins the vote; ties and tasks without labels go to the likeliest class beforehand, the first of them.
    posterior : (tasks, classes)
        ``P(class | labels)`` if the skills are what the campaign says.
    labels : (tasks,) int
        Labels counted.
    epsilon : (tasks,)
        Error targets.
    missing : (k, 2) int
        Task and worker of each planned label that has not come.
    """

    answer: Ints
    posterior: Floats
    labels: Ints
    epsilon: Floats
    missing: Ints

    @property
    def error(self) -> Floats:
        """``P(the answer is wrong | labels)``, (tasks,)."""
        right: Floats = self.posterior[np.arange(self.answer.size), self.answer]
        return 1 - right

    @property
    def sure(self) -> NDArray[np.bool_]:
        """Tasks whose answer errs at most their target, given the labels."""
        sure: NDArray[np.bool_] = self.error <= self.epsilon
        return sure


def answers(instance: AssignmentInstance, plan: Ints, pairs: Ints, label: Ints, weight: Floats) -> PlanAnswers:
    """Weighted votes over all labels, with exact posteriors and what is still missing of a plan.

    Parameters
    ----------
    instance : AssignmentInstance
    plan : (k, 2) int
        Task and worker of each planned label.
    pairs : (labels, 2) int
        Task and worker of each label that is there.
    label : (labels,) int
        Its class.
    weight : (labels,) float
        Its vote's weight.

    Returns
    -------
    PlanAnswers
    """
    votes = vote_sums(instance, pairs, label, weight, heeds_prior=instance.the_rule.heeds_prior)
    m = instance.n_workers
    there = np.isin(plan[:, 0] * m + plan[:, 1], pairs[:, 0] * m + pairs[:, 1])
    return PlanAnswers(
        answer=votes.argmax(axis=1),
        posterior=posteriors(instance, pairs, label),
        labels=np.bincount(pairs[:, 0], minlength=instance.n_tasks),
        epsilon=instance.epsilon,
        missing=plan[~there],
    )
