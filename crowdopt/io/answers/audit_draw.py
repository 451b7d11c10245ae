"""The draw of an audit on disk: ``draw.json``, which says beforehand all that decides it, and ``check.csv``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.audit.audited import METHODS, AuditTerms, Draw, ErrorVersions, Strata
from crowdopt.arrays import Ints
from crowdopt.documents import COUNT, TEXT, Each, Keys, Shape, number, one_of, read_json
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


@dataclass(frozen=True, eq=False)
class Committed:
    """What ``draw.json`` says."""

    terms: AuditTerms
    confidence: float  # of all claims of this audit and the earlier ones together
    earlier: list[dict[str, Any]]  # commitment and delta of each earlier audit of the same answers
    digest: str  # SHA-256 of the table of answers
    checks: int  # how many were to be looked at to begin with
    # as in the draw
    strata: Strata
    versions: ErrorVersions
    numbers: Any
    assumed: float
    version: str  # of the program that drew
    # SHA-256 of all of it: one who has this number beforehand knows that nothing was changed afterwards
    commitment: str


def written_draw(draw: Draw, table: AnsweredTable, confidence: float, earlier: list[dict[str, Any]]) -> dict[str, Any]:
    """All that decides a draw, as plain values, with its commitment: what ``draw.json`` says."""
    said: dict[str, Any] = {
        "answers": draw.answers,
        "answers_sha256": table.digest,
        **asdict(draw.terms),
        "confidence": confidence,
        "earlier": earlier,
        "checks": draw.checks,
        "assumed_error": draw.assumed,
        **grouped(draw.strata, draw.versions),
        "numbers": draw.numbers.tolist(),
        "version": __version__,
    }
    return {**said, "commitment": commitment(said)}


def grouped(strata: Strata, versions: ErrorVersions) -> dict[str, Any]:
    """The groups of a draw, and which errors were thought possible, as plain values."""
    columns = zip(strata.size.tolist(), strata.claim.tolist(), strata.rate.tolist(), strict=True)
    return {
        "groups": [dict(zip(("size", "claim", "rate"), row, strict=True)) for row in columns],
        "predicted": {"weight": versions.weight.tolist(), "error": versions.error.tolist()},
    }


def commitment(said: dict[str, Any]) -> str:
    """SHA-256 of the JSON text with sorted keys and no blanks, the commitment itself left out."""
    rest = {key: value for key, value in said.items() if key != "commitment"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_draw(mark: Path, said: dict[str, Any], places: Ints, table: AnsweredTable, show: bool, force: bool) -> None:
    """Write what decides a draw, under the name ``mark``, and ``check.csv`` as a folder, whole or not at all."""
    with new_folder(mark.parent, mark.name, force) as new:
        (new / mark.name).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8", newline="\n")
        write_checks(places, table, new, show)


def write_checks(places: Ints, table: AnsweredTable, folder: Path, show: bool) -> None:
    """The tasks to look at, in order; with their answers only if ``show``: an expert should not be led."""
    chosen = places.tolist()
    columns = [[table.tasks[i] for i in chosen]] + ([[table.labels[i] for i in chosen]] if show else [])
    write_csv(folder / "check.csv", ["task", "answer"] if show else ["task"], columns)


def read_committed(path: Path, keys: Keys, what: str) -> Any:
    """What a draw's file says; InputError unless its commitment holds."""
    said = read_json(path, keys, what)
    if commitment(said) != said["commitment"]:
        raise InputError(f"{path} was changed after it was written: its commitment does not hold; draw anew elsewhere")
    return said


def read_draw(folder: Path) -> Committed:
    """What a draw was committed to."""
    said = read_committed(folder / DRAW, DRAWN, "audit")
    terms = AuditTerms(**{name: said[name] for name in asdict(AuditTerms())})
    groups = [np.array([group[name] for group in said["groups"]]) for name in ("size", "claim", "rate")]
    try:
        versions = ErrorVersions(*(np.array(said["predicted"][name], np.float64) for name in ("weight", "error")))
    except ValueError:
        raise InputError(f"{folder / DRAW}: predicted.error must have one number for each group; draw anew") from None
    numbers = np.array(said["numbers"], np.int64)
    rest = (said["confidence"], said["earlier"], said["answers_sha256"], said["checks"])
    names = (said["version"], said["commitment"])
    return Committed(terms, *rest, Strata(*groups), versions, numbers, said["assumed_error"], *names)
