"""What came of an escalation on disk: ``standing.json``, ``answers.csv``, ``up.csv``, ``checked.csv``."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.audit.escalated import Escalated, EscalationDraw
from crowdopt.documents import read_json
from crowdopt.errors import InputError
from crowdopt.io.answers.answered import AnsweredTable
from crowdopt.io.answers.audit_folder import ExpertLooks, listed_checks, read_looks
from crowdopt.io.answers.escalation_draw_file import ESCALATION, STANDS, digest_of, write_listed
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import new_folder
from crowdopt.io.tables.stored_tables import named_alike
from crowdopt.version import __version__

STANDING = "standing.json"


def read_escalation_looks(path: Path, table: AnsweredTable, draw: EscalationDraw, listed: int) -> ExpertLooks:
    """Read task and label; tasks that are not listed, such as those that went up, may have labels too."""
    drawn = draw.order[:listed].tolist()
    label, count = read_looks(path, table, drawn)
    wrong = np.array([label[i] != table.labels[i] for i in drawn[:count]], bool)
    return ExpertLooks(path, sha256(path.read_bytes()).hexdigest(), label, wrong)


def going_up(done: Escalated, looks: ExpertLooks) -> list[int]:
    """Places of the answers above the threshold that the expert has not looked at, in the order of the table."""
    above = done.draw.order[done.draw.stratum >= done.groups].tolist()
    return sorted(set(above) - set(looks.label))


def standing_facts(done: Escalated, said: dict[str, Any], table: AnsweredTable, looks: ExpertLooks) -> Any:
    """What ``standing.json`` says: the claim in numbers, what was planned before, what came of it."""
    up = going_up(done, looks)
    terms, checked = done.draw.terms, len(looks.label)
    reached = np.flatnonzero(done.certified == done.groups)
    return {
        "sentence": done.sentence,
        "stand": done.stand,
        "up": len(up),
        "wrong_at_most": done.left,
        "allowed": terms.allowed,
        "delta": terms.delta,
        "groups": done.groups,
        "passed": int(reached[0]) + 1 if done.groups and reached.size else None,
        "checked": checked,
        "drawn_checked": int(done.wrong.size),
        "drawn_wrong": int(done.wrong.sum()),
        "corrected": done.corrected,
        "finished": done.finished,
        "planned": said["planned"],
        "onward": asdict(done.planned),
        "cost": terms.expert_price * checked + terms.next_price * len(up),
        "checked_sha256": looks.digest,
        "up_sha256": digest_of([table.tasks[i] for i in up]),
        "answers_sha256": said["answers_sha256"],
        "commitment": said["commitment"],
        "version": __version__,
    }


def write_escalation(
    draw: EscalationDraw, table: AnsweredTable, said: dict[str, Any], folder: Path, show: bool, force: bool
) -> None:
    """Write ``escalation.json`` and ``check.csv`` as a folder, whole or not at all."""
    with new_folder(folder, ESCALATION, force) as new:
        (new / ESCALATION).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8", newline="\n")
        write_listed(draw, table, new, draw.checks, show)


def write_standing(
    done: Escalated, table: AnsweredTable, facts: dict[str, Any], looks: ExpertLooks, folder: Path, checks: int
) -> None:
    """Write the result beside its draw, whole or not at all; ``check.csv`` lists ``checks`` tasks from then on."""
    show = listed_checks(folder)[1]
    up = set(going_up(done, looks))
    how = ["up" if i in up else "checked" if i in looks.label else "stands" for i in range(len(table.tasks))]
    labels = ["" if i in up else looks.label.get(i, label) for i, label in enumerate(table.labels)]
    with new_folder(folder, ESCALATION, force=True) as new:
        shutil.copyfile(folder / ESCALATION, new / ESCALATION)
        shutil.copyfile(looks.path, new / named_alike(looks.path, "checked"))
        write_listed(done.draw, table, new, checks, show)
        write_csv(new / "answers.csv", ["task", "label", "how"], [table.tasks, labels, how])
        write_csv(new / "up.csv", ["task"], [[table.tasks[i] for i in sorted(up)]])
        (new / STANDING).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8", newline="\n")


def read_standing(folder: Path) -> dict[str, Any]:
    """What an escalation came to; InputError if the expert's answers are not in."""
    if not (folder / STANDING).is_file():
        raise InputError(f"{folder} is an escalation whose answers are not in: there is no {STANDING}; look first")
    said: dict[str, Any] = read_json(folder / STANDING, STANDS, "escalation whose answers are in")
    return said
