"""The least that any policy costs at a mean error: all lower bounds side by side, and their curve over errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.core.solution import Solve
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.online.limits.information import information
from crowdopt.online.limits.potential_bounds import LowerBound, skills_known, skills_unknown

TYPES = 3  # of tasks, up to which skills are taken to be found out: beyond, too little would be proven
ERRORS = np.geomspace(0.2, 4.0, 25)  # of the bound's curve, in units of the target


@dataclass(frozen=True)
class Least:
    """What is possible, as far as it is known: three lower bounds on the cost of any policy, gold included."""

    information: float  # by information alone (Wald 1945), skills known
    # LB0: skills known, by the best potential. None: for more than two classes, whose beliefs are more than a number
    known: float | None
    # LB1: skills unknown, their distribution known, every label's correctness shown at once. None: too many types or
    # classes
    unknown: float | None
    independent: bool  # whether ``unknown`` is a proof: it takes a worker's skills in different types as independent
    # what is proven for other mean errors, by information and by the same potentials: between targets a little less
    # than what could be
    curve: tuple[tuple[float, float], ...] = ()  # tuple of (error, cost)

    @property
    def cost(self) -> float:
        """The largest of those that are proven."""
        learning = self.unknown if self.independent and self.unknown is not None else 0.0
        return max(self.information, self.known or 0.0, learning)


def least(instance: AssignmentInstance, solve: Solve) -> Least:
    """All three bounds of a crowd at its mean error target; for more than two classes that by information alone.

    Raises InputError for labels already in.
    """
    if instance.classes != 2:
        return Least(information(instance), None, None, True, _curve(instance, []))
    known = skills_known(instance, solve)
    unknown = skills_unknown(instance, solve, known) if instance.n_types <= TYPES else None
    told = None if unknown is None else unknown.value
    alone = instance.n_types == 1
    proven = [known, *([unknown] if unknown is not None and alone else [])]
    return Least(information(instance), known.value, told, alone, _curve(instance, proven))


def _curve(instance: AssignmentInstance, proven: list[LowerBound]) -> tuple[tuple[float, float], ...]:
    """``value + mu sum (eps_i - e)`` holds at any mean error e, by the same potential."""
    wanted = instance.need > COVERAGE
    mean, count = float(instance.epsilon[wanted].mean()) if wanted.any() else 0.5, int(wanted.sum())
    points = []
    for error in np.minimum(mean * ERRORS, 0.49).tolist():
        lines = [bound.value + bound.mu * count * (mean - error) for bound in proven if np.isfinite(bound.value)]
        cost = max([0.0, information(instance.with_epsilon(error)), *lines])
        if np.isfinite(cost):
            points.append((error, cost))
    return tuple(points)
