"""The linear rule by which programs of a checked rule are written: its plans all keep the checked rule's promise.

``exact-error`` and ``mean-error`` are no linear constraints. A task with the evidence that ``bhattacharyya`` asks has a
best vote that errs at most as it may, exactly computed, for any number of classes and any prior. The converse is false:
a checked rule's own optimum may be lower, and no bound of the linear rule is one for it.

Where a share h of the tasks may be hard, a vote by the weights of easy tasks errs on a hard one at most as guesses do,
with the largest prior. So it errs with ``(1 - h) e + h max prior`` at most, e its error on easy tasks, and the linear
rule implies the promise with targets ``(epsilon - h max prior) / (1 - h)``, if these are above 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.difficulty.hard_tasks import NONE
from crowdopt.crowd.hard_needs import likely_need
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.votes.evidence import bhattacharyya_error
from crowdopt.errors import InputError

UNREACHED = 1e-300  # a target above 0 that no plan keeps, of a task that errs too much already where it is hard


def linear_of(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance under the linear rule by which its programs are written; itself where its own rule has sums.

    Raises InputError where hard tasks alone may err too much for it.
    """
    rule = instance.the_rule
    if not rule.implied_by:
        return instance
    if not instance.difficulty.share:
        return replace(instance, rule=rule.implied_by)
    return replace(instance, rule=rule.implied_by, epsilon=_left_to_easy_tasks(instance), difficulty=NONE)


def policies_rule(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance by whose needs online policies go: :func:`linear_of`, and of some needs where tasks may be hard.

    Room for hard tasks on which every vote is a guess is mostly out of reach. Policies go by needs that are mostly
    enough there (crowdopt.crowd.hard_needs.likely_need); no theorem says that they are.
    """
    if not (instance.difficulty.share and instance.the_rule.implied_by):
        return linear_of(instance)
    need = likely_need(instance.epsilon, instance.prior, instance.difficulty)
    target = np.maximum(bhattacharyya_error(need, instance.prior), UNREACHED)
    epsilon = np.where(need > 0, target, instance.epsilon)
    return replace(instance, rule=instance.the_rule.implied_by, epsilon=epsilon, difficulty=NONE)


def _left_to_easy_tasks(instance: AssignmentInstance) -> Floats:
    """``(epsilon - h max prior) / (1 - h)``, (tasks,)."""
    share = instance.difficulty.share
    guessed = share * np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes)).max(axis=1)
    if (guessed >= instance.epsilon).any():
        task = int((guessed - instance.epsilon).argmax())
        raise InputError(
            f"rule {instance.rule} is no linear constraint, and the linear rule that implies it lets hard tasks err "
            f"like guesses: task {instance.task_id(task)} with {guessed[task]:.3g}, where {instance.epsilon[task]:.3g} "
            "is allowed; solve plans by exact errors without --program lp and --method, or take difficulty out of "
            "campaign.toml"
        )
    left: Floats = (instance.epsilon - guessed) / (1 - share)
    return left


def named_rule(instance: AssignmentInstance) -> str:
    """By which rule an instance's programs are written, in words."""
    rule = instance.the_rule
    if rule.implied_by:
        targets = " with targets that leave room for hard tasks" * bool(instance.difficulty.share)
        return f"rule {rule.implied_by}{targets}, which implies {rule.name}'s promise"
    return f"rule {rule.name}" + ", its sums alone: exact errors are not in the program" * rule.checked
