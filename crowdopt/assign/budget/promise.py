"""The smallest error that a sum of money can promise to every task: smallest coverage, bisection on the need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.plan import Plan, breaches
from crowdopt.core.certificate import certify
from crowdopt.core.solution import Options, Solve
from crowdopt.crowd.classes import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs import smallest_coverage

STEPS = 12  # of bisection
CLOSE = 0.005  # relative; errors as near as that to what no plan can promise are good enough
WORST = 0.499  # an error that promises next to nothing

Find = Callable[[AssignmentInstance], "Ints | None"]  # pairs of a plan that keeps every limit, or None: none was found


@dataclass(frozen=True, eq=False)
class Promised:
    """An error that a plan of so much money keeps for every task, and one below which none can.

    Parameters
    ----------
    epsilon : float, optional
        None: no plan was found.
    pairs : (k, 2) int, optional
        Task and worker of each label that keeps it.
    least_epsilon : float
        By the certified LP of smallest coverage.
    plan : Plan, optional
        A plan for that error, with what is known of its cost; None until somebody asks for it.
    """

    epsilon: float | None
    pairs: Ints | None
    least_epsilon: float
    plan: Plan | None = None


def smallest_promise(
    instance: AssignmentInstance, money: float, solve: Solve, options: Options, find: Find
) -> Promised:
    """Bisect the need between nothing and what the LP of smallest coverage allows; keep the best plan found.

    Parameters
    ----------
    find : callable
        Who looks for plans of whole labels.
    """
    limited = replace(instance, budget=money)
    solution = solve(smallest_coverage.of_classes(classes_of(limited)), "highs-simplex", options)
    level = max(0.0, -certify(solution).bound)
    least = _error(instance, level)
    low, high, best = np.log(max(least, 1e-12)), np.log(WORST), Promised(None, None, least)
    for step in range(STEPS):
        if high - low <= CLOSE:
            break
        middle = high if step == 0 else (low + high) / 2
        epsilon = float(np.exp(middle))
        pairs = find(limited.with_epsilon(epsilon))
        if pairs is None or breaches(limited.with_epsilon(epsilon), pairs):
            if step == 0:
                return best
            low = middle
        else:
            high, best = middle, Promised(epsilon, pairs, least)
    return best


def _error(instance: AssignmentInstance, evidence: float) -> float:
    """The error that the rule promises at so much evidence, of the luckiest prior."""
    rule, n = instance.the_rule, instance.n_tasks
    if not np.isfinite(evidence):
        return 0.0
    return float(np.min(rule.error(np.full(n, evidence), instance.classes, instance.prior)))
