"""What came of an audit on disk: ``audit.json``, ``answers.csv`` with the corrections, ``checked.csv``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.audit.audited import Audited, Draw
from crowdopt.arrays import Bools, Ints
from crowdopt.documents import COUNT, FLAG, TEXT, Each, Keys
from crowdopt.errors import InputError
from crowdopt.io.answers.answered import AnsweredTable
from crowdopt.io.answers.audit_draw import Committed, write_checks
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


@dataclass(frozen=True, eq=False)
class ExpertAnswers(ExpertLooks):
    """The expert's answers, sorted by what they count for."""

    # looked at and wrong: among the least sure answers, and among those neither drawn nor least sure
    certain: tuple[int, int]  # (int, int)
    others: tuple[int, int]  # (int, int)


def read_expert(path: Path, table: AnsweredTable, draw: Draw, listed: int) -> ExpertAnswers:
    """Read the columns task and label; rows without a label were not looked at yet.

    listed: tasks in ``check.csv``, from the top of the draw's order.
    """
    drawn = draw.order[: max(0, listed - draw.certain.size)].tolist()
    looks = read_looks(path, table, drawn)
    certain = [i for i in draw.certain.tolist() if i in looks.label]
    others = sorted(set(looks.label) - set(drawn) - set(certain))
    counts = (_counts(places, looks.label, table) for places in (certain, others))
    return ExpertAnswers(path, looks.digest, looks.label, looks.wrong, *counts)


def read_looks(file: Path, table: AnsweredTable, drawn: list[int]) -> ExpertLooks:
    """What the expert says of each answer; tasks that are not listed may have labels too.

    drawn: places of the answers that were listed, in the order of the draw.
    """
    rows = read_table(file, CHECKED)
    rows.unique_ids("task")
    places = rows.places("task", table.tasks, "it has no answer in the audit").tolist()
    label = {i: said for i, said in zip(places, rows["label"], strict=True) if said}
    seen = [i in label for i in drawn]
    count = seen.index(False) if False in seen else len(seen)
    if any(seen[count:]):
        later = table.tasks[drawn[seen.index(True, count)]]
        raise InputError(
            f"{file.name}: task {table.tasks[drawn[count]]} has no label, while {later}, drawn after it, has one; "
            "the order of check.csv must be kept, or the claim would depend on what was skipped"
        )
    wrong = np.array([label[i] != table.labels[i] for i in drawn[:count]], bool)
    return ExpertLooks(file, sha256(file.read_bytes()).hexdigest(), label, wrong)


def _counts(places: list[int], label: dict[int, str], table: AnsweredTable) -> tuple[int, int]:
    return len(places), sum(label[i] != table.labels[i] for i in places)


def facts(audited: Audited, committed: Committed, expert: ExpertAnswers) -> dict[str, Any]:
    """The claim in numbers, everything that its page shows."""
    draw, terms = audited.draw, audited.draw.terms
    return {
        "sentence": audited.sentence,
        "wrong_at_most": audited.wrong_at_most,
        "certified": audited.certified,
        "answers": draw.answers,
        "target": terms.target,
        "delta": terms.delta,
        "confidence": committed.confidence,
        "earlier": len(committed.earlier),
        "method": terms.method,
        "expert_error": terms.expert_error,
        "seed": terms.seed,
        "checked": audited.checked,
        "corrected": audited.corrected,
        "drawn_checked": int(audited.wrong.size),
        "drawn_wrong": int(audited.wrong.sum()),
        "least_sure_checked": audited.certain_checked,
        "least_sure_wrong": audited.certain_wrong,
        "others_checked": audited.others_checked,
        "others_wrong": audited.others_wrong,
        "groups": _groups(audited),
        "left": audited.left.tolist(),
        "checked_sha256": expert.digest,
        "answers_sha256": committed.digest,
        "commitment": committed.commitment,
        "version": __version__,
    }


def _groups(audited: Audited) -> list[dict[str, Any]]:
    draw, count = audited.draw, audited.wrong.size
    groups = draw.strata.size.size
    checked = np.bincount(draw.stratum[:count], minlength=groups)
    wrong = np.bincount(draw.stratum[:count], weights=audited.wrong, minlength=groups).astype(int)
    rows = zip(draw.strata.size.tolist(), draw.strata.claim.tolist(), checked.tolist(), wrong.tolist(), strict=True)
    return [dict(zip(("answers", "claimed", "checked", "wrong"), row, strict=True)) for row in rows]


def listed_checks(folder: Path) -> tuple[int, bool]:
    """How many tasks ``check.csv`` lists, and whether it shows their answers."""
    table = read_table(folder / "check.csv", LISTED)
    return table.rows, "answer" in table


@contextmanager
def concluded(mark: Path, looks: ExpertLooks, places: Ints, table: AnsweredTable) -> Iterator[Path]:
    """Write a result beside its draw, the file ``mark``, whole or not at all; ``check.csv`` lists these places."""
    show = listed_checks(mark.parent)[1]
    with new_folder(mark.parent, mark.name, force=True) as new:
        shutil.copyfile(mark, new / mark.name)
        shutil.copyfile(looks.path, new / named_alike(looks.path, "checked"))
        write_checks(places, table, new, show)
        yield new


def write_audit(table: AnsweredTable, said: dict[str, Any], expert: ExpertAnswers, mark: Path, places: Ints) -> None:
    """The claim and the corrected answers (:func:`concluded`)."""
    with concluded(mark, expert, places, table) as new:
        corrected = [expert.label.get(i, label) for i, label in enumerate(table.labels)]
        looked = ["yes" if i in expert.label else "no" for i in range(len(corrected))]
        write_csv(new / "answers.csv", ["task", "label", "checked"], [table.tasks, corrected, looked])
        (new / AUDIT).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8", newline="\n")
