"""What plan.json of an adaptive plan says, and what else lies in its folder."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.core.certificate import BOUND
from crowdopt.core.solution import PROVEN, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import finite, is_number
from crowdopt.io.campaign.overrides import BEYOND
from crowdopt.io.campaign.recorded_settings import RECORD
from crowdopt.io.plan.order_tables import ORDER_FILE, STEP_FILE
from crowdopt.io.plan.plan_folder import REPAIR
from crowdopt.io.plan.stored_plan import BEST_EFFORT, LIMITS
from crowdopt.io.plan.stored_policy import StoredPolicy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.plan_claims import agrees, settings_said
from crowdopt.recheck.unheld_claims import MADE, names_fields

KEPT = 1e-9  # relative; by how much an expected error or load may exceed its limit: rounding of float64
CLASSES = ("class_error", "class_dual", "missed")
TERMS = {
    "program",
    "rounds",
    "expert",
    "given_votes",
    "each_task",
    *CLASSES,
    "times_targets",
    "step",
    "budget_dual",
    RECORD,
    BEYOND,
}  # held elsewhere


def check_entries(
    instance: AssignmentInstance, stored: StoredPolicy, times: float, bound: float | None, report: Report
) -> None:
    """Whatever plan.json says of the plan; times: of the targets; bound: what the multipliers prove."""
    claims = stored.claims
    _check_bound(claims.get("bound"), bound, report)
    cost = report.objective
    assert cost is not None
    if bound is not None and not bound <= cost + KEPT * max(1.0, cost):
        report.complain("plan.json", f"the multipliers prove {bound!r}, more than the plan costs, {cost!r}")
    gap = relative_gap(cost, report.bound if report.bound is not None else -np.inf)
    report.proven = report.proof != "none" and abs(gap) <= PROVEN and times == 1
    wanted = {
        "objective": cost,
        "cost": cost,
        "labels": report.labels,
        "bound": claims.get("bound"),  # looked at above
        "gap": finite(gap),
        "proven": report.proven,
        "proof": report.proof,
        "status": BEST_EFFORT if times > 1 else "optimal" if report.proven else "feasible",
        "first_round": len(stored.pairs),
        **settings_said(instance, instance.has_prior),
    }
    for name, value in wanted.items():
        if not agrees(claims.get(name), value):
            report.complain("plan.json", f"{name} says {claims.get(name)!r}, but it is {value!r}")
    _refuse_others(stored, set(wanted), report)


def _refuse_others(stored: StoredPolicy, known: set[str], report: Report) -> None:
    """Entries that nothing is held against, or that belong to another kind of plan; known: the names of those held."""
    claims = stored.claims
    for key in sorted(claims.keys() - known - TERMS - MADE):
        report.complain("plan.json", f"has an entry {key!r}, which nothing is held against")
    if BEYOND in claims and not names_fields(claims[BEYOND]):
        report.complain("plan.json", f"{BEYOND} says {claims[BEYOND]!r}, which is no list of what a plan cannot record")
    if "missed" in claims and not claims.get("class_error"):
        report.complain("plan.json", "missed is about limits by class, and there are none")
    if "step" in claims and stored.steps is None:
        report.complain("plan.json", f"step says {claims['step']!r}, but the plan is of no orders")


def _check_bound(said: Any, bound: float | None, report: Report) -> None:
    """The bound that plan.json says counts if the multipliers prove as much."""
    report.certified_bound = bound
    report.bound, report.proof = None, "none"
    if bound is None or said is None or not is_number(said) or not said <= bound + BOUND * max(1.0, abs(bound)):
        report.complain("plan.json", f"bound says {said!r}, but the multipliers prove {bound!r}")
    else:
        report.bound, report.proof = float(said), "certificate"


def check_files(stored: StoredPolicy, has_limits: bool, report: Report) -> None:
    """Tables that belong to no claim of this plan; has_limits: whether limits tie its labels together."""
    others = ("policy.csv",) if stored.steps is not None else (ORDER_FILE, STEP_FILE)
    for name in (REPAIR, *others, *(() if has_limits else (LIMITS,))):
        if (stored.folder / name).exists():
            report.complain(name, "is there, but nothing of this plan is held against it")
