"""The smallest error target that could be kept: needs fall as a target rises, and jump to 0 where a guess will do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance

LEAST, MOST = 1e-9, 0.4999  # error targets looked at
CLOSE = 1e-5  # relative; how closely the smallest target is told


def least_target(instance: AssignmentInstance, lacks: Callable[[AssignmentInstance], bool], clock: Clock) -> float:
    """A uniform error target that every plan exceeds, as large as bisection finds one.

    Whatever the prior, a task needs less evidence the larger its target is, and none from where its likeliest class
    errs as little: so targets that cannot be kept lie below those that can.

    lacks: whether it is proven that an instance has no plan; what is not known counts as a plan, and weakens the
    answer; -> LEAST if no target is ruled out, MOST if all are.
    """
    if not lacks(instance.with_epsilon(LEAST)):
        return LEAST
    below, above = LEAST, MOST
    if lacks(instance.with_epsilon(above)):
        return MOST
    while above > below * (1 + CLOSE) and not clock.over:
        middle = float(np.sqrt(below * above)) if above < 4 * below else max(below * 2, above / 8)
        below, above = (middle, above) if lacks(instance.with_epsilon(middle)) else (below, middle)
    return below
