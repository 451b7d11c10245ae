"""Campaigns in parts that a recipe draws, or that an instance is taken apart into."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt import jobs
from crowdopt.api.binding import AnyPath
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import item_recipe, recipe
from crowdopt.crowd.subset import of_tasks, own_accuracies
from crowdopt.errors import InputError
from crowdopt.io.parts.part_table import arrow, write_part
from crowdopt.io.parts.parts_folder import PARTS, PartsFolder, read_parts_folder, write_shared
from crowdopt.io.tables.folder import CAMPAIGN, new_folder

ITEMS = re.compile(r"I([1-9]\d{0,2}):([1-9]\d{0,10})x([1-9]\d{0,5})")


def generate_parts(
    name: str,
    seed: int = 0,
    *,
    parts: int,
    output: AnyPath,
    priced: bool = False,
    epsilon: float | None = None,
    processes: int = 0,
    force: bool = False,
) -> PartsFolder:
    """Draw a campaign in parts: I<features> part by part, each by itself and of 32 bits; other recipes taken apart.

    name: such as ``I8:2000000x50``.
    parts: how many files; at most one for each task.
    output: folder to write.
    priced: as for :func:`crowdopt.api.generate.generate`; items always have prices.
    epsilon: error target, in place of the recipe's.
    processes: that draw items; 0 draws them in this one. The files do not depend on it.
    force: whether what is there may be replaced.
    """
    items = ITEMS.fullmatch(name)
    if items is None:
        instance = recipe(name, seed, priced=priced)
        return take_apart(_aimed(instance, epsilon), parts=parts, output=output, force=force)
    features, n, m = (int(number) for number in items.groups())
    bounds = _bounds(n, parts)
    with new_folder(Path(output), CAMPAIGN, force) as new:
        first = _aimed(item_recipe(name, features, n, m, seed, 0, 1), epsilon)
        write_shared(first, new)
        stated = float(first.epsilon[0])
        one = {"name": name, "seed": seed, "folder": str(new / PARTS), "parts": parts, "stated": stated}
        drawn = [jobs.Job.of(draw_part, **one, place=place) for place in range(len(bounds) - 1)]
        failed = [row.error for row in jobs.run(drawn, processes=processes, title="parts") if row.error is not None]
        if failed:
            raise InputError(f"the parts cannot be drawn: {failed[0]}")
    return read_parts_folder(output)


def draw_part(name: str, seed: int, folder: str, parts: int, place: int, stated: float) -> int:
    """Draw the items of one part, ``place`` of ``parts``, of an items recipe and write them; how many they are."""
    items = ITEMS.fullmatch(name)
    assert items is not None
    features, n, m = (int(number) for number in items.groups())
    bounds = _bounds(n, parts)
    part = slice(bounds[place], bounds[place + 1])
    instance = item_recipe(name, features, n, m, seed, place, part.stop - part.start).with_epsilon(stated)
    write_part(Path(folder) / part_name(place, parts), instance, _numbers(part), stated, single=True)
    return instance.n_tasks


def take_apart(instance: AssignmentInstance, *, parts: int, output: AnyPath, force: bool = False) -> PartsFolder:
    """Write an instance with accuracies per task, or types, as a campaign in parts, tasks in their order."""
    _refuse_more(instance)
    typed = bool(np.unique(instance.task_type).size < instance.n_tasks)
    types = [instance.type_id(kind) for kind in range(instance.n_types)] if typed else []
    bounds = _bounds(instance.n_tasks, parts)
    stated = instance.one_target
    with new_folder(Path(output), CAMPAIGN, force) as new:
        write_shared(instance, new, types)
        for place in range(parts):
            some = np.arange(bounds[place], bounds[place + 1])
            ids = [instance.task_id(i) for i in some.tolist()]
            tasks = of_tasks(instance, some) if typed else own_accuracies(instance, some)
            write_part(new / PARTS / part_name(place, parts), tasks, ids, stated, typed)
    return read_parts_folder(output)


def _refuse_more(instance: AssignmentInstance) -> None:
    """A part has accuracies or types, targets or needs, forbidden and fixed pairs, and nothing else."""
    bare = AssignmentInstance(
        instance.accuracy, instance.task_type, instance.capacity, instance.epsilon, rule=instance.rule
    )
    for name in ("min_labels", "max_labels", "min_load", "collected", "prior"):
        if not np.array_equal(getattr(instance, name), getattr(bare, name)):
            raise InputError(f"a campaign in parts has no {name}; leave it out, or solve it as one campaign")
    if instance.classes != 2 or instance.groups or instance.own_rows is not None or instance.budget is not None:
        raise InputError("a campaign in parts has two classes, no groups, own rows or budget; leave them out")
    if (instance.cost != instance.cost[0]).any():
        raise InputError("a campaign in parts has one price for each worker; leave prices per type out")


def part_name(place: int, parts: int) -> str:
    """The name of a part's file: names sort as places do."""
    return f"part-{place:0{len(str(max(1, parts - 1)))}d}.parquet"


def _aimed(instance: AssignmentInstance, epsilon: float | None) -> AssignmentInstance:
    return instance if epsilon is None else instance.with_epsilon(epsilon)


def _bounds(n: int, parts: int) -> list[int]:
    if not 1 <= parts <= n:
        raise InputError(f"{n} tasks cannot be taken apart into {parts} parts; ask for 1 to {n}")
    return [n * place // parts for place in range(parts + 1)]


def _numbers(part: slice) -> Any:
    pyarrow, _, _ = arrow()
    return pyarrow.array(np.arange(part.start, part.stop)).cast("string")
