"""The folder of an adaptive plan: its policy, the first round's queues, and the numbers that prove it.

Votes, sets of askers and classes in the cells of policy.csv: ``large=yes small=no*2``.

The orders of an adaptive plan as tables: how many tasks follow each, and, worker by worker, when it stops.

The reader of an adaptive plan's folder: claims, tables and policy as they are written.

A plan folder as plain values, for its page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from crowdopt.arrays import Floats, Ints, places
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, PolicyProof, PolicyRow, class_labels
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import ANSWER, ASK, EXPERT, AskingOrder, OrderShare
from crowdopt.documents import finite, shown, write_json
from crowdopt.errors import InputError
from crowdopt.io.cells import write_csv
from crowdopt.io.folders import PLAN, new_folder
from crowdopt.io.plan import (
    BEST_EFFORT,
    LIMITS,
    Content,
    instance_facts,
    read_claims,
    read_pairs,
    run_facts,
    stamped,
    stated_prior,
    write_queues,
    write_weights,
)
from crowdopt.io.schema import PLAN_TABLES, TableKind
from crowdopt.io.settings import BEYOND, RECORD, beyond, difficulty_table, overrides
from crowdopt.io.tables import Table, pair_ids, read_table

SAFE = "+-_.,:;/()[]@#!?&"  # beside letters and digits; anything else of an id is percent-encoded
TIMES, IS = "*", "="


def plain(name: str) -> str:
    """An id or a class as it stands in a cell: without blanks, ``=``, ``*`` and ``%``."""
    return quote(name, safe=SAFE)


def named(text: str) -> str:
    """The id or class that a cell names."""
    return unquote(text)


def counted(name: str, number: int) -> str:
    """``large``, ``small*2``; name: as :func:`plain` gives it."""
    return name if number == 1 else f"{name}{TIMES}{number}"


def votes_text(votes: Iterable[tuple[str, str, int]]) -> str:
    """Asker, class and number of votes, one after another."""
    return " ".join(counted(f"{plain(asker)}{IS}{plain(label)}", number) for asker, label, number in votes)


def read_counted(text: str) -> list[tuple[str, int]]:
    """The words of a cell and how many of each; ValueError where one is no number."""
    found = []
    for word in text.split():
        name, times, number = word.partition(TIMES)
        if times and not (number.isascii() and number.isdigit() and 1 <= int(number) <= 10**6):
            raise ValueError(f"{word} has no number of votes")
        found.append((name, int(number) if times else 1))
    return found


def read_votes(text: str, asker: Mapping[str, int], label: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Asker, class and number of votes by their places; ValueError where one is unknown."""
    found = []
    for word, number in read_counted(text):
        name, sign, said = word.partition(IS)
        if not sign or named(name) not in asker or named(said) not in label:
            raise ValueError(f"{word} is no vote of an asker of this plan")
        found.append((asker[named(name)], label[named(said)], number))
    return found


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


CASCADE = "cascade"  # program and method of an adaptive plan, in plan.json
POLICY = ("type", "round", "votes", "action", "what", "share", "tasks")
TYPES = ("type", "tasks", "target", "error", "expert", "dual")
LIMIT_ROWS = ("limit", "name", "dual")
WORKERS = ("worker", "asker", "load", "capacity", "dual")


def write_policy(
    plan: AdaptivePlan, folder: str | Path, *, force: bool = False, content: Content = MappingProxyType({})
) -> None:
    """Write an adaptive plan as a folder, whole or not at all; as :func:`crowdopt.write_plan` does."""
    if plan.pairs is None or plan.proof_of is None:
        raise ValueError(f"there is no plan to write: {plan.status.value}")
    with new_folder(Path(folder), PLAN, force) as new:
        if plan.order_of is None:
            _write_rows(plan, new)
        else:
            write_orders(plan, new)
        _write_types(plan, new)
        _write_workers(plan, new)
        _write_limits(plan.proof_of, new)
        write_csv(new / "assignment.csv", ["task", "worker"], pair_ids(plan.instance, plan.pairs))
        write_queues(plan.instance, plan.pairs, new, content)
        write_weights(plan.instance, plan.pairs, new)
        write_json(new / PLAN, policy_summary(plan))
        write_json(new / "run.json", run_facts(plan))


