"""A second opinion on a plan: everything recomputed from the campaign folder and the plan folder alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import breaches
from crowdopt.io.campaign import read_campaign
from crowdopt.io.plan import StoredPlan, read_claims, read_plan
from crowdopt.io.policy import is_policy
from crowdopt.io.settings import BEYOND, RECORD, overridden
from crowdopt.kernels import for_small
from crowdopt.recheck.findings import Report
from crowdopt.recheck.plans import (
    check_claims,
    check_errors,
    check_left_open,
    check_queues,
    check_repaired,
    check_short,
    check_spending,
    check_tasks,
    check_weights,
    check_workers,
    refuse_errors,
    refuse_excess,
    refuse_unheld,
    tasks_said_short,
)
from crowdopt.recheck.policies import verify_policy


def verify(campaign: str | Path, plan: str | Path) -> Report:
    """Hold a plan folder against a campaign folder.

    Recomputed: who may label what, loads, labels, evidence, error bounds, vote weights, queues, cost, violation, gap,
    and the bound that the stored multipliers prove. A branch-and-bound bound above that stays the solver's word.
    """
    folder = Path(plan)
    claims = read_claims(folder)
    if is_policy(claims):
        return verify_policy(campaign, folder, claims)
    overrides = claims.get(RECORD, {})
    instance = overridden(read_campaign(campaign, trust_gold=True), overrides)
    stored = read_plan(folder, claims, instance)
    report = Report(overrides=overrides, rule=instance.rule)
    with for_small(instance.n_tasks, instance.n_workers):
        _check(instance, stored, report)
    if report.problems and claims.get(BEYOND):
        report.problems.insert(0, _other_instance(claims[BEYOND]))
    return report


def _check(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    claims = stored.claims
    excused = tasks_said_short(instance, stored, report)
    for breach in breaches(instance, stored.pairs, stored.amounts, short=np.flatnonzero(excused)):
        report.complain("assignment.csv", str(breach))
    check_short(instance, stored, excused, report)
    check_tasks(instance, stored, report)
    check_workers(instance, stored, report)
    check_weights(instance, stored, report)
    if instance.the_rule.checked and stored.amounts is None:
        check_errors(instance, stored, excused, report)
    else:
        refuse_errors(instance, stored, report)
    if stored.amounts is None:
        check_queues(instance, stored, report)
    check_claims(instance, stored, excused, report)
    refuse_unheld(instance, stored, report)
    if "spending" in claims:
        check_spending(instance, stored, report)
    if "left_open" in claims:
        check_left_open(instance, stored, report)
    if "repaired" in claims:
        check_repaired(instance, stored, report)
    refuse_excess(report)
    report.proven &= report.holds


def _other_instance(what: Any) -> str:
    named = ", ".join(map(str, what)) if isinstance(what, list) else str(what)
    return (
        f"plan.json: made for an instance that differs from the campaign in its {named[:200]}, which a plan cannot "
        "record; write that instance as a campaign of its own (crowdopt.write_campaign) and verify against that"
    )
