"""A campaign from tables at hand, and a plan that was written, read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import quoted
from crowdopt.errors import InputError, public
from crowdopt.files import write_text
from crowdopt.io.campaign import read_campaign
from crowdopt.io.cells import TableLike, cells_at_hand, cells_of, is_frame, write_csv
from crowdopt.io.folders import CAMPAIGN, new_folder
from crowdopt.io.plan import read_claims, read_pairs
from crowdopt.io.settings import RECORD, overridden
from crowdopt.notebooks import InFrames
from crowdopt.verbs.binding import AnyPath, InstanceLike, instance_of


@public
def campaign(
    *,
    tasks: TableLike,
    workers: TableLike,
    gold: TableLike | None = None,
    skills: TableLike | None = None,
    prices: TableLike | None = None,
    forbidden: TableLike | None = None,
    fixed: TableLike | None = None,
    collected: TableLike | None = None,
    groups: TableLike | None = None,
    rows: TableLike | None = None,
    trust_gold: bool = False,
    output: AnyPath | None = None,
    force: bool = False,
    **settings: Any,
) -> AssignmentInstance:
    """A campaign from tables, each a file, a frame or columns by name: as from a folder of them.

    Parameters
    ----------
    tasks, workers, gold, skills, prices, forbidden, fixed, collected, groups, rows : path or frame
        As a campaign's folder has them; tasks, workers, and one of gold and skills are needed.
    trust_gold : bool
        Take gold as it is, below chance too.
    output : path, optional
        Folder to write the campaign to.
    force : bool
        Replace it if it exists.
    **settings
        Keys of campaign.toml: ``epsilon=.05``, ``classes=["cat", "dog"]``.

    Returns
    -------
    AssignmentInstance

    Raises
    ------
    InputError
        If a table or a setting cannot be used; the message names it as a folder's file.
    """
    given = {"tasks": tasks, "workers": workers, "gold": gold, "skills": skills, "prices": prices, "rows": rows}
    given |= {"forbidden": forbidden, "fixed": fixed, "collected": collected, "groups": groups}
    with TemporaryDirectory() if output is None else new_folder(Path(output), CAMPAIGN, force) as place:
        for name, table in given.items():
            if table is not None:
                header, columns, _ = cells_at_hand(table) if is_frame(table) else cells_of(Path(str(table)))  # type: ignore[arg-type]
                write_csv(Path(place) / f"{name}.csv", header, columns)
        write_text(Path(place) / CAMPAIGN, "".join(f"{key} = {_toml(key, value)}\n" for key, value in settings.items()))
        return read_campaign(place, trust_gold=trust_gold)


def _toml(key: str, value: Any) -> str:
    """A value as campaign.toml has it."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{quoted(str(name))} = {_toml(key, one)}' for name, one in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(key, one) for one in value)}]"
    if not isinstance(value, int | float):
        raise InputError(f"{key} must be a number, text, a list or a mapping of these, not {type(value).__name__}")
    return repr(value)


@dataclass(frozen=True, eq=False)
class WrittenPlan(InFrames):
    """A plan of pairs as its folder has it, or the first round of an adaptive one; ``verify`` says whether it holds.

    Parameters
    ----------
    instance : AssignmentInstance
        The campaign, with the settings that the plan has in place of its own.
    pairs : (k, 2) int
        Task and worker of each label.
    shares : (k,) float
        Share of each label; 1 in a plan of whole labels.
    claims : dict
        What plan.json says.
    """

    instance: AssignmentInstance
    pairs: Ints
    shares: Floats
    claims: dict[str, Any]
    in_notebooks: ClassVar[tuple[str, ...]] = ("objective", "bound", "proven")

    @property
    def objective(self) -> float:
        """What it says that it costs."""
        return float(self.claims["objective"])

    @property
    def bound(self) -> float | None:
        """What it says that no plan costs less than."""
        return self.claims.get("bound")

    @property
    def proven(self) -> bool:
        """Whether it says that it is optimal."""
        return bool(self.claims.get("proven"))

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first labels, and how many there are."""
        one = self.instance
        rows = zip(self.pairs[:most].tolist(), self.shares[:most].tolist(), strict=True)
        return [{"task": one.task_id(i), "worker": one.worker_id(j), "share": share} for (i, j), share in rows], len(
            self.pairs
        )


@public
def read_plan(campaign: InstanceLike, folder: AnyPath) -> WrittenPlan:
    """A plan that was written, with the settings that it was made for.

    Parameters
    ----------
    campaign : AssignmentInstance or path
        What it was made for.
    folder : path
        Of the plan.

    Returns
    -------
    WrittenPlan

    Raises
    ------
    InputError
        If one of them cannot be read, or the plan is of another campaign or edition.
    """
    claims, instance = read_claims(folder), instance_of(campaign)
    if RECORD in claims:
        instance = overridden(instance, claims[RECORD])
    pairs, table = read_pairs(folder, instance)
    shares = table.numbers("value") if "value" in table else np.ones(len(pairs))
    return WrittenPlan(instance, pairs, shares, claims)
