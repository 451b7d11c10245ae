"""A second opinion on an audit: everything again from the answers, the seed and what the expert says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.documents import read_json
from crowdopt.io.answered import AnsweredTable, read_answered
from crowdopt.io.audit_draw import DRAW, DRAWN
from crowdopt.io.audit_folder import AUDIT, CLAIMED
from crowdopt.io.tables import read_table
from crowdopt.recheck.audit_bound import exact_holds, martingale_holds


@dataclass(frozen=True)
class AuditReport:
    """Whether an audit's claim follows from its draw and the expert's answers, and what is wrong if not."""

    holds: bool
    problems: list[str]
    sentence: str
    commitment: str


@dataclass(frozen=True, eq=False)
class Seen:
    """What was looked at.

    Parameters
    ----------
    stratum : (checks,) int
        Group of each drawn answer, in the order of the draw.
    wrong : (checks,) bool
        Whether it was wrong.
    certain, others : (int, int)
        Looked at and wrong: among the least sure answers, and among those neither drawn nor least sure.
    """

    stratum: Ints
    wrong: Bools
    certain: tuple[int, int]
    others: tuple[int, int]


def verify_audit(answers: str | Path, folder: str | Path, commitment: str | None = None) -> AuditReport:
    """Recompute an audit folder: commitment, draw, what was looked at, corrections, the bound.

    Parameters
    ----------
    answers : path
        The table that was drawn from.
    folder : path
    commitment : str, optional
        As it was handed on before the expert began: a draw made afterwards has another one.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    place, table = Path(folder), read_answered(answers)
    said = read_json(place / DRAW, DRAWN, "audit")
    claim = read_json(place / AUDIT, CLAIMED, "audit whose answers are in")
    problems = _committed(said, claim, table, commitment)
    if not problems:
        problems = _draw(said, claim, table, place)
    return AuditReport(not problems, problems, claim["sentence"], said["commitment"])


def _committed(said: dict[str, Any], claim: dict[str, Any], table: AnsweredTable, commitment: str | None) -> list[str]:
    rest = {key: value for key, value in said.items() if key != "commitment"}
    digest = sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    spent = sum(float(one["delta"]) for one in said["earlier"]) + float(said["delta"])
    tests = {
        "draw.json was changed after it was written": digest == said["commitment"],
        "audit.json belongs to another draw": claim.get("commitment") == said["commitment"],
        "the draw is not the one whose commitment was handed on": commitment in (None, said["commitment"]),
        "the answers are not those that were drawn from": table.digest == said["answers_sha256"],
        "the audits spend more than their confidence leaves": spent <= 1 - said["confidence"] + 1e-9,
    }
    return [problem for problem, passed in tests.items() if not passed]


def _draw(said: dict[str, Any], claim: dict[str, Any], table: AnsweredTable, place: Path) -> list[str]:
    certain, order, stratum = _order(said, table)
    chosen = [table.tasks[i] for i in [*certain, *order]]
    listed = read_table(place / "check.csv", ("task",), ("answer",))["task"]
    if listed != chosen[: len(listed)] or len(listed) < said["checks"]:
        return ["check.csv does not list what the seed draws"]
    file = place / "checked.csv"
    rows = read_table(file, ("task", "label"), extras=True)
    label = {task: text for task, text in zip(rows.unique_ids("task"), rows["label"], strict=True) if text}
    answer = dict(zip(table.tasks, table.labels, strict=True))
    if set(label) - set(answer):
        return ["checked.csv has tasks that have no answer"]
    drawn = [table.tasks[i] for i in order[: max(0, len(listed) - len(certain))]]
    count = next((k for k, task in enumerate(drawn) if task not in label), len(drawn))
    if any(task in label for task in drawn[count:]):
        return [f"task {drawn[count]} was skipped while later ones of the draw were looked at"]
    wrong = np.array([label[task] != answer[task] for task in drawn[:count]], bool)
    first = {table.tasks[i] for i in certain}
    parts = (first & set(label), set(label) - first - set(drawn))
    counts = [(len(part), sum(label[task] != answer[task] for task in part)) for part in parts]
    seen = Seen(stratum[:count], wrong, *counts)
    problems = [] if sha256(file.read_bytes()).hexdigest() == claim["checked_sha256"] else ["checked.csv was changed"]
    return problems + _claims(said, claim, seen) + _corrected(table, label, place)


def _order(said: dict[str, Any], table: AnsweredTable) -> tuple[list[int], list[int], Ints]:
    """The least sure answers, the others in the order of the draw, and the groups of these."""
    n, rate = len(table.tasks), np.array([group["rate"] for group in said["groups"]])
    claims = np.zeros(n) if table.claims is None else table.claims
    surest = sorted(range(n), key=lambda i: (claims[i], i))
    kept = surest[: n - said["least_sure"]]
    group = np.zeros(n, np.int64)
    if rate.size > 1:
        ends = np.cumsum([one["size"] for one in said["groups"]])
        group[kept] = np.searchsorted(ends, np.arange(len(kept)), side="right")
    wait = -np.log1p(-np.random.default_rng(said["seed"]).random(n)) / rate[group]
    order = sorted(kept, key=lambda i: (wait[i], i))
    return surest[len(kept) :][::-1], order, group[order]


def _claims(said: dict[str, Any], claim: dict[str, Any], seen: Seen) -> list[str]:
    drawn = said["answers"] - said["least_sure"]
    expert = int(said["expert_error"] * said["answers"] + 1e-9)
    unseen = said["least_sure"] - seen.certain[0]
    stated = {
        "drawn_checked": seen.wrong.size,
        "drawn_wrong": int(seen.wrong.sum()),
        "least_sure_checked": seen.certain[0],
        "least_sure_wrong": seen.certain[1],
        "others_checked": seen.others[0],
        "others_wrong": seen.others[1],
        **{name: said[name] for name in ("answers", "target", "delta", "confidence", "method", "expert_error")},
    }
    problems = [
        f"{name} is {value}, not {claim.get(name)}" for name, value in stated.items() if claim.get(name) != value
    ]
    most, n = int(claim["wrong_at_most"]), int(said["answers"])
    if f"at most {most} of the {n} answers" not in claim["sentence"]:
        problems.append("the sentence says another number than wrong_at_most")
    if bool(claim["certified"]) != (most <= said["target"] * n + 1e-9):
        problems.append("whether the target is reached is told wrongly")
    if said["method"] == "exact" and seen.wrong.size != said["checks"] - said["least_sure"]:
        problems.append(f"the draw fixed {said['checks']} checks; {seen.wrong.size} drawn answers were looked at")
    if most < n and not _bound_holds(said, seen, most - expert - unseen, drawn):
        problems.append(f"the answers do not show that at most {most} are wrong")
    return problems


def _bound_holds(said: dict[str, Any], seen: Seen, claimed: int, drawn: int) -> bool:
    if claimed < 0 or not seen.wrong.size:
        return False
    left = min(claimed + seen.others[1], drawn - seen.wrong.size)
    if said["method"] == "exact":
        return exact_holds(drawn, seen.wrong.size, int(seen.wrong.sum()), left, said["delta"])
    return martingale_holds(said, seen.stratum, seen.wrong, left)


def _corrected(table: AnsweredTable, label: dict[str, str], place: Path) -> list[str]:
    rows = read_table(place / "answers.csv", ("task", "label"), extras=True)
    wanted = [label.get(task, text) for task, text in zip(table.tasks, table.labels, strict=True)]
    same = rows["task"] == list(table.tasks) and rows["label"] == wanted
    return [] if same else ["answers.csv is not the answers with the expert's corrections"]
