"""The draw of an escalation on disk: ``escalation.json``, which says beforehand all that decides it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from crowdopt.answers.audit.escalated import EscalationDraw
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


@dataclass(frozen=True)
class Purpose:
    """What the answers that stand on all tiers together are to show, and what lower tiers have used of it."""

    first: int  # answers of the first tier
    target: float  # share of them that may be wrong in the end
    expert_error: float  # share of them on which the expert errs, at most
    confidence: float  # of all tiers' claims together
    tiers: int  # tiers that are still to be certified, this one included
    below: tuple[dict[str, Any], ...] = ()  # of each lower tier: commitment, up_sha256, wrong, delta

    @property
    def allowed(self) -> int:
        """Wrong answers that this tier may leave: an even part of what is left."""
        used: int = sum(tier["wrong"] for tier in self.below)
        most = int(self.target * self.first + 1e-9) - int(self.expert_error * self.first + 1e-9)
        return max(0, most - used) // self.tiers

    @property
    def delta(self) -> float:
        """Chance of a false claim that this tier may spend: an even part of what is left."""
        spent: float = sum(tier["delta"] for tier in self.below)
        return round((1 - self.confidence - spent) / self.tiers, 14)


def written_escalation(draw: EscalationDraw, purpose: Purpose, table: AnsweredTable) -> dict[str, Any]:
    """All that decides a draw, as plain values, with its commitment: what ``escalation.json`` says."""
    said: dict[str, Any] = {
        "answers": draw.answers,
        "answers_sha256": table.digest,
        **asdict(purpose),
        **asdict(draw.terms),
        "below": list(purpose.below),
        "checks": draw.checks,
        "planned": asdict(draw.planned),
        **grouped(draw.strata, draw.versions),
        "version": __version__,
    }
    return {**said, "commitment": commitment(said)}


def read_escalation(folder: Path) -> tuple[Purpose, dict[str, Any]]:
    """What an escalation was committed to: its purpose, and all of ``escalation.json``."""
    said = read_committed(folder / ESCALATION, ESCALATES, "escalation")
    names = ("first", "target", "expert_error", "confidence", "tiers")
    return Purpose(**{name: said[name] for name in names}, below=tuple(said["below"])), said


def digest_of(tasks: list[str]) -> str:
    """SHA-256 of names, each on a line."""
    return sha256("".join(f"{task}\n" for task in tasks).encode()).hexdigest()
