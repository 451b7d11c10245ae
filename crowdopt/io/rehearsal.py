"""Simulated labels of a plan, as the table that would come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.recipes import simulated_labels
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_with_labels
from crowdopt.io.folder import check_target
from crowdopt.io.tables import read_table, write_csv


def write_rehearsal(
    campaign: str | Path,
    plan: str | Path,
    output: str | Path,
    truth: str | Path | None,
    seed: int,
    lost: float,
    force: bool,
) -> int:
    """Draw labels for a plan's pairs by the campaign's skills and write them; returns their number.

    Parameters
    ----------
    truth : path, optional
        Where the drawn truth is written; a table that is there already is read instead, for a second round.
    lost : float
        Share of the labels that do not come.
    """
    check_target(Path(output), None, force)
    known = read_with_labels(campaign)
    instance, names = known.instance, known.class_names()
    table = read_table(Path(plan) / "assignment.csv", ("task", "worker"), ("value",))
    task = {instance.task_id(i): i for i in range(instance.n_tasks)}
    worker = {instance.worker_id(j): j for j in range(instance.n_workers)}
    remedy = "it is not in the campaign"
    pairs = np.column_stack([table.places("task", task, remedy), table.places("worker", worker, remedy)])
    rng = np.random.default_rng(seed)
    given = None if truth is None or not Path(truth).exists() else _truth(Path(truth), task, names)
    true, label = simulated_labels(instance, pairs, rng, given)
    here = np.flatnonzero(rng.random(len(pairs)) >= lost)
    columns = [[table["task"][k] for k in here], [table["worker"][k] for k in here], [names[k] for k in label[here]]]
    _write(Path(output), ["task", "worker", "label"], columns)
    if truth is not None and given is None:
        _write(Path(truth), ["task", "label"], [list(task), [names[k] for k in true]])
    return int(here.size)


def _truth(path: Path, task: dict[str, int], names: tuple[str, ...]) -> Ints:
    table = read_table(path, ("task", "label"))
    place = table.places("task", task, "it is not in the campaign")
    known = {name: k for k, name in enumerate(names)}
    truth = np.full(len(task), -1)
    truth[place] = table.places("label", known, "it is no class of the campaign")
    if (truth < 0).any():
        raise InputError(f"{path.name} has no row for {int((truth < 0).sum())} of the campaign's tasks; write it anew")
    return truth


def _write(path: Path, header: list[str], columns: list[list[str]]) -> None:
    temporary = path.with_name(f".{path.name}.partial")
    try:
        write_csv(temporary, header, columns)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; choose another place") from None
