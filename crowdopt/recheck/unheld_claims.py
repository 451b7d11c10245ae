"""What a plan folder says that nothing in it is held against: refused, so that whatever is said was looked at."""

from __future__ import annotations

from typing import Any

from crowdopt.crowd.instance import FIELDS, AssignmentInstance
from crowdopt.io.campaign.overrides import BEYOND
from crowdopt.io.campaign.recorded_settings import RECORD
from crowdopt.io.plan.plan_folder import REPAIR
from crowdopt.io.plan.stored_plan import LIMITS, StoredPlan
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.bounds.joint_pull import PER_TASK

HELD = {"status", "program", "proven", "proof", "objective", "bound", "certified_bound", "gap", "violation", "labels"}
HELD |= {"cost", "tasks", "workers", "rule", "classes", "epsilon", "skills", "prior", "difficulty"}
HELD |= {"wrong_dual", "budget_dual", "spending", "repaired", "short", "left_open", RECORD, BEYOND}
MADE = {"title", "method", "backend", "seed", "note", "versions"}  # how it was made: no claim about the plan


def refuse_unheld(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Complain of entries, files and multipliers that belong to no claim of this plan; report: takes the complaints."""
    claims = stored.claims
    priced = "" not in stored.tasks["dual"] and "" not in stored.workers["dual"]
    for table in (stored.tasks, stored.workers):
        if not priced and any(table["dual"]):
            report.complain(table.path.name, "has multipliers, though not of every task and worker")
    for key in sorted(claims.keys() - HELD - MADE):
        report.complain("plan.json", f"has an entry {key!r}, which nothing is held against")
    reasons = {
        "wrong_dual": (priced and instance.the_rule.average, f"rule {instance.rule} prices no error, or nothing does"),
        "budget_dual": (instance.budget is not None, "the campaign has no budget"),
    }
    for key, (belongs, why) in reasons.items():
        if key in claims and not belongs:
            report.complain("plan.json", f"{key} says {claims[key]!r}, but {why}")
    if instance.the_rule.average and "labels_dual" in stored.tasks:
        report.complain(stored.tasks.path.name, f"has a column labels_dual, for which rule {instance.rule} has no use")
    if BEYOND in claims and not names_fields(claims[BEYOND]):
        report.complain("plan.json", f"{BEYOND} says {claims[BEYOND]!r}, which is no list of what a plan cannot record")
    _refuse_files(instance, stored, report)


def names_fields(said: Any) -> bool:
    """Whether an entry names some of what a plan cannot record."""
    named = {one.beyond for one in FIELDS if one.beyond}
    return isinstance(said, list) and bool(said) and all(one in named for one in said)


def _refuse_files(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    joint = bool(instance.groups) or instance.own_rows is not None
    for name, belongs, why in (
        (REPAIR, "repaired" in stored.claims, "plan.json says nothing of a repair"),
        (LIMITS, joint, "the campaign has no groups, shares or rows"),
        ("queues", stored.amounts is None, "shares of labels are no lists of tasks"),
    ):
        if (stored.folder / name).exists() and not belongs:
            report.complain(name, f"is there, but {why}")
    table = stored.limits
    pairs = [] if table is None else zip(table["limit"], table["task"], strict=True)
    for where in [where for limit, where in pairs if where and limit != PER_TASK][:1]:
        report.complain(LIMITS, f"names the task {where!r} for a limit that is not one task's")
