"""Whether what an audit committed to may be wagered with: held against the table that it was drawn from."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.documents import read_json
from crowdopt.io.answers.answered import AnsweredTable
from crowdopt.io.answers.audit_draw import DRAW, DRAWN

ROUNDING = 1e-12  # of a sum of chances
RATES = 1e10  # of the mean rate, and its inverse: beyond, shares that are hidden round
ERRORS = 1e-6  # predicted errors lie so far from 0 and from 1, or a single check could decide all


def terms_problems(said: dict[str, Any], table: AnsweredTable) -> list[str]:
    """What a bound cannot be computed with, or would be false with.

    Its theorem needs: groups that are a partition of the answers drawn from, tested numbers that stand for every number
    from 0 on, and predictions that leave no outcome impossible. The chances of all audits add up.

    said: ``draw.json``.
    """
    answers, drawn = len(table.tasks), len(table.tasks) - said["least_sure"]
    spent = sum(earlier["delta"] for earlier in said["earlier"]) + said["delta"]
    size, numbers = [group["size"] for group in said["groups"]], said["numbers"]
    tests = {
        "the answers are not those that were drawn from": table.digest == said["answers_sha256"],
        f"the table has {answers} answers, not {said['answers']}": said["answers"] == answers,
        "the least sure answers leave none to draw from": drawn >= 1,
        "the checks are not more than the least sure, or more than the answers": (
            said["least_sure"] < said["checks"] <= answers
        ),
        "answers without a claimed error are in several groups, or have least sure ones": (
            table.claims is not None or (len(size) == 1 and not said["least_sure"])
        ),
        "the groups are not a partition of the answers drawn from": min(size, default=0) >= 1 and sum(size) == drawn,
        "the numbers tested do not stand for every number of wrong answers": (
            numbers[:1] == [0] and all(np.diff(numbers) > 0) and numbers[-1] <= drawn
        ),
        "the predicted errors are not one inside (0, 1) for each version and group": predicts(said),
        "the groups' rates are too far apart to compute with": comparable(said),
        "the audits spend more than their confidence leaves": spent <= 1 - said["confidence"] + ROUNDING,
    }
    return [problem for problem, passed in tests.items() if not passed]


def commitment_problems(said: dict[str, Any], commitment: str | None, after: tuple[Path, ...]) -> list[str]:
    """Whether a draw is the one that was committed to, and names the earlier audits with what they spent.

    said: ``draw.json``; commitment: as it was handed on; after: folders of earlier audits.
    """
    problems = [] if document_digest(said) == said["commitment"] else ["draw.json was changed after it was written"]
    if commitment not in (None, said["commitment"]):
        problems.append("the draw is not the one whose commitment was handed on")
    named = {earlier["commitment"]: earlier["delta"] for earlier in said["earlier"]}
    for folder in after:
        one = read_json(folder / DRAW, DRAWN, "audit")
        if document_digest(one) != one["commitment"]:
            problems.append(f"{folder / DRAW} was changed after it was written")
        chain = [*one["earlier"], {"commitment": one["commitment"], "delta": one["delta"]}]
        if any(named.get(each["commitment"]) != each["delta"] for each in chain):
            problems.append(f"the draw does not name {folder} among the earlier audits, with the chance it spent")
    return problems


def document_digest(said: dict[str, Any]) -> str:
    """SHA-256 of the JSON text with sorted keys and no blanks, the commitment left out; said: a document."""
    rest = {key: value for key, value in said.items() if key != "commitment"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def predicts(said: dict[str, Any]) -> bool:
    """Whether there is a predicted error inside (0, 1) for each version and group; said: a draw."""
    weight, error = (said["predicted"][name] for name in ("weight", "error"))
    if len(weight) != len(error) or any(len(row) != len(said["groups"]) for row in error):
        return False
    inside = all(ERRORS <= value <= 1 - ERRORS for row in error for value in row)
    return inside and sum(weight) > 0


def comparable(said: dict[str, Any]) -> bool:
    """Whether the groups' rates are near enough to each other to compute with; said: a draw."""
    rate, size = (np.array([group[name] for group in said["groups"]], float) for name in ("rate", "size"))
    with np.errstate(over="ignore"):
        mean = rate @ size / max(1.0, size.sum())
    return bool(np.isfinite(mean) and ((rate >= mean / RATES) & (rate / RATES <= mean)).all())
