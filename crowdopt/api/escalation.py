"""The verb audit with --escalate: which answers may stand, and which go up a tier."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.audit.escalation import (
    Escalated,
    EscalationDraw,
    EscalationTerms,
    draw_escalation,
    escalate,
    next_looks,
)
from crowdopt.answers.audit.tariff import Tiers
from crowdopt.api.audit_options import DrawOptions
from crowdopt.arrays import Floats
from crowdopt.documents import is_number
from crowdopt.errors import InputError, refuse_unless
from crowdopt.io.answers import AnsweredTable
from crowdopt.io.audits import (
    ESCALATION,
    STANDING,
    listed_checks,
    read_escalation,
    read_looks,
    read_standing,
    standing_facts,
    write_draw,
    write_standing,
    written_escalation,
)
from crowdopt.io.folders import check_target
from crowdopt.io.table_kinds import GOING_UP
from crowdopt.io.tables import read_table, table_in
from crowdopt.notebooks import InNotebooks

SAME = 1e-9  # relative: logarithms differ in their last bits from processor to processor


@dataclass(frozen=True, eq=False)
class Escalation(InNotebooks):
    """The state of an escalation.

    Parameters
    ----------
    draw : EscalationDraw
        What is looked at, in which order; ``planned`` has the cost that is expected.
    commitment : str
        SHA-256 of all that decides the draw: hand it on before the expert begins.
    checks : int
        How many tasks ``check.csv`` lists now.
    escalated : Escalated, optional
        What came of it, once the expert has looked.
    up : int, optional
        Answers that go up and were not looked at.
    cost : float, optional
        Of the looks so far and of the answers that go up.
    """

    draw: EscalationDraw
    commitment: str
    checks: int
    escalated: Escalated | None = None
    up: int | None = None
    cost: float | None = None

    @property
    def in_words(self) -> str:
        """The claim, once the expert has looked."""
        return "" if self.escalated is None else self.escalated.sentence


def is_escalation(folder: Path) -> bool:
    """Whether a folder is an escalation's."""
    return (folder / ESCALATION).is_file()


def drawn_escalation(table: AnsweredTable, folder: Path, words: Tiers, asked: DrawOptions) -> Escalation:
    """Draw for a first tier, or for the next one after the escalation that is named."""
    check_target(folder, ESCALATION, asked.force)
    if asked.force and is_escalation(folder):
        raise InputError(f"{folder} was drawn before, and a second draw would spend the same chance; choose another")
    terms = replace(
        (_next_tier if asked.after else _first_tier)(table, words, asked),
        seed=secrets.randbits(53) if asked.seed is None else asked.seed,
        expert_price=words.expert,
        next_price=words.next,
    )
    drawn = draw_escalation(_claims(table), terms)
    said = written_escalation(drawn, table)
    write_draw(folder / ESCALATION, said, drawn, table, asked.show_answers, asked.force)
    return Escalation(drawn, said["commitment"], drawn.checks)


def concluded_escalation(table: AnsweredTable, folder: Path, checked: Path) -> Escalation:
    """What the expert's answers show: which answers stand, which go up, what it costs."""
    drawn, said = escalation_again(table, folder)
    listed = listed_checks(folder)[0]
    looks = read_looks(checked, table, drawn, listed)
    done = escalate(drawn, looks.wrong)
    full = done.finished or looks.wrong.size < listed
    more = listed if full else max(listed, next_looks(drawn.answers, looks.wrong.size, done.planned))
    facts = standing_facts(done, said, table, looks)
    write_standing(done, facts, table, looks, folder / ESCALATION, more)
    return Escalation(replace(drawn, checks=more), said["commitment"], more, done, facts["up"], facts["cost"])


def escalation_again(table: AnsweredTable, folder: Path) -> tuple[EscalationDraw, dict[str, Any]]:
    """The draw of an escalation, made again from the answers and the terms, and what ``escalation.json`` says."""
    terms, said = read_escalation(folder, table)
    drawn = draw_escalation(_claims(table), terms)
    made = written_escalation(drawn, table)
    decided = ("groups", "predicted", "allowed", "delta", "answers", "checks", "planned")
    if not all(agree(said[key], made[key]) for key in decided):
        raise InputError(
            f"{ESCALATION}: thresholds, rates or predictions are not those that the answers and the terms give; it "
            f"says it is of version {said['version']}: go on with that one, or draw anew"
        )
    return drawn, said


def stands_again(table: AnsweredTable, folder: Path) -> None:
    """InputError unless ``standing.json`` says what the draw, made again, and the expert's answers give."""
    drawn, said = escalation_again(table, folder)
    looks = read_looks(table_in(folder, "checked"), table, drawn, listed_checks(folder)[0])
    wanted, stood = standing_facts(escalate(drawn, looks.wrong), said, table, looks), read_standing(folder)
    for key in sorted((wanted.keys() | stood.keys()) - {"version"}):
        if key not in wanted or key not in stood or not agree(stood[key], wanted[key]):
            raise InputError(f"{STANDING}: {key} is not what the draw and the expert's answers give")


def agree(one: Any, other: Any) -> bool:
    """Whether two documents say the same, numbers up to their last bits."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agree(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(agree, one, other))
    if not (is_number(one) and is_number(other)):
        return type(one) is type(other) and bool(one == other)
    return bool(np.isclose(one, other, rtol=SAME, atol=0))


def _claims(table: AnsweredTable) -> Floats:
    if table.claims is None:
        raise InputError(
            f"{table.path.name} claims no error, so there is nothing to put thresholds on: it needs a column "
            "confidence or error"
        )
    return table.claims


def _first_tier(table: AnsweredTable, words: Tiers, asked: DrawOptions) -> EscalationTerms:
    target = 0.05 if asked.target is None else asked.target
    confidence = 0.95 if asked.confidence is None else asked.confidence
    error = asked.expert_error
    tests = {
        f"the target must lie strictly between 0 and 1, not {target:g}": 0 < target < 1,
        f"the confidence must lie strictly between 0 and 1, not {confidence:g}": 0 < confidence < 1,
        f"the expert's error must be at least 0 and below the target of {target:g}, not {error:g}": 0 <= error < target,
    }
    refuse_unless(tests)
    return EscalationTerms(len(table.tasks), target, error, confidence, int(words.tiers))


def _next_tier(table: AnsweredTable, words: Tiers, asked: DrawOptions) -> EscalationTerms:
    if len(asked.after) > 1 or not is_escalation(Path(asked.after[0])):
        raise InputError("--after names the escalation of the tier below, one folder, when it comes with --escalate")
    if asked.target is not None or asked.confidence is not None or asked.expert_error or words.tiers != 1:
        raise InputError(
            "target, confidence, expert error and tiers were decided with the first tier; give prices and seed alone"
        )
    below = Path(asked.after[0])
    before, said = read_escalation(below)
    stood = read_standing(below)
    if before.tiers < 2:
        raise InputError(f"{below} was drawn as the last tier before the expert; draw the first one with tiers=2")
    if sorted(table.tasks) != sorted(read_table(below / "up.csv", GOING_UP)["task"]):
        raise InputError(f"{table.path.name} must have an answer to each task of {below / 'up.csv'} and to no other")
    used = {"commitment": said["commitment"], "up_sha256": stood["up_sha256"], "wrong": stood["wrong_at_most"]}
    return replace(before, tiers=before.tiers - 1, below=[*before.below, {**used, "delta": said["delta"]}])
