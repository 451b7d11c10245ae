"""What the multipliers of an adaptive plan prove: no policy within the limits costs less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.roundoff import UNIT
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import is_number
from crowdopt.io.plan.stored_policy import StoredPolicy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.policies.class_limits import ClassLimits
from crowdopt.recheck.policies.limits_on_labels import PricedLimits, priced_limits
from crowdopt.recheck.policies.policy_tables import PolicyTables, TypeOfPlan
from crowdopt.recheck.policies.stopping_recursion import Recursion

# least price of all tasks of a type: its place, itself, prices of a wrong answer by true class, of each asker's vote,
# of the expert
LeastPrice = Callable[[int, TypeOfPlan, Floats, Floats, float | None], float]
ROUNDED = 1e-7  # relative; what rounding may add to a bound before it proves nothing
STEPS = 8  # roundings that a price passes through
TOO_LARGE = "the multipliers prove nothing: they are too large"


def priced_policy(
    instance: AssignmentInstance,
    stored: StoredPolicy,
    tables: PolicyTables,
    terms: tuple[LeastPrice, float | None, float, ClassLimits],
    report: Report,
) -> float | None:
    """``sum n V - mu epsilon n + sum M w + budget``, from the multipliers of types.csv, workers.csv and plan.json.

    terms: least prices, the expert's price, how many times the targets errors may be, limits by class; -> None, and a
    complaint, where multipliers are missing, of the wrong sign or so large that rounding decides.
    """
    least, expert, times, classes = terms
    error, capacity = stored.types.numbers("dual"), stored.workers.numbers("dual")
    money: Any = stored.claims.get("budget_dual", 0.0)
    if not is_number(money) or (instance.budget is None and "budget_dual" in stored.claims):
        report.complain("plan.json", f"budget_dual says {money!r}, which prices no budget of this campaign")
        return None
    of_asker = np.array([capacity[some[0]] for some in tables.askers.values()])
    limits = priced_limits(instance, stored, tables, report)
    if limits is None:
        return None
    if not _have_signs(error, capacity, float(money), np.append(of_asker, 0.0)[tables.asker], report):
        return None
    if instance.the_rule.average and (error != error[0]).any():
        report.complain("types.csv", "the mean error has one multiplier for all types")
        return None
    asked = None if expert is None else expert * (1 - float(money))
    with np.errstate(all="ignore"):
        sides = [float((capacity * instance.capacity).sum()), float(money) * (instance.budget or 0.0), limits.total]
        sides += [-classes.proves(tables, times)] if classes.stated else []
        for k, one in enumerate(tables.types):
            asking = one.law.price * (1 - float(money)) - of_asker - limits.price[k]
            sides.append(least(k, one, error[k] + classes.dual, asking, asked))
            sides.append(-times * float(error[k]) * float(instance.epsilon[one.tasks].sum()))
        total = float(np.sum(sides))
        off = (
            STEPS
            * UNIT
            * (float(np.abs(sides).sum()) + _size(tables, error + classes.dual.max(), of_asker, float(money), limits))
        )
    if not (np.isfinite(total) and off <= ROUNDED * max(1.0, abs(total))):
        report.complain("types.csv, workers.csv", TOO_LARGE)
        return None
    return total


def _have_signs(error: Floats, capacity: Floats, money: float, of_asker: Floats, report: Report) -> bool:
    """Whether no multiplier has the wrong sign, and workers of an asker have one; of_asker: of each worker's asker."""
    if (error >= 0).all() and (capacity <= 0).all() and money <= 0 and (of_asker == capacity).all():
        return True
    report.complain("types.csv, workers.csv", "multipliers of errors are at least 0, of capacities and money at most")
    return False


def _size(tables: PolicyTables, error: Floats, of_asker: Floats, money: float, limits: PricedLimits) -> float:
    """What goes into the prices of all tasks, whether it cancels or not."""
    total = limits.size
    for k, one in enumerate(tables.types):
        vote = one.law.price * (1 - money) + np.abs(of_asker) + limits.sizes[k]
        labels = min(one.law.most, int(one.law.members.sum()))
        total += len(one.tasks) * (float(error[k]) + labels * float(vote.max(initial=0.0)))
    return total


def priced_by_state(rounds: int | None) -> LeastPrice:
    """Least prices of all tasks of a type, over the states of their votes."""

    def least(_: int, one: TypeOfPlan, error: Floats, asking: Floats, expert: float | None) -> float:
        recursion = Recursion(one.law, error, asking, expert, rounds)
        return sum(tasks * recursion.value(votes) for votes, tasks in one.standing.items())

    return least
