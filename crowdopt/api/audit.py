"""The verb audit: an expert looks at a random few of the answers, and what follows is true for any crowd."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from crowdopt.answers.audit.audited import METHODS as METHODS
from crowdopt.answers.audit.audited import Audited, AuditTerms, Draw
from crowdopt.answers.audit.concluding import conclude
from crowdopt.answers.audit.drawing import draw
from crowdopt.answers.audit.escalation_words import tiers
from crowdopt.answers.audit.exact_bound import checks_needed
from crowdopt.answers.audit.shared_chance import spendable
from crowdopt.api.binding import AnyPath
from crowdopt.api.escalation import Escalation as Escalation
from crowdopt.api.escalation import EscalationAsked, concluded_escalation, drawn_escalation, is_escalation
from crowdopt.errors import InputError
from crowdopt.io.answers.answered import AnsweredTable, read_answered
from crowdopt.io.answers.audit_draw import DRAW, Committed, read_draw, write_draw, written_draw
from crowdopt.io.answers.audit_folder import facts, listed_checks, read_expert, write_audit
from crowdopt.io.tables.folder import check_target
from crowdopt.notebooks import InNotebooks
from crowdopt.version import __version__

TARGET, CONFIDENCE = 0.05, 0.95
SAME = 1e-9  # relative: logarithms differ in their last bits from processor to processor


@dataclass(frozen=True, eq=False)
class Audit(InNotebooks):
    """An audit as it stands.

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


@overload
def audit(
    answers: AnyPath,
    folder: AnyPath,
    *,
    checked: AnyPath | None = None,
    target: float | None = None,
    confidence: float | None = None,
    method: str | None = None,
    checks: int | None = None,
    seed: int | None = None,
    least_sure: int = 0,
    expert_error: float = 0.0,
    after: Sequence[AnyPath] = (),
    share: float = 1.0,
    show_answers: bool = False,
    force: bool = False,
    escalate: Literal[False] = False,
) -> Audit: ...


@overload
def audit(
    answers: AnyPath,
    folder: AnyPath,
    *,
    checked: AnyPath | None = None,
    target: float | None = None,
    confidence: float | None = None,
    seed: int | None = None,
    expert_error: float = 0.0,
    after: Sequence[AnyPath] = (),
    show_answers: bool = False,
    force: bool = False,
    escalate: str | Literal[True],
) -> Escalation: ...


