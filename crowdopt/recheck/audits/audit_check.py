"""A second opinion on an audit: everything again from the answers, the seed and what the expert says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.documents import read_json
from crowdopt.io.answers.answered import AnsweredTable, read_answered
from crowdopt.io.answers.audit_draw import DRAW, DRAWN
from crowdopt.io.answers.audit_folder import AUDIT, CLAIMED
from crowdopt.io.tables.table_columns import read_table, table_in
from crowdopt.io.tables.table_kinds import CHECKED, CORRECTED, LISTED
from crowdopt.notebooks import InNotebooks
from crowdopt.recheck.audits.audit_bound import exact_holds, martingale_holds
from crowdopt.recheck.audits.audit_terms import commitment_problems, terms_problems


@dataclass(frozen=True)
class AuditReport(InNotebooks):
    """Whether an audit's claim follows from its draw and the expert's answers."""

    holds: bool
    problems: list[str]  # what is wrong if it does not hold
    sentence: str  # the claim, in words made of what was recomputed; empty if it does not hold
    commitment: str  # as draw.json says
    earlier: int = 0  # audits that draw.json names as done before
    confidence: float = 0.0  # of all their claims and this one together


@dataclass(frozen=True, eq=False)
class Seen:
    """What was looked at."""

    stratum: Ints  # (checks,): group of each drawn answer, in the order of the draw
    wrong: Bools  # (checks,): whether it was wrong
    # looked at and wrong: among the least sure answers, and among those neither drawn nor least sure
    certain: tuple[int, int]  # (int, int)
    others: tuple[int, int]  # (int, int)


def verify_audit(
    answers: str | Path, folder: str | Path, commitment: str | None = None, after: Sequence[str | Path] = ()
) -> AuditReport:
    """Recompute an audit folder: commitment, draw, what was looked at, corrections, the bound.

    answers: the table that was drawn from; commitment: as it was handed on before the expert began: a draw made
    afterwards has another one; after: earlier audits that are known of: the draw must name them, with the chance that
    they spent.
    """
    place, table = Path(folder), read_answered(answers)
    said = read_json(place / DRAW, DRAWN, "audit")
    claim = read_json(place / AUDIT, CLAIMED, "audit whose answers are in")
    problems = commitment_problems(said, commitment, tuple(Path(one) for one in after)) + terms_problems(said, table)
    if not problems:
        problems = _draw(said, claim, table, place)
    sentence = "" if problems else claim["sentence"]  # which _claims found to be the recomputed one
    return AuditReport(not problems, problems, sentence, said["commitment"], len(said["earlier"]), said["confidence"])


def _draw(said: dict[str, Any], claim: dict[str, Any], table: AnsweredTable, place: Path) -> list[str]:
    certain, order, group = order_of(said, table, said["least_sure"])
    stratum = group[order]
    chosen = [table.tasks[i] for i in [*certain, *order]]
    listed = read_table(place / "check.csv", LISTED)["task"]
    if listed != chosen[: len(listed)] or len(listed) < said["checks"]:
        return ["check.csv does not list what the seed draws"]
    file = table_in(place, "checked")
    label = expert_labels(file)
    answer = dict(zip(table.tasks, table.labels, strict=True))
    if set(label) - set(answer):
        return ["checked.csv has tasks that have no answer"]
    drawn = [table.tasks[i] for i in order[: max(0, len(listed) - len(certain))]]
    count = next((k for k, task in enumerate(drawn) if task not in label), len(drawn))
    if not count:
        return ["no drawn answer was looked at"]
    if any(task in label for task in drawn[count:]):
        return [f"task {drawn[count]} was skipped while later ones of the draw were looked at"]
    wrong = np.array([label[task] != answer[task] for task in drawn[:count]], bool)
    first = {table.tasks[i] for i in certain}
    beside = first & set(label), set(label) - first - set(drawn)
    counts = [(len(part), sum(label[task] != answer[task] for task in part)) for part in beside]
    seen = Seen(stratum[:count], wrong, *counts)
    problems = [] if sha256(file.read_bytes()).hexdigest() == claim["checked_sha256"] else ["checked.csv was changed"]
    return problems + _claims(said, claim, seen) + _corrected(table, label, place)


def expert_labels(file: Path) -> dict[str, str]:
    """What the expert says of each task that was looked at."""
    rows = read_table(file, CHECKED)
    return {task: text for task, text in zip(rows.unique_ids("task"), rows["label"], strict=True) if text}


def order_of(said: dict[str, Any], table: AnsweredTable, least_sure: int) -> tuple[list[int], list[int], Ints]:
    """The least sure answers, the others in the order of the draw, and the group of each answer."""
    n, rate = len(table.tasks), np.array([group["rate"] for group in said["groups"]])
    claims = np.zeros(n) if table.claims is None else table.claims
    surest = sorted(range(n), key=lambda i: (claims[i], i))
    kept = surest[: n - least_sure]
    group = np.zeros(n, np.int64)
    if rate.size > 1:
        ends = np.cumsum([one["size"] for one in said["groups"]])
        group[kept] = np.searchsorted(ends, np.arange(len(kept)), side="right")
    wait = -np.log1p(-np.random.default_rng(said["seed"]).random(n)) / rate[group]
    order = sorted(kept, key=lambda i: (wait[i], i))
    return surest[len(kept) :][::-1], order, group


def _claims(said: dict[str, Any], claim: dict[str, Any], seen: Seen) -> list[str]:
    """All that audit.json says, but for the bound itself, is counted again; the bound is held against its theorem."""
    facts = {**_facts(said, seen), **_conclusion(said, seen, claim["left"])}
    problems = differing(facts, claim)
    held = {*facts, "left", "checked_sha256", "version"}
    problems += [f"{AUDIT} has an entry {key!r}, which nothing is held against" for key in sorted(claim.keys() - held)]
    if not _bound_holds(said, seen, claim["left"]):
        problems.append(f"the answers do not show that at most {claim['wrong_at_most']} are wrong")
    return problems


def differing(facts: dict[str, Any], claim: dict[str, Any]) -> list[str]:
    """Facts that a claim says otherwise; as JSON, for 1 is no true."""
    some = {name: value for name, value in facts.items() if json.dumps(value) != json.dumps(claim.get(name))}
    return [f"{name} is {value}, not {claim.get(name)}" for name, value in some.items()]


def _facts(said: dict[str, Any], seen: Seen) -> dict[str, Any]:
    parts = {"drawn": (seen.wrong.size, int(seen.wrong.sum())), "least_sure": seen.certain, "others": seen.others}
    groups = []
    for k, group in enumerate(said["groups"]):
        here = seen.stratum == k
        counts = {"checked": int(here.sum()), "wrong": int(seen.wrong[here].sum())}
        groups.append({"answers": group["size"], "claimed": group["claim"], **counts})
    same = ("answers", "answers_sha256", "target", "delta", "confidence", "method", "expert_error", "seed")
    return {
        **{name: said[name] for name in (*same, "commitment")},
        "earlier": len(said["earlier"]),
        **{f"{name}_checked": checked for name, (checked, _) in parts.items()},
        **{f"{name}_wrong": wrong for name, (_, wrong) in parts.items()},
        "checked": sum(checked for checked, _ in parts.values()),
        "corrected": sum(wrong for _, wrong in parts.values()),
        "groups": groups,
    }


def _conclusion(said: dict[str, Any], seen: Seen, left: list[int]) -> dict[str, Any]:
    n, error = said["answers"], said["expert_error"]
    unseen, expert = said["least_sure"] - seen.certain[0], int(error * n + 1e-9)
    most = min(n, max(0, left[-1] - seen.others[1]) + unseen + expert) if left else n
    looks = [
        sum(pair) for pair in zip((seen.wrong.size, int(seen.wrong.sum())), seen.certain, seen.others, strict=True)
    ]
    sure = np.floor(1e10 * (1 - said["delta"]) + 1e-4) / 1e8  # never rounded up
    sentence = (
        f"with {sure:.10g} % confidence at most {most} of the {n} answers are wrong, whatever the workers did "
        f"({looks[0]} checked, {looks[1]} corrected)"
    )
    if error:
        sentence += f", if the expert errs on at most {100 * error:.12g} % of the tasks"
    return {"wrong_at_most": most, "certified": most <= said["target"] * n + 1e-9, "sentence": sentence}


def _bound_holds(said: dict[str, Any], seen: Seen, left: list[int]) -> bool:
    drawn, checked, found = said["answers"] - said["least_sure"], seen.wrong.size, int(seen.wrong.sum())
    if said["method"] == "exact":
        fixed = said["checks"] - said["least_sure"]
        return len(left) == 1 and checked == fixed and exact_holds(drawn, checked, found, left[0], said["delta"])
    return len(left) == checked and martingale_holds(said, seen.stratum, seen.wrong, np.array(left, np.int64))


def _corrected(table: AnsweredTable, label: dict[str, str], place: Path) -> list[str]:
    rows = read_table(place / "answers.csv", CORRECTED)
    wanted = [label.get(task, text) for task, text in zip(table.tasks, table.labels, strict=True)]
    looked = ["yes" if task in label else "no" for task in table.tasks]
    same = rows["task"] == list(table.tasks) and rows["label"] == wanted
    same = same and ("checked" not in rows or rows["checked"] == looked)
    return [] if same else ["answers.csv is not the answers with the expert's corrections"]
