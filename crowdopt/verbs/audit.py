"""The verb audit: an expert looks at answers drawn at random, and the claim holds for any crowd.

Options of the call ``audit``: of any draw, of an audit, and of an escalation.

The verb audit with --escalate: which answers may stand, and which go up a tier.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from crowdopt.answers.audit.bound import checks_needed
from crowdopt.answers.audit.draws import METHODS as METHODS
from crowdopt.answers.audit.draws import AuditDraw, Audited, AuditTerms, conclude, draw
from crowdopt.answers.audit.escalation import (
    Escalated,
    EscalationDraw,
    EscalationTerms,
    draw_escalation,
    escalate,
    next_looks,
)
from crowdopt.answers.audit.tariff import Tiers, spendable, tiers
from crowdopt.arrays import Floats
from crowdopt.documents import is_number
from crowdopt.errors import InputError, refuse_unless
from crowdopt.io.answers import AnsweredTable, read_answered
from crowdopt.io.audits import (
    DRAW,
    DRAWN,
    ESCALATION,
    STANDING,
    by_slice,
    listed_checks,
    read_committed,
    read_escalation,
    read_looks,
    read_standing,
    standing_facts,
    write_audit,
    write_draw,
    write_standing,
    written_draw,
    written_escalation,
)
from crowdopt.io.folders import check_target
from crowdopt.io.schema import GOING_UP
from crowdopt.io.tables import read_table, table_in
from crowdopt.notebooks import InNotebooks, number, percent
from crowdopt.said import Said, Verb, Word
from crowdopt.verbs.binding import AnyPath, two_ways
from crowdopt.version import __version__


@dataclass(frozen=True, kw_only=True)
class DrawOptions:
    """Options of any draw: its folder, what it shows, and what the expert said.

    Parameters
    ----------
    output : path
        Folder of the audit.
    checked : path, optional
        The expert's answers: columns task, label. Rows without a label were not looked at yet.
    target : float
        The share of wrong answers to certify; default: .05.
    confidence : float
        How sure all claims together are; default: .95.
    seed : int, optional
        Seed of the draw; default: from the operating system, so that nobody knows it while labels are made.
    expert_error : float
        The largest share of tasks on which the expert errs.
    after : sequence of paths
        An earlier audit of these answers; may be repeated. They share the chance of a false claim; one that is replaced
        is always among them.
    show_answers : bool
        Show the answers to the expert, whom they may influence.
    force : bool
        Draw anew where an audit stands; the new one counts as after it. What it spent of the chance stays spent.
    """

    output: AnyPath = field(kw_only=False)
    checked: AnyPath | None = None
    target: float | None = None
    confidence: float | None = None
    seed: Annotated[int, Word(low=0, high=10**18 - 1)] | None = None
    expert_error: float = 0.0
    after: Sequence[AnyPath] = ()
    show_answers: bool = False
    force: bool = False

    @property
    def says_nothing_of_the_draw(self) -> bool:
        """Whether all is as it is by default that was decided with the draw."""
        given = (self.target, self.confidence, self.seed, self.expert_error or None, *self.after)
        return all(one is None for one in given) and not self.show_answers


@dataclass(frozen=True, kw_only=True)
class EscalationOptions(DrawOptions):
    """Options of an escalation, which chooses its method, checks and share itself."""

    escalate: str | Literal[True]


@dataclass(frozen=True, kw_only=True)
class AuditOptions(DrawOptions):
    """Options of an audit; with ``escalate`` they are refused unless they have their defaults.

    Parameters
    ----------
    method : str
        How answers are drawn; default: assisted where errors are claimed, else sequential. Both may stop at any time;
        ``exact`` fixes the number of checks.
    checks : int
        Tasks to draw first; default: as many as the target should take.
    least_sure : int
        How many of the least sure answers the expert sees first.
    share : float
        The share of the chance of a false claim that this audit spends.
    by : str
        Claim too how many are wrong at most among the answers of each value of this column of theirs; label: of each
        class, with its recall. These claims share half of the chance.
    escalate : str or bool
        Say which answers stand and which go up a tier, by prices: expert=40,next=3,tiers=2. In place of how many are
        wrong in all; ``after`` then names the escalation of the tier below. It writes escalation.json and check.csv;
        with ``checked``, where True is enough in Python, standing.json, answers.csv and up.csv.
    """

    method: Literal["assisted", "sequential", "exact"] | None = None
    checks: int | None = None
    least_sure: int = 0
    share: float = 1.0
    by: str = ""
    escalate: Annotated[str, Word(place="PRICES")] | bool = False

    @property
    def chooses_nothing(self) -> bool:
        """Whether method, checks, share and slices are left as they are."""
        chosen = self.least_sure or self.by
        return self.method is None and self.checks is None and not chosen and self.share == 1.0


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
    slices : list of dict
        Of each slice what is claimed: ``value``, ``answers``, ``checked``, ``corrected``, ``wrong_at_most``.
    recall : dict
        Class -> share of its tasks that are answered so, at least; of slices by label.
    """

    draw: AuditDraw
    commitment: str
    checks: int
    audited: Audited | None = None
    slices: list[dict[str, Any]] = field(default_factory=list)
    recall: dict[str, float] = field(default_factory=dict)

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

    Reads
    -----
    a table or folder of answers; with --checked what the expert says, task,label

    Writes
    ------
    the folder: draw.json, check.csv (the tasks to look at); then audit.json, answers.csv with corrections

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt rehearse my-campaign my-plan -o labels.csv --truth truth.csv
        crowdopt aggregate labels.csv --plan my-plan --campaign my-campaign -o answers
        crowdopt audit answers --target 0.1 -o audit
    """
    for source in (answers, asked.checked):
        if not isinstance(source, str | Path | None):
            raise InputError("an audit commits to the bytes of files: write the frame to one, and give its path")
    table, place = read_answered(answers, asked.by), Path(asked.output)
    if asked.escalate is not False or (asked.checked is not None and is_escalation(place)):
        if not asked.chooses_nothing:
            raise InputError("an escalation chooses its method, checks and share itself; leave these options out")
        return _escalation(table, place, replace(asked, escalate=asked.escalate or True))
    if is_escalation(place):
        raise InputError(f"{place} is an escalation; name another folder, or give what the expert says (--checked)")
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
        asked.by,
    )
    drawn = draw(len(table.tasks), terms, table.claims, asked.checks, table.values)
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


def looks_to_certify(answers: int, target: float = TARGET) -> int:
    """With fewer looks no audit can certify a target at confidence .95: the errors may be on any of the answers."""
    return checks_needed(answers, target, 0.0, spendable(CONFIDENCE))


def certifying(answers: int, target: float, place: AnyPath) -> str:
    """How many of so many answers to check for a target, as a sentence, with the command that draws them."""
    return (
        f"to prove at most {percent(target)} wrong, whatever the workers did, an expert must check at least "
        f"{looks_to_certify(answers, target)} of these answers: "
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


def drawn_again(table: AnsweredTable, folder: Path) -> tuple[AnsweredTable, AuditDraw, dict[str, Any]]:
    """The draw of an audit folder, made again from the answers and the terms, and what ``draw.json`` says.

    First of all the answers with the column that claims are made by.

    Its groups, predictions and numbers must be those that come of it, for whoever chooses these once the order of the
    draw is known can make a bound false.
    """
    said = read_committed(folder / DRAW, DRAWN, "audit", table)
    terms = AuditTerms(**{one.name: said[one.name] for one in fields(AuditTerms)})
    table = read_answered(table.path, terms.by)
    drawn = draw(len(table.tasks), terms, table.claims, said["checks"], table.values)
    made = written_draw(drawn, table, said["confidence"], said["earlier"])
    if not all(agree(said[key], made[key]) for key in ("groups", "predicted", "numbers", "slices", "assumed_error")):
        raise InputError(
            f"{DRAW}: groups, predictions or numbers are not those that the answers and the terms give in version "
            f"{__version__}; draw.json says it is of version {said['version']}: go on with that one, or draw anew"
        )
    return table, drawn, said


def _concluded(table: AnsweredTable, folder: Path, checked: Path) -> Audit:
    table, drawn, said = drawn_again(table, folder)
    listed = listed_checks(folder)[0]
    looks = read_looks(checked, table, drawn, listed)
    audited = conclude(drawn, looks.wrong, looks.beside)
    more = listed if audited.certified or drawn.fixed else max(listed, next_checks(audited))
    write_audit(audited, said, table, looks, folder / DRAW, more)
    slices = by_slice(audited, table, looks)
    return Audit(replace(drawn, checks=more), said["commitment"], more, audited, **slices)


def next_checks(audited: Audited) -> int:
    """Tasks to list when the target is not reached: as many as it takes at the error seen, at least 10 more."""
    drawn, terms = audited.draw, audited.draw.terms
    error = (float(audited.wrong.sum()) + 1) / (audited.wrong.size + 2)
    needed = checks_needed(drawn.order.size, terms.target, error, terms.own)
    return min(drawn.answers, drawn.certain.size + max(needed, audited.wrong.size + 10))


def _facts_of(done: Audit, output: AnyPath) -> dict[str, Any]:
    facts: dict[str, Any] = {"audit": str(output), "commitment": done.commitment, "checks": done.checks}
    if done.audited is None:
        return {**facts, "seed": done.draw.terms.seed}
    audited = done.audited
    claim = {"wrong_at_most": audited.wrong_at_most, "certified": audited.certified, "checked": audited.checked}
    by = {"slices": done.slices, "recall": done.recall} if done.slices else {}
    return {**facts, **claim, "corrected": audited.corrected, "sentence": audited.sentence, **by}


def _drawn_said(done: Audit, output: AnyPath) -> list[str]:
    terms, first = done.draw.terms, done.draw.certain.size
    least = f", the {first} least sure first" if first else ""
    stop = "look at all of them" if done.draw.fixed else "look from the top, stop when it is enough"
    return [
        f"{done.checks} of {done.draw.answers} answers drawn{least}, {terms.method}, seed {terms.seed}: {stop}",
        f"if {percent(done.draw.assumed)} are wrong now, enough to prove at most {percent(terms.target)} in the end",
        f"commitment {done.commitment}: hand it on before the expert begins",
        f"wrote {output}; the expert's answers: crowdopt audit ANSWERS --checked CHECKED.csv -o {output}",
    ]


def _shown_said(done: Audit, output: AnyPath) -> list[str]:
    assert done.audited is not None
    audited, terms = done.audited, done.draw.terms
    said = [audited.sentence, *slices_said(terms.by, terms.delta, done.slices, done.recall)]
    if audited.certified:
        said.append(f"so the target of {terms.target:g} is reached")
    elif done.draw.fixed:
        said.append(f"the target of {terms.target:g} is not reached; correct more answers, or draw anew with --after")
    else:
        more = done.checks - audited.checked
        said.append(f"the target of {terms.target:g} is not reached; {more} more to look at in {output}/check.csv")
    return [*said, f"wrote {output}: audit.json, answers.csv with the corrections"]


def slices_said(by: str, delta: float, slices: Sequence[Mapping[str, Any]], recall: Mapping[str, float]) -> list[str]:
    """What an audit claims of each slice, in sentences."""
    said = []
    for one in slices:
        most, unseen = one["wrong_at_most"], one["answers"] - one["checked"]
        claim = f"at most {most} are wrong" if most < unseen or not unseen else "too few were looked at to say anything"
        seen = f"{one['checked']} of {one['answers']} checked, {one['corrected']} corrected"
        said.append(f"{by} {one['value']}: {claim} ({seen})")
    said += [
        f"of the tasks that are {name} at least {_floor(share)} % are answered so" for name, share in recall.items()
    ]
    return [*said, f"all of these hold together with {100 * (1 - delta):.6g} % confidence"] if slices else []


def _floor(share: float) -> str:
    """A share as a percentage, one digit, never rounded up."""
    return f"{np.floor(1000 * share + 1e-9) / 10:.1f}"


def escalation_facts(done: Escalation, output: AnyPath) -> dict[str, Any]:
    """The escalation in facts."""
    planned = done.draw.planned._asdict()
    facts: dict[str, Any] = {"escalation": str(output), "commitment": done.commitment, "checks": done.checks}
    if done.escalated is None:
        return {**facts, "seed": done.draw.terms.seed, "allowed": done.draw.terms.allowed, "planned": planned}
    made = done.escalated
    claim = {"stand": made.stand, "up": done.up, "wrong_at_most": made.left, "checked": made.wrong.size}
    return {**facts, **claim, "cost": done.cost, "finished": made.finished, "sentence": made.sentence}


def escalation_said(done: Escalation, output: AnyPath) -> list[str]:
    """The escalation in sentences."""
    return _tiers_drawn(done, output) if done.escalated is None else _tiers_shown(done, output)


def _tiers_drawn(done: Escalation, output: AnyPath) -> list[str]:
    planned, terms = done.draw.planned, done.draw.terms
    return [
        f"{done.checks} of {done.draw.answers} answers drawn, seed {terms.seed}: look from the top",
        f"planned by the claims: {planned.stand} answers stand, {planned.up} go up, the expert looks at "
        f"{planned.checks}, cost {number(planned.cost)}",
        f"at most {terms.allowed} of those that stand may be wrong",
        f"commitment {done.commitment}: hand it on before the expert begins",
        f"wrote {output}; the expert's answers: crowdopt audit ANSWERS --checked CHECKED.csv -o {output}",
    ]


def _tiers_shown(done: Escalation, output: AnyPath) -> list[str]:
    assert done.escalated is not None
    made = done.escalated
    said = [made.sentence, f"cost so far {number(done.cost)}, {done.up} that go up included"]
    if made.finished:
        said.append("no further look is expected to save money")
    elif done.checks > made.wrong.size:
        onward = made.planned
        said.append(
            f"{done.checks - made.wrong.size} more to look at in {output}/check.csv: by what was seen {onward.stand} "
            f"may stand in the end, at a cost of {number(onward.cost)}"
        )
    return [*said, f"wrote {output}: standing.json, answers.csv, up.csv (the tasks that go up)"]


def _said(done: Audit | Escalation, output: AnyPath) -> Said:
    if isinstance(done, Escalation):
        return Said(escalation_facts(done, output), escalation_said(done, output))
    return Said(_facts_of(done, output), (_drawn_said if done.audited is None else _shown_said)(done, output))


VERBS = (Verb("audit", audit, _said),)
