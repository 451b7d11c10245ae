"""A second opinion on an adaptive plan: followed forward, and its bound made anew by a recursion backward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.certificate import BOUND, PROVEN, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import is_number
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_reading import read_with_labels
from crowdopt.io.campaign.overrides import overridden
from crowdopt.io.campaign.recorded_settings import RECORD
from crowdopt.io.campaign.stated_difficulty import difficulty_table
from crowdopt.io.plan.plan_folder import stated_prior
from crowdopt.io.plan.stored_plan import BEST_EFFORT, StoredPlan
from crowdopt.io.plan.stored_policy import StoredPolicy, read_policy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.plan_claims import agrees
from crowdopt.recheck.plan_tables import check_columns, check_queues, check_weights
from crowdopt.recheck.policies.expected_figures import Figures, expected_figures
from crowdopt.recheck.policies.first_asked import check_first_round
from crowdopt.recheck.policies.limits_on_labels import check_limits, priced_limits, rows_are_alike
from crowdopt.recheck.policies.policy_tables import PolicyTables, TypeOfPlan, plan_types, policy_tables
from crowdopt.recheck.policies.stopping_recursion import Recursion
from crowdopt.recheck.policies.told_orders import check_dealt_orders, told_orders

# least price of all tasks of a type: its place, itself, prices of a wrong answer, of each asker's vote, of the expert
LeastPrice = Callable[[int, TypeOfPlan, float, Floats, float | None], float]
KEPT = 1e-9  # relative; by how much an expected error or load may exceed its limit: rounding of float64


def verify_policy(campaign: str | Path, plan: str | Path, claims: dict[str, Any]) -> Report:
    """Hold an adaptive plan's folder against its campaign's; everything is recomputed from the two."""
    known = read_with_labels(campaign)
    instance = replace(overridden(known.instance, claims.get(RECORD, {})), class_names=known.class_names())
    report = Report(overrides=claims.get(RECORD, {}), expected=True)
    rounds, expert, times = _terms(claims)
    stored = read_policy(plan, claims, instance)
    has_orders = stored.steps is not None
    tables = (plan_types if has_orders else policy_tables)(instance, known.indices(), stored, report)
    if tables is None:
        return report
    if not rows_are_alike(instance, tables):
        report.complain("tasks.csv, workers.csv", "rows of one's own tell tasks of a type or workers of an asker apart")
        return report
    told = told_orders(instance, known.indices(), stored, tables, expert, report) if has_orders else None
    if told is not None:
        every = told.figures
    else:
        every = [expected_figures(one.law, one.standing, one.moves, rounds, expert) for one in tables.types]
    for figures in every:
        report.problems += figures.problems
    if not report.holds:
        return report
    _check_rows(stored, every, report)
    _check_types(instance, stored, tables, every, times, report)
    _check_loads(instance, stored, tables, every, report)
    if told is None:
        check_first_round(instance, stored, tables, report)
    else:
        check_dealt_orders(instance, stored, told, report)
    as_plan = StoredPlan(claims, stored.pairs, None, stored.tasks, stored.workers, stored.folder)
    check_queues(instance, as_plan, report)
    check_weights(instance, as_plan, report)
    least = _priced_by_state(rounds) if told is None else told.least_price
    bound = _bound(instance, stored, tables, (least, expert, times), report)
    _check_claims(instance, stored, times, bound, report)
    report.proven &= report.holds
    return report


def _terms(claims: dict[str, Any]) -> tuple[int | None, float | None, float]:
    """Rounds, the expert's price, and how many times the targets errors may be, as plan.json has them."""
    rounds, expert, times = claims.get("rounds"), claims.get("expert"), claims.get("times_targets")
    if rounds is not None and (type(rounds) is not int or rounds < 1):
        raise InputError(f"plan.json: rounds must be a whole number of at least 1, not {rounds!r}")
    if expert is not None and not (is_number(expert) and expert >= 0):
        raise InputError(f"plan.json: expert must be a price, not {expert!r}")
    if not (is_number(times) and times is not None and times >= 1):
        raise InputError(f"plan.json: times_targets must be a number of at least 1, not {times!r}")
    return rounds, expert, float(times)


