"""The draw of an escalation on disk: ``escalation.json``, which says beforehand all that decides it."""

from __future__ import annotations

from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from crowdopt.answers.audit.escalation import EscalationDraw, EscalationTerms
from crowdopt.documents import COUNT, NUMBER, TEXT, Each, Keys, Maybe, number, whole
from crowdopt.io.answers.answered import AnsweredTable
from crowdopt.io.answers.audit_draw import CHANCE, GROUPED, SHARE, commitment, grouped, read_committed
from crowdopt.version import __version__

ESCALATION = "escalation.json"  # the file that tells an escalation
PRICE = number("a price above 0", 1e-12)
PLANNED = Keys({"groups": COUNT, "stand": COUNT, "checks": COUNT, "up": COUNT, "cost": NUMBER})
BELOW = Keys({"commitment": TEXT, "up_sha256": TEXT, "wrong": COUNT, "delta": CHANCE})
ESCALATES = Keys(
    required={
        "answers": COUNT,
        "answers_sha256": TEXT,
        "first": COUNT,
        "target": SHARE,
        "expert_error": SHARE,
        "confidence": SHARE,
        "tiers": whole("a whole number of at least 1", 1),
        "below": Each(BELOW),
        "allowed": COUNT,
        "delta": CHANCE,
        "seed": COUNT,
        "expert_price": PRICE,
        "next_price": PRICE,
        "checks": COUNT,
        "planned": PLANNED,
        **GROUPED,
        "version": TEXT,
        "commitment": TEXT,
    }
)
STANDS = Keys(
    required={
        "sentence": TEXT,
        "stand": COUNT,
        "up": COUNT,
        "wrong_at_most": COUNT,
        "groups": COUNT,
        "checked": COUNT,
        "cost": NUMBER,
        "commitment": TEXT,
        "checked_sha256": TEXT,
        "up_sha256": TEXT,
        "passed": Maybe(COUNT),
    },
    open=True,
)


def written_escalation(draw: EscalationDraw, table: AnsweredTable) -> dict[str, Any]:
    """All that decides a draw, as plain values, with its commitment: what ``escalation.json`` says."""
    said: dict[str, Any] = {
        "answers": draw.answers,
        "answers_sha256": table.digest,
        **asdict(draw.terms),
        "checks": draw.checks,
        "planned": draw.planned._asdict(),
        **grouped(draw),
        "version": __version__,
    }
    return {**said, "commitment": commitment(said)}


def read_escalation(folder: Path, table: AnsweredTable | None = None) -> tuple[EscalationTerms, dict[str, Any]]:
    """What an escalation was committed to: its terms, and all of ``escalation.json``; of this table if one is given."""
    said = read_committed(folder / ESCALATION, ESCALATES, "escalation", table)
    return EscalationTerms(**{one.name: said[one.name] for one in fields(EscalationTerms) if one.init}), said


def digest_of(tasks: list[str]) -> str:
    """SHA-256 of names, each on a line."""
    return sha256("".join(f"{task}\n" for task in tasks).encode()).hexdigest()
