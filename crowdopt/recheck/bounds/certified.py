"""The bound that a plan's stored multipliers prove."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.core.certificate import BOUND
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.documents import is_number
from crowdopt.io.plan.stored_plan import StoredPlan
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.bounds.fixed_pairs import beside_fixed
from crowdopt.recheck.bounds.joint_pull import JointPull, joint_pull
from crowdopt.recheck.bounds.multipliers import prove
from crowdopt.recheck.bounds.price_step import price_step
from crowdopt.recheck.bounds.sets import prove_sets

CASES = 1 << 14, 1 << 17, 1 << 20  # combinations of answers that are told apart, one after another


def certified_bound(instance: AssignmentInstance, stored: StoredPlan, report: Report, is_integer: bool) -> float | None:
    """The bound that the stored multipliers prove; it must not be less than plan.json says.

    stored: with its multipliers; -> None where nothing is proven.
    """
    if "" in stored.tasks["dual"] or "" in stored.workers["dual"]:
        if stored.claims.get("certified_bound") is not None:
            report.complain("plan.json", "claims a certified bound, but multipliers are missing")
        return None
    paid = 0.0
    if is_integer:
        instance, paid = beside_fixed(instance)
        instance = relaxation(instance)
    if stored.tasks.rows != instance.n_tasks or stored.workers.rows != instance.n_workers:
        return None
    budget = stored.claims.get("budget_dual", 0.0)
    if not is_number(budget):
        report.complain("plan.json", f"budget_dual says {budget!r}, which is no number")
        return None
    with np.errstate(all="ignore"):
        proven = _proven(instance, stored, float(budget), report, is_integer)
    if not np.isfinite(proven):
        report.complain("tasks.csv and workers.csv", "the multipliers prove nothing: they are too large")
        return None
    proven += paid
    step = price_step(instance.cost)
    if is_integer and step is not None:
        whole, parts = step
        proven = float(np.ceil(proven * parts / whole - BOUND * max(1.0, abs(proven * parts / whole)))) * whole / parts
    return _as_said(stored.claims.get("certified_bound"), proven, report)


def _proven(instance: AssignmentInstance, stored: StoredPlan, budget: float, report: Report, is_integer: bool) -> float:
    """What the multipliers prove: of shares of labels by rows; of whole ones by sets, where rows prove too little."""
    worker, joint = stored.workers.numbers("dual"), joint_pull(instance, stored.limits, report)
    proven = -np.inf
    if not instance.the_rule.average:
        limits = stored.tasks.numbers("labels_dual") if "labels_dual" in stored.tasks else np.zeros(instance.n_tasks)
        proven = prove(instance, stored.tasks.numbers("dual"), worker, limits, budget, joint)
    said: Any = stored.claims.get("certified_bound")
    if is_integer and not (is_number(said) and said <= proven):
        enough = float(said) if is_number(said) else np.inf
        proven = max(proven, proved_by_sets(instance, stored, budget, joint, enough, report))
    return proven


def _as_said(said: Any, proven: float, report: Report) -> float | None:
    if said is None:  # nothing is claimed
        return None
    if not is_number(said):
        report.complain("plan.json", f"certified_bound says {said!r}, but the multipliers prove {proven!r}")
    elif not said <= proven + BOUND * max(1.0, abs(proven)):
        report.complain(
            "plan.json", f"certified_bound says {said!r}, but the multipliers prove no more than {proven!r}"
        )
    return proven


def proved_by_sets(
    instance: AssignmentInstance, stored: StoredPlan, budget: float, joint: JointPull, enough: float, report: Report
) -> float:
    """What whole sets prove, with the stored price of a wrong answer where the rule has one.

    joint: what multipliers of groups, shares and own rows bring; enough: as much as is claimed; until that is proven
    more and more is told apart; -> -inf where the price is no number.
    """
    wrong, proven = stored.claims.get("wrong_dual", 0.0), -np.inf
    if not is_number(wrong):
        report.complain("plan.json", f"wrong_dual says {wrong!r}, which is no number")
        return proven
    for cases in CASES:
        before = proven
        proven = prove_sets(instance, stored.workers.numbers("dual"), budget, joint, float(wrong), cases)
        if proven >= enough - BOUND * max(1.0, abs(enough)) or proven == before:
            break
    return proven
