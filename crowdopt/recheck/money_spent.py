"""A plan made for a sum of money: what it spends, and how many answers it says are wrong."""

from __future__ import annotations

import numpy as np

from crowdopt.core.certificate import BOUND
from crowdopt.core.roundoff import lowered
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import most_errors
from crowdopt.io.plan.stored_plan import StoredPlan
from crowdopt.recheck.bounds.certified import proved_by_sets
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.bounds.joint_pull import joint_pull
from crowdopt.recheck.plan_claims import agrees
from crowdopt.recheck.plan_tables import SAME


def check_spending(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """A plan made for a sum of money: what it spends, expects to be wrong, and says that every plan expects."""
    said = stored.claims["spending"]
    keys = {"money", "wrong"} | ({"wrong_bound"} & set(said) if isinstance(said, dict) else set())
    if stored.amounts is not None:
        report.complain("plan.json", "spending is about whole labels, and the plan has shares of them")
        return
    if not isinstance(said, dict) or set(said) != keys or any(type(value) is not float for value in said.values()):
        report.complain(
            "plan.json", f"spending says {said!r}; it must have numbers money, wrong and perhaps wrong_bound"
        )
        return
    if not instance.the_rule.average:
        report.complain("plan.json", f"spending is about rule mean-error, not {instance.rule}")
        return
    if (report.objective or 0.0) > said["money"] * (1 + SAME):
        report.complain("plan.json", f"the plan costs {report.objective!r}, more than the {said['money']!r} to spend")
    wrong = float(most_errors(instance, stored.pairs).sum())
    if not agrees(said["wrong"], wrong):
        report.complain("plan.json", f"wrong says {said['wrong']!r}, but it is {wrong!r}")
    report.wrong = wrong
    if "wrong_bound" in said:
        if said["wrong_bound"] > wrong * (1 + SAME) + SAME:
            says = f"wrong_bound says {said['wrong_bound']!r}, more than the plan's own {wrong!r}"
            report.complain("plan.json", says)
        report.wrong_bound = _wrong_bound(instance, stored, said, report)
        if said["wrong_bound"] > (report.wrong_bound or 0.0) * (1 + BOUND) + BOUND:
            says = f"wrong_bound says {said['wrong_bound']!r}, but the multipliers prove {report.wrong_bound!r}"
            report.complain("plan.json", says)


def _wrong_bound(
    instance: AssignmentInstance, stored: StoredPlan, said: dict[str, float], report: Report
) -> float | None:
    if stored.workers.rows != instance.n_workers or stored.tasks.rows != instance.n_tasks:
        return None
    if "" in stored.tasks["dual"] or "" in stored.workers["dual"]:
        return None
    price = stored.claims.get("wrong_dual", 0.0)
    if type(price) is not float or not price < 0:
        return None
    allowed, money = float(instance.epsilon.sum()), min(said["money"], _most_money(instance))
    enough, joint = money + (allowed - said["wrong_bound"]) * price, joint_pull(instance, stored.limits, report)
    with np.errstate(all="ignore"):
        proven = proved_by_sets(instance, stored, 0.0, joint, enough, report)
    return _number(_least_wrong(proven, allowed, -price, money))


def _least_wrong(proven: float, allowed: float, price: float, money: float) -> float:
    """The least E for the money, since a plan with E wrong answers costs at least ``proven + (allowed - E) price``."""
    size = abs(proven) + allowed * price + money
    return lowered(proven + allowed * price - money, size) / price


def _number(bound: float) -> float | None:
    return max(0.0, bound) if np.isfinite(bound) else None


def _most_money(instance: AssignmentInstance) -> float:
    """What all labels of all workers cost at most: more money buys nothing."""
    room = np.minimum(instance.capacity, instance.n_tasks)
    return float((room * instance.cost.max(axis=0)).sum())
