"""weights.csv of a plan: what each label counts in the vote, written and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.cells import write_csv
from crowdopt.io.tables import Table, read_table

WEIGHTS = "weights.csv"
ONE, EACH = ("worker", "type", "weight"), ("worker", "type", "label", "class", "weight")  # columns


def write_weights(instance: AssignmentInstance, workers: Ints, folder: Path) -> None:
    """Vote weights of workers for every type of a task, as the rule requires them.

    With confusion tables a label counts for every class: ``ln P(label | class)``.

    Parameters
    ----------
    instance : AssignmentInstance
    workers : (k,) int
        Those in the plan.
    folder : Path
        Of the plan.
    """
    kinds, header = np.unique(instance.task_type), list(ONE)
    places: list[tuple[int, ...]] = [(kind, j) for j in workers.tolist() for kind in kinds.tolist()]
    values = instance.weight[kinds].T[workers].reshape(-1)
    if instance.votes is not None:
        header, every = list(EACH), range(instance.classes)
        places = [(*place, label, k) for place in places for label in every for k in every]
        values = instance.votes[kinds].swapaxes(0, 1)[workers].reshape(-1)
    names = class_names(instance)
    columns = [[instance.worker_id(place[1]) for place in places], [instance.type_id(place[0]) for place in places]]
    columns += [[names[place[k]] for place in places] for k in range(2, len(header) - 1)]
    write_csv(folder / WEIGHTS, header, [*columns, values])


def class_names(instance: AssignmentInstance) -> tuple[str, ...]:
    """What a plan calls the classes."""
    return tuple(instance.class_names or map(str, range(instance.classes)))


def read_weights(folder: str | Path, instance: AssignmentInstance) -> Floats:
    """Vote weights: the plan's, and the rule's own for workers of whom it knows nothing.

    Parameters
    ----------
    folder : path
        Of the plan.
    instance : AssignmentInstance
        The campaign.

    Returns
    -------
    (types, workers) float

    Raises
    ------
    InputError
        If the plan's table cannot be used, or names an unknown type or worker.
    """
    table = weights_table(folder)
    kinds = {instance.type_id(k): k for k in range(instance.n_types)}
    workers = {instance.worker_id(j): j for j in range(instance.n_workers)}
    weight = instance.weight.copy()
    cell = table.places("type", kinds, "no task is of that type"), table.places("worker", workers, "it is unknown")
    weight[cell] = table.numbers("weight")
    return weight


def weights_table(folder: str | Path) -> Table:
    """weights.csv as it stands."""
    return read_table(Path(folder) / WEIGHTS, ONE)


def votes_table(folder: str | Path) -> Table:
    """weights.csv of a plan with confusion tables, as it stands."""
    return read_table(Path(folder) / WEIGHTS, EACH)


def read_votes(folder: str | Path, instance: AssignmentInstance) -> Floats:
    """Votes by label and class: the plan's, and the rule's own for workers of whom it knows nothing.

    Parameters
    ----------
    folder : path
        Of the plan.
    instance : AssignmentInstance
        The campaign, with confusion tables.

    Returns
    -------
    (types, workers, labels, classes) float

    Raises
    ------
    InputError
        If the plan's table cannot be used, or names an unknown type, worker or class.
    """
    if instance.votes is None:
        raise InputError("the campaign has no confusion tables, so labels do not vote by class")
    table, votes = votes_table(folder), instance.votes.copy()
    kinds = {instance.type_id(k): k for k in range(instance.n_types)}
    workers = {instance.worker_id(j): j for j in range(instance.n_workers)}
    names = {name: k for k, name in enumerate(class_names(instance))}
    cell = table.places("type", kinds, "no task is of that type"), table.places("worker", workers, "it is unknown")
    what = "it is no class of the campaign"
    votes[(*cell, table.places("label", names, what), table.places("class", names, what))] = table.numbers("weight")
    return votes
