"""The linear rule by which programs of a checked rule are written: its plans all keep the checked rule's promise.

``exact-error`` and ``mean-error`` are no linear constraints. A task with the evidence that ``bhattacharyya`` asks has a
best vote that errs at most as it may, exactly computed, for any number of classes and any prior. The converse is false:
a checked rule's own optimum may be lower, and no bound of the linear rule is one for it.
"""

from __future__ import annotations

from dataclasses import replace

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError


def linear_of(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance under the linear rule by which its programs are written; itself where its own rule has sums.

    Raises InputError where tasks may be hard: no linear rule is known to keep the promise then.
    """
    rule = instance.the_rule
    if not rule.implied_by:
        return instance
    if instance.difficulty.share:
        raise InputError(
            f"rule {rule.name} is no linear constraint, and where tasks may be hard no linear rule implies it; "
            "solve plans by exact errors without --program lp and --method; for a linear program and for compare "
            "take difficulty out of campaign.toml"
        )
    return replace(instance, rule=rule.implied_by)


def named_rule(instance: AssignmentInstance) -> str:
    """By which rule an instance's programs are written, in words."""
    rule = instance.the_rule
    if rule.implied_by:
        return f"rule {rule.implied_by}, which implies {rule.name}'s promise"
    return f"rule {rule.name}" + ", its sums alone: exact errors are not in the program" * rule.checked
