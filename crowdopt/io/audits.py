"""Audits and escalations on disk: the draw, which says beforehand all that decides it, and what came of it.

``draw.json``, ``check.csv``, then ``audit.json``, ``answers.csv`` with the corrections, ``checked.csv``;
``escalation.json``, then ``standing.json``, ``answers.csv``, ``up.csv``, ``checked.csv``.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.audit.draws import METHODS, AuditDraw, Audited, Draw, Slice, recall_at_least, slice_claims
from crowdopt.answers.audit.escalation import Escalated, EscalationDraw, EscalationTerms
from crowdopt.arrays import Bools
from crowdopt.documents import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Each,
    Keys,
    Maybe,
    Shape,
    each_of,
    number,
    one_of,
    read_json,
    whole,
    write_json,
)
from crowdopt.errors import InputError
from crowdopt.io.answers import AnsweredTable
from crowdopt.io.cells import named_alike, write_csv
from crowdopt.io.folders import new_folder
from crowdopt.io.schema import CHECKED, LISTED
from crowdopt.io.tables import read_table
from crowdopt.version import __version__

DRAW = "draw.json"  # the file that tells an audit
SHARE = number("a number between 0 and 1", 0, 1)
CHANCE = number("a chance above 0 and at most 1", 1e-12, 1)
GROUPED: dict[str, Shape] = {
    "groups": Each(Keys({"size": COUNT, "claim": SHARE, "rate": number("a rate above 0", 1e-12)})),
    "predicted": Keys({"weight": Each(SHARE), "error": Each(Each(SHARE))}),
}
DRAWN = Keys(
    each_of(
        {
            "answers seed least_sure checks": COUNT,
            "answers_sha256 version commitment by": TEXT,
            "target expert_error confidence assumed_error": SHARE,
            "slices": Each(Keys({"value": TEXT, "sizes": Each(COUNT), "numbers": Each(COUNT)})),
            "method": one_of(*METHODS),
            "delta": CHANCE,
            "earlier": Each(Keys({"commitment": TEXT, "delta": CHANCE})),
            "numbers": Each(COUNT),
        }
    )
    | GROUPED
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
        "slices": [_sliced(one, draw.strata.size.size) for one in draw.slices],
        "version": __version__,
    }
    return {**said, "commitment": commitment(said)}


def _sliced(one: Slice, groups: int) -> dict[str, Any]:
    sizes = np.zeros(groups, np.int64)
    sizes[one.groups] = one.strata.size
    return {"value": one.value, "sizes": sizes.tolist(), "numbers": one.numbers.tolist()}


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


AUDIT = "audit.json"
CLAIMED = Keys(
    each_of(
        {
            "sentence commitment checked_sha256": TEXT,
            "wrong_at_most": COUNT,
            "certified": FLAG,
            "left": Each(COUNT),
            "by": TEXT,
            "slices": Each(Keys({"value": TEXT, **each_of({"answers checked corrected left wrong_at_most": COUNT})})),
            "recall": Each(SHARE, dict),
        }
    ),
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


def facts(audited: Audited, said: dict[str, Any], table: AnsweredTable, looks: ExpertLooks) -> dict[str, Any]:
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
        "by": terms.by,
        **by_slice(audited, table, looks),
        "checked_sha256": looks.digest,
        "answers_sha256": said["answers_sha256"],
        "commitment": said["commitment"],
        "version": __version__,
    }


def by_slice(audited: Audited, table: AnsweredTable, looks: ExpertLooks) -> dict[str, Any]:
    """Claims of the slices, and of each class the recall where slices are the answers' classes."""
    wrong = {place: label != table.labels[place] for place, label in looks.label.items()}
    slices = slice_claims(audited.draw, audited.wrong, wrong)
    now = Counter(sorted(looks.label.get(place, label) for place, label in enumerate(table.labels)))
    recall = recall_at_least(slices, now) if slices and table.values == table.labels else {}
    return {"slices": [one._asdict() for one in slices], "recall": recall}


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
        write_json(new / AUDIT, facts(audited, said, table, looks))


