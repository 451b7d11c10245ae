"""The smallest error that a sum of money can promise to every task: bisection on the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from crowdopt.arrays import Ints
from crowdopt.assign.error_targets import least_target
from crowdopt.assign.plan import Plan, breaches
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.elementary import exp, log

STEPS = 12  # of bisection
CLOSE = 0.005  # relative; errors as near as that to what no plan can promise are good enough
WORST = 0.499  # an error that promises next to nothing

Lacks = Callable[[AssignmentInstance], bool]
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
        Proven by multipliers of elastic LPs.
    plan : Plan, optional
        A plan for that error, with what is known of its cost; None until somebody asks for it.
    """

    epsilon: float | None
    pairs: Ints | None
    least_epsilon: float
    plan: Plan | None = None


def smallest_promise(instance: AssignmentInstance, money: float, lacks: Lacks, find: Find, clock: Clock) -> Promised:
    """Bisect the target between the largest that is ruled out and guessing; keep the best plan that was found.

    Parameters
    ----------
    instance : AssignmentInstance
    money : float
        The most that a plan may cost.
    lacks : callable
        Whether it is proven that an instance has no plan.
    find : callable
        Who looks for plans of whole labels.
    clock : Clock
        When to stop; a first plan is looked for even then.

    Returns
    -------
    Promised
    """
    limited = replace(instance, budget=money)
    least = least_target(limited, lacks, clock.part(0.5))
    low, high, best = log(least), log(WORST), Promised(None, None, least)
    for step in range(STEPS):
        if high - low <= CLOSE or (clock.over and step):
            break
        middle = high if step == 0 else (low + high) / 2
        epsilon = float(exp(middle))
        pairs = find(limited.with_epsilon(epsilon))
        if pairs is None or breaches(limited.with_epsilon(epsilon), pairs):
            if step == 0:
                return best
            low = middle
        else:
            high, best = middle, Promised(epsilon, pairs, least)
    return best