def policy_summary(plan: AdaptivePlan) -> dict[str, Any]:
    """The plan in numbers: all of it the same in two equal runs. Cost, labels and errors are expectations."""
    instance = plan.instance
    numbers: dict[str, Any] = {
        "title": instance.title,
        "status": plan.status.value if plan.times == 1 else BEST_EFFORT,
        "program": CASCADE,
        "proven": plan.proven,
        "proof": plan.proof,
        "objective": plan.objective,
        "bound": finite(plan.bound),
        "gap": finite(plan.gap),
        "labels": plan.calls,
        "cost": plan.objective,
        "first_round": None if plan.pairs is None else len(plan.pairs),
        "times_targets": plan.times,
        "rounds": plan.rounds,
        "expert": plan.expert,
        **instance_facts(instance),
        "method": CASCADE if plan.order_of is None else ORDERS,
        "backend": "highs-simplex",
        "seed": plan.seed,
    }
    numbers |= {key: True for key in ("given_votes", "each_task") if getattr(plan, key)}
    numbers |= _by_class(plan)
    if plan.step is not None:
        numbers["step"] = plan.step
    if plan.proof_of is not None and instance.budget is not None:
        numbers["budget_dual"] = plan.proof_of.budget
    if instance.has_prior:
        numbers["prior"] = stated_prior(instance)
    if instance.difficulty.share:
        numbers["difficulty"] = difficulty_table(instance.difficulty)
    if plan.note:
        numbers["note"] = plan.note
    numbers |= {key: said for key, said in ((RECORD, overrides(instance)), (BEYOND, beyond(instance))) if said}
    return stamped(numbers)


def _by_class(plan: AdaptivePlan) -> dict[str, Any]:
    """Limits by true class, their multipliers, and what is expected."""
    names = class_labels(plan.instance)
    limits = {name: limit for name, limit in zip(names, plan.class_error, strict=False) if np.isfinite(limit)}
    if not limits or plan.proof_of is None:
        return {"class_error": limits} if limits else {}
    dual = dict(zip(names, plan.proof_of.classes, strict=True))
    missed = dict(zip(names, plan.missed, strict=True))
    return {"class_error": limits, "class_dual": {name: dual[name] for name in limits}, "missed": missed}


def _write_rows(plan: AdaptivePlan, folder: Path) -> None:
    """policy.csv: what a share of the tasks of a type with these votes does next, and how many are expected to."""
    classes, askers = class_labels(plan.instance), plan.askers.names
    cells = [
        (
            plan.askers.kinds[row.kind],
            row.round,
            votes_text((askers[g], classes[k], number) for g, k, number in row.votes),
            row.action,
            _what_of(row, askers, classes),
            row.share,
            row.tasks,
        )
        for row in plan.rows
    ]
    write_csv(folder / "policy.csv", list(POLICY), list(zip(*cells, strict=True)))


def _what_of(row: PolicyRow, askers: tuple[str, ...], classes: tuple[str, ...]) -> str:
    if row.action == ASK:
        return " ".join(counted(plain(askers[g]), number) for g, number in enumerate(row.what) if number)
    return plain(classes[row.what[0]]) if row.action == ANSWER else ""


def _write_types(plan: AdaptivePlan, folder: Path) -> None:
    assert plan.proof_of is not None
    instance, kinds = plan.instance, plan.askers.kinds
    first = [int(np.flatnonzero(plan.askers.kind == t)[0]) for t in range(len(kinds))]
    count = np.bincount(plan.askers.kind, minlength=len(kinds))
    columns = [kinds, count, instance.epsilon[first], plan.errors, plan.to_expert, plan.proof_of.error]
    write_csv(folder / "types.csv", list(TYPES), columns)
    ids = instance.task_ids
    beside = [] if plan.order_of is None else [plan.order_of]
    tasks: list[Any] = [ids, [kinds[t] for t in plan.askers.kind.tolist()], *beside]
    write_csv(folder / "tasks.csv", ["task", "type", "order"][: len(tasks)], tasks)


