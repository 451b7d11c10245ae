"""A second opinion on an escalation: everything again from the answers, the seed and what the expert says."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.documents import read_json
from crowdopt.errors import InputError
from crowdopt.io.answers.answered import AnsweredTable, read_answered
from crowdopt.io.answers.escalation_draw_file import ESCALATES, ESCALATION, STANDS
from crowdopt.io.answers.escalation_folder import STANDING
from crowdopt.io.tables.table_columns import read_table, table_in
from crowdopt.io.tables.table_kinds import GOING_UP, LISTED, STANDING_ANSWERS
from crowdopt.recheck.audits.audit_bound import ROUNDING, largest_log_product, predicted_shares
from crowdopt.recheck.audits.audit_check import AuditReport, differing, expert_labels, order_of
from crowdopt.recheck.audits.audit_terms import comparable, document_digest, predicts

SPENT = 1e-12  # of a sum of chances


def verify_escalation(
    answers: str | Path, folder: str | Path, commitment: str | None = None, after: Sequence[str | Path] = ()
) -> AuditReport:
    """Recompute an escalation folder: commitment, what it may spend, draw, looks, thresholds, what stands and goes up.

    answers: the table that was drawn from; commitment: as it was handed on before the expert began; after: the
    escalation of the tier below, which this one must name with what it spent and sent up.
    """
    place, table = Path(folder), read_answered(answers)
    said = read_json(place / ESCALATION, ESCALATES, "escalation")
    claim = read_json(place / STANDING, STANDS, "escalation whose answers are in")
    if said["below"] and not after:
        raise InputError(
            f"{place} goes on after a tier below, and nothing else shows what that spent: give it as --after"
        )
    problems = _committed(said, commitment) + _terms(said, table) + _below(said, table, [Path(one) for one in after])
    if not problems:
        problems = _standing(said, claim, table, place)
    sentence = "" if problems else claim["sentence"]
    return AuditReport(not problems, problems, sentence, said["commitment"], len(said["below"]), said["confidence"])


def _committed(said: dict[str, Any], commitment: str | None) -> list[str]:
    problems = [] if document_digest(said) == said["commitment"] else [f"{ESCALATION} was changed after it was written"]
    if commitment not in (None, said["commitment"]):
        problems.append("the draw is not the one whose commitment was handed on")
    return problems


def _terms(said: dict[str, Any], table: AnsweredTable) -> list[str]:
    """What the thresholds' theorem needs: a partition by claims, and no more spent than is there."""
    size = [group["size"] for group in said["groups"]]
    wrong = said["allowed"] + sum(tier["wrong"] for tier in said["below"])
    chance = said["delta"] + sum(tier["delta"] for tier in said["below"])
    first = said["first"]
    most = int(said["target"] * first + 1e-9) - int(said["expert_error"] * first + 1e-9)
    tests = {
        "the answers are not those that were drawn from": table.digest == said["answers_sha256"],
        "the answers claim no error": table.claims is not None,
        f"the table has {len(table.tasks)} answers, not {said['answers']}": said["answers"] == len(table.tasks),
        "the first tier does not have the answers that are drawn from": (
            said["answers"] <= first if said["below"] else said["answers"] == first
        ),
        "the groups are not a partition of the answers": (min(size, default=0) >= 1 and sum(size) == len(table.tasks)),
        "the predicted errors are not one inside (0, 1) for each version and group": predicts(said),
        "the groups' rates are too far apart to compute with": comparable(said),
        "the tiers may leave more wrong answers than the target": wrong <= max(0, most),
        "the tiers spend more than their confidence leaves": chance <= 1 - said["confidence"] + SPENT,
        "a tier before the last one spends all that is left": (
            said["allowed"] * said["tiers"] <= max(0, most - wrong + said["allowed"])
        ),
    }
    return [problem for problem, passed in tests.items() if not passed]


def _below(said: dict[str, Any], table: AnsweredTable, after: list[Path]) -> list[str]:
    """Whether the tiers below are named as they are, and what they sent up is what was answered here."""
    problems = []
    named = {tier["commitment"]: tier for tier in said["below"]}
    for folder in after:
        one = read_json(folder / ESCALATION, ESCALATES, "escalation")
        stood = read_json(folder / STANDING, STANDS, "escalation whose answers are in")
        same = ("first", "target", "expert_error", "confidence")
        wanted = {"commitment": one["commitment"], "delta": one["delta"]}
        wanted |= {"up_sha256": stood["up_sha256"], "wrong": stood["wrong_at_most"]}
        chain = [*one["below"], wanted]
        if any(named.get(tier["commitment"]) != tier for tier in chain) or any(said[key] != one[key] for key in same):
            problems.append(f"the draw does not name {folder} as a tier below, with what it spent and sent up")
        up, whole = read_table(folder / "up.csv", GOING_UP)["task"], 1 - one["confidence"]
        left = whole - sum(tier["delta"] for tier in one["below"])
        tests = {
            f"{folder / ESCALATION} was changed after it was written": document_digest(one) == one["commitment"],
            f"{folder / STANDING} is of another draw": stood["commitment"] == one["commitment"],
            f"{folder} spends more than its part of the chance": one["delta"] * one["tiers"] <= left + SPENT,
            f"{folder} was drawn with another number of tiers": (
                one["tiers"] + len(one["below"]) == said["tiers"] + len(said["below"])
            ),
            f"{folder / 'up.csv'} does not list what went up": _digest(up) == stood["up_sha256"],
            f"the answers are not those to {folder / 'up.csv'}": (
                all(tier["commitment"] != one["commitment"] for tier in said["below"][-1:])
                or sorted(up) == sorted(table.tasks)
            ),
        }
        problems += [problem for problem, passed in tests.items() if not passed]
    return problems


