"""What came of an escalation on disk: ``standing.json``, ``answers.csv``, ``up.csv``, ``checked.csv``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdopt.answers.audit.escalation import Escalated
from crowdopt.documents import read_json, write_json
from crowdopt.errors import InputError
from crowdopt.io.answers.answered import AnsweredTable
from crowdopt.io.answers.audit_folder import ExpertLooks, concluded
from crowdopt.io.answers.escalation_draw_file import STANDS, digest_of
from crowdopt.io.tables.cells import write_csv
from crowdopt.version import __version__

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
    """What stands and what goes up (:func:`crowdopt.io.answers.audit_folder.concluded`)."""
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
