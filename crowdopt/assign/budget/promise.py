"""The smallest error that a sum of money can promise to every task: bisection on the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.error_targets import LEAST, least_target
from crowdopt.assign.explain.shortage import by_rule, error_kept, rounded_up
from crowdopt.assign.plan import Plan
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import breaches
from crowdopt.notebooks import InNotebooks

STEPS = 12  # of bisection
CLOSE = 0.005  # relative; errors as near as that to what no plan can promise are good enough
WORST = 0.499  # an error that promises next to nothing

Lacks = Callable[[AssignmentInstance], bool]
# Pairs of a plan that keeps every limit, or None where none was found; and whether there is proven to be none.
Find = Callable[[AssignmentInstance], "tuple[Ints | None, bool]"]


@dataclass(frozen=True, eq=False)
class Promised(InNotebooks):
    """An error that a plan of so much money keeps for every task, and one below which none can.

    Parameters
    ----------
    epsilon : float, optional
        None: no plan was found.
    pairs : (k, 2) int, optional
        Task and worker of each label that keeps it.
    least_epsilon : float
        Proven by multipliers: of elastic LPs, or of programs without a plan.
    plan : Plan, optional
        A plan for that error, with what is known of its cost; None until it is asked for.
    by_rule : str
        Of which rule the errors are, where that asks for more than they do themselves.
    """

    epsilon: float | None
    pairs: Ints | None
    least_epsilon: float
    plan: Plan | None = None
    by_rule: str = ""

    @property
    def rules_out(self) -> bool:
        """Whether any error is proven to be out of reach."""
        return self.least_epsilon > LEAST


def smallest_promise(
    instance: AssignmentInstance, money: float, lacks: Lacks | None, find: Find, clock: Clock
) -> Promised:
    """Bisect the target between the largest that is ruled out and guessing; keep the best plan that was found.

    lacks: whether linear programs prove that an instance has no plan, None where these take too long; clock: when to
    stop; a first plan is looked for even then.
    """
    limited = replace(instance, budget=money)
    least = LEAST if lacks is None else least_target(limited, lacks, clock.part(0.5))
    low, high, best = float(np.log(least)), float(np.log(WORST)), Promised(None, None, least, by_rule=by_rule(instance))
    for step in range(STEPS):
        if high - low <= CLOSE or (clock.over and step):
            break
        middle = high if step == 0 else (low + high) / 2
        epsilon = float(np.exp(middle))
        pairs, refuted = find(limited.with_epsilon(epsilon))
        least = max(least, epsilon) if refuted else least
        if pairs is None or breaches(limited.with_epsilon(epsilon), pairs):
            if step == 0:
                break
            low = middle
        else:
            kept = rounded_up(max(least, error_kept(limited.with_epsilon(epsilon), pairs)))
            best = replace(best, epsilon=min(epsilon, kept), pairs=pairs)
            high = min(middle, float(np.log(kept)))
    return replace(best, least_epsilon=least)
