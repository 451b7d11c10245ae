"""Options of the call ``audit``: of any draw, of an audit, and of an escalation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from crowdopt.api.binding import AnyPath


@dataclass(frozen=True, kw_only=True)
class DrawOptions:
    """Options of any draw: its folder, what it shows, and what the expert said.

    Parameters
    ----------
    folder : path
        Of the audit.
    checked : path, optional
        Columns task and label: what the expert says. Rows without a label were not looked at yet.
    target : float
        Share of wrong answers to certify, .05 unless given.
    confidence : float
        Of all claims together, .95 unless given.
    seed : int, optional
        Of the draw; from the operating system unless given, so that nobody knows it while labels are made.
    expert_error : float
        Share of all tasks on which the expert errs, at most.
    after : sequence of paths
        Earlier audits of the same answers, with which this one shares the chance of a false claim. One that is
        replaced is always among them.
    show_answers : bool
        Whether check.csv shows the answers, by which an expert may be led.
    force : bool
        Whether an audit that is there may be drawn anew; what it spent of the chance stays spent.
    """

    folder: AnyPath = field(kw_only=False)
    checked: AnyPath | None = None
    target: float | None = None
    confidence: float | None = None
    seed: int | None = None
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
        ``assisted`` where errors are claimed, else ``sequential``; both may stop at any time. ``exact`` fixes the
        number of checks.
    checks : int
        How many tasks ``check.csv`` lists now.
    least_sure : int
        So many of the least sure answers go to the expert first, whatever the draw.
    share : float
        Of the chance that is left, what this audit spends.
    escalate : str or bool
        Whether to say which answers may stand and which go up a tier, in place of how many are wrong in all; the text
        has prices and tiers, as in ``expert=40,next=3,tiers=2``. With ``checked`` True is enough. ``after`` then
        names the escalation of the tier below. It writes escalation.json and check.csv; with ``checked`` standing.json,
        answers.csv and up.csv.
    """

    method: str | None = None
    checks: int | None = None
    least_sure: int = 0
    share: float = 1.0
    escalate: str | bool = False

    @property
    def chooses_nothing(self) -> bool:
        """Whether method, checks and share are left as they are."""
        return self.method is None and self.checks is None and not self.least_sure and self.share == 1.0
