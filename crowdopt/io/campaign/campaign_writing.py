"""An instance as a campaign folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Ints
from crowdopt.crowd.instance import PAIRS, UNLIMITED, AssignmentInstance
from crowdopt.errors import InputError, public
from crowdopt.io.campaign import archive
from crowdopt.io.campaign.campaign_settings import settings_text
from crowdopt.io.campaign.own_rows import write_groups, write_rows
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import CAMPAIGN, new_folder
from crowdopt.io.tables.label_table import pair_ids


@public
def write_campaign(
    instance: AssignmentInstance,
    folder: str | Path,
    *,
    force: bool = False,
    gold: tuple[Ints, Ints] | Mapping[str, Sequence[str]] | None = None,
    gold_source: str | None = None,
    trust_gold: bool = False,
    collected_labels: Sequence[str] = (),
) -> None:
    """Write an instance as a campaign folder, or as an archive where the name ends in ``.npz``.

    Parameters
    ----------
    instance : AssignmentInstance
    folder : path
    force : bool
        Whether what is there may be replaced.
    gold : (correct, asked), each (types, workers) int, or columns by name, optional
        Written as gold.csv in place of the accuracies: tallies, or answers: worker, task, label, truth[, type].
    gold_source : str, optional
        What the tallies were counted against, in words.
    trust_gold : bool
        Whether the campaign says that its gold is to be taken as it is.
    collected_labels : sequence of str
        The labels of ``instance.collected``, needed where there are any.

    Raises
    ------
    InputError
        If the target exists and is not forced, cannot be written, or the instance is no campaign (its demand is not 1).
    """
    path = Path(folder)
    if path.suffix == ".npz":
        archive.write_archive(instance, path, force)
        return
    if (instance.demand != 1).any():
        raise InputError("a campaign covers its whole need; an instance with another demand cannot be written as one")
    if instance.prior.ndim > 1:
        raise InputError("an instance with a prior per task cannot be written as a campaign; give one prior for all")
    if instance.confusion is not None:
        raise InputError("confusion tables stand in no table of a campaign; write an .npz archive")
    if len(collected_labels) != len(instance.collected):
        raise InputError("the labels already in must be given, one for each collected pair")
    with new_folder(path, CAMPAIGN, force) as new:
        text = settings_text(instance, gold_source, trust_gold)
        (new / "campaign.toml").write_text(text, encoding="utf-8", newline="\n")
        _write_tasks(instance, new)
        _write_workers(instance, new)
        _write_skills(instance, new, gold)
        write_groups(instance, new)
        write_rows(instance, new)
        for name in PAIRS:
            pairs = getattr(instance, name)
            labels = {"label": collected_labels} if name == "collected" else {}
            if len(pairs):
                columns = [*pair_ids(instance, pairs), *labels.values()]
                write_csv(new / f"{name}.csv", ["task", "worker", *labels], columns)


def _write_tasks(instance: AssignmentInstance, folder: Path) -> None:
    columns: dict[str, Any] = {"task": instance.task_ids}
    if instance.n_types > 1 or instance.types is not None:
        columns["type"] = [instance.type_id(int(kind)) for kind in instance.task_type]
    if (instance.epsilon != instance.epsilon[0]).any():
        columns["epsilon"] = instance.epsilon
    if (instance.min_labels > 0).any():
        columns["min_labels"] = instance.min_labels
    if (instance.max_labels < UNLIMITED).any():
        columns["max_labels"] = ["" if most == UNLIMITED else most for most in instance.max_labels.tolist()]
    write_csv(folder / "tasks.csv", list(columns), columns.values())


def _write_workers(instance: AssignmentInstance, folder: Path) -> None:
    names = instance.worker_ids
    columns: dict[str, Any] = {"worker": names, "capacity": instance.capacity}
    same = bool((instance.cost == instance.cost[0]).all())
    if same and (instance.cost != 1).any():
        columns["price"] = instance.cost[0]
    if (instance.min_load > 0).any():
        columns["min_tasks"] = instance.min_load
    write_csv(folder / "workers.csv", list(columns), columns.values())
    if not same:
        write_csv(folder / "prices.csv", ["worker", "type", "price"], by_cell(instance, instance.cost))


def _write_skills(
    instance: AssignmentInstance, folder: Path, gold: tuple[Any, Any] | Mapping[str, Sequence[str]] | None
) -> None:
    if isinstance(gold, Mapping):
        write_csv(folder / "gold.csv", list(gold), gold.values())
        return
    typed = instance.n_types > 1 or instance.types is not None
    keep = slice(None) if typed else slice(0, None, 2)
    header = ["worker", "type"] if typed else ["worker"]
    if gold is None:
        columns = by_cell(instance, instance.accuracy)
        write_csv(folder / "skills.csv", [*header, "accuracy"], [*columns[:2][keep], *columns[2:]])
    else:
        columns = by_cell(instance, *gold)
        write_csv(folder / "gold.csv", [*header, "correct", "asked"], [*columns[:2][keep], *columns[2:]])


def by_cell(instance: AssignmentInstance, *tables: NDArray[Any]) -> list[Any]:
    """Worker and type of each cell, and what these tables (types, workers) have there."""
    kinds = np.unique(instance.task_type).tolist()  # a type without tasks would be unknown to the reader
    workers = range(instance.n_workers)
    names = [instance.worker_id(j) for j in workers for _ in kinds]
    types = [instance.type_id(kind) for _ in workers for kind in kinds]
    return [names, types, *(table[kinds].T.reshape(-1) for table in tables)]
