"""The reader of an adaptive plan's folder: claims, tables and policy as they are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdopt.arrays import Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.policy_folder import CASCADE, POLICY, TYPES, WORKERS
from crowdopt.io.stored_plan import read_pairs
from crowdopt.io.tables import Table, read_table


@dataclass(frozen=True, eq=False)
class StoredPolicy:
    """An adaptive plan as its folder has it; ``pairs`` (k, 2) are the first round's."""

    claims: dict[str, Any]
    policy: Table
    types: Table
    tasks: Table
    workers: Table
    pairs: Ints
    folder: Path


def is_policy(claims: dict[str, Any]) -> bool:
    """Whether plan.json is that of an adaptive plan."""
    return claims.get("program") == CASCADE


def read_policy(folder: str | Path, claims: dict[str, Any], instance: AssignmentInstance) -> StoredPolicy:
    """The tables of an adaptive plan; InputError at the first that cannot be read."""
    place = Path(folder)
    return StoredPolicy(
        claims=claims,
        policy=read_table(place / "policy.csv", POLICY),
        types=read_table(place / "types.csv", TYPES),
        tasks=read_table(place / "tasks.csv", ("task", "type")),
        workers=read_table(place / "workers.csv", WORKERS),
        pairs=read_pairs(place, instance)[0],
        folder=place,
    )
