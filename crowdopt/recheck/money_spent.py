"""A plan made for a sum of money: what it spends, and how many answers it says are wrong."""

from __future__ import annotations

from crowdopt.core.certificate import BOUND
from crowdopt.crowd.exactness import exact_errors
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.stored_plan import StoredPlan
from crowdopt.recheck.certified import proved_by_patterns
from crowdopt.recheck.findings import Report
from crowdopt.recheck.plan_claims import agrees
from crowdopt.recheck.plan_tables import SAME


def check_spending(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """A plan made for a sum of money: what it spends, expects to be wrong, and says that every plan expects."""
    said = stored.claims["spending"]
    keys = {"money", "wrong"} | ({"wrong_bound"} & set(said) if isinstance(said, dict) else set())
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
    wrong = float(exact_errors(instance, stored.pairs)[0].sum())
    if not agrees(said["wrong"], wrong):
        report.complain("plan.json", f"wrong says {said['wrong']!r}, but it is {wrong!r}")
    report.wrong = wrong
    if "wrong_bound" in said:
        report.wrong_bound = _wrong_bound(instance, stored, said["money"], report)
        if said["wrong_bound"] > (report.wrong_bound or 0.0) * (1 + BOUND) + BOUND:
            says = f"wrong_bound says {said['wrong_bound']!r}, but the multipliers prove {report.wrong_bound!r}"
            report.complain("plan.json", says)


def _wrong_bound(instance: AssignmentInstance, stored: StoredPlan, money: float, report: Report) -> float | None:
    """Every plan with E wrong answers costs at least ``proven - wrong_dual (allowed - E)``: so E for this money."""
    if stored.claims.get("certified_by") != "patterns" or stored.workers.rows != instance.n_workers:
        return None
    price = -stored.claims.get("wrong_dual", 0.0)
    proven = proved_by_patterns(instance, stored, stored.workers.numbers("dual"), 0.0, report)
    allowed = float(instance.epsilon.sum())
    return (proven + allowed * price - money) / price if price > 0 else None
