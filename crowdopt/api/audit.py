"""The verb audit: an expert looks at answers drawn at random, and the claim holds for any crowd."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from crowdopt.answers.audit.audited import METHODS as METHODS
from crowdopt.answers.audit.audited import Audited, AuditTerms, Draw
from crowdopt.answers.audit.concluding import conclude
from crowdopt.answers.audit.drawing import draw
from crowdopt.answers.audit.escalation_words import tiers
from crowdopt.answers.audit.exact_bound import checks_needed
from crowdopt.answers.audit.shared_chance import spendable
from crowdopt.api.audit_options import AuditOptions, EscalationOptions
from crowdopt.api.binding import AnyPath
from crowdopt.api.escalation import SAME, concluded_escalation, drawn_escalation, is_escalation
from crowdopt.api.escalation import Escalation as Escalation
from crowdopt.api.verbs import two_ways
from crowdopt.arrays import Ints
from crowdopt.errors import InputError
from crowdopt.io.answers.answered import AnsweredTable, read_answered
from crowdopt.io.answers.audit_draw import DRAW, Committed, read_draw, write_draw, written_draw
from crowdopt.io.answers.audit_folder import facts, listed_checks, read_expert, write_audit
from crowdopt.io.tables.folder import check_target
from crowdopt.notebooks import InNotebooks
from crowdopt.version import __version__

TARGET, CONFIDENCE = 0.05, 0.95


@dataclass(frozen=True, eq=False)
class Audit(InNotebooks):
    """The state of an audit.

    Parameters
    ----------
    draw : Draw
        What is looked at, in which order.
    commitment : str
        SHA-256 of all that decides the draw: give it to whoever is to believe the claim, before the expert begins.
    checks : int
        How many tasks ``check.csv`` lists now.
    audited : Audited, optional
        What came of it, once the expert has looked.
    """

    draw: Draw
    commitment: str
    checks: int
    audited: Audited | None = None

    @property
    def wrong_at_most(self) -> int | None:
        """Most wrong answers that are left; None before the expert has looked."""
        return None if self.audited is None else self.audited.wrong_at_most

    in_notebooks: ClassVar[tuple[str, ...]] = ("wrong_at_most",)

    @property
    def in_words(self) -> str:
        """The claim; before the expert has looked, what there is to do."""
        return (
            f"{self.checks} of {self.draw.answers} answers to look at"
            if self.audited is None
            else self.audited.sentence
        )


@two_ways(EscalationOptions, Escalation, AuditOptions, Audit)
def audit(answers: AnyPath, asked: AuditOptions) -> Audit | Escalation:
    """Draw answers for an expert, or, with ``checked``, say what their looking shows.

    Without ``checked`` it writes draw.json (first of all the seed and everything that decides the draw) and check.csv;
    with it audit.json, answers.csv with the corrections, and more tasks in check.csv where the target is not reached.

    Parameters
    ----------
    answers : path
        Columns task and label (or answer), optionally confidence or error; or a folder with such an answers.csv.

    Returns
    -------
    Audit or Escalation
        ``audited`` has the claim; its ``left`` the bound after every single check. ``escalated`` that of an escalation.

    Raises
    ------
    InputError
        If a table cannot be read, a number is out of range, or what was looked at is not what was drawn.
    """
    for source in (answers, asked.checked):
        if not isinstance(source, str | Path | None):
            raise InputError("an audit commits to the bytes of files: write the frame to one, and give its path")
    table, place = read_answered(answers), Path(asked.folder)
    if asked.escalate is not False:
        if not asked.chooses_nothing:
            raise InputError("an escalation chooses its method, checks and share itself; leave these options out")
        return _escalation(table, place, asked)
    if is_escalation(place):
        raise InputError(f"{place} is an escalation; say so with escalate=True (--escalate '')")
    if asked.checked is None:
        return _drawn(table, place, asked)
    if not (asked.chooses_nothing and asked.says_nothing_of_the_draw):
        raise InputError(
            "the terms of an audit were fixed by its draw; give no other option beside the expert's answers"
        )
    return _concluded(table, place, Path(asked.checked))


def _drawn(table: AnsweredTable, place: Path, asked: AuditOptions) -> Audit:
    """A first draw, or a new one, which shares the chance of a false claim with those before."""
    check_target(place, DRAW, asked.force)
    before = _earlier([*asked.after, *([place] if (place / DRAW).exists() else [])])
    sure = CONFIDENCE if asked.confidence is None else asked.confidence
    terms = AuditTerms(
        asked.method or ("sequential" if table.claims is None else "assisted"),
        TARGET if asked.target is None else asked.target,
        spendable(sure, [one["delta"] for one in before], asked.share),
        secrets.randbits(53) if asked.seed is None else asked.seed,
        asked.least_sure,
        asked.expert_error,
    )
    drawn = draw(len(table.tasks), terms, table.claims, asked.checks)
    said = written_draw(drawn, table, sure, before)
    write_draw(place / DRAW, said, _listed(drawn, drawn.checks), table, asked.show_answers, asked.force)
    return Audit(drawn, said["commitment"], drawn.checks)


def _escalation(table: AnsweredTable, place: Path, asked: AuditOptions) -> Escalation:
    words = "" if asked.escalate is True else str(asked.escalate)
    if asked.checked is None:
        if (place / DRAW).exists():
            raise InputError(f"{place} is an audit; choose another folder for the escalation")
        return drawn_escalation(table, place, tiers(words), asked)
    if words or asked.force or not asked.says_nothing_of_the_draw:
        raise InputError(
            "the terms of an escalation were fixed by its draw; give no other option beside the expert's answers"
        )
    if not is_escalation(place):
        raise InputError(f"{place} is no escalation: there is no escalation.json; draw first")
    return concluded_escalation(table, place, Path(asked.checked))


@dataclass(frozen=True)
class Looks:
    """How many answers an expert looks at to certify a target with confidence .95, whatever the workers did."""

    # with fewer no audit can certify it, whichever answers it draws: the errors may be on any of them
    least: int
    if_half: int  # fixed beforehand they suffice nine times in ten where half of the target is wrong


def looks_to_certify(answers: int, target: float = TARGET) -> Looks:
    """How many looks certifying takes, if no answer is wrong, or half as many as the target; claims are not used."""
    delta = round(1 - CONFIDENCE, 14)
    return Looks(*(checks_needed(answers, target, error, delta) for error in (0.0, target / 2)))


def certifying(answers: int, target: float, place: AnyPath) -> str:
    """How many of so many answers to check for a target, as a sentence, with the command that draws them."""
    looks = looks_to_certify(answers, target)
    return (
        f"to certify {target:.3g} whatever the workers did, an expert looks at {looks.least} of these answers at "
        f"least, by --method exact at {looks.if_half} if {50 * target:.3g} % of them are wrong: "
        f"crowdopt audit {place} --target {target:.3g} -o AUDIT"
    )


def _earlier(folders: Sequence[AnyPath]) -> list[dict[str, Any]]:
    """Commitment and delta of each earlier audit, and of those before it, each once."""
    known: dict[str, dict[str, Any]] = {}
    for folder in folders:
        one = read_draw(Path(folder))
        for each in (*one.earlier, {"commitment": one.commitment, "delta": one.terms.delta}):
            known[each["commitment"]] = each
    return list(known.values())


def drawn_again(table: AnsweredTable, committed: Committed) -> Draw:
    """The draw of an audit folder, made again from the answers and the terms.

    committed: what ``draw.json`` says: its groups, predictions and numbers must be those that come of it, for whoever
    chooses these once the order of the draw is known can make a bound false.
    """
    if table.digest != committed.digest:
        raise InputError(
            f"{table.path} is not the table that was drawn from (its SHA-256 differs); give the answers as they were"
        )
    drawn = draw(len(table.tasks), committed.terms, table.claims, committed.checks)
    if not _same_wagers(committed, drawn):
        raise InputError(
            f"{DRAW}: groups, predictions or numbers are not those that the answers and the terms give in version "
            f"{__version__}; draw.json says it is of version {committed.version}: go on with that one, or draw anew"
        )
    return drawn


def _same_wagers(committed: Committed, drawn: Draw) -> bool:
    sides = [
        (one.strata.size, one.strata.claim, one.strata.rate, one.versions.weight, one.versions.error, one.numbers)
        for one in (committed, drawn)
    ]
    return bool(np.isclose(committed.assumed, drawn.assumed, rtol=SAME, atol=0)) and all(
        one.shape == other.shape and np.allclose(one, other, rtol=SAME, atol=0)
        for one, other in zip(*sides, strict=True)
    )


def _concluded(table: AnsweredTable, folder: Path, checked: Path) -> Audit:
    committed = read_draw(folder)
    drawn = drawn_again(table, committed)
    listed = listed_checks(folder)[0]
    expert = read_expert(checked, table, drawn, listed)
    audited = conclude(drawn, expert.wrong, expert.certain, expert.others)
    more = listed if audited.certified or drawn.fixed else max(listed, next_checks(audited))
    write_audit(table, facts(audited, committed, expert), expert, folder / DRAW, _listed(drawn, more))
    return Audit(replace(drawn, checks=more), committed.commitment, more, audited)


def _listed(drawn: Draw, checks: int) -> Ints:
    """Places of the answers to look at, in order."""
    return np.concatenate([drawn.certain, drawn.order])[:checks]


def next_checks(audited: Audited) -> int:
    """Tasks to list when the target is not reached: as many as it takes at the error seen, at least 10 more."""
    drawn, terms = audited.draw, audited.draw.terms
    error = (float(audited.wrong.sum()) + 1) / (audited.wrong.size + 2)
    needed = checks_needed(drawn.order.size, terms.target, error, terms.delta)
    return min(drawn.answers, drawn.certain.size + max(needed, audited.wrong.size + 10))
