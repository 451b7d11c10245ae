"""Tasks that a plan says it leaves short: whether they are the ones, and no others."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.kept import breaches, short_tasks
from crowdopt.crowd.vote_errors import CERTAIN, errors_of, most_errors
from crowdopt.io.plan.stored_plan import BEST_EFFORT, VOTE_ERROR, StoredPlan
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.plan_tables import check_columns

SHORT = "short"  # entry of plan.json and column of tasks.csv
FEW = 8  # labels of a task: more are not looked for, as even a search that is cut short looks for so many


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
    if len(set(said)) < len(said):
        report.complain("plan.json", f"{SHORT} names a task twice")
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
    served = np.setdiff1d(np.flatnonzero(excused), short_tasks(instance, stored.pairs))
    for task in served.tolist():
        report.complain("plan.json", f"{SHORT} names task {instance.task_id(task)}, which gets what it asks for")
    spare = None if served.size else _served_by_spare_labels(instance, stored.pairs, excused)
    if spare is not None:
        report.complain(
            "plan.json", f"{SHORT} names task {instance.task_id(spare)}, which labels that are left would serve"
        )
    if stored.tasks.rows != instance.n_tasks:
        return
    if SHORT not in stored.tasks or "target" not in stored.tasks:
        report.complain(stored.tasks.path.name, f"the columns target and {SHORT} are missing")
        return
    if stored.tasks[SHORT] != ["yes" if one else "no" for one in excused.tolist()]:
        report.complain(stored.tasks.path.name, f"its column {SHORT} does not name the tasks that plan.json names")
    check_columns(stored.tasks, {"target": instance.epsilon}, report)
    if VOTE_ERROR in stored.tasks:
        check_columns(stored.tasks, {VOTE_ERROR: most_errors(instance, stored.pairs)}, report)


def _served_by_spare_labels(instance: AssignmentInstance, pairs: Ints, excused: Bools) -> int | None:
    """The first task said to be short that the best labels left, FEW in all at most, serve within every limit."""
    if (
        instance.the_rule.average
        or instance.own_rows is not None
        or any(group.has_share_limits for group in instance.groups)
    ):
        return None
    room = instance.capacity - np.bincount(pairs[:, 1], minlength=instance.n_workers)
    spent = instance.prices(pairs).sum()
    for task in np.flatnonzero(excused).tolist():
        worth = np.where(room > 0, instance.evidence[instance.task_type[task]], 0.0)
        mine = pairs[pairs[:, 0] == task, 1]
        worth[[*mine, *instance.barred[instance.barred[:, 0] == task, 1]]] = 0.0
        most = min(int((worth > 0).sum()), FEW - mine.size, int(instance.new_label_limits[1][task]) - mine.size)
        best = np.argsort(-worth, kind="stable")[: max(0, most)]
        low, high = 0, best.size + 1
        while high - low > 1:
            middle = (low + high) // 2
            more = _is_served(instance, task, np.append(mine, best[:middle]))
            low, high = (low, middle) if more else (middle, high)
        new = np.column_stack([np.full(best[:high].size, task), best[:high]])
        if high > best.size or (instance.budget is not None and spent + instance.prices(new).sum() > instance.budget):
            continue
        others = np.setdiff1d(np.flatnonzero(excused), task)
        if not breaches(instance, np.concatenate([pairs, new]), short=others):
            return task
    return None


def _is_served(instance: AssignmentInstance, task: int, workers: Ints) -> bool:
    had = instance.collected[instance.collected[:, 0] == task, 1][: 0 if instance.observed else None]
    worth = instance.evidence[instance.task_type[task], workers].sum()
    if instance.collected_evidence[task] + worth < instance.need[task] - COVERAGE:
        return False
    if not instance.the_rule.checked:
        return True
    error = errors_of(instance, np.array([task]), [np.append(had, workers)])[0]
    return bool(error <= instance.epsilon[task] + CERTAIN)