def _write_workers(plan: AdaptivePlan, folder: Path) -> None:
    """workers.csv: the asker that each worker is one of, the labels expected of them, what a label more would save."""
    # Workers whose labels tell nothing are no askers.
    assert plan.proof_of is not None
    instance = plan.instance
    names, load, dual = [""] * instance.n_workers, np.zeros(instance.n_workers), np.zeros(instance.n_workers)
    for g, some in enumerate(plan.askers.workers):
        load[some], dual[some] = plan.loads[g] / some.size, plan.proof_of.capacity[g]
        for j in some.tolist():
            names[j] = plan.askers.names[g]
    ids = instance.worker_ids
    columns: list[Any] = [ids, names, load, instance.capacity, dual]
    write_csv(folder / "workers.csv", list(WORKERS), columns)


def _write_limits(proof: PolicyProof, folder: Path) -> None:
    if proof.limits:
        write_csv(folder / LIMITS, LIMIT_ROWS, list(zip(*proof.limits, strict=True)))


@dataclass(frozen=True, eq=False)
class StoredPolicy:
    """An adaptive plan as its folder has it; ``pairs`` (k, 2) are the first round's."""

    claims: dict[str, Any]
    policy: Table  # of orders: orders.csv
    types: Table
    tasks: Table
    workers: Table
    pairs: Ints
    folder: Path
    limits: Table | None = None  # multipliers of linear limits on labels
    steps: Table | None = None  # of orders: whom each asks, and when it stops


def _read(path: Path, columns: Sequence[str]) -> Table:
    return read_table(path, TableKind(",".join(columns)))


def is_policy(claims: dict[str, Any]) -> bool:
    """Whether plan.json is that of an adaptive plan."""
    return claims.get("program") == CASCADE


def read_policy(folder: str | Path, claims: dict[str, Any], instance: AssignmentInstance) -> StoredPolicy:
    """The tables of an adaptive plan; InputError at the first that cannot be read."""
    place, has_orders = Path(folder), claims.get("method") == ORDERS
    return StoredPolicy(
        claims=claims,
        policy=_read(place / ORDER_FILE, ORDER_ROWS) if has_orders else _read(place / "policy.csv", POLICY),
        types=_read(place / "types.csv", TYPES),
        tasks=_read(place / "tasks.csv", ("task", "type", "order") if has_orders else ("task", "type")),
        workers=_read(place / "workers.csv", WORKERS),
        pairs=read_pairs(place, instance)[0],
        folder=place,
        limits=_read(place / LIMITS, LIMIT_ROWS) if (place / LIMITS).exists() else None,
        steps=_read(place / STEP_FILE, ORDER_STEPS) if has_orders else None,
    )


def policy_rows(stored: StoredPolicy, instance: AssignmentInstance) -> list[PolicyRow]:
    """The rows of policy.csv by the places of types.csv's types and of workers.csv's askers; InputError for others."""
    kinds = places(stored.types["type"])
    asker = {name: g for g, name in enumerate(dict.fromkeys(filter(None, stored.workers["asker"])))}
    label = places(class_labels(instance))
    table, rounds, shares = stored.policy, stored.policy.counts("round"), stored.policy.numbers("share")
    tasks, found = stored.policy.numbers("tasks"), []
    for row in range(table.rows):
        action, text = table["action"][row], table["what"][row]
        try:
            votes = tuple(sorted(read_votes(table["votes"][row], asker, label)))
            what = _what(action, text, asker, label)
            kind = kinds[table["type"][row]]
        except (KeyError, ValueError) as error:
            raise table.error(row, "votes", f"cannot be read: {error}; solve the campaign again") from None
        found.append(PolicyRow(kind, int(rounds[row]), votes, action, what, float(shares[row]), float(tasks[row])))
    return found


