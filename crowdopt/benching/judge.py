"""What an answer is worth: recomputed outside the process that gave it, then held against the others'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.benching.sources import LP
from crowdopt.core.certificate import FEASIBILITY, INTEGRALITY, Certificate, certify
from crowdopt.core.solution import Solution, Status, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign import write_archive
from crowdopt.recheck.verification import verify

CLOSED = 1e-6  # relative; a gap that a claim of optimality may leave
LOOSE = 1e-3  # absolute for rows, relative for gaps; within it an answer is rough, beyond it wrong
STRICT = 1e-8  # absolute; a point that breaks no row by more may contradict others

OUTCOMES = {
    "proven": "the optimum, by multipliers that were checked outside the solver's process",
    "vouched": "a feasible point that only the solver vouches to be optimal",
    "rough": "called optimal, but off by more than 1e-6",
    "feasible": "a plan that holds, not called optimal",
    "infeasible": "there is no plan, so it says",
    "nothing": "no answer within the limits",
    "out of time": "had to be killed past the time limit",
    "out of memory": "had to be killed at the memory limit",
    "crashed": "its process died",
    "failed": "ended with an error",
    "refused": "said that it cannot solve this",
    "wrong": "claimed what is not true",
}
PROVEN, VOUCHED, ROUGH, FEASIBLE, INFEASIBLE, NOTHING, LATE, GREEDY, CRASHED, FAILED, REFUSED, WRONG = OUTCOMES
SETTLED = (PROVEN, VOUCHED, INFEASIBLE)
HOLDING = (PROVEN, VOUCHED, FEASIBLE)


@dataclass(frozen=True)
class Judgement:
    """What holds of an answer: one of OUTCOMES, what is wrong or rough in a sentence, and what was recomputed."""

    outcome: str
    why: str = ""
    value: float | None = None
    bound: float | None = None
    proof: str = "none"  # where the bound comes from: ``certificate``, ``solver`` or ``none``
    violation: float | None = None
    fraction: float | None = None

    @property
    def gap(self) -> float | None:
        """``(value - bound) / max(1, |value|)``, where there are both."""
        return None if self.value is None or self.bound is None else relative_gap(self.value, self.bound)


def judge_solution(solution: Solution) -> Judgement:
    """Hold a backend's answer against its program."""
    known = certify(solution)
    outcome, why = _without_point(solution, known) if solution.primal is None else _with_point(solution, known)
    bound, proof = known.bound, known.proof
    if outcome == VOUCHED and proof == "none":  # claiming an optimum amounts to claiming its value as the bound
        bound, proof = known.value or 0.0, "solver"
    finite = bound if isfinite(bound) else None
    return Judgement(outcome, why, known.value, finite, proof, known.violation, known.fraction)


def _without_point(solution: Solution, known: Certificate) -> tuple[str, str]:
    program, status = solution.program, solution.status
    if status is Status.UNBOUNDED:
        boxed = bool(np.isfinite(program.lower).all() and np.isfinite(program.upper).all())
        return (WRONG, "claims unbounded, but every column has bounds") if boxed else (NOTHING, "claims unbounded")
    if status is Status.INFEASIBLE:
        return INFEASIBLE, "" if known.proves_infeasible() else "only the solver says so"
    return (NOTHING, "") if status is Status.UNDECIDED else (WRONG, f"claims {status.value} without a point")


def _with_point(solution: Solution, known: Certificate) -> tuple[str, str]:
    assert known.value is not None and known.violation is not None and known.fraction is not None
    status, claimed, size = solution.status, solution.claimed_bound, max(1.0, abs(known.value))
    if status in (Status.INFEASIBLE, Status.UNBOUNDED):
        return WRONG, f"claims {status.value} and gives a point"
    if status is Status.UNDECIDED and not (known.violation <= LOOSE and known.fraction <= INTEGRALITY):
        return NOTHING, "left a point that is none"
    if known.fraction > INTEGRALITY:
        return WRONG, f"claims {status.value}, but its plan is fractional: {known.fraction:.3g} from an integer"
    broken = f"claims {status.value}, but its point breaks a row by {known.violation:.3g}"
    if known.violation > LOOSE:
        return WRONG, broken
    if claimed is not None and claimed > known.value + max(CLOSED, known.violation) * size:
        return WRONG, f"claims the bound {claimed:.10g}, above its own value {known.value:.10g}"
    if known.violation > FEASIBILITY:
        return ROUGH, broken
    if known.proof == "certificate" and known.is_closed(CLOSED):
        return PROVEN, ""
    if status is not Status.OPTIMAL:
        return FEASIBLE, ""
    if known.proof == "none" or known.is_closed(CLOSED):
        return VOUCHED, "only the solver vouches for the bound"
    source = "bound" if known.proof == "solver" else "multipliers"
    said = f"claims optimal, but its own {source} leaves a gap of {100 * known.gap:.3g} %"
    return (ROUGH if known.is_closed(LOOSE) or known.proof == "certificate" else WRONG), said


