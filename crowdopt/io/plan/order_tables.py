"""The orders of an adaptive plan as tables: how many tasks follow each, and, worker by worker, when it stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import places
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, class_labels
from crowdopt.crowd.asking_orders import AskingOrder, OrderShare
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.plan.policy_text import read_votes, votes_text
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.table_columns import Table

ORDERS = "asking-orders"  # method, in plan.json
ORDER_FILE, STEP_FILE = "orders.csv", "order_steps.csv"
ORDER_ROWS = ("order", "type", "votes", "share", "tasks")
ORDER_STEPS = ("order", "step", "ask", "first_class_adds", "second_class_adds", "low", "high")
LARGEST = 10**9  # score of a table that can be true


def write_orders(plan: AdaptivePlan, folder: Path) -> None:
    """orders.csv: how many tasks follow each order; order_steps.csv: whom it asks, and when it stops.

    Before a worker is asked, and after the last, the score decides: at low or less the answer is the first class, at
    high or more the second; a label adds to it what stands in its worker's row. After the last worker, between the
    limits, the expert answers.
    """
    names, classes = plan.askers.names, class_labels(plan.instance)
    rows, steps = [], []
    for number, one in enumerate(plan.orders):
        votes = votes_text((names[j], classes[k], count) for j, k, count in one.votes)
        rows.append((number, plan.askers.kinds[one.kind], votes, one.share, one.tasks))
        order = one.order
        asked: list[Any] = [*((names[j], *adds) for j, adds in zip(order.workers, order.adds, strict=True)), ("", 0, 0)]
        limits = zip(asked, order.low, order.high, strict=True)
        steps += [(number, step, *ask, low, high) for step, (ask, low, high) in enumerate(limits)]
    write_csv(folder / ORDER_FILE, list(ORDER_ROWS), list(zip(*rows, strict=True)))
    write_csv(folder / STEP_FILE, list(ORDER_STEPS), list(zip(*steps, strict=True)))


def order_shares(orders: Table, steps: Table, kinds: dict[str, int], instance: AssignmentInstance) -> list[OrderShare]:
    """The orders of the two tables; InputError at the first row that cannot be read. kinds: of types.csv, by name."""
    worker = instance.worker_places
    label = places(class_labels(instance))
    made = _orders(steps, worker)
    number, share, tasks = orders.counts("order"), orders.numbers("share"), orders.numbers("tasks")
    if number.tolist() != list(range(orders.rows)) or len(made) != orders.rows:
        raise InputError(f"{ORDER_FILE} and {STEP_FILE}: orders are not numbered 0, 1, 2, ... in both; solve again")
    found = []
    for row in range(orders.rows):
        try:
            kind = kinds[orders["type"][row]]
            votes = tuple(sorted(read_votes(orders["votes"][row], worker, label)))
        except (KeyError, ValueError) as error:
            raise orders.error(row, "votes", f"cannot be read: {error}; solve the campaign again") from None
        found.append(OrderShare(kind, votes, made[row], float(share[row]), float(tasks[row])))
    return found


def _orders(steps: Table, worker: dict[str, int]) -> list[AskingOrder]:
    """The orders in the order of their numbers; each ends with a row that asks no worker."""
    names = ("first_class_adds", "second_class_adds", "low", "high")
    numbers, order, step = [steps.numbers(name) for name in names], steps.counts("order"), steps.counts("step")
    made: list[AskingOrder] = []
    workers: list[int] = []
    rows: list[tuple[int, ...]] = []
    for row in range(steps.rows):
        name, values = steps["ask"][row], [float(column[row]) for column in numbers]
        if order[row] != len(made) or step[row] != len(workers) or _is_no_step(name, worker, workers):
            raise steps.error(row, "ask", "is not the next step of its order, of a worker not asked before")
        if not _are_scores(values):
            raise steps.error(row, "low", "scores are whole numbers, and low is below high")
        rows.append(tuple(int(value) for value in values))
        if name:
            workers.append(worker[name])
            continue
        adds = tuple((a, b) for a, b, *_ in rows[:-1])
        made.append(AskingOrder(tuple(workers), adds, tuple(r[2] for r in rows), tuple(r[3] for r in rows)))
        workers, rows = [], []
    if workers:
        raise steps.error(steps.rows - 1, "ask", "the last order has no row that asks no worker")
    return made


def _are_scores(values: list[float]) -> bool:
    """Whether a row has whole numbers, its low end below its high one."""
    return all(value == np.rint(value) and abs(value) <= LARGEST for value in values) and values[2] < values[3]


def _is_no_step(name: str, worker: dict[str, int], before: list[int]) -> bool:
    return bool(name) and (name not in worker or worker[name] in before)
