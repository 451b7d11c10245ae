"""The calls that spend a given sum of money, or number of labels."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter

from crowdopt.api.assign import pools_asked
from crowdopt.api.binding import SOLVERS, options_of
from crowdopt.assign.budget.promise import Promised, smallest_promise
from crowdopt.assign.budget.spending import METHODS, Spent, least_wrong
from crowdopt.assign.explain.questions import Probe
from crowdopt.assign.quick import quick_plan
from crowdopt.backends import solve_whole
from crowdopt.core.clock import Clock
from crowdopt.crowd.checks import is_amount
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.recheck.proofs import prove_patterns


def spend(
    instance: AssignmentInstance,
    money: float,
    method: str = "auto",
    time_limit: float = 60.0,
    seed: int = 0,
) -> Spent:
    """The least expected number of wrong answers for a sum of money: ``min sum_i e_i  s.t.  sum c_ij y_ij <= money``.

    Parameters
    ----------
    money : float
        With prices of 1 a number of labels.
    method : str
        ``greedy``, with its guarantee and a certified bound; ``patterns`` or ``patterns:pools=8``, the true minimum
        where skills are few or rounded to few; ``auto``: the better of both where skills are few, else greedy.

    Raises
    ------
    InputError
        If an argument is out of range, there are more than two classes, or limits that the method does not know.
    """
    name, pools = pools_asked(method)
    if name not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, or patterns:pools=8, not {method!r}")
    if not is_amount(money):
        raise InputError(f"the sum to spend must be finite and at least 0, not {money}")
    started, clock = datetime.now(UTC), perf_counter()
    spent = least_wrong(instance, money, solve_whole, prove_patterns, options_of(time_limit, seed), name, pools)
    plan = replace(spent.plan, seconds=perf_counter() - clock, started=started.isoformat(timespec="seconds"))
    return replace(spent, plan=plan)


def promise(instance: AssignmentInstance, money: float, time_limit: float = 60.0, seed: int = 0) -> Promised:
    """The smallest error that a plan found for so much money keeps for every task, and one that none can."""
    if not is_amount(money):
        raise InputError(f"the sum to spend must be finite and at least 0, not {money}")
    clock = Clock(options_of(time_limit, seed).time_limit)
    each = max(0.5, time_limit / 40)
    probe = Probe(solve_whole, lambda one, seconds: quick_plan(one, SOLVERS, min(each, seconds)), clock)
    return smallest_promise(instance, money, probe.lacks_shares, lambda one: quick_plan(one, SOLVERS, each), clock)
