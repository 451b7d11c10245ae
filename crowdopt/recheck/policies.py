"""A second opinion on an adaptive plan: followed forward, and its bound made anew by a recursion backward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import BOUND
from crowdopt.core.solution import PROVEN, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import AskingOrder, OrderShare, Votes
from crowdopt.documents import finite, is_number
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_with_labels
from crowdopt.io.plan import BEST_EFFORT, LIMITS, REPAIR, StoredPlan
from crowdopt.io.policy import ORDER_FILE, STEP_FILE, StoredPolicy, order_shares, read_policy
from crowdopt.io.settings import BEYOND, RECORD, overridden
from crowdopt.recheck.findings import Report
from crowdopt.recheck.plans import MADE, agrees, check_columns, check_queues, check_weights, names_fields, settings_said
from crowdopt.recheck.policy_law import NOTHING, BeliefRecursion, Figures, ToldLaw, expected_figures
from crowdopt.recheck.policy_tables import (
    SUM,
    PolicyTables,
    TypeOfPlan,
    check_classes,
    check_each_task,
    check_first_round,
    check_limits,
    class_limits,
    linear_limits,
    plan_types,
    policy_tables,
    priced_by_state,
    priced_policy,
    rows_are_alike,
)

Start = tuple[int, Votes]  # type, and the votes that are in
STEPS = (1e-3, 1.0)  # of log-odds: between these a bound can be recomputed in reasonable time


@dataclass(frozen=True, eq=False)
class ToldOrders:
    """The orders of the tables, the tasks of each start, chances of the second class there, and figures by type."""

    orders: list[OrderShare]
    starts: dict[Start, list[int]]
    belief: dict[Start, float]
    figures: list[Figures]
    step: float

    def least_price(self, k: int, one: TypeOfPlan, error: Floats, asking: Floats, expert: float | None) -> float:
        """Least price of all tasks of a type, wherever they start."""
        labels = min(asking.size, one.law.most)
        recursion = BeliefRecursion(_likely(one.law), asking, float(error[0]), expert, self.step / 2, labels)
        mine = [(len(tasks), self.belief[start]) for start, tasks in self.starts.items() if start[0] == k]
        return sum(count * recursion.at(belief) for count, belief in mine)


def told_orders(
    instance: AssignmentInstance,
    labels: Ints,
    stored: StoredPolicy,
    tables: PolicyTables,
    expert: float | None,
    report: Report,
) -> ToldOrders | None:
    """None, and complaints, where the tables of orders contradict the campaign or themselves."""
    assert stored.steps is not None
    step = stored.claims.get("step")
    if not is_number(step) or step is None or not STEPS[0] <= step <= STEPS[1]:
        report.complain("plan.json", f"step says {step!r}, which is no step of log-odds from {STEPS[0]} to {STEPS[1]}")
        return None
    if instance.classes != 2 or instance.errs_together or (tables.asker != np.arange(instance.n_workers)).any():
        report.complain("plan.json", "orders are for two classes, tasks that are alike, and each worker an asker")
        return None
    kinds = {name: k for k, name in enumerate(stored.types["type"])}
    orders = order_shares(stored.policy, stored.steps, kinds, instance)
    starts, belief = _starts(instance, labels, tables)
    if any(not np.isfinite(chance) for chance in belief.values()):
        report.complain("collected.csv", "has labels that cannot be, by the campaign's own skills")
        return None
    figures = [Figures(np.zeros(len(tables.askers))) for _ in tables.types]
    told = ToldOrders(orders, starts, belief, figures, float(step))
    _check_shares(told, report)
    if report.holds:
        for row, share in enumerate(orders):
            _follow(told, row, tables.types[share.kind].law, len(starts[share.kind, share.votes]), expert)
    return told


def _likely(law: ToldLaw) -> Floats:
    return np.ascontiguousarray(law.chance[0, :, :, 1].T)


def _starts(
    instance: AssignmentInstance, labels: Ints, tables: PolicyTables
) -> tuple[dict[Start, list[int]], dict[Start, float]]:
    votes: list[list[tuple[int, int, int]]] = [[] for _ in range(instance.n_tasks)]
    for (task, worker), label in zip(instance.collected.tolist(), labels.tolist(), strict=True):
        votes[task].append((worker, label, 1))
    starts: dict[Start, list[int]] = {}
    belief: dict[Start, float] = {}
    for k, one in enumerate(tables.types):
        for i in one.tasks:
            start = k, tuple(sorted(votes[i]))
            starts.setdefault(start, []).append(i)
            if start not in belief:
                chance = one.law.prior[0].copy()
                for worker, label, _ in start[1]:
                    chance = chance * one.law.chance[0, :, tables.asker[worker], label]
                belief[start] = float(chance[1] / chance.sum()) if chance.sum() > 0 else np.nan
    return starts, belief


def _check_shares(told: ToldOrders, report: Report) -> None:
    total = dict.fromkeys(told.starts, 0.0)
    for row, share in enumerate(told.orders):
        if (share.kind, share.votes) not in total or share.share < 0:
            report.complain("orders.csv", f"order {row} starts where no task does, or has a share below 0")
            return
        total[share.kind, share.votes] += share.share
    for (kind, votes), sum_of in total.items():
        if abs(sum_of - 1) > SUM:
            report.complain("orders.csv", f"shares of type {kind} after {len(votes)} votes add up to {sum_of!r}")


def _follow(told: ToldOrders, row: int, law: ToldLaw, count: int, expert: float | None) -> None:
    """Add up what the tasks of an order come to, by the chances of every score that they can have."""
    one, figures = told.orders[row], told.figures[told.orders[row].kind]
    order, belief, likely = one.order, told.belief[one.kind, one.votes], _likely(law)
    if not _may_ask(law, order, [worker for worker, *_ in one.votes]):
        figures.problems.append(f"order_steps.csv: order {row} asks for votes that the limits do not allow")
        return
    tasks = count * one.share
    figures.tasks[row] = tasks
    enough = _where_enough(law, order, [worker for worker, *_ in one.votes])
    at = {0: (tasks * (1 - belief), tasks * belief)}
    for n in range(len(order.low)):
        after: dict[int, tuple[float, float]] = {}
        for score, (first, second) in sorted(at.items()):
            goes_on = order.low[n] < score < order.high[n] and n < len(order.workers)
            if not (goes_on or enough[n]) and first + second > NOTHING:
                figures.problems.append(f"order_steps.csv: order {row} stops before a task has the labels it must have")
                return
            if score <= order.low[n]:
                figures.wrong += second
            elif score >= order.high[n]:
                figures.wrong += first
            elif n == len(order.workers):
                _hand_on(figures, row, first + second, expert)
            else:
                worker = order.workers[n]
                figures.loads[worker] += first + second
                figures.cost += (first + second) * float(law.price[worker])
                for label, (p, q) in ((0, 1 - likely[worker]), (1, likely[worker])):
                    to = score + order.adds[n][label]
                    old = after.get(to, (0.0, 0.0))
                    after[to] = old[0] + first * float(p), old[1] + second * float(q)
        at = after


def _where_enough(law: ToldLaw, order: AskingOrder, had: Sequence[int]) -> list[bool]:
    number, found = [had.count(g) for g in range(law.members.size)], []
    for worker in [*order.workers, None]:
        found.append(law.is_enough(number))
        if worker is not None:
            number[worker] += 1
    return found


def _hand_on(figures: Figures, row: int, tasks: float, expert: float | None) -> None:
    if expert is None and tasks > NOTHING:
        figures.problems.append(f"order_steps.csv: order {row} ends with the expert, and there is none")
    figures.expert += tasks
    figures.cost += tasks * (expert or 0.0)


def _may_ask(law: ToldLaw, order: AskingOrder, had: Sequence[int]) -> bool:
    every = [*order.workers, *had]
    within = len(set(every)) == len(every) <= law.most and not law.barred[list(order.workers)].any()
    chosen = set(every)
    return bool(within) and all(len(chosen & set(some)) <= limit for some, limit in law.groups)


def check_dealt_orders(instance: AssignmentInstance, stored: StoredPolicy, told: ToldOrders, report: Report) -> None:
    """Each task has an order of its start, shares hold up to one task; the first worker is asked, if there is room."""
    order_of = stored.tasks.counts("order")
    if order_of.max(initial=0) >= len(told.orders):
        report.complain("tasks.csv", "has an order that orders.csv does not have")
        return
    for start, tasks in told.starts.items():
        mine = [row for row, one in enumerate(told.orders) if (one.kind, one.votes) == start]
        dealt = order_of[tasks]
        if not np.isin(dealt, mine).all():
            report.complain("tasks.csv", "has a task whose order starts after other votes, or is of another type")
            return
        for row in mine:
            wanted, count = told.orders[row].share * len(tasks), int((dealt == row).sum())
            if abs(count - wanted) > 1 + SUM * len(tasks):
                report.complain("tasks.csv", f"{count} tasks have order {row} where its share is {wanted:.6g}")
    _check_first_workers(instance, stored, [told.orders[row].order for row in order_of.tolist()], report)


def _check_first_workers(
    instance: AssignmentInstance, stored: StoredPolicy, orders: list[AskingOrder], report: Report
) -> None:
    place, pairs = "assignment.csv", stored.pairs
    load = np.bincount(pairs[:, 1], minlength=instance.n_workers)
    for j in np.flatnonzero(load > instance.capacity).tolist():
        report.complain(place, f"worker {instance.worker_id(j)} has {load[j]} tasks, capacity {instance.capacity[j]}")
    asked = dict(pairs.tolist())
    if len(asked) < len(pairs):
        report.complain(place, "asks two workers for one task, where its order asks one after another")
        return
    for task, order in enumerate(orders):
        first = order.workers[0] if order.workers and order.low[0] < 0 < order.high[0] else None
        waits = task not in asked and (first is None or load[first] >= instance.capacity[first])
        if asked.get(task, first) != first or not (task in asked or waits):
            report.complain(place, f"task {instance.task_id(task)} is not asked what its order asks first")
            return


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
