"""What an error target costs: what no plan costs less than by the LP, and plans, at some targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.explain.questions import Probe, without_budget
from crowdopt.crowd.instance import AssignmentInstance

GRID = 25  # targets
PLANS = 3  # at each such step a plan of whole labels is looked for
LARGEST = 0.45  # error target at the right end


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Cost by error target, all tasks alike."""

    epsilon: Floats  # (k,): ascending
    bound: Floats  # (k,): least cost by the LP: no plan costs less
    plan: Floats  # (k,): cost of a plan that was found; NaN where none was looked for, or none found


def curve(instance: AssignmentInstance, probe: Probe, least: float) -> CostCurve:
    """The curve from the smallest target within reach to LARGEST, budget aside."""
    free, found = without_budget(instance), []
    for place, epsilon in enumerate(np.geomspace(least, LARGEST, GRID).tolist()):
        aimed = free.with_epsilon(epsilon)
        bound = probe.bound(aimed)
        pairs = None if place % PLANS else probe.find(aimed)
        if np.isfinite(bound):
            found.append((epsilon, bound, np.nan if pairs is None else float(free.prices(pairs).sum())))
    return CostCurve(*np.array(found).reshape(-1, 3).T)
