"""weights.csv of a plan: what each label counts in the vote, written and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import class_votes
from crowdopt.errors import InputError
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import PLAN_TABLES

WEIGHTS = "weights.csv"
ONE, EACH = PLAN_TABLES["weights"], PLAN_TABLES["weights by class"]


def write_weights(instance: AssignmentInstance, pairs: Ints, folder: Path) -> None:
    """Vote weights of workers for the types that they label, as the rule requires them.

    With confusion tables a label counts for every class: ``ln P(label | class)``. A label that was not planned counts
    by the campaign, so no other cell is needed: of tasks that each are a type there may be millions.
    """
    worker, kind = _cells(instance, pairs).T
    columns: list[list[str]] = [
        [instance.worker_id(j) for j in worker.tolist()],
        [instance.type_id(k) for k in kind.tolist()],
    ]
    if instance.confusion is None:
        write_csv(folder / WEIGHTS, ONE.required, [*columns, instance.weight[kind, worker]])
        return
    names, m = class_names(instance), instance.classes
    columns = [[name for name in column for _ in range(m * m)] for column in columns]
    label, truth = [name for name in names for _ in range(m)] * worker.size, list(names) * (m * worker.size)
    votes = class_votes(instance.confusion[kind, worker]).reshape(-1)
    write_csv(folder / WEIGHTS, EACH.required, [*columns, label, truth, votes])


def _cells(instance: AssignmentInstance, pairs: Ints) -> Ints:
    """Worker and type of the votes of a plan, each once, in the order of workers, (cells, 2) int."""
    return np.unique(np.stack([pairs[:, 1], instance.task_type[pairs[:, 0]]], axis=1), axis=0)


def class_names(instance: AssignmentInstance) -> tuple[str, ...]:
    """What a plan calls the classes."""
    return tuple(instance.class_names or map(str, range(instance.classes)))


def read_weights(folder: str | Path, instance: AssignmentInstance) -> Floats:
    """Vote weights: the plan's, and the rule's own for workers and types of which it says nothing.

    -> (types, workers).
    """
    table = weights_table(folder)
    weight = instance.weight.copy()
    weight[_cells_of(table, instance)] = table.numbers("weight")
    return weight


def _cells_of(table: Table, instance: AssignmentInstance) -> tuple[Ints, Ints]:
    kinds = map(instance.type_id, range(instance.n_types))
    workers = table.places("worker", instance.worker_places, "it is unknown")
    return table.places("type", kinds, "no task is of that type"), workers


def weights_table(folder: str | Path) -> Table:
    """weights.csv as it stands."""
    return read_table(Path(folder) / WEIGHTS, ONE)


def votes_table(folder: str | Path) -> Table:
    """weights.csv of a plan with confusion tables, as it stands."""
    return read_table(Path(folder) / WEIGHTS, EACH)


def read_votes(folder: str | Path, instance: AssignmentInstance) -> Floats:
    """Votes by label and class: the plan's, and the rule's own for workers and types of which it says nothing.

    instance: the campaign, with confusion tables; -> (types, workers, labels, classes).
    """
    if instance.confusion is None:
        raise InputError("the campaign has no confusion tables, so labels do not vote by class")
    table, votes = votes_table(folder), class_votes(instance.confusion)
    names, what = class_names(instance), "it is no class of the campaign"
    label, true = (table.places(column, names, what) for column in ("label", "class"))
    votes[(*_cells_of(table, instance), label, true)] = table.numbers("weight")
    return votes