ESCALATION = "escalation.json"  # the file that tells an escalation
PRICE = number("a price above 0", 1e-12)
PLANNED = Keys({"groups": COUNT, "stand": COUNT, "checks": COUNT, "up": COUNT, "cost": NUMBER})
BELOW = Keys({"commitment": TEXT, "up_sha256": TEXT, "wrong": COUNT, "delta": CHANCE})
ESCALATES = Keys(
    each_of(
        {
            "answers first allowed seed checks": COUNT,
            "answers_sha256 version commitment": TEXT,
            "target expert_error confidence": SHARE,
            "tiers": whole("a whole number of at least 1", 1),
            "below": Each(BELOW),
            "delta": CHANCE,
            "expert_price next_price": PRICE,
            "planned": PLANNED,
        }
    )
    | GROUPED
)
STANDS = Keys(
    each_of(
        {
            "sentence commitment checked_sha256 up_sha256": TEXT,
            "stand up wrong_at_most groups checked": COUNT,
            "cost": NUMBER,
            "passed": Maybe(COUNT),
        }
    ),
    open=True,
)


def written_escalation(draw: EscalationDraw, table: AnsweredTable) -> dict[str, Any]:
    """All that decides a draw, as plain values, with its commitment: what ``escalation.json`` says."""
    said: dict[str, Any] = {
        "answers": draw.answers,
        "answers_sha256": table.digest,
        **asdict(draw.terms),
        "checks": draw.checks,
        "planned": draw.planned._asdict(),
        **grouped(draw),
        "version": __version__,
    }
    return {**said, "commitment": commitment(said)}


def read_escalation(folder: Path, table: AnsweredTable | None = None) -> tuple[EscalationTerms, dict[str, Any]]:
    """What an escalation was committed to: its terms, and all of ``escalation.json``; of this table if one is given."""
    said = read_committed(folder / ESCALATION, ESCALATES, "escalation", table)
    return EscalationTerms(**{one.name: said[one.name] for one in fields(EscalationTerms) if one.init}), said


def digest_of(tasks: list[str]) -> str:
    """SHA-256 of names, each on a line."""
    return sha256("".join(f"{task}\n" for task in tasks).encode()).hexdigest()


STANDING = "standing.json"


def going_up(done: Escalated, looks: ExpertLooks) -> list[int]:
    """Places of the answers above the threshold that the expert has not looked at, in the order of the table."""
    above = done.draw.order[done.draw.stratum >= done.groups].tolist()
    return sorted(set(above) - set(looks.label))


def standing_facts(done: Escalated, said: dict[str, Any], table: AnsweredTable, looks: ExpertLooks) -> Any:
    """What ``standing.json`` says: the claim in numbers, what was planned before, what came of it."""
    up = going_up(done, looks)
    terms, checked = done.draw.terms, len(looks.label)
    return {
        "sentence": done.sentence,
        "stand": done.stand,
        "up": len(up),
        "wrong_at_most": done.left,
        "allowed": terms.allowed,
        "delta": terms.delta,
        "groups": done.groups,
        "passed": int((done.certified < done.groups).sum()) + 1 if done.groups else None,
        "checked": checked,
        "drawn_checked": int(done.wrong.size),
        "drawn_wrong": int(done.wrong.sum()),
        "corrected": done.corrected,
        "finished": done.finished,
        "planned": said["planned"],
        "onward": done.planned._asdict(),
        "cost": terms.expert_price * checked + terms.next_price * len(up),
        "checked_sha256": looks.digest,
        "up_sha256": digest_of([table.tasks[i] for i in up]),
        "answers_sha256": said["answers_sha256"],
        "commitment": said["commitment"],
        "version": __version__,
    }


def write_standing(
    done: Escalated, facts: dict[str, Any], table: AnsweredTable, looks: ExpertLooks, mark: Path, count: int
) -> None:
    """What stands and what goes up (:func:`crowdopt.io.audits.concluded`)."""
    up = set(going_up(done, looks))
    how = ["up" if i in up else "checked" if i in looks.label else "stands" for i in range(len(table.tasks))]
    labels = ["" if i in up else looks.label.get(i, label) for i, label in enumerate(table.labels)]
    with concluded(mark, looks, done.draw, count, table) as new:
        write_csv(new / "answers.csv", ["task", "label", "how"], [table.tasks, labels, how])
        write_csv(new / "up.csv", ["task"], [[table.tasks[i] for i in sorted(up)]])
        write_json(new / STANDING, facts)


def read_standing(folder: Path) -> dict[str, Any]:
    """What an escalation came to; InputError if the expert's answers are not in."""
    if not (folder / STANDING).is_file():
        raise InputError(f"{folder} is an escalation whose answers are not in: there is no {STANDING}; look first")
    said: dict[str, Any] = read_json(folder / STANDING, STANDS, "escalation whose answers are in")
    return said
