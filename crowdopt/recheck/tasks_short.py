"""Tasks that a plan says it leaves short: whether they are the ones, and no others."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools
from crowdopt.crowd.exactness import CERTAIN, most_errors
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.plan.stored_plan import BEST_EFFORT, VOTE_ERROR, StoredPlan
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.limits_kept import broken_limits
from crowdopt.recheck.plan_tables import check_columns

SHORT = "short"  # entry of plan.json and column of tasks.csv


def tasks_said_short(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> Bools:
    """Tasks that plan.json names as short, (tasks,); report: takes the complaint where that is no list of tasks."""
    said, n = stored.claims.get(SHORT, []), instance.n_tasks
    place = instance.task_places
    excused = np.zeros(n, bool)
    if (SHORT in stored.claims) != (stored.claims.get("status") == BEST_EFFORT) or stored.amounts is not None:
        if SHORT in stored.claims or stored.claims.get("status") == BEST_EFFORT:
            report.complain("plan.json", f"status {BEST_EFFORT!r} and a list {SHORT!r} of tasks belong together")
        return excused
    if not isinstance(said, list) or any(type(one) is not str or one not in place for one in said):
        report.complain("plan.json", f"{SHORT} says {str(said)[:80]}, which is no list of the campaign's tasks")
        return excused
    excused[[place[one] for one in said]] = True
    return excused


def check_short(instance: AssignmentInstance, stored: StoredPlan, excused: Bools, report: Report) -> None:
    """Each task named gets less than it asks for, and the table says so too.

    Of the others the limits are looked at elsewhere. excused (tasks,): those named; report: takes the complaints.
    """
    report.short = int(excused.sum())
    if not excused.any() and SHORT not in stored.claims:
        for name in (SHORT, "target", VOTE_ERROR):
            if name in stored.tasks:
                report.complain(stored.tasks.path.name, f"has a column {name}, but plan.json names no task as short")
        return
    short = np.zeros(instance.n_tasks, bool)
    short[[one.lacking for one in broken_limits(instance, stored.pairs) if one.lacking is not None]] = True
    if instance.the_rule.checked:
        short |= most_errors(instance, stored.pairs) > instance.epsilon + CERTAIN
    for task in np.flatnonzero(excused & ~short).tolist():
        report.complain("plan.json", f"{SHORT} names task {instance.task_id(task)}, which gets what it asks for")
    if stored.tasks.rows != instance.n_tasks:
        return
    if SHORT not in stored.tasks or "target" not in stored.tasks:
        report.complain(stored.tasks.path.name, f"the columns target and {SHORT} are missing")
        return
    if [one == "yes" for one in stored.tasks[SHORT]] != excused.tolist():
        report.complain(stored.tasks.path.name, f"its column {SHORT} does not name the tasks that plan.json names")
    check_columns(stored.tasks, {"target": instance.epsilon}, report)
    if VOTE_ERROR in stored.tasks:
        check_columns(stored.tasks, {VOTE_ERROR: most_errors(instance, stored.pairs)}, report)
