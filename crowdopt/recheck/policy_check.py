"""A second opinion on an adaptive plan: followed forward, and its bound made anew by a recursion backward."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import is_number
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_reading import read_with_labels
from crowdopt.io.campaign.overrides import overridden
from crowdopt.io.campaign.recorded_settings import RECORD
from crowdopt.io.plan.stored_plan import StoredPlan
from crowdopt.io.plan.stored_policy import StoredPolicy, read_policy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.plan_tables import check_columns, check_queues, check_weights
from crowdopt.recheck.policies.class_limits import check_classes, class_limits
from crowdopt.recheck.policies.each_task import check_each_task
from crowdopt.recheck.policies.expected_figures import Figures, expected_figures
from crowdopt.recheck.policies.first_asked import check_first_round
from crowdopt.recheck.policies.limits_on_labels import check_limits, linear_limits, rows_are_alike
from crowdopt.recheck.policies.policy_tables import PolicyTables, plan_types, policy_tables
from crowdopt.recheck.policies.priced_policy import priced_by_state, priced_policy
from crowdopt.recheck.policies.told_orders import check_dealt_orders, told_orders
from crowdopt.recheck.policy_entries import KEPT, check_entries, check_files


def verify_policy(campaign: str | Path, plan: str | Path, claims: dict[str, Any]) -> Report:
    """Hold an adaptive plan's folder against its campaign's; everything is recomputed from the two."""
    known = read_with_labels(campaign)
    instance = replace(overridden(known.instance, claims.get(RECORD, {})), class_names=known.class_names())
    report = Report(overrides=claims.get(RECORD, {}), expected=True)
    rounds, expert, times = _terms(claims)
    given_votes, each_task = (_is_so(claims, name) for name in ("given_votes", "each_task"))
    report.rounds, report.expert, report.given_votes, report.each_task = rounds, expert, given_votes, each_task
    stored = read_policy(plan, claims, instance)
    has_orders = stored.steps is not None
    tables = (plan_types if has_orders else policy_tables)(instance, known.indices(), stored, report)
    if tables is None:
        return report
    if not rows_are_alike(instance, tables):
        report.complain("tasks.csv, workers.csv", "own rows tell tasks of a type or workers of an asker apart")
        return report
    classes = class_limits(claims, instance)
    report.class_error = claims.get("class_error", {})
    if has_orders and (given_votes or classes.stated or each_task):
        report.complain("plan.json", "says given_votes, class_error or each_task, but orders promise none of these")
        return report
    if each_task and (rounds != 1 or expert is not None or classes.stated or instance.the_rule.average):
        report.complain("plan.json", "says each_task, which is about one round without expert, limits by class or mean")
        return report
    for one in tables.types:
        limit = times * float(instance.epsilon[one.tasks[0]])
        one.law = replace(one.law, surest=limit if given_votes else 1.0, at_once=limit if each_task else None)
    told = told_orders(instance, known.indices(), stored, tables, expert, report) if has_orders else None
    if told is not None:
        every = told.figures
        if rounds is not None and any(len(share.order.workers) > rounds for share in told.orders):
            report.complain("order_steps.csv", f"asks more workers one after another than the {rounds} rounds said")
    else:
        every = [expected_figures(one.law, one.standing, one.moves, rounds, expert) for one in tables.types]
    for figures in every:
        report.problems += figures.problems
    if not report.holds:
        return report
    if each_task:
        check_each_task(tables, report)
    _check_rows(stored, every, report)
    _check_types(instance, stored, tables, every, times, report)
    check_classes(stored, classes, tables, every, times, report)
    _check_loads(instance, stored, tables, every, report)
    if told is None:
        check_first_round(instance, stored, tables, report)
    else:
        check_dealt_orders(instance, stored, told, report)
    as_plan = StoredPlan(claims, stored.pairs, None, stored.tasks, stored.workers, stored.folder)
    check_queues(instance, as_plan, report)
    check_weights(instance, as_plan, report)
    least = priced_by_state(rounds) if told is None else told.least_price
    bound = priced_policy(instance, stored, tables, (least, expert, times, classes), report)
    check_entries(instance, stored, times, bound, report)
    check_files(stored, bool(linear_limits(instance, tables)), report)
    report.proven &= report.holds
    return report


def _terms(claims: dict[str, Any]) -> tuple[int | None, float | None, float]:
    rounds, expert, times = claims.get("rounds"), claims.get("expert"), claims.get("times_targets")
    if rounds is not None and (type(rounds) is not int or rounds < 1):
        raise InputError(f"plan.json: rounds must be a whole number of at least 1, not {rounds!r}")
    if expert is not None and not (is_number(expert) and expert >= 0):
        raise InputError(f"plan.json: expert must be a price, not {expert!r}")
    if not (is_number(times) and times is not None and times >= 1):
        raise InputError(f"plan.json: times_targets must be a number of at least 1, not {times!r}")
    return rounds, expert, float(times)


def _is_so(claims: dict[str, Any], name: str) -> bool:
    said = claims.get(name, False)
    if type(said) is not bool:
        raise InputError(f"plan.json: {name} must be true or false, not {said!r}")
    return said


def _check_rows(stored: StoredPolicy, every: list[Figures], report: Report) -> None:
    tasks = np.zeros(stored.policy.rows)
    for figures in every:
        for row, amount in figures.tasks.items():
            tasks[row] = amount
    check_columns(stored.policy, {"tasks": tasks}, report)


def _check_types(
    instance: AssignmentInstance,
    stored: StoredPolicy,
    tables: PolicyTables,
    every: list[Figures],
    times: float,
    report: Report,
) -> None:
    count = np.array([float(len(one.tasks)) for one in tables.types])
    target = np.array([float(instance.epsilon[one.tasks[0]]) for one in tables.types])
    wrong = np.array([figures.wrong for figures in every])
    expert = np.array([figures.expert for figures in every])
    wanted = {"tasks": count, "target": target, "error": wrong / count, "expert": expert / count}
    check_columns(stored.types, wanted, report)
    allowed = times * count * target
    if instance.the_rule.average:
        wrong, allowed = wrong.sum(keepdims=True), allowed.sum(keepdims=True)
    for k in np.flatnonzero(wrong > allowed * (1 + KEPT)).tolist():
        report.complain("policy.csv", f"{wrong[k]:.9g} wrong answers are expected where {allowed[k]:.9g} are allowed")
    report.times = times
    report.violation = float(np.maximum(0.0, (wrong - allowed) / count.sum()).max())


def _check_loads(
    instance: AssignmentInstance, stored: StoredPolicy, tables: PolicyTables, every: list[Figures], report: Report
) -> None:
    members = np.array([len(some) for some in tables.askers.values()])
    of_asker = sum((figures.loads for figures in every), np.zeros(members.size)) / members
    load = np.append(of_asker, 0.0)[tables.asker]  # the last is for workers who are no askers
    capacity = instance.capacity.astype(np.float64)
    check_columns(stored.workers, {"load": load, "capacity": capacity}, report)
    over = load > capacity + KEPT * np.maximum(1.0, capacity)
    for j in np.flatnonzero(over).tolist():
        report.complain("policy.csv", f"worker {instance.worker_id(j)} is expected to give more labels than capacity")
    check_limits(instance, tables, np.stack([figures.loads for figures in every]), report)
    report.labels = float((of_asker * members).sum())
    report.objective = float(sum(figures.cost for figures in every))
    if instance.budget is not None and report.objective > instance.budget * (1 + KEPT):
        report.complain("policy.csv", f"{report.objective:.9g} is expected to be spent of {instance.budget:.9g}")