def _standing(said: dict[str, Any], claim: dict[str, Any], table: AnsweredTable, place: Path) -> list[str]:
    _, order, group = order_of(said, table, 0)
    listed = read_table(place / "check.csv", LISTED)["task"]
    if listed != [table.tasks[i] for i in order[: len(listed)]] or len(listed) < said["checks"]:
        return ["check.csv does not list what the seed draws"]
    checked = table_in(place, "checked")
    label = expert_labels(checked)
    if set(label) - set(table.tasks):
        return ["checked.csv has tasks that have no answer"]
    drawn = [table.tasks[i] for i in order[: len(listed)]]
    count = next((k for k, task in enumerate(drawn) if task not in label), len(drawn))
    if not count or any(task in label for task in drawn[count:]):
        return ["the answers were not looked at in the order of the draw"]
    answer = dict(zip(table.tasks, table.labels, strict=True))
    wrong = np.array([label[task] != answer[task] for task in drawn[:count]], bool)
    return (
        ([] if sha256(checked.read_bytes()).hexdigest() == claim["checked_sha256"] else ["changed"])
        + _claims(said, claim, group[order], wrong)
        + _tables(said, claim, table, group, label, place)
    )


def _claims(said: dict[str, Any], claim: dict[str, Any], stratum: Ints, wrong: Bools) -> list[str]:
    size, groups = np.array([one["size"] for one in said["groups"]]), claim.get("groups")
    if type(groups) is not int or not 0 <= groups <= size.size:
        return ["standing.json names a threshold that is none"]
    below = stratum[: wrong.size] < groups
    stand, corrected = int(size[:groups].sum()), int(wrong[below].sum())
    left = min(max(0, said["allowed"] - corrected), stand - int(below.sum()))
    sure = np.floor(1e10 * (1 - said["delta"]) + 1e-4) / 1e8  # never rounded up
    sentence = (
        f"with {sure:.10g} % confidence at most {left} of the {stand} answers that stand are wrong, whatever the "
        f"workers did ({wrong.size} checked); the other {said['answers'] - stand} of {said['answers']} go up a tier"
    )
    facts = {"stand": stand, "wrong_at_most": left, "corrected": corrected, "sentence": sentence}
    facts |= {name: said[name] for name in ("allowed", "delta", "planned", "commitment", "answers_sha256")}
    facts |= {"drawn_checked": wrong.size, "drawn_wrong": int(wrong.sum())}
    problems = differing(facts, claim)
    open_ = [g for g in range(1, groups + 1) if not _refuted(said, size, stratum[: wrong.size], wrong, g)]
    if open_:
        problems.append(f"the looks do not show that few enough are wrong in the first {open_[0]} groups")
    return problems


def _refuted(said: dict[str, Any], size: Ints, stratum: Ints, wrong: Bools, groups: int) -> bool:
    null = said["allowed"] + 1
    if size[:groups].sum() < null:
        return True
    below = stratum < groups
    own, found = stratum[below], wrong[below]
    seen = np.zeros((own.size + 1, groups))
    seen[1:] = np.cumsum(np.eye(groups)[own], axis=0)
    open_ = size[:groups] - seen
    left = null - np.concatenate([[0], np.cumsum(found)])
    impossible = left > open_.sum(axis=1)
    if impossible.any():
        return True
    rate = np.array([one["rate"] for one in said["groups"]][:groups], float)
    predicted = predicted_shares(said["predicted"], stratum, wrong)[below][:, :groups]
    reached = largest_log_product(left[:-1], open_[:-1], rate / rate.mean(), predicted, own, found)
    return bool(reached >= -np.log(said["delta"]) - ROUNDING)


def _tables(
    said: dict[str, Any], claim: dict[str, Any], table: AnsweredTable, group: Ints, label: dict[str, str], place: Path
) -> list[str]:
    above = {task for task, g in zip(table.tasks, group.tolist(), strict=True) if g >= claim["groups"]}
    how = ["up" if t in above - set(label) else "checked" if t in label else "stands" for t in table.tasks]
    texts = ["" if h == "up" else label.get(t, a) for h, t, a in zip(how, table.tasks, table.labels, strict=True)]
    rows = read_table(place / "answers.csv", STANDING_ANSWERS)
    up = [task for task, where in zip(table.tasks, how, strict=True) if where == "up"]
    cost = said["expert_price"] * len(label) + said["next_price"] * len(up)
    tests = {
        "answers.csv is not what stands, was checked and goes up": (
            (rows["task"], rows["label"], rows["how"]) == (list(table.tasks), texts, how)
        ),
        "up.csv does not list what goes up": read_table(place / "up.csv", GOING_UP)["task"] == up,
        "up_sha256 is not that of up.csv": _digest(up) == claim["up_sha256"],
        "the number of answers that go up, or of looks, is another one": (
            (claim["up"], claim.get("checked")) == (len(up), len(label))
        ),
        "the cost is another one": abs(claim.get("cost", np.inf) - cost) <= 1e-9 * max(1.0, cost),
    }
    return [problem for problem, passed in tests.items() if not passed]


def _digest(tasks: list[str]) -> str:
    return sha256("".join(f"{task}\n" for task in tasks).encode()).hexdigest()
