"""An adaptive plan of orders: each followed score by score from the campaign's own skills, and the deal of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.asking_orders import AskingOrder, OrderShare, Votes
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import is_number
from crowdopt.io.plan.order_tables import order_shares
from crowdopt.io.plan.stored_policy import StoredPolicy
from crowdopt.recheck.bounds.findings import Report
from crowdopt.recheck.policies.belief_recursion import BeliefRecursion
from crowdopt.recheck.policies.expected_figures import NOTHING, Figures
from crowdopt.recheck.policies.policy_tables import SUM, PolicyTables, TypeOfPlan
from crowdopt.recheck.policies.told_law import ToldLaw

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
