"""What came of an audit on disk: ``audit.json``, ``answers.csv`` with the corrections, ``checked.csv``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.audit.draws import Audited, Draw
from crowdopt.arrays import Bools
from crowdopt.documents import COUNT, FLAG, TEXT, Each, Keys, write_json
from crowdopt.errors import InputError
from crowdopt.io.answers.answered import AnsweredTable
from crowdopt.io.answers.audit_draw import write_checks
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import new_folder
from crowdopt.io.tables.stored_tables import named_alike
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import CHECKED, LISTED
from crowdopt.version import __version__

AUDIT = "audit.json"
CLAIMED = Keys(
    required={
        "sentence": TEXT,
        "wrong_at_most": COUNT,
        "certified": FLAG,
        "commitment": TEXT,
        "checked_sha256": TEXT,
        "left": Each(COUNT),
    },
    open=True,
)


@dataclass(frozen=True, eq=False)
class ExpertLooks:
    """What an expert says of some answers."""

    path: Path
    digest: str  # SHA-256 of the file's bytes
    label: dict[int, str]  # place of each answer that was looked at -> what the expert says
    wrong: Bools  # (k,): of the first k answers in the order of the draw, whether the expert says otherwise
    # looked at and wrong: among the least sure answers, and among those neither drawn nor least sure
    beside: list[tuple[int, int]]


def read_looks(file: Path, table: AnsweredTable, draw: Draw, listed: int) -> ExpertLooks:
    """Read the columns task and label; rows without a label were not looked at yet, tasks not listed may have one.

    listed: tasks in ``check.csv``, from the top of the draw's order.
    """
    rows = read_table(file, CHECKED)
    rows.unique_ids("task")
    places = rows.places("task", table.tasks, "it has no answer in the audit").tolist()
    label = {i: said for i, said in zip(places, rows["label"], strict=True) if said}
    drawn = draw.order[: max(0, listed - draw.certain.size)].tolist()
    seen = [i in label for i in drawn]
    count = seen.index(False) if False in seen else len(seen)
    if any(seen[count:]):
        later = table.tasks[drawn[seen.index(True, count)]]
        raise InputError(
            f"{file.name}: task {table.tasks[drawn[count]]} has no label, while {later}, drawn after it, has one; "
            "the order of check.csv must be kept, or the claim would depend on what was skipped"
        )
    if not count:
        raise InputError(f"0 of {draw.order.size} drawn answers were looked at; at least one is needed")
    wrong = {i for i, said in label.items() if said != table.labels[i]}
    certain = label.keys() & draw.certain.tolist()
    beside = [(len(part), len(part & wrong)) for part in (certain, label.keys() - set(drawn) - certain)]
    digest = sha256(file.read_bytes()).hexdigest()
    return ExpertLooks(file, digest, label, np.array([i in wrong for i in drawn[:count]], bool), beside)


def facts(audited: Audited, said: dict[str, Any], looks: ExpertLooks) -> dict[str, Any]:
    """The claim in numbers, everything that its page shows; said: ``draw.json``."""
    terms, strata = audited.draw.terms, audited.draw.strata
    stratum = audited.draw.stratum[: audited.wrong.size]
    counts = [np.bincount(where, minlength=strata.size.size).tolist() for where in (stratum, stratum[audited.wrong])]
    groups = zip(strata.size.tolist(), strata.claim.tolist(), *counts, strict=True)
    parts = zip(("drawn", "least_sure", "others"), audited.looked.tolist(), strict=True)
    return {
        "sentence": audited.sentence,
        "wrong_at_most": audited.wrong_at_most,
        "certified": audited.certified,
        "answers": audited.draw.answers,
        "target": terms.target,
        "delta": terms.delta,
        "confidence": said["confidence"],
        "earlier": len(said["earlier"]),
        "method": terms.method,
        "expert_error": terms.expert_error,
        "seed": terms.seed,
        "checked": audited.checked,
        "corrected": audited.corrected,
        **{f"{part}_{what}": n for part, row in parts for what, n in zip(("checked", "wrong"), row, strict=True)},
        "groups": [dict(zip(("answers", "claimed", "checked", "wrong"), row, strict=True)) for row in groups],
        "left": audited.left.tolist(),
        "checked_sha256": looks.digest,
        "answers_sha256": said["answers_sha256"],
        "commitment": said["commitment"],
        "version": __version__,
    }


def listed_checks(folder: Path) -> tuple[int, bool]:
    """How many tasks ``check.csv`` lists, and whether it shows their answers."""
    table = read_table(folder / "check.csv", LISTED)
    return table.rows, "answer" in table


@contextmanager
def concluded(mark: Path, looks: ExpertLooks, draw: Draw, count: int, table: AnsweredTable) -> Iterator[Path]:
    """Write a result beside its draw, the file ``mark``, whole or not at all; ``check.csv`` lists so many tasks."""
    show = listed_checks(mark.parent)[1]
    with new_folder(mark.parent, mark.name, force=True) as new:
        shutil.copyfile(mark, new / mark.name)
        shutil.copyfile(looks.path, new / named_alike(looks.path, "checked"))
        write_checks(draw, count, table, new, show)
        yield new


def write_audit(
    audited: Audited, said: dict[str, Any], table: AnsweredTable, looks: ExpertLooks, mark: Path, count: int
) -> None:
    """The claim and the corrected answers (:func:`concluded`); said: ``draw.json``."""
    with concluded(mark, looks, audited.draw, count, table) as new:
        corrected = [looks.label.get(i, label) for i, label in enumerate(table.labels)]
        looked = ["yes" if i in looks.label else "no" for i in range(len(corrected))]
        write_csv(new / "answers.csv", ["task", "label", "checked"], [table.tasks, corrected, looked])
        write_json(new / AUDIT, facts(audited, said, looks))