def audit(
    answers: AnyPath,
    folder: AnyPath,
    *,
    checked: AnyPath | None = None,
    target: float | None = None,
    confidence: float | None = None,
    method: str | None = None,
    checks: int | None = None,
    seed: int | None = None,
    least_sure: int = 0,
    expert_error: float = 0.0,
    after: Sequence[AnyPath] = (),
    share: float = 1.0,
    show_answers: bool = False,
    force: bool = False,
    escalate: str | bool = False,
) -> Audit | Escalation:
    """Draw answers for an expert, or, with ``checked``, say what their looking shows.

    Without ``checked`` it writes draw.json (first of all the seed and everything that decides the draw) and check.csv;
    with it audit.json, answers.csv with the corrections, and more tasks in check.csv where the target is not reached.

    Parameters
    ----------
    answers : path
        Columns task and label (or answer), optionally confidence or error; or a folder with such an answers.csv.
    folder : path
        Of the audit.
    checked : path, optional
        Columns task and label: what the expert says. Rows without a label were not looked at yet.
    target : float
        Share of wrong answers to certify, .05 unless given.
    confidence : float
        Of all claims together, .95 unless given.
    method : str
        ``assisted`` where errors are claimed, else ``sequential``; both may stop at any time. ``exact`` fixes the
        number of checks.
    checks : int, optional
        Tasks to look at to begin with; chosen by the target and the claims unless given.
    seed : int, optional
        Of the draw; from the operating system unless given, so that nobody knows it while labels are made.
    least_sure : int
        So many of the least sure answers go to the expert first, whatever the draw.
    expert_error : float
        Share of all tasks on which the expert errs, at most.
    after : sequence of paths
        Earlier audits of the same answers, with which this one shares the chance of a false claim. One that is
        replaced is always among them.
    share : float
        Of the chance that is left, what this audit spends.
    show_answers : bool
        Whether check.csv shows the answers, by which an expert may be led.
    force : bool
        Whether an audit that is there may be drawn anew; what it spent of the chance stays spent.
    escalate : str or bool
        Whether to say which answers may stand and which go up a tier, in place of how many are wrong in all; the text
        has prices and tiers, as in ``expert=40,next=3,tiers=2``. With ``checked`` True is enough. ``after`` then
        names the escalation of the tier below. It writes escalation.json and check.csv; with ``checked`` standing.json,
        answers.csv and up.csv.

    Returns
    -------
    Audit or Escalation
        ``audited`` has the claim; its ``left`` the bound after every single check. ``escalated`` that of an escalation.

    Raises
    ------
    InputError
        If a table cannot be read, a number is out of range, or what was looked at is not what was drawn.
    """
    for source in (answers, checked):
        if not isinstance(source, str | Path | None):
            raise InputError("an audit commits to the bytes of files: write the frame to one, and give its path")
    table, place = read_answered(answers), Path(folder)
    if escalate is not False:
        alone = (method, checks, least_sure or None)
        if any(value is not None for value in alone) or share != 1.0:
            raise InputError("an escalation chooses its method, checks and share itself; leave these options out")
        asked = EscalationAsked(target, confidence, seed, expert_error, after)
        return _escalation(table, place, "" if escalate is True else escalate, asked, checked, (show_answers, force))
    if is_escalation(place):
        raise InputError(f"{place} is an escalation; say so with escalate=True (--escalate '')")
    if checked is None:
        check_target(place, DRAW, force)
        before = _earlier([*after, *([place] if (place / DRAW).exists() else [])])
        sure = CONFIDENCE if confidence is None else confidence
        terms = AuditTerms(
            method or ("sequential" if table.claims is None else "assisted"),
            TARGET if target is None else target,
            spendable(sure, [one["delta"] for one in before], share),
            secrets.randbits(53) if seed is None else seed,
            least_sure,
            expert_error,
        )
        drawn = draw(len(table.tasks), terms, table.claims, checks)
        said = written_draw(drawn, table, sure, before)
        write_draw(drawn, table, said, place, show_answers, force)
        return Audit(drawn, said["commitment"], drawn.checks)
    given = (target, confidence, method, checks, seed, least_sure or None, expert_error or None, *after)
    if any(value is not None for value in given) or share != 1.0 or show_answers:
        raise InputError(
            "what an audit is to show was decided with its draw; with the expert's answers give nothing else"
        )
    return _concluded(table, place, Path(checked))


def _escalation(
    table: AnsweredTable,
    place: Path,
    words: str,
    asked: EscalationAsked,
    checked: AnyPath | None,
    wishes: tuple[bool, bool],
) -> Escalation:
    """A draw, or what came of it; wishes: show_answers, force."""
    if checked is None:
        if (place / DRAW).exists():
            raise InputError(f"{place} is an audit; choose another folder for the escalation")
        return drawn_escalation(table, place, tiers(words), asked, *wishes)
    if words or any(wishes) or asked != EscalationAsked(None, None, None, 0.0, ()):
        raise InputError(
            "what an escalation is to show was decided with its draw; with the expert's answers give nothing else"
        )
    if not is_escalation(place):
        raise InputError(f"{place} is no escalation: there is no escalation.json; draw first")
    return concluded_escalation(table, place, Path(checked))


@dataclass(frozen=True)
class Looks:
    """How many answers an expert looks at to certify a target with confidence .95, whatever the workers did."""

    # with fewer no audit can certify it, whichever answers it draws: the errors may be on any of them
    least: int
    if_half: int  # fixed beforehand they suffice nine times in ten where half of the target is wrong


def looks_to_certify(answers: int, target: float = TARGET) -> Looks:
    """What certifying takes. No claim goes into it: how often claims are wrong is what an audit is to find out.

    answers: how many there are; target: the share that may be wrong.
    """
    delta = round(1 - CONFIDENCE, 14)
    return Looks(*(checks_needed(answers, target, error, delta) for error in (0.0, target / 2)))


def certifying(answers: int, target: float, place: AnyPath) -> str:
    """How many answers to check, as a sentence, with the command that draws them.

    answers: how many there are; target: the share that may be wrong; place: where they are.
    """
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
    write_audit(audited, table, facts(audited, committed, expert), expert, folder, more)
    return Audit(replace(drawn, checks=more), committed.commitment, more, audited)


def next_checks(audited: Audited) -> int:
    """Tasks to list when the target is not reached: as many as it takes at the error seen, at least 10 more."""
    drawn, terms = audited.draw, audited.draw.terms
    error = (float(audited.wrong.sum()) + 1) / (audited.wrong.size + 2)
    needed = checks_needed(drawn.order.size, terms.target, error, terms.delta)
    return min(drawn.answers, drawn.certain.size + max(needed, audited.wrong.size + 10))