def judge_plan(instance: AssignmentInstance, claim: str, bound: float | None, folder: Path) -> Judgement:
    """Hold the folder's plan and the bound it claims against the instance, as ``crowdopt verify`` does."""
    if not (folder / "plan").exists():
        if claim == Status.INFEASIBLE.value:
            return Judgement(INFEASIBLE, "only the method says so", proof="solver")
        if claim != Status.UNDECIDED.value:
            return Judgement(WRONG, f"claims {claim} without a plan")
        return Judgement(NOTHING, bound=bound, proof="none" if bound is None else "solver")
    write_archive(instance, folder / "campaign.npz", force=True)
    try:
        report = verify(folder / "campaign.npz", folder / "plan")
    except InputError as error:
        return Judgement(WRONG, f"its plan cannot be read: {error}")
    facts = report.objective, report.bound, report.proof, report.violation, 0.0
    if not report.holds:
        return Judgement(WRONG, report.problems[0], *facts)
    if not report.proven:
        return Judgement(FEASIBLE, "", *facts)
    if report.proof == "certificate":
        return Judgement(PROVEN, "", *facts)
    return Judgement(VOUCHED, "only the solver vouches for the bound", *facts)


@dataclass(frozen=True)
class Result:
    """A row of a benchmark: who solved what, its outcome, and the facts."""

    problem: str
    program: str
    seed: int
    method: str
    outcome: str
    why: str
    facts: dict[str, Any]  # value, bound, gap, proof, violation, fraction, claimed, seconds, megabytes, about

    @property
    def case(self) -> tuple[str, str, int]:
        """What was to be solved, by whichever method."""
        return self.problem, self.program, self.seed

    @property
    def settled(self) -> bool:
        """Whether it settled its case, proven or on its word."""
        return self.outcome in SETTLED

    @property
    def proven(self) -> bool:
        """Whether multipliers that were checked settle the case: an optimum, or that there is no plan."""
        return self.settled and self.facts["proof"] == "certificate"

    @property
    def holds(self) -> bool:
        """Whether it has a plan that holds so strictly that it refutes any claim that there is none as good."""
        facts = self.facts
        if self.outcome not in HOLDING or facts["value"] is None:
            return False
        return bool(facts["violation"] <= STRICT and facts["fraction"] <= INTEGRALITY)


def crossed(results: Sequence[Result]) -> list[Result]:
    """Each result as it stands beside the others on the same problem: the same case, and its relaxation."""
    related: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        related.setdefault((result.problem, result.seed), []).append(result)
    return [_beside(result, related[result.problem, result.seed]) for result in results]


def _beside(result: Result, others: Sequence[Result]) -> Result:
    same = [other for other in others if other.case == result.case]
    best = min((one for one in same if one.holds), key=lambda one: float(one.facts["value"]), default=None)
    if refuted := _refuted(result, best):
        return replace(result, outcome=WRONG, why=refuted)
    witness = _witness(result, [other for other in others if other.program in (result.program, LP)])
    if witness is None:
        return result
    why = f"by the multipliers of {witness.method}" + " on the relaxation" * (witness.program != result.program)
    facts = {**result.facts, "bound": witness.facts["bound"], "proof": "certificate"}
    return replace(result, outcome=INFEASIBLE if result.outcome == INFEASIBLE else PROVEN, why=why, facts=facts)


def _witness(result: Result, others: Sequence[Result]) -> Result | None:
    """Another result whose multipliers, checked here, settle what only the solver vouches for."""
    certified, value = [one for one in others if one.facts["proof"] == "certificate"], result.facts["value"]
    if result.outcome == INFEASIBLE and result.facts["proof"] != "certificate":
        return next((one for one in certified if one.outcome == INFEASIBLE), None)
    if result.outcome != VOUCHED or value is None:
        return None
    known = [one for one in certified if one.outcome in HOLDING and one.facts["bound"] is not None]
    near = [one for one in known if abs(value - one.facts["bound"]) <= CLOSED * max(1.0, abs(value))]
    return max(near, key=lambda one: float(one.facts["bound"]), default=None)


def _refuted(result: Result, best: Result | None) -> str:
    """What another method's plan, which holds, says against a claim; empty if nothing."""
    if best is None or best is result:
        return ""
    other, found = best.method, float(best.facts["value"])
    if result.outcome == INFEASIBLE:
        return f"claims infeasible, but the plan of {other} holds"
    value, bound = result.facts["value"], result.facts["bound"]
    above = found + (1e-2 if result.outcome == ROUGH else 10 * CLOSED) * max(1.0, abs(found))
    claims = result.facts["claimed"] == "optimal" and result.outcome in (VOUCHED, ROUGH)
    if claims and value is not None and value > above:
        return f"claims optimal at {value:.10g}, but {other} found {found:.10g}"
    if result.outcome in (VOUCHED, FEASIBLE) and bound is not None and bound > above:
        return f"claims that nothing is below {bound:.10g}, but {other} found {found:.10g}"
    return ""
