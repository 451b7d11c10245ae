"""The tables of a plan folder against what they must say."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.queue_names import queue_files
from crowdopt.io.stored_plan import StoredPlan
from crowdopt.io.tables import Table, read_table
from crowdopt.io.vote_table import EACH, ONE, class_names, votes_table, weights_table
from crowdopt.recheck.findings import Report

SAME = 1e-9  # relative; how far a stored number may be from the recomputed one


def check_tasks(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Labels, evidence, need and error bound of every task."""
    n = instance.n_tasks
    if not _same_ids(stored.tasks, "task", [instance.task_id(i) for i in range(n)], report):
        return
    evidence = instance.collected_evidence + instance.supply(stored.pairs, stored.amounts)
    wanted = {
        "labels": np.bincount(stored.pairs[:, 0], weights=stored.shares, minlength=n).astype(float),
        "evidence": evidence,
        "need": instance.need,
        "error_bound": instance.error_bound(evidence),
    }
    check_columns(stored.tasks, wanted, report)


def check_workers(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Load and capacity of every worker."""
    m = instance.n_workers
    if not _same_ids(stored.workers, "worker", [instance.worker_id(j) for j in range(m)], report):
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

    Parameters
    ----------
    table : Table
        As stored.
    wanted : dict of (rows,) arrays
        Column -> what it must say.
    report : Report
        Takes the complaints.
    """
    for name, values in wanted.items():
        off = np.flatnonzero(np.abs(table.numbers(name) - values) > SAME * np.maximum(1.0, np.abs(values)))
        if off.size:
            row = int(off[0])
            report.problems.append(
                str(table.error(row, name, f"says {table[name][row]}, but it is {values[row].item()!r}"))
            )


def check_weights(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Every worker in the plan has the rule's weight for every type of a task, and nobody else has one."""
    table = weights_table(stored.folder) if instance.confusion is None else votes_table(stored.folder)
    wanted = _weights(instance, np.unique(stored.pairs[:, 1]).tolist())
    key = [table[name] for name in (ONE if instance.confusion is None else EACH)[:-1]]
    given = dict(zip(zip(*key, strict=True), table.numbers("weight").tolist(), strict=True))
    if given.keys() != wanted.keys() or len(given) != table.rows:
        what = "" if instance.confusion is None else ", each label and class"
        report.complain(
            table.path.name, f"it must have one row for each type and each worker in the plan{what}, no other"
        )
        return
    for cell, weight in wanted.items():
        if abs(given[cell] - weight) > SAME * max(1.0, abs(weight)):
            report.complain(
                table.path.name,
                f"worker {cell[0]}, type {cell[1]} has {given[cell]!r}, the rule says {weight!r}",
            )


def _weights(instance: AssignmentInstance, workers: list[int]) -> dict[tuple[str, ...], float]:
    """What the vote of these workers has to weigh, by the columns of weights.csv: from the rule, or the tables."""
    kinds, every = np.unique(instance.task_type).tolist(), range(instance.classes)
    ids = {(j, kind): (instance.worker_id(j), instance.type_id(kind)) for j in workers for kind in kinds}
    if instance.confusion is None:
        return {key: float(instance.weight[kind, j]) for (j, kind), key in ids.items()}
    names = class_names(instance)
    said = np.log(instance.confusion)
    return {
        (*key, names[label], names[k]): float(said[kind, j, k, label])
        for (j, kind), key in ids.items()
        for label in every
        for k in every
    }


def check_queues(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> None:
    """Every worker in the plan has a list of exactly their tasks, and nobody else has one."""
    folder = stored.folder / "queues"
    wanted: dict[str, list[str]] = {}
    names = queue_files([instance.worker_id(j) for j in range(instance.n_workers)])
    for task, worker in stored.pairs.tolist():
        wanted.setdefault(names[worker], []).append(instance.task_id(task))
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else set()
    for name in sorted(there ^ wanted.keys()):
        report.complain(f"queues/{name}", "is missing" if name in wanted else "belongs to no worker in the plan")
    for name in sorted(there & wanted.keys()):
        if sorted(read_table(folder / name, ("task",))["task"]) != sorted(wanted[name]):
            report.complain(f"queues/{name}", "does not list the worker's tasks in assignment.csv")
