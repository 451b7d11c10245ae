"""What an answer is worth: recomputed from the problem, outside the process that gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.benching.sources import Problem
from crowdopt.core.certificate import FEASIBILITY, INTEGRALITY, Certificate, certify
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution, Status, relative_gap
from crowdopt.errors import InputError
from crowdopt.io.campaign import write_archive
from crowdopt.recheck.findings import Report
from crowdopt.recheck.verification import verify

CLOSED = 1e-6  # relative; a gap that a claim of optimality may leave
LOOSE = 1e-3  # absolute for rows, relative for gaps; within it an answer is rough, beyond it wrong

PROVEN, VOUCHED, ROUGH, FEASIBLE = "proven", "vouched", "rough", "feasible"
INFEASIBLE, NOTHING, WRONG = "infeasible", "nothing", "wrong"

Arrays: TypeAlias = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Judgement:
    """What holds of an answer."""

    # ``proven``: the optimum, by multipliers that were checked here; ``vouched``: a feasible point and the solver's
    # word that it is optimal; ``rough``: claimed optimal, but off by more than solvers usually allow themselves;
    # ``feasible``; ``infeasible``; ``nothing``: no answer within the limits; ``wrong``: a claim that is not true
    outcome: str
    why: str = ""  # what is wrong or rough, in a sentence
    value: float | None = None  # recomputed; None where there is none
    bound: float | None = None
    proof: str = "none"  # where the bound comes from: ``certificate``, ``solver`` or ``none``
    violation: float | None = None
    fraction: float | None = None

    @property
    def gap(self) -> float | None:
        """``(value - bound) / max(1, |value|)``, where there are both."""
        return None if self.value is None or self.bound is None else relative_gap(self.value, self.bound)


def judge_solution(program: Program, claim: str, bound: float | None, arrays: Arrays) -> Judgement:
    """Hold a backend's answer against the program: its bound, and ``primal``, ``dual``, ``ray`` as it gave them."""
    sizes = {"primal": program.cost.size, "dual": program.row_lower.size, "ray": program.row_lower.size}
    for name, array in arrays.items():
        if array.shape != (sizes[name],):
            return Judgement(WRONG, f"its {name} has shape {array.shape}, the program asks for {sizes[name]} numbers")
    primal = arrays.get("primal")
    if primal is not None and not np.isfinite(primal).all():
        return Judgement(WRONG, "its point contains NaN or infinity")
    status = Status(claim)
    given = (primal, arrays.get("dual"), arrays.get("ray"), bound)
    known = certify(Solution(program, "", status, *given, seconds=0.0, raw=""))
    outcome, why = _without_point(program, status, known) if primal is None else _with_point(status, known, bound)
    if outcome == VOUCHED and known.proof == "none":  # claiming an optimum amounts to claiming its value as the bound
        return _judgement(outcome, why, known, known.value, "solver")
    return _judgement(outcome, why, known, known.bound, known.proof)


def _judgement(outcome: str, why: str, known: Certificate, bound: float | None, proof: str) -> Judgement:
    finite = bound if bound is not None and isfinite(bound) else None
    return Judgement(outcome, why, known.value, finite, proof, known.violation, known.fraction)


def _without_point(program: Program, status: Status, known: Certificate) -> tuple[str, str]:
    if status is Status.UNBOUNDED:
        boxed = bool(np.isfinite(program.lower).all() and np.isfinite(program.upper).all())
        return (WRONG, "claims unbounded, but every column has bounds") if boxed else (NOTHING, "claims unbounded")
    if status is Status.INFEASIBLE:
        return INFEASIBLE, "" if known.proves_infeasible() else "only the solver says so"
    return (NOTHING, "") if status is Status.UNDECIDED else (WRONG, f"claims {status.value} without a point")


def _with_point(status: Status, known: Certificate, claimed: float | None) -> tuple[str, str]:
    assert known.value is not None and known.violation is not None and known.fraction is not None
    if status in (Status.INFEASIBLE, Status.UNBOUNDED):
        return WRONG, f"claims {status.value} and gives a point"
    holds = known.violation <= LOOSE and known.fraction <= INTEGRALITY
    if status is Status.UNDECIDED and not holds:
        return NOTHING, "left a point that is none"
    if known.fraction > INTEGRALITY:
        return WRONG, f"claims {status.value}, but its plan is fractional: {known.fraction:.3g} from an integer"
    if known.violation > LOOSE:
        return WRONG, f"claims {status.value}, but its point breaks a row by {known.violation:.3g}"
    size = max(1.0, abs(known.value))
    if claimed is not None and claimed > known.value + max(CLOSED, known.violation) * size:
        return WRONG, f"claims the bound {claimed:.10g}, above its own value {known.value:.10g}"
    return _closed(status, known)


def _closed(status: Status, known: Certificate) -> tuple[str, str]:
    """How near a point that is feasible, at least roughly, is to its bound."""
    assert known.violation is not None
    if known.violation > FEASIBILITY:
        return ROUGH, f"claims {status.value}, but its point breaks a row by {known.violation:.3g}"
    if known.proof == "certificate" and known.is_closed(CLOSED):
        return PROVEN, ""
    if status is not Status.OPTIMAL:
        return FEASIBLE, ""
    if known.proof == "none" or known.is_closed(CLOSED):
        return VOUCHED, "only the solver vouches for the bound"
    said = f"claims optimal, but its own {_source(known)} leaves a gap of {100 * known.gap:.3g} %"
    return (ROUGH if known.is_closed(LOOSE) or known.proof == "certificate" else WRONG), said


def _source(known: Certificate) -> str:
    return "bound" if known.proof == "solver" else "multipliers"


def judge_plan(problem: Problem, claim: str, bound: float | None, folder: Path) -> Judgement:
    """Hold a plan folder and the bound it claims against the problem's instance, as ``crowdopt verify`` does."""
    if not (folder / "plan").exists():
        if claim == Status.INFEASIBLE.value:
            return Judgement(INFEASIBLE, "only the method says so", proof="solver")
        if claim != Status.UNDECIDED.value:
            return Judgement(WRONG, f"claims {claim} without a plan")
        return Judgement(NOTHING, bound=bound, proof="none" if bound is None else "solver")
    assert problem.instance is not None
    write_archive(problem.instance, folder / "campaign.npz", force=True)
    try:
        report = verify(folder / "campaign.npz", folder / "plan")
    except InputError as error:
        return Judgement(WRONG, f"its plan cannot be read: {error}")
    return _of_report(report)


def _of_report(report: Report) -> Judgement:
    facts: dict[str, Any] = {"value": report.objective, "bound": report.bound, "proof": report.proof}
    facts |= {"violation": report.violation, "fraction": 0.0}
    if not report.holds:
        return Judgement(WRONG, report.problems[0], **facts)
    if not report.proven:
        return Judgement(FEASIBLE, **facts)
    if report.proof == "certificate":
        return Judgement(PROVEN, **facts)
    return Judgement(VOUCHED, "only the solver vouches for the bound", **facts)
