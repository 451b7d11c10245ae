"""The reader of plan folders: claims, tables and pairs as they are written, in the campaign's indices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import Keys, read_json
from crowdopt.io.campaign.recorded_settings import RECORD, RECORDED
from crowdopt.io.tables.folder import PLAN
from crowdopt.io.tables.label_table import campaign_pairs
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import PLAN_TABLES

VOTE_ERROR = "vote_error"  # column of tasks.csv: exact errors where the rule of such a plan promises only a bound
BEST_EFFORT = "best effort"  # status of a plan that serves not every task; plan.json names those that it leaves short
LIMITS = "limits.csv"  # multipliers of groups, shares and own rows
CLAIMS = Keys(optional={RECORD: RECORDED}, open=True)


@dataclass(frozen=True, eq=False)
class StoredPlan:
    """A plan folder as read: ``pairs`` (k, 2), ``amounts`` (k,) of an LP plan, and the tables as they stand."""

    claims: dict[str, Any]
    pairs: Ints
    amounts: Floats | None
    tasks: Table
    workers: Table
    folder: Path
    limits: Table | None = None

    @property
    def shares(self) -> Floats:
        """Share of each pair's label, (k,): 1 in a plan of whole labels."""
        return np.ones(len(self.pairs)) if self.amounts is None else self.amounts


def read_claims(folder: str | Path) -> dict[str, Any]:
    """What plan.json says, ``in_place_of_campaign`` of the right types, everything else as it stands."""
    claims: dict[str, Any] = read_json(Path(folder) / PLAN, CLAIMS, "plan")
    return claims


def read_overrides(folder: str | Path) -> dict[str, Any]:
    """The settings of a plan that took the place of its campaign's; InputError if there is no plan."""
    return dict(read_claims(folder).get(RECORD, {}))


def read_pairs(folder: str | Path, instance: AssignmentInstance) -> tuple[Ints, Table]:
    """Task and worker of each row of the plan's assignment.csv, (rows, 2), and the table itself."""
    table = read_table(Path(folder) / "assignment.csv", PLAN_TABLES["assignment"])
    return campaign_pairs(table, instance), table


def read_plan(folder: str | Path, claims: dict[str, Any], instance: AssignmentInstance) -> StoredPlan:
    """The tables of a plan folder."""
    place = Path(folder)
    pairs, table = read_pairs(place, instance)
    return StoredPlan(
        claims=claims,
        pairs=pairs,
        amounts=table.numbers("value") if "value" in table else None,
        tasks=read_table(place / "tasks.csv", PLAN_TABLES["tasks"]),
        workers=read_table(place / "workers.csv", PLAN_TABLES["workers"]),
        folder=place,
        limits=read_table(place / LIMITS, PLAN_TABLES["limits"]) if (place / LIMITS).exists() else None,
    )
