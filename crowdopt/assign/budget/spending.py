"""A sum of money to spend: plans with the fewest wrong answers expected, and what no plan can do with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Ints, alike
from crowdopt.assign.average import PARAMS, spending_on
from crowdopt.assign.budget.greedy_spending import guarantee, spend
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.problem import SCALE
from crowdopt.core.certificate import Certificate, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.roundoff import lowered
from crowdopt.core.solution import Options, Solve
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import breaches
from crowdopt.crowd.vote_errors import most_errors
from crowdopt.errors import InputError, OutOfReach
from crowdopt.notebooks import InNotebooks

GRID = 1e-9  # of the stated mean error, rounded up
NOISE = 1e-9  # relative; what rounding may take off a bound
METHODS = ("auto", "greedy", "exact")


@dataclass(frozen=True, eq=False)
class Spent(InNotebooks):
    """A plan for a sum of money and what is known of it.

    Parameters
    ----------
    plan : Plan
        Under the rule mean-error, its target what it reaches.
    money : float
        What could be spent.
    wrong, wrong_bound : float
        Wrong answers to expect (exactly), and what every plan of so much money has at least, by a certificate.
    guarantee : float, optional
        Greedy's share of the largest possible gain of ``sum_i S e^{-A_i/2}``, known beforehand.
    method : str
        Whose plan it is: ``greedy`` or ``exact``.
    """

    plan: Plan
    money: float
    wrong: float
    wrong_bound: float
    guarantee: float | None
    method: str


def least_wrong(
    instance: AssignmentInstance,
    money: float,
    solve: Solve,
    options: Options,
    method: str = "auto",
) -> Spent:
    """``min sum_i e_i(S_i)  s.t.  sum c <= money`` and the capacities, e_i the exact error of the vote by log-odds.

    instance: its rule and targets do not matter; method: ``greedy``; ``exact``, over sets of labels; ``auto``: the
    better of both where kinds of tasks are few.
    """
    clock = Clock(options.time_limit)
    if instance.difficulty.share:
        raise InputError(
            "the fewest wrong answers for a budget are not known where tasks are hard; "
            "use --promise each, or take difficulty out of campaign.toml"
        )
    instance = replace(instance, rule="mean-error")
    if instance.budget is not None and instance.budget < money:
        raise InputError(f"the campaign's own budget is {instance.budget:g}, less than {money:g}; change one of them")
    plans = {"greedy": spend(instance, money)} if method != "exact" else {}
    choose = method == "exact" or (method == "auto" and _has_few_kinds(instance))
    work = spending_on(replace(instance, budget=money), solve, options, clock)
    climb, (bound, duals) = work.climbed(), work.proven()
    by_sets = work.chosen(climb) if choose and climb is not None else None
    plans |= {} if by_sets is None else {"exact": by_sets}
    if not plans:
        raise InputError("no plan over sets of labels was found within the limits; choose --method greedy")
    wrong = {name: float(most_errors(instance, pairs).sum()) for name, pairs in plans.items()}
    best = min(wrong, key=lambda name: wrong[name])
    plan = _plan(instance, money, plans[best], best, bound / SCALE, duals, options)
    bound = plan.spending.get("wrong_bound", 0.0)
    return Spent(plan, money, wrong[best], bound, guarantee(instance, money), best)


def spent_best(instance: AssignmentInstance, money: float, solve: Solve, options: Options) -> Ints:
    """The plan of :func:`least_wrong` by itself, without a bound, (k, 2)."""
    instance, plans = replace(instance, rule="mean-error", budget=None), [spend(instance, money)]
    if not instance.difficulty.share and _has_few_kinds(instance):
        work = spending_on(replace(instance, budget=money), solve, options, Clock(options.time_limit))
        climb = work.climbed()
        found = None if climb is None else work.chosen(climb)
        plans += [] if found is None else [found]
    return min(plans, key=lambda pairs: float(most_errors(instance, pairs).sum()))


def _has_few_kinds(instance: AssignmentInstance) -> bool:
    return alike(instance.task_type, *instance.own_priors)[1].size <= PARAMS.rows


def _plan(
    instance: AssignmentInstance,
    money: float,
    pairs: Ints,
    method: str,
    least: float,
    duals: Duals | None,
    options: Options,
) -> Plan:
    """The pairs as a plan under rule mean-error, with the prices that prove most of the wrong answers."""
    reached = float(np.ceil(most_errors(instance, pairs).mean() / GRID) * GRID)
    if reached >= 0.5:
        raise OutOfReach(
            f"so little money leaves {reached:.4g} of the answers wrong, and a plan states less than 0.5; allow more"
        )
    stated = instance.with_epsilon(max(GRID, reached))
    assert not breaches(stated, pairs)
    known, allowed = Certificate(None, -np.inf, "none", None, None), float(stated.epsilon.sum())
    if duals is not None:  # every plan with E wrong answers costs at least ``money - (E - least) price``
        price = -duals.wrong
        size = money + (allowed + abs(least)) * price
        least -= NOISE * size / price
        proven = lowered(money - (allowed - least) * price, size)
        proven = next_integer(proven) if stated.has_whole_prices else proven
        known = Certificate(None, proven, "certificate", None, None)
    spending = {"money": float(money), "wrong": float(most_errors(stated, pairs).sum())}
    if duals is not None:
        spending["wrong_bound"] = max(0.0, least)
    plan = Plan.of(stated, "ip", known, known.bound, duals, pairs, method=method, backend="highs", seed=options.seed)
    return replace(plan, spending=spending)
