"""Exact errors of a plan's votes, where its rule promises them."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import CERTAIN, exact_errors
from crowdopt.io.plan.stored_plan import StoredPlan
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.plan_tables import check_columns

WHOLE = ("exact-error", "mean-error")  # rules without a linear program: no vote counts a share of a label


def check_errors(instance: AssignmentInstance, stored: StoredPlan, excused: Bools, report: Report) -> None:
    """Every task's exact error is what the plan says it is, and at most its target, or they are on average.

    excused (tasks,): tasks that the plan leaves short, as it says.
    """
    above, width = exact_errors(instance, stored.pairs)
    is_kept = instance.the_rule.average and above.mean() <= instance.epsilon.mean() + CERTAIN
    if instance.the_rule.average and not is_kept and not excused.any():
        says = f"errs with probability {above.mean():.6g} on average, more than {instance.epsilon.mean():g}"
        report.complain("assignment.csv", f"the plan {says}")
    elif not is_kept:
        _check_each(instance, np.where(excused, 0.0, above), report)
    if stored.tasks.rows != instance.n_tasks:
        return
    if "exact_error" not in stored.tasks or ("exact_width" in stored.tasks) != bool(width.any()):
        report.complain(stored.tasks.path.name, "the exact errors, or how exact they are, are missing")
        return
    check_columns(stored.tasks, {"exact_error": above} | ({"exact_width": width} if width.any() else {}), report)


def refuse_errors(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Complain of exact errors in a plan whose rule has none: nobody computed them, so nobody can stand by them."""
    if instance.rule in WHOLE:
        says = f"has shares of labels, and rule {instance.rule} is about votes of whole ones"
        report.complain("assignment.csv", f"{says}: nothing is promised of any task")
    for name in ("exact_error", "exact_width"):
        if name in stored.tasks:
            says = f"has a column {name}, which plans of this kind by rule {instance.rule} do not have"
            report.complain(stored.tasks.path.name, says)


def _check_each(instance: AssignmentInstance, above: Floats, report: Report) -> None:
    for task in np.flatnonzero(above > instance.epsilon + CERTAIN).tolist():
        says = f"errs with probability {above[task]:.6g}, more than its {instance.epsilon[task]:g}"
        report.complain("assignment.csv", f"task {instance.task_id(task)}: {says}")
