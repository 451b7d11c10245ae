"""The rows of a benchmark held against each other: who contradicts whom, and who is proven right by whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crowdopt.bench.judge import CLOSED, FEASIBLE, INFEASIBLE, PROVEN, ROUGH, VOUCHED, WRONG
from crowdopt.bench.measure import FAILED
from crowdopt.bench.subject import Subject
from crowdopt.core.certificate import INTEGRALITY
from crowdopt.jobs import Row

STRICT = 1e-8  # absolute; a point that breaks no row by more may contradict others
SOLVED = (PROVEN, VOUCHED, INFEASIBLE)
HOLDING = (PROVEN, VOUCHED, FEASIBLE)
EMPTY: dict[str, Any] = {
    **dict.fromkeys(("value", "bound", "violation", "fraction", "gap", "claimed", "raw", "claimed_bound", "size")),
    "why": "",
    "proof": "none",
    "moments": [],
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
    def is_solved(self) -> bool:
        """Whether it settled its case, proven or on its word."""
        return self.outcome in SOLVED

    @property
    def seconds(self) -> float | None:
        """What a user waits for, once libraries are loaded."""
        timings = self.facts["timings"]
        return timings.get("total") if timings.get("total") is not None else None

    @property
    def holds(self) -> bool:
        """Whether it has a plan that holds so strictly that it refutes whoever says there is none as good."""
        if self.outcome not in HOLDING or self.facts["value"] is None:
            return False
        return bool(self.facts["violation"] <= STRICT and self.facts["fraction"] <= INTEGRALITY)


def results_of(rows: Sequence[Row]) -> list[Result]:
    """The rows as results, held against each other case by case."""
    plain = [_plain(row) for row in rows]
    cases: dict[tuple[str, str, int], list[Result]] = {}
    for result in plain:
        cases.setdefault(result.subject.case, []).append(result)
    lines = {case: (_best_value(of_case), _best_bound(of_case)) for case, of_case in cases.items()}
    return [_crossed(result, *lines[result.subject.case]) for result in plain]


def _plain(row: Row) -> Result:
    subject = Subject.of(row.arguments)
    if row.error is not None:
        return Result(subject, FAILED, row.error, EMPTY)
    return Result(subject, row.result["outcome"], row.result["why"], row.result)


def _best_value(results: Iterable[Result]) -> Result | None:
    return min((one for one in results if one.holds), key=lambda one: float(one.facts["value"]), default=None)


def _best_bound(results: Iterable[Result]) -> Result | None:
    certified = [one for one in results if one.facts["proof"] == "certificate" and one.facts["bound"] is not None]
    honest = [one for one in certified if one.outcome in HOLDING]
    return max(honest, key=lambda one: float(one.facts["bound"]), default=None)


def _crossed(result: Result, best: Result | None, bounding: Result | None) -> Result:
    refuted = _refuted(result, best)
    if refuted:
        return replace(result, outcome=WRONG, why=refuted)
    value = result.facts["value"]
    if result.outcome in (VOUCHED, FEASIBLE) and bounding is not None and value is not None:
        bound = bounding.facts["bound"]
        if value - bound <= CLOSED * max(1.0, abs(value)):
            facts = {**result.facts, "bound": bound, "proof": "certificate", "gap": 0.0}
            return replace(result, outcome=PROVEN, why=f"by the multipliers of {bounding.subject.method}", facts=facts)
    return result


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
