"""What plan.json says against what is recomputed."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.arrays import Bools
from crowdopt.core.certificate import BOUND
from crowdopt.core.solution import PROVEN, relative_gap
from crowdopt.crowd.doubt import PARAMS as DOUBT
from crowdopt.crowd.doubt import left_open
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import worst_breach
from crowdopt.documents import finite
from crowdopt.io.campaign.campaign_settings import difficulty_table
from crowdopt.io.plan.plan_folder import stated_prior
from crowdopt.io.plan.stored_plan import BEST_EFFORT, StoredPlan
from crowdopt.recheck.bounds.certified import certified_bound
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.plan_tables import SAME

EXCESS = 1e-6  # relative; by how much evidence that may be short by COVERAGE lets a plan cost less than its bound


def check_claims(instance: AssignmentInstance, stored: StoredPlan, excused: Bools, report: Report) -> None:
    """Recompute whatever plan.json says of the plan, and complain of what differs.

    excused (tasks,): tasks that it leaves short, as it says: such a plan has no bound.
    """
    shares = stored.shares
    is_integer = stored.amounts is None
    report.objective = float((instance.prices(stored.pairs) * shares).sum())
    report.labels = float(shares.sum())
    report.violation = worst_breach(instance, stored.pairs, stored.amounts, np.flatnonzero(excused))
    report.certified_bound = certified_bound(instance, stored, report, is_integer)
    if excused.any() and (stored.claims.get("bound") is not None or report.certified_bound is not None):
        report.complain("plan.json", "has a bound, but no plan of all tasks is claimed that it could be a bound of")
    report.bound, report.proof = _bound(stored, report)
    gap = relative_gap(report.objective, report.bound if report.bound is not None else -np.inf)
    report.proven = report.proof != "none" and abs(gap) <= PROVEN
    for name, value in {
        "objective": report.objective,
        "cost": report.objective,
        "labels": report.labels,
        "violation": report.violation,
        "gap": finite(gap),
        **settings_said(instance, instance.has_prior or instance.observed),
        "program": "ip" if is_integer else "lp",
        "proven": report.proven,
        "status": BEST_EFFORT if excused.any() else "optimal" if report.proven else "feasible",
        "proof": report.proof,  # a solver's word for what multipliers prove as well claims too little, not too much
    }.items():
        less = name == "proof" and (stored.claims.get(name), value) == ("solver", "certificate")
        if not less and not agrees(stored.claims.get(name), value):
            report.complain("plan.json", f"{name} says {stored.claims.get(name)!r}, but it is {value!r}")


def check_left_open(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Recompute what the plan says that gold leaves open."""
    said = stored.claims["left_open"]
    share = said.get("share") if isinstance(said, dict) else None
    known, (least, most) = None, DOUBT.shares
    if stored.amounts is None and isinstance(share, float) and least <= share <= most:
        known = left_open(instance, stored.pairs, share)
    true = {} if known is None else known.facts
    if not true or said.keys() != true.keys() or not all(agrees(said[key], value) for key, value in true.items()):
        report.complain("plan.json", f"left_open says {str(said)[:200]}, but it is {true or 'not known'}")


def settings_said(instance: AssignmentInstance, has_prior: bool) -> dict[str, Any]:
    """What plan.json of any plan has to say of the instance; has_prior: whether a prior is one of its settings."""
    return {
        "prior": stated_prior(instance) if has_prior else None,
        "tasks": instance.n_tasks,
        "workers": instance.n_workers,
        "rule": instance.rule,
        "classes": instance.classes,
        "epsilon": "per task" if instance.one_target is None else instance.one_target,
        "difficulty": difficulty_table(instance.difficulty) if instance.difficulty.share else None,
        "skills": instance.skills_source,
    }


def agrees(said: Any, true: Any) -> bool:
    """Whether a stored value is the recomputed one: numbers to SAME, anything else exactly, types included."""
    if isinstance(said, bool) or isinstance(true, bool) or not isinstance(true, int | float):
        return type(said) is type(true) and bool(said == true)
    if isinstance(said, bool) or not isinstance(said, int | float):
        return False
    return abs(said - true) <= SAME * max(1.0, abs(true))


def refuse_excess(report: Report) -> None:
    """What holds costs no less than what every plan costs: a bound that says so is wrong, whoever made it."""
    cost, proven = report.objective, report.certified_bound
    if not report.holds or cost is None or proven is None:
        return
    if not proven <= cost + EXCESS * max(1.0, abs(cost)):
        report.complain("plan.json", f"the multipliers prove {proven!r}, more than the plan costs, {cost!r}")


def _bound(stored: StoredPlan, report: Report) -> tuple[float | None, str]:
    """The claimed bound as far as it stands: anybody's up to the certified one, only the solver's above it."""
    claimed, certified = stored.claims.get("bound"), report.certified_bound
    assert report.objective is not None
    if claimed is None or isinstance(claimed, bool) or not isinstance(claimed, int | float):
        if claimed is not None or certified is not None:
            report.complain("plan.json", f"bound says {claimed!r}, but the multipliers prove {certified!r}")
        return None, "none"
    slack = BOUND * max(1.0, abs(claimed))
    if claimed > report.objective + slack:
        report.complain("plan.json", f"the bound {claimed!r} is above the cost {report.objective!r} of the plan itself")
        return float(claimed), "none"
    if certified is not None and claimed <= certified + slack:
        return float(claimed), "certificate"
    if stored.claims.get("proof") == "certificate" or stored.amounts is not None:
        report.complain("plan.json", f"the bound {claimed!r} is more than the multipliers prove, {certified!r}")
    return float(claimed), "solver"
