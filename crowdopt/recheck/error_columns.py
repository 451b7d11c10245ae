"""Exact errors of a plan's votes, where its rule promises them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.crowd.exactness import CERTAIN, exact_errors, most_errors
from crowdopt.crowd.families import dependence
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.stated.groups import Group
from crowdopt.io.plan.stored_plan import TOGETHER, StoredPlan
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.family_laws import MULTIPLIERS_NEAR, no_law_errs_more
from crowdopt.recheck.plan_tables import SAME, check_columns

WHOLE = ("exact-error", "mean-error")  # rules without a linear program: no vote counts a share of a label


def check_errors(instance: AssignmentInstance, stored: StoredPlan, excused: Bools, report: Report) -> None:
    """Every task's exact error is what the plan says it is, and at most its target, or they are on average.

    excused (tasks,): tasks that the plan leaves short, as it says.
    """
    above, width = exact_errors(instance, stored.pairs)
    if instance.the_rule.average and not excused.any():
        if above.mean() > instance.epsilon.mean() + CERTAIN:
            says = f"errs with probability {above.mean():.6g} on average, more than {instance.epsilon.mean():g}"
            report.complain("assignment.csv", f"the plan {says}")
    else:
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


def check_family_errors(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Where workers may err together: the independent errors again, and whether no law of families errs more than said.

    What is said of the worst errors is proven: by the rule's guarantee, by multipliers of all laws, or because all
    labels of a task are of different families.
    """
    table = stored.tasks
    if all(name not in table for name in TOGETHER) or table.rows != instance.n_tasks:
        return
    is_known = instance.classes == 2 and instance.confusion is None and not (instance.has_prior or instance.observed)
    if any(name not in table for name in TOGETHER) or not is_known or stored.amounts is not None:
        report.complain(
            table.path.name, f"the columns {' and '.join(TOGETHER)} belong together, to plans of two classes"
        )
        return
    independent = most_errors(instance, stored.pairs)
    check_columns(table, {TOGETHER[0]: independent}, report)
    worst = table.numbers(TOGETHER[1])
    promised = instance.error_bound(instance.collected_evidence + instance.supply(stored.pairs))
    every = np.concatenate([instance.collected, stored.pairs])
    apart = dependence(_as_they_are(instance), every, instance.n_tasks) == 1
    least = np.where(apart, independent, np.maximum(independent, promised))
    asked = np.flatnonzero((worst < least - SAME) & (worst >= independent - SAME))
    if asked.size:
        least[asked] = np.minimum(least[asked], no_law_errs_more(instance, every, asked) - MULTIPLIERS_NEAR)
    low, high = worst < least - SAME, worst > np.maximum(independent, np.where(apart, 0.0, promised)) + SAME
    for task in np.flatnonzero(low | high)[:1].tolist():
        says = f"says {worst[task]:.6g}, but all that is proven is {least[task]:.6g}"
        report.problems.append(str(table.error(task, TOGETHER[1], says)))
    report.independent_error = float(independent.max())
    report.worst_error = float(worst.max())


def _as_they_are(instance: AssignmentInstance) -> list[Group]:
    """The families without their limits: how many labels there are is counted, not how many there may be."""
    return [replace(group, max_per_task=1) for group in instance.groups if group.dependent]


def _check_each(instance: AssignmentInstance, above: Floats, report: Report) -> None:
    for task in np.flatnonzero(above > instance.epsilon + CERTAIN).tolist():
        says = f"errs with probability {above[task]:.6g}, more than its {instance.epsilon[task]:g}"
        report.complain("assignment.csv", f"task {instance.task_id(task)}: {says}")
