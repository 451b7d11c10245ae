"""What a second opinion comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crowdopt.crowd.rules import EXACT_ERROR, RULES
from crowdopt.notebooks import InNotebooks


@dataclass
class Report(InNotebooks):
    """What was found: ``problems`` (empty: the plan holds), and what was recomputed."""

    problems: list[str] = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    rule: str = EXACT_ERROR.name  # whose bounds and optimum these are
    objective: float | None = None
    bound: float | None = None
    certified_bound: float | None = None
    proven: bool = False
    proof: str = "none"
    labels: float = 0.0
    violation: float = 0.0
    wrong: float | None = None
    wrong_bound: float | None = None
    expected: bool = False  # whether figures are expectations: of an adaptive plan
    rounds: int | None = None  # of an adaptive plan at most, and the price of its expert: terms that it states itself
    expert: float | None = None
    class_error: dict[str, float] = field(default_factory=dict)  # limits by true class that an adaptive plan says
    given_votes: bool = False  # whether an adaptive plan says that each answer keeps its target given its votes
    each_task: bool = False  # whether one says that each task's set keeps its target
    times: float = 1.0  # of its targets, within which an adaptive plan says that its errors are
    short: int = 0  # tasks that the plan leaves short, as it says

    @property
    def holds(self) -> bool:
        """Whether every claim of the plan is true, or at least not refuted where only the solver vouches for it."""
        return not self.problems

    @property
    def of_rule(self) -> str:
        """Words that a bound or an optimum needs where it is a rule's and not the promise's."""
        return RULES[self.rule].of_rule

    def complain(self, place: str, problem: str) -> None:
        """Note a claim that does not hold."""
        self.problems.append(f"{place}: {problem}")