def _what(action: str, text: str, asker: dict[str, int], label: dict[str, int]) -> tuple[int, ...]:
    if action == ANSWER:
        return (label[named(text)],)
    if action == EXPERT:
        return ()
    if action != ASK:
        raise ValueError(f"{shown(action)} is none of {ASK}, {ANSWER} and {EXPERT}")
    number = [0] * len(asker)
    for name, count in read_counted(text):
        number[asker[named(name)]] += count
    if not any(number):
        raise ValueError("it names neither a worker nor the expert to ask")
    return tuple(number)


ROWS = 100  # tasks or workers that are listed one by one
POINTS = 100  # of the curve of errors
PARTS = 10  # of a worker's capacity that are told apart where workers are not listed


def plan_overview(folder: str | Path) -> dict[str, Any]:
    """What a page of a plan shows.

    folder: a plan folder; -> ``claims``, as plan.json has them; ``tasks``, ``workers`` and ``pairs``, lists of rows,
    cut at ROWS tasks and workers; ``labels_per_task`` and ``use_of_capacity``, counts over all of them; ``busy`` and
    ``full`` workers; ``errors``, smallest, mean and largest; ``curve``, tasks at POINTS places of their order by error.
    """
    place = Path(folder)
    claims = read_claims(place)
    if is_policy(claims):
        raise InputError(
            f"{place} is an adaptive plan, which has no page; policy.csv has it all, and explain what it costs"
        )
    tasks, workers = read_table(place / "tasks.csv", PLAN_TABLES["tasks"]), _workers(place)
    given = read_table(place / "assignment.csv", PLAN_TABLES["assignment"])
    listed = set(tasks["task"][:ROWS])
    pairs = [pair for pair in zip(given["task"], given["worker"], strict=True) if pair[0] in listed]
    load, capacity = workers.numbers("load"), workers.numbers("capacity")
    error = tasks.numbers("exact_error" if "exact_error" in tasks else "error_bound")
    return {
        "claims": claims,
        "tasks": _rows(tasks, ("labels", "error_bound", "exact_error", "evidence", "need"), "task"),
        "workers": _rows(workers, ("load", "capacity", "dual"), "worker"),
        "pairs": [{"task": task, "worker": worker} for task, worker in pairs],
        "labels_per_task": _counted(tasks.numbers("labels")),
        "use_of_capacity": _used(load, capacity),
        "busy": int((load > 0).sum()),
        "full": int(((load > 0) & (load >= capacity - 1e-9)).sum()),
        "errors": {"least": float(error.min()), "mean": float(error.mean()), "most": float(error.max())},
        "curve": _curve(tasks["task"], error),
    }


def _curve(names: list[str], error: Floats) -> list[dict[str, Any]]:
    """Tasks in ascending order of error: all of them, or the first, the last and POINTS - 2 between."""
    order = np.argsort(error, kind="stable")
    places = np.unique(np.linspace(0, len(order) - 1, min(POINTS, len(order))).round().astype(int)).tolist()
    return [{"place": k + 1, "task": names[order[k]], "error": float(error[order[k]])} for k in places]


def _workers(place: Path) -> Table:
    return read_table(place / "workers.csv", PLAN_TABLES["workers"])


def _rows(table: Table, columns: tuple[str, ...], name: str) -> list[dict[str, Any]]:
    there = [column for column in columns if column in table and "" not in table[column]]
    values = {column: table.numbers(column)[:ROWS].tolist() for column in there}
    return [{name: one, **{column: values[column][k] for column in there}} for k, one in enumerate(table[name][:ROWS])]


def _counted(labels: Floats) -> list[dict[str, Any]]:
    size, count = np.unique(np.ceil(labels - 1e-9), return_counts=True)
    return [{"labels": int(a), "tasks": int(b)} for a, b in zip(size, count, strict=True)]


def _used(load: Floats, capacity: Floats) -> list[dict[str, Any]]:
    able = capacity > 0
    tenth = np.minimum(PARTS - 1, np.floor(PARTS * load[able] / capacity[able]).astype(int))
    count = np.bincount(tenth, minlength=PARTS)
    return [{"from": k / PARTS, "to": (k + 1) / PARTS, "workers": int(count[k])} for k in range(PARTS)]
