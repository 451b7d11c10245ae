"""The verb audit: an expert looks at answers drawn at random, and the claim holds for any crowd."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from crowdopt.answers.audit.bound import checks_needed
from crowdopt.answers.audit.draws import METHODS as METHODS
from crowdopt.answers.audit.draws import AuditDraw, Audited, AuditTerms, conclude, draw
from crowdopt.answers.audit.tariff import spendable, tiers
from crowdopt.api.audit_options import AuditOptions, EscalationOptions
from crowdopt.api.binding import AnyPath
from crowdopt.api.escalation import Escalation as Escalation
from crowdopt.api.escalation import agree, concluded_escalation, drawn_escalation, is_escalation
from crowdopt.api.verbs import two_ways
from crowdopt.errors import InputError
from crowdopt.io.answers import AnsweredTable, read_answered
from crowdopt.io.audits import (
    DRAW,
    DRAWN,
    listed_checks,
    read_committed,
    read_looks,
    write_audit,
    write_draw,
    written_draw,
)
from crowdopt.io.folders import check_target
from crowdopt.notebooks import InNotebooks
from crowdopt.version import __version__

TARGET, CONFIDENCE = 0.05, 0.95


@dataclass(frozen=True, eq=False)
class Audit(InNotebooks):
    """The state of an audit.

    Parameters
    ----------
    draw : AuditDraw
        What is looked at, in which order.
    commitment : str
        SHA-256 of all that decides the draw: give it to whoever is to believe the claim, before the expert begins.
    checks : int
        How many tasks ``check.csv`` lists now.
    audited : Audited, optional
        What came of it, once the expert has looked.
    """

    draw: AuditDraw
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
    write_draw(place / DRAW, said, drawn, table, asked.show_answers, asked.force)
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
    return Looks(*(checks_needed(answers, target, error, spendable(CONFIDENCE)) for error in (0.0, target / 2)))


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
        said = read_committed(Path(folder) / DRAW, DRAWN, "audit")
        for each in (*said["earlier"], {name: said[name] for name in ("commitment", "delta")}):
            known[each["commitment"]] = each
    return list(known.values())


def drawn_again(table: AnsweredTable, folder: Path) -> tuple[AuditDraw, dict[str, Any]]:
    """The draw of an audit folder, made again from the answers and the terms, and what ``draw.json`` says.

    Its groups, predictions and numbers must be those that come of it, for whoever chooses these once the order of the
    draw is known can make a bound false.
    """
    said = read_committed(folder / DRAW, DRAWN, "audit", table)
    terms = AuditTerms(**{one.name: said[one.name] for one in fields(AuditTerms)})
    drawn = draw(len(table.tasks), terms, table.claims, said["checks"])
    made = written_draw(drawn, table, said["confidence"], said["earlier"])
    if not all(agree(said[key], made[key]) for key in ("groups", "predicted", "numbers", "assumed_error")):
        raise InputError(
            f"{DRAW}: groups, predictions or numbers are not those that the answers and the terms give in version "
            f"{__version__}; draw.json says it is of version {said['version']}: go on with that one, or draw anew"
        )
    return drawn, said


def _concluded(table: AnsweredTable, folder: Path, checked: Path) -> Audit:
    drawn, said = drawn_again(table, folder)
    listed = listed_checks(folder)[0]
    looks = read_looks(checked, table, drawn, listed)
    audited = conclude(drawn, looks.wrong, looks.beside)
    more = listed if audited.certified or drawn.fixed else max(listed, next_checks(audited))
    write_audit(audited, said, table, looks, folder / DRAW, more)
    return Audit(replace(drawn, checks=more), said["commitment"], more, audited)


def next_checks(audited: Audited) -> int:
    """Tasks to list when the target is not reached: as many as it takes at the error seen, at least 10 more."""
    drawn, terms = audited.draw, audited.draw.terms
    error = (float(audited.wrong.sum()) + 1) / (audited.wrong.size + 2)
    needed = checks_needed(drawn.order.size, terms.target, error, terms.delta)
    return min(drawn.answers, drawn.certain.size + max(needed, audited.wrong.size + 10))
