"""From labels to answers: votes, posteriors, who is still awaited."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.rules import ROUNDING, dependence, joint_error


@dataclass(frozen=True, eq=False)
class PlanAnswers:
    """What the labels say of each task."""

    # class that wins the vote; ties and tasks without labels go to the likeliest class beforehand, the first of them
    answer: Ints  # (tasks,)
    # ``P(class | labels)`` if the skills are what the campaign says; where several labels are of workers who err
    # together, what is guaranteed of the vote before any label is seen (crowdopt.crowd.rules)
    posterior: Floats  # (tasks, classes)
    labels: Ints  # (tasks,): labels counted
    epsilon: Floats  # (tasks,): error targets
    missing: Ints  # (k, 2): task and worker of each planned label that has not come

    @property
    def error(self) -> Floats:
        """``P(the answer is wrong | labels)``, (tasks,)."""
        right: Floats = self.posterior[np.arange(self.answer.size), self.answer]
        return 1 - right

    @property
    def sure(self) -> NDArray[np.bool_]:
        """Tasks whose answer errs at most their target, given the labels; exactly as plans keep it."""
        return self.error <= self.epsilon * (1 + COVERAGE) + ROUNDING


def answers(instance: AssignmentInstance, plan: Ints, pairs: Ints, label: Ints, weight: Floats) -> PlanAnswers:
    """Weighted votes over all labels, with exact posteriors and what is still missing of a plan.

    plan (k, 2): task and worker of each planned label; label (labels,): its class; weight (labels,) or (labels,
    classes) float: its vote's weight: for its own class, or for each.
    """
    n, classes = instance.n_tasks, int(instance.classes)
    cell = pairs[:, 0] * classes + label if weight.ndim == 1 else pairs[:, :1] * classes + np.arange(classes)
    votes = np.bincount(cell.ravel(), weight.ravel(), n * classes).reshape(n, classes)
    if instance.the_rule.heeds_prior:
        votes = votes + np.log(instance.prior)
    known = instance.posterior(pairs, label)
    answer = (votes if instance.vote_law is None else known).argmax(axis=1)  # no weighted vote is best by such a law
    there = np.isin(instance.pair_keys(plan), instance.pair_keys(pairs))
    return PlanAnswers(
        answer=answer,
        posterior=_held_back(instance, pairs, answer, known),
        labels=np.bincount(pairs[:, 0], minlength=instance.n_tasks),
        epsilon=instance.epsilon,
        missing=plan[~there],
    )


def _held_back(instance: AssignmentInstance, pairs: Ints, answer: Ints, posterior: Floats) -> Floats:
    """Posteriors, but for tasks with several labels of one family: no posterior is known without their joint law."""
    together = np.zeros(instance.n_tasks, bool)
    for group in instance.groups:
        if group.dependent:
            mine = np.isin(pairs[:, 1], group.members)
            together |= np.bincount(pairs[mine, 0], minlength=instance.n_tasks) > 1
    if not together.any():
        return posterior
    error = _error_together(instance, pairs)
    held = np.repeat((error / (instance.classes - 1))[:, None], instance.classes, axis=1)
    held[np.arange(instance.n_tasks), answer] = 1 - error
    return np.where(together[:, None], held, posterior)


def _error_together(instance: AssignmentInstance, pairs: Ints) -> Floats:
    """What is guaranteed of votes by these labels, (tasks,): the theorem with as many of one family as there are."""
    most = dependence(instance.groups, pairs, instance.n_tasks)
    evidence = instance.supply(pairs)
    return np.minimum(1.0, joint_error(instance.the_rule, evidence, instance.prior, most))
