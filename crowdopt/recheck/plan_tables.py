"""The tables of a plan folder against what they must say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.plan.plan_folder import queue_files
from crowdopt.io.plan.stored_plan import StoredPlan
from crowdopt.io.plan.vote_table import EACH, ONE, class_names, votes_table, weights_table
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import QUEUE
from crowdopt.recheck.bounds.findings import Report

SAME = 1e-9  # relative; how far a stored number may be from the recomputed one


def check_tasks(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Labels, evidence, need and error bound of every task."""
    n = instance.n_tasks
    if not _same_ids(stored.tasks, "task", instance.task_ids, report):
        return
    evidence = instance.collected_evidence + instance.supply(stored.pairs, stored.amounts)
    wanted = {
        "labels": np.bincount(stored.pairs[:, 0], weights=stored.shares, minlength=n).astype(float),
        "evidence": evidence,
        "need": instance.need,
    }
    if not instance.the_rule.checked or stored.amounts is not None:  # else the exact errors stand there
        if "error_bound" not in stored.tasks:
            report.complain(stored.tasks.path.name, "the error that the rule guarantees of each task is missing")
            return
        wanted["error_bound"] = instance.error_bound(evidence)
    elif "error_bound" in stored.tasks:
        report.complain(stored.tasks.path.name, f"rule {instance.rule} goes by exact errors and has no error_bound")
    check_columns(stored.tasks, wanted, report)


def check_workers(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Load and capacity of every worker."""
    m = instance.n_workers
    if not _same_ids(stored.workers, "worker", instance.worker_ids, report):
        return
    loads = np.bincount(stored.pairs[:, 1], weights=stored.shares, minlength=m).astype(float)
    check_columns(stored.workers, {"load": loads, "capacity": instance.capacity.astype(np.float64)}, report)


def _same_ids(table: Table, column: str, wanted: list[str], report: Report) -> bool:
    if table[column] == wanted:
        return True
    report.complain(table.path.name, f"its {column}s are not those of the campaign, one row each and in order")
    return False


def check_columns(table: Table, wanted: dict[str, Floats], report: Report) -> None:
    """Complain of the first row of each column that is not the recomputed number, to SAME.

    table: as stored; wanted dict of (rows,) arrays: column -> what it must say.
    """
    for name, values in wanted.items():
        off = np.flatnonzero(np.abs(table.numbers(name) - values) > SAME * np.maximum(1.0, np.abs(values)))
        if off.size:
            row = int(off[0])
            report.problems.append(
                str(table.error(row, name, f"says {table[name][row]}, but it is {values[row].item()!r}"))
            )


def check_weights(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Every worker in the plan has the rule's weight for every type that they label, and nobody else has one.

    Weights of the same workers for other types, which older plans have, must be the rule's too.
    """
    one = instance.confusion is None
    table = weights_table(stored.folder) if one else votes_table(stored.folder)
    cells = _cells(instance, stored, table, (ONE if one else EACH).required[:-1])
    labelled = np.stack([stored.pairs[:, 1], instance.task_type[stored.pairs[:, 0]]], axis=1)
    votes = list(product(range(instance.classes), repeat=0 if one else 2))  # label and class
    needed = {(*cell, *vote) for cell in labelled.tolist() for vote in votes}
    if len(set(cells)) != len(cells) or not needed <= set(cells) or any(-1 in cell for cell in cells):
        what = "" if one else ", each label and class"
        report.complain(
            table.path.name,
            f"it must have one row for each worker in the plan and each type that they label{what}, and nobody else's",
        )
        return
    wanted = _weights_of(instance, np.array(cells, np.int64))
    given = table.numbers("weight")
    for row in np.flatnonzero(np.abs(given - wanted) > SAME * np.maximum(1.0, np.abs(wanted))).tolist():
        report.complain(
            table.path.name,
            f"worker {table['worker'][row]}, type {table['type'][row]} has {given[row].item()!r}, the rule says "
            f"{wanted[row].item()!r}",
        )


def _cells(
    instance: AssignmentInstance, stored: StoredPlan, table: Table, columns: Sequence[str]
) -> list[tuple[int, ...]]:
    """Each row's worker, type and, where there are such columns, label and class, by index; -1 for an unknown one."""
    names = {name: k for k, name in enumerate(class_names(instance))}
    known: dict[str, dict[str, int]] = {
        "worker": {instance.worker_id(j): j for j in np.unique(stored.pairs[:, 1]).tolist()},
        "type": {instance.type_id(k): k for k in range(instance.n_types)},
        "label": names,
        "class": names,
    }
    places = [[known[name].get(text, -1) for text in table[name]] for name in columns]
    return list(zip(*places, strict=True))


def _weights_of(instance: AssignmentInstance, cells: Ints) -> Floats:
    if instance.confusion is None:
        worker, kind = cells.reshape(-1, 2).T
        return instance.weight[kind, worker]
    worker, kind, label, true = cells.reshape(-1, 4).T
    return np.asarray(np.log(instance.confusion[kind, worker, true, label]))


def check_queues(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Every worker in the plan has a list of exactly their tasks, and nobody else has one."""
    folder = stored.folder / "queues"
    wanted: dict[str, list[str]] = {}
    names = queue_files(instance.worker_ids)
    for task, worker in stored.pairs.tolist():
        wanted.setdefault(names[worker], []).append(instance.task_id(task))
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else set()
    for name in sorted(there ^ wanted.keys()):
        report.complain(f"queues/{name}", "is missing" if name in wanted else "belongs to no worker in the plan")
    for name in sorted(there & wanted.keys()):
        if sorted(read_table(folder / name, QUEUE)["task"]) != sorted(wanted[name]):
            report.complain(f"queues/{name}", "does not list the worker's tasks in assignment.csv")
