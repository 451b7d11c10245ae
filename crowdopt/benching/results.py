"""The rows of a benchmark held against each other: who contradicts whom, and who is proven right by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from crowdopt.benching.judge import CLOSED, FEASIBLE, INFEASIBLE, PROVEN, ROUGH, VOUCHED, WRONG
from crowdopt.benching.measure import FAILED
from crowdopt.benching.sources import LP
from crowdopt.benching.subject import Subject
from crowdopt.core.certificate import INTEGRALITY
from crowdopt.jobs import Row

STRICT = 1e-8  # absolute; a point that breaks no row by more may contradict others
SOLVED = (PROVEN, VOUCHED, INFEASIBLE)
HOLDING = (PROVEN, VOUCHED, FEASIBLE)
EMPTY: dict[str, Any] = {
    **dict.fromkeys(("value", "bound", "violation", "fraction", "gap", "claimed", "raw", "size")),
    "why": "",
    "proof": "none",
    "timings": {},
    "megabytes": None,
    "megabytes_before": None,
}


@dataclass(frozen=True)
class Result:
    """A subject, its outcome, and the facts of its row."""

    subject: Subject
    outcome: str
    why: str
    facts: dict[str, Any]

    @property
    def family(self) -> str:
        """What kind of question it answers."""
        return self.facts.get("family") or "assignment"

    @property
    def is_solved(self) -> bool:
        """Whether it settled its case, proven or on its word."""
        return self.outcome in SOLVED

    @property
    def seconds(self) -> float | None:
        """What a user waits for, once libraries are loaded."""
        total: float | None = self.facts["timings"].get("total")
        return total

    @property
    def holds(self) -> bool:
        """Whether it has a plan that holds so strictly that it refutes any claim that there is none as good."""
        if self.outcome not in HOLDING or self.facts["value"] is None:
            return False
        return bool(self.facts["violation"] <= STRICT and self.facts["fraction"] <= INTEGRALITY)


def results_of(rows: Sequence[Row]) -> list[Result]:
    """The rows as results, held against each other case by case."""
    plain = [_plain(row) for row in rows]
    related: dict[tuple[str, int], list[Result]] = {}
    for result in plain:
        related.setdefault((result.subject.problem, result.subject.seed), []).append(result)
    return [_crossed(result, related[result.subject.problem, result.subject.seed]) for result in plain]


def _plain(row: Row) -> Result:
    subject = Subject.of(row.arguments)
    if row.error is not None:
        return Result(subject, FAILED, row.error, EMPTY)
    return Result(subject, row.result["outcome"], row.result["why"], row.result)


def _crossed(result: Result, others: Sequence[Result]) -> Result:
    """The result as it stands beside the others on the same problem: the same case, and its relaxation."""
    same = [other for other in others if other.subject.case == result.subject.case]
    best = min((one for one in same if one.holds), key=lambda one: float(one.facts["value"]), default=None)
    refuted = _refuted(result, best)
    if refuted:
        return replace(result, outcome=WRONG, why=refuted)
    witness = _witness(result, [other for other in others if _bounds(other.subject, result.subject)])
    if witness is None:
        return result
    facts = {**result.facts, "bound": witness.facts["bound"], "proof": "certificate"}
    if result.outcome == INFEASIBLE:
        return replace(result, why=f"by the multipliers of {_name(witness, result)}", facts=facts)
    return replace(result, outcome=PROVEN, why=f"by the multipliers of {_name(witness, result)}", facts=facts)


def _bounds(other: Subject, subject: Subject) -> bool:
    """Whether a bound for the one, of the same problem, holds for the other: it is the same case, or its relaxation."""
    return other.program in (subject.program, LP)


def _witness(result: Result, others: Sequence[Result]) -> Result | None:
    """Another result whose multipliers, checked here, settle what only the solver vouches for."""
    certified = [one for one in others if one.facts["proof"] == "certificate"]
    if result.outcome == INFEASIBLE and result.facts["proof"] != "certificate":
        return next((one for one in certified if one.outcome == INFEASIBLE), None)
    value = result.facts["value"]
    if result.outcome != VOUCHED or value is None:
        return None
    known = [one for one in certified if one.outcome in HOLDING and one.facts["bound"] is not None]
    near = [one for one in known if abs(value - one.facts["bound"]) <= CLOSED * max(1.0, abs(value))]
    return max(near, key=lambda one: float(one.facts["bound"]), default=None)


def _name(witness: Result, result: Result) -> str:
    return witness.subject.method + (" on the relaxation" if witness.subject.program != result.subject.program else "")


def _refuted(result: Result, best: Result | None) -> str:
    """What another method's plan, which holds, says against a claim; empty if nothing."""
    if best is None or best is result:
        return ""
    other, found = best.subject.method, float(best.facts["value"])
    if result.outcome == INFEASIBLE:
        return f"claims infeasible, but the plan of {other} holds"
    size = max(1.0, abs(found))
    value, bound = result.facts["value"], result.facts["bound"]
    if result.facts["claimed"] == "optimal" and result.outcome in (VOUCHED, ROUGH) and value is not None:
        loose = _looseness(result) * size
        if value > found + loose:
            return f"claims optimal at {value:.10g}, but {other} found {found:.10g}"
    if result.outcome in (VOUCHED, FEASIBLE) and bound is not None and bound > found + _looseness(result) * size:
        return f"claims that nothing is below {bound:.10g}, but {other} found {found:.10g}"
    return ""


def _looseness(result: Result) -> float:
    """Relative; what is allowed before a claim counts as refuted: more where an answer is rough anyway."""
    return 1e-2 if result.outcome == ROUGH else 10 * CLOSED
