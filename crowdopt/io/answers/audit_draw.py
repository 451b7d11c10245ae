"""The draw of an audit on disk: ``draw.json``, which says beforehand all that decides it, and ``check.csv``."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.audit.draws import METHODS, AuditDraw, Draw
from crowdopt.documents import COUNT, TEXT, Each, Keys, Shape, number, one_of, read_json, write_json
from crowdopt.errors import InputError
from crowdopt.io.answers.answered import AnsweredTable
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import new_folder
from crowdopt.version import __version__

DRAW = "draw.json"  # the file that tells an audit
SHARE = number("a number between 0 and 1", 0, 1)
CHANCE = number("a chance above 0 and at most 1", 1e-12, 1)
GROUPED: dict[str, Shape] = {
    "groups": Each(Keys({"size": COUNT, "claim": SHARE, "rate": number("a rate above 0", 1e-12)})),
    "predicted": Keys({"weight": Each(SHARE), "error": Each(Each(SHARE))}),
}
DRAWN = Keys(
    required={
        "answers": COUNT,
        "answers_sha256": TEXT,
        "method": one_of(*METHODS),
        "target": SHARE,
        "delta": CHANCE,
        "seed": COUNT,
        "least_sure": COUNT,
        "expert_error": SHARE,
        "confidence": SHARE,
        "earlier": Each(Keys({"commitment": TEXT, "delta": CHANCE})),
        "checks": COUNT,
        "assumed_error": SHARE,
        **GROUPED,
        "numbers": Each(COUNT),
        "version": TEXT,
        "commitment": TEXT,
    }
)


def written_draw(
    draw: AuditDraw, table: AnsweredTable, confidence: float, earlier: list[dict[str, Any]]
) -> dict[str, Any]:
    """All that decides a draw, as plain values, with its commitment: what ``draw.json`` says.

    confidence: of all claims of this audit and the earlier ones together; earlier: commitment and delta of each.
    """
    said: dict[str, Any] = {
        "answers": draw.answers,
        "answers_sha256": table.digest,
        **asdict(draw.terms),
        "confidence": confidence,
        "earlier": earlier,
        "checks": draw.checks,
        "assumed_error": draw.assumed,
        **grouped(draw),
        "numbers": draw.numbers.tolist(),
        "version": __version__,
    }
    return {**said, "commitment": commitment(said)}


def grouped(draw: Draw) -> dict[str, Any]:
    """The groups of a draw, and which errors were thought possible, as plain values."""
    strata = draw.strata
    columns = zip(strata.size.tolist(), strata.claim.tolist(), strata.rate.tolist(), strict=True)
    return {
        "groups": [dict(zip(("size", "claim", "rate"), row, strict=True)) for row in columns],
        "predicted": {"weight": strata.weight.tolist(), "error": strata.error.tolist()},
    }


def commitment(said: dict[str, Any]) -> str:
    """SHA-256 of the JSON text with sorted keys and no blanks, the commitment itself left out."""
    rest = {key: value for key, value in said.items() if key != "commitment"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_draw(mark: Path, said: dict[str, Any], draw: Draw, table: AnsweredTable, show: bool, force: bool) -> None:
    """Write what decides a draw, under the name ``mark``, and ``check.csv`` as a folder, whole or not at all."""
    with new_folder(mark.parent, mark.name, force) as new:
        write_json(new / mark.name, said)
        write_checks(draw, draw.checks, table, new, show)


def write_checks(draw: Draw, count: int, table: AnsweredTable, folder: Path, show: bool) -> None:
    """So many tasks to look at, in order; with their answers only if ``show``: an expert should not be led."""
    chosen = np.concatenate([draw.certain, draw.order])[:count].tolist()
    columns = [[table.tasks[i] for i in chosen]] + ([[table.labels[i] for i in chosen]] if show else [])
    write_csv(folder / "check.csv", ["task", "answer"] if show else ["task"], columns)


def read_committed(path: Path, keys: Keys, what: str, table: AnsweredTable | None = None) -> Any:
    """What a draw's file says; InputError unless its commitment holds, and it is of this table if one is given."""
    said = read_json(path, keys, what)
    if commitment(said) != said["commitment"]:
        raise InputError(f"{path} was changed after it was written: its commitment does not hold; draw anew elsewhere")
    if table is not None and table.digest != said["answers_sha256"]:
        raise InputError(
            f"{table.path} is not the table that was drawn from (its SHA-256 differs); give the answers as they were"
        )
    return said
