"""From labels to answers: votes, posteriors, who is still awaited."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
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
        return 1 - self.posterior[np.arange(self.answer.size), self.answer]

    @property
    def sure(self) -> Bools:
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
    posterior = instance.posterior(pairs, label)
    # by a law of votes no weighted vote is best: plans promise the likeliest class then
    answer = (votes if instance.vote_law is None else posterior).argmax(axis=1)
    together = np.zeros(n, bool)  # tasks with several labels of one family
    for group in instance.groups:
        if group.dependent:
            mine = np.isin(pairs[:, 1], group.members)
            together |= np.bincount(pairs[mine, 0], minlength=n) > 1
    if together.any():  # no posterior is known without their joint law: what the theorem guarantees takes its place
        most = dependence(instance.groups, pairs, n)
        error = joint_error(instance.the_rule, instance.supply(pairs), instance.prior, most)[:, None]
        wins = answer[:, None] == np.arange(classes)
        posterior = np.where(together[:, None], np.where(wins, 1 - error, error / (classes - 1)), posterior)
    missing = plan[~np.isin(instance.pair_keys(plan), instance.pair_keys(pairs))]
    return PlanAnswers(answer, posterior, np.bincount(pairs[:, 0], minlength=n), instance.epsilon, missing)