def _check_rows(stored: StoredPolicy, every: list[Figures], report: Report) -> None:
    """Each row's tasks; a row that no task comes to says 0 at most."""
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
    """Tasks, targets and expected errors of the types, and that errors are within targets."""
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
    """Expected labels of each worker, within capacity; money within the budget."""
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


def _bound(
    instance: AssignmentInstance,
    stored: StoredPolicy,
    tables: PolicyTables,
    terms: tuple[LeastPrice, float | None, float],
    report: Report,
) -> float | None:
    """``sum n V - mu epsilon n + sum M w + budget``, from the multipliers of types.csv, workers.csv and plan.json."""
    least, expert, times = terms
    error, capacity = stored.types.numbers("dual"), stored.workers.numbers("dual")
    money: Any = stored.claims.get("budget_dual", 0.0)
    if not is_number(money) or (instance.budget is None and money != 0):
        report.complain("plan.json", f"budget_dual says {money!r}, which prices no budget of this campaign")
        return None
    of_asker = np.array([capacity[some[0]] for some in tables.askers.values()])
    limits = priced_limits(instance, stored, tables, report)
    if limits is None:
        return None
    if (
        (error < 0).any()
        or (capacity > 0).any()
        or money > 0
        or (np.append(of_asker, 0.0)[tables.asker] != capacity).any()
    ):
        report.complain(
            "types.csv, workers.csv", "multipliers of errors are at least 0, of capacities and money at most"
        )
        return None
    if instance.the_rule.average and (error != error[0]).any():
        report.complain("types.csv", "the mean error has one multiplier for all types")
        return None
    total = float((capacity * instance.capacity).sum()) + float(money) * (instance.budget or 0.0) + limits.total
    for k, one in enumerate(tables.types):
        asking = one.law.price * (1 - float(money)) - of_asker - limits.price[k]
        total += least(k, one, float(error[k]), asking, None if expert is None else expert * (1 - float(money)))
        total -= times * float(error[k]) * float(instance.epsilon[one.tasks].sum())
    return float(total)


def _priced_by_state(rounds: int | None) -> LeastPrice:
    """Least prices of all tasks of a type, over the states of their votes."""

    def least(_: int, one: TypeOfPlan, error: float, asking: Floats, expert: float | None) -> float:
        recursion = Recursion(one.law, error, asking, expert, rounds)
        return sum(tasks * recursion.value(votes) for votes, tasks in one.standing.items())

    return least


def _check_claims(
    instance: AssignmentInstance, stored: StoredPolicy, times: float, bound: float | None, report: Report
) -> None:
    """Whatever plan.json says of the plan."""
    claims, cost = stored.claims, report.objective
    assert cost is not None
    said, report.certified_bound = claims.get("bound"), bound
    report.bound, report.proof = None, "none"
    if bound is None or said is None or not is_number(said) or said > bound + BOUND * max(1.0, abs(bound)):
        report.complain("plan.json", f"bound says {said!r}, but the multipliers prove {bound!r}")
    else:
        report.bound, report.proof = float(said), "certificate"
    gap = relative_gap(cost, report.bound if report.bound is not None else -np.inf)
    report.proven = report.proof != "none" and abs(gap) <= PROVEN and times == 1
    if bound is not None and bound > cost + KEPT * max(1.0, cost):
        report.complain("plan.json", f"the multipliers prove {bound!r}, more than the plan costs, {cost!r}")
    uniform = bool((instance.epsilon == instance.epsilon[0]).all())
    for name, value in {
        "objective": cost,
        "cost": cost,
        "labels": report.labels,
        "gap": gap if np.isfinite(gap) else None,
        "proven": report.proven,
        "proof": report.proof,
        "status": BEST_EFFORT if times > 1 else "optimal" if report.proven else "feasible",
        "first_round": len(stored.pairs),
        "tasks": instance.n_tasks,
        "workers": instance.n_workers,
        "rule": instance.rule,
        "classes": instance.classes,
        "epsilon": float(instance.epsilon[0]) if uniform else "per task",
        "prior": stated_prior(instance) if instance.has_prior else None,
        "difficulty": difficulty_table(instance.difficulty) if instance.difficulty.share else None,
        "skills": instance.skills_source,
    }.items():
        if not agrees(claims.get(name), value):
            report.complain("plan.json", f"{name} says {claims.get(name)!r}, but it is {value!r}")
