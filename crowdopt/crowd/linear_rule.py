"""The linear rule by which programs of a checked rule are written: its plans all keep the checked rule's promise.

``exact-error`` and ``mean-error`` are no linear constraints. A task with the evidence that ``bhattacharyya`` asks has a
best vote that errs at most as it may, exactly computed, for any number of classes and any prior. The converse is false:
a checked rule's own optimum may be lower, and no bound of the linear rule is one for it.

Where a share h of the tasks may be hard, a vote by the weights of easy tasks errs with ``(1 - h) e + h f`` at most, e
and f bounds of its errors on easy and hard tasks that fall with the evidence (crowdopt.crowd.rules.enough_need).
The linear rule implies the promise with targets for which it asks the evidence where that is epsilon.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import NONE
from crowdopt.crowd.rules import BHATTACHARYYA, MOST, bhattacharyya_error, enough_need, guessing, hard_need
from crowdopt.errors import InputError

SHORT = 1e-6  # relative; so far below a guess a target is at most for which labels are needed
UNREACHED = 1e-300  # a target above 0 that no plan keeps, of a task that errs too much already where it is hard


def linear_of(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance under the linear rule of its programs; the same instance where its own rule is linear."""
    if not instance.the_rule.implied_by:
        return instance
    if not instance.difficulty.share:
        return replace(instance, rule=instance.the_rule.implied_by)
    skill = np.unique(instance.accuracy[instance.evidence > 0])
    need = enough_need(instance.epsilon, instance.prior, instance.difficulty, skill)
    if (need >= MOST).any():
        task = int(need.argmax())
        raise InputError(
            f"rule {instance.rule} is no linear constraint, and no evidence of the linear rule that implies it is "
            f"enough for hard tasks: task {instance.task_id(task)} may err with {instance.epsilon[task]:.3g}; solve "
            "plans by exact errors without --program lp and --method, or take difficulty out of campaign.toml"
        )
    return _needing(instance, need)


def policies_rule(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance with the needs that online policies use: :func:`linear_of`, or likely needs where tasks may be hard.

    What is surely enough for hard tasks is mostly far too much. Policies go by needs that are mostly enough there
    (crowdopt.crowd.rules.hard_need); no theorem says that they are.
    """
    if not (instance.difficulty.share and instance.the_rule.implied_by):
        return linear_of(instance)
    return _needing(instance, hard_need(instance.epsilon, instance.prior, instance.difficulty, BHATTACHARYYA))


def _needing(instance: AssignmentInstance, need: Floats) -> AssignmentInstance:
    """The instance without hard tasks under the linear rule, with targets that it needs so much evidence for."""
    least = np.minimum(bhattacharyya_error(need, instance.prior), guessing(instance.prior) * (1 - SHORT))
    epsilon = np.where(need > 0, np.maximum(least, UNREACHED), instance.epsilon)
    return replace(instance, rule=instance.the_rule.implied_by, epsilon=epsilon, difficulty=NONE)


def named_rule(instance: AssignmentInstance) -> str:
    """The rule by which an instance's programs are written, in words."""
    rule = instance.the_rule
    if rule.implied_by:
        targets = " with targets that leave room for hard tasks" * bool(instance.difficulty.share)
        return f"rule {rule.implied_by}{targets}, which implies {rule.name}'s promise"
    return f"rule {rule.name}" + ", its sums alone: exact errors are not in the program" * rule.checked
