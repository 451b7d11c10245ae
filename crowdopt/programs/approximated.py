"""The approximated LP: skills known only up to an error, the target loosened to match."""

from __future__ import annotations

from dataclasses import replace

from crowdopt.core.program import Program, relax
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.programs import assignment


def transform(estimated: AssignmentInstance, tolerance: float, least_quality: float) -> AssignmentInstance:
    """The instance with ``epsilon' = epsilon^(1 - 4t/qmin)``: ``C' = (1 - 4t/qmin) C`` (Ho et al. 2013, Theorem 3).

    estimated: with estimated accuracies, each within ``tolerance`` of the true one; rule ``hoeffding``, for which the
    theorem is proved; tolerance: t, at least 0 and below ``least_quality / 4``; least_quality: qmin, at most each
    task's mean evidence per label in the true LP's optimum; in (0, 1].
    """
    if estimated.rule != "hoeffding":
        raise InputError(f"the approximated LP is proved for rule hoeffding, not {estimated.rule}")
    if not 0 < least_quality <= 1 or not 0 <= tolerance < least_quality / 4:
        raise InputError(f"need 0 < qmin <= 1 and 0 <= t < qmin/4, not t = {tolerance}, qmin = {least_quality}")
    return replace(estimated, demand=estimated.demand * (1 - 4 * tolerance / least_quality))


def build(estimated: AssignmentInstance, tolerance: float, least_quality: float) -> Program:
    """The approximated LP (Ho et al. 2013, Section 5.2)."""
    return replace(relax(assignment.build(transform(estimated, tolerance, least_quality))), name="approximated")
