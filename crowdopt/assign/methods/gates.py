"""Which instances a stage of the portfolio is for: asked of their limits, rules and sizes."""

from __future__ import annotations

import numpy as np

from crowdopt.assign.engine import many_kinds
from crowdopt.assign.engine.prepared import BY_ERROR, LEVELS
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance

HOPELESS, A_SECOND = 1_000_000, 100_000  # pairs of which no search of the whole program ends, or in so little time


def has_linear_rule(instance: AssignmentInstance) -> bool:
    """Whether a linear rule implies the promise, so that its plans are plans."""
    return bool(instance.the_rule.implied_by) and not instance.difficulty.share


def is_flow(instance: AssignmentInstance) -> bool:
    """Whether least loads or own rows tie few pairs: who labels counts then, and a general solver sees all at once."""
    tied = instance.own_rows is not None or bool(instance.min_load.any())
    return tied and instance.n_tasks * instance.n_workers <= A_SECOND


def is_free(instance: AssignmentInstance) -> bool:
    """Whether nothing but loads and money ties pairs together."""
    return not has_joint_limits(instance)


def are_many(instance: AssignmentInstance) -> bool:
    """Whether tasks' types, targets and priors differ more than the engine over sets tells apart."""
    asked = instance.task_type + 0.6180339887498949 * instance.epsilon  # equal tasks have equal sums
    for column in np.atleast_2d(instance.prior).T:
        asked = asked * 1.4142135623730951 + column
    return np.unique(asked).size > 2 * BY_ERROR * LEVELS and many_kinds.accepts(instance)


def is_hopeless(instance: AssignmentInstance, seconds: float) -> bool:
    """Whether the whole program is so large that no search of it ends within usual limits, or those left."""
    return instance.n_tasks * instance.n_workers > min(HOPELESS, A_SECOND * seconds)
