"""A campaign whose tasks lie in parts: settings and workers beside a folder of Parquet files.

::

    campaign.toml       epsilon, rule, title
    workers.csv         worker,capacity[,price]
    skills.csv          worker,type,accuracy: only where parts have a column type
    parts/*.parquet     task, then a column for each worker or a column type; [epsilon] or [need], [forbidden], [fixed]

Tasks stay where they are: nothing here reads more of a part than its footer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR, RULES, rule_named
from crowdopt.documents import TEXT, Keys, number, read_toml
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_settings import settings_text
from crowdopt.io.campaign.campaign_skills import filled
from crowdopt.io.campaign.campaign_tables import Ids, needed_table, optional_table
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import CAMPAIGN

PARTS, PARQUET = "parts", "*.parquet"
SETTINGS = Keys(optional={"epsilon": number("a number between 0 and 0.5"), "rule": TEXT, "title": TEXT})
OWN = ("task", "type", "epsilon", "need", "forbidden", "fixed")  # columns of a part that are no worker's


@dataclass(frozen=True, eq=False)
class PartsFolder:
    """What all parts share, and their names."""

    folder: Path
    parts: tuple[str, ...]  # names of the Parquet files, sorted: their order in every sum
    settings: dict[str, Any]  # of campaign.toml
    workers: tuple[str, ...]  # ids
    capacity: Ints  # (workers,): M
    price: Floats  # (workers,): what a label is paid
    types: tuple[str, ...] = ()  # ids; none where tasks have accuracies of their own
    skills: Floats | None = None  # (types, workers): accuracies where tasks have types

    def path(self, part: str) -> Path:
        """Where a part lies."""
        return self.folder / PARTS / part

    @property
    def stated(self) -> str:
        """The evidence rule's name."""
        return str(self.settings.get("rule", EXACT_ERROR.name))

    @property
    def rule(self) -> str:
        """The rule by which parts are solved: the linear one that implies the one stated where that is none."""
        return rule_named(self.stated).implied_by or self.stated

    @property
    def promise(self) -> str | None:
        """The rule stated, where parts are solved by another one that implies it."""
        return None if self.stated == self.rule else self.stated

    @cached_property
    def stamp(self) -> str:
        """A name for exactly these files as they are now: sizes and times of the parts, contents of what is small."""
        text = [[part, *_state(self.path(part))] for part in self.parts]
        small = [(self.folder / name) for name in (CAMPAIGN, "workers.csv", "skills.csv")]
        return sha256(repr([text, [path.read_bytes() for path in small if path.exists()]]).encode()).hexdigest()[:24]


def is_in_parts(path: str | Path) -> bool:
    """Whether this names a campaign in parts: its folder, or a glob such as ``big/parts/2026-*.parquet``."""
    place = Path(path)
    return (place / PARTS).is_dir() or ("*" in place.name and place.parent.name == PARTS)


def read_parts_folder(path: str | Path) -> PartsFolder:
    """Read what all parts share; the parts themselves are only named.

    path: the folder, or a glob of the parts that are meant.
    """
    place, pattern = Path(path), PARQUET
    if "*" in place.name:
        place, pattern = place.parent.parent, place.name
    names = tuple(sorted(found.name for found in (place / PARTS).glob(pattern)))
    if not names:
        raise InputError(f"there is no part {pattern} in {place / PARTS}; `crowdopt generate --parts` writes some")
    return _shared(place, names)


@lru_cache(maxsize=4)
def known_folder(folder: str, stamp: str) -> PartsFolder:
    """What all parts share, for all who work on one of them: read once in a process for each ``stamp`` of it."""
    return _shared(Path(folder), ())


def _shared(place: Path, names: tuple[str, ...]) -> PartsFolder:
    toml = place / CAMPAIGN
    if not toml.exists():
        raise InputError(f"there is no {CAMPAIGN} in {place}; it needs at least a line such as epsilon = 0.05")
    settings: dict[str, Any] = read_toml(toml, SETTINGS)
    table = needed_table(place, "workers")
    workers = table.unique_ids("worker")
    if not workers:
        raise InputError(f"{table.path.name} has a header but no rows; a campaign needs workers")
    if "min_tasks" in table:
        raise InputError(f"{table.path.name}: a campaign in parts has no min_tasks; drop the column")
    taken = next((row for row, worker in enumerate(workers) if worker in OWN), None)
    if taken is not None:
        raise table.error(taken, "worker", f"{workers[taken]!r} names a column of the parts; choose another id")
    skills = optional_table(place, "skills")
    kinds = [] if skills is None else list(dict.fromkeys(skills.ids("type"))) if "type" in skills else ["all"]
    folder = PartsFolder(
        folder=place,
        parts=names,
        settings=settings,
        workers=tuple(workers),
        capacity=table.counts("capacity"),
        price=table.numbers("price") if "price" in table else np.ones(len(workers)),
        types=tuple(kinds),
        skills=None if skills is None else filled(skills, skills.numbers("accuracy"), Ids([], workers, kinds)),
    )
    if rule_named(folder.rule).checked:
        held = ", ".join(name for name, one in RULES.items() if not one.checked or one.implied_by)
        raise InputError(
            f"{toml.name}: rule {folder.rule} needs votes checked, which parts are not; choose one of {held}"
        )
    return folder


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def write_shared(instance: AssignmentInstance, folder: Path, types: Sequence[str] = ()) -> None:
    """Write campaign.toml, workers.csv and, for some types, skills.csv into a new folder.

    instance: any one with the settings, workers, capacities and prices of the whole; types: ids of its rows of
    accuracy, where tasks have types.
    """
    workers = instance.worker_ids
    columns: dict[str, Any] = {"worker": workers, "capacity": instance.capacity}
    if (instance.cost != 1).any():
        columns["price"] = instance.cost[0]
    (folder / CAMPAIGN).write_text(settings_text(instance, None), encoding="utf-8", newline="\n")
    write_csv(folder / "workers.csv", list(columns), columns.values())
    if types:
        cells = [(worker, kind) for kind in types for worker in workers]
        write_csv(
            folder / "skills.csv",
            ["worker", "type", "accuracy"],
            [*zip(*cells, strict=True), instance.accuracy.ravel()],
        )
    (folder / PARTS).mkdir()
