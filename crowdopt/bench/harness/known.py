"""The best that is known of a program: a point, multipliers that prove a bound, and what a solver vouches for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.plan import Plan
from crowdopt.backends import solve
from crowdopt.bench.harness.judge import CLOSED
from crowdopt.bench.harness.ours import exact_plan, point
from crowdopt.bench.sources import IP, Problem, source_of
from crowdopt.core.certificate import FEASIBILITY, INTEGRALITY, Certificate, certify
from crowdopt.core.program import Program, relax
from crowdopt.core.solution import BRANCHING, Options, Solution, Status
from crowdopt.hire.ranking import algorithm1


@dataclass(frozen=True, eq=False)
class BestKnown:
    """What is known of a program, recomputed."""

    value: float | None = None  # of the best point that keeps every row
    point: Floats | None = None  # (columns,)
    bound: float | None = None  # what the multipliers prove
    multipliers: Floats | None = None  # (rows,)
    vouched: float | None = None  # a higher bound, on the word of a method alone
    by: str = ""  # whose word
    settled: tuple[str, ...] = ()  # methods that end with this value and call it the best
    plan: Plan | None = None  # of the exact method


def best_known(problem: Problem, program: str, options: Options) -> BestKnown:
    """Solve the ``ip`` or ``lp`` by HiGHS and by our own methods, each within the limits; keep the best that holds."""
    built = problem.build(program)
    relaxed = solve(relax(built), BRANCHING, options)
    answers = [relaxed] if program != IP else [solve(built, BRANCHING, options)]
    known = BestKnown()
    ended: list[tuple[str, float | None]] = []
    for answer in answers:
        known = _with_point(known, built, answer.primal)
        known = _with_word(known, answer.claimed_bound if program == IP else None, "highs")
        ended += [("highs", certify(answer).value)] * certify(answer).proves_optimal()
    for values, word, name, plan in _ours(problem, built, program, options):
        known = replace(_with_word(_with_point(known, built, values), word, name), plan=plan)
        if plan is not None and plan.proven:
            ended.append((name, plan.objective))
    known = replace(known, settled=tuple(name for name, value in ended if _is(value, known.value)))
    proof = _certified(relax(built), relaxed.primal, relaxed.dual)
    if relaxed.dual is None or proof.proof != "certificate" or not np.isfinite(proof.bound):
        return known
    known = replace(known, bound=proof.bound, multipliers=relaxed.dual)
    dull = known.vouched is not None and known.vouched <= proof.bound
    return replace(known, vouched=None, by="") if dull else known


def _ours(
    problem: Problem, built: Program, program: str, options: Options
) -> list[tuple[Floats | None, float | None, str, Plan | None]]:
    methods = source_of(problem.name).own(problem.name) if program == IP else ()
    if "algorithm1" in methods and problem.selection is not None:
        return [(point(built, algorithm1(problem.selection).members), None, "algorithm1", None)]
    if "exact" not in methods or problem.instance is None:
        return []
    plan = exact_plan(problem.instance, IP, options)
    values = None
    if plan.pairs is not None:
        values = np.zeros(built.cost.size)
        built.column("y").view(values)[tuple(plan.pairs.T)] = 1.0
    return [(values, plan.bound if np.isfinite(plan.bound) else None, "exact", plan)]


def _is(value: float | None, best: float | None) -> bool:
    return value is not None and best is not None and abs(value - best) <= CLOSED * max(1.0, abs(best))


def _certified(program: Program, primal: Floats | None, dual: Floats | None) -> Certificate:
    return certify(Solution(program, "", Status.FEASIBLE, primal, dual, None, None, seconds=0.0, raw=""))


def _with_point(known: BestKnown, program: Program, values: Floats | None) -> BestKnown:
    if values is None or not np.isfinite(values).all():
        return known
    held = _certified(program, values, None)
    if held.value is None or held.violation is None or held.fraction is None:
        return known
    if held.violation > FEASIBILITY or held.fraction > INTEGRALITY or (known.value or np.inf) <= held.value:
        return known
    return replace(known, value=held.value, point=values)


def _with_word(known: BestKnown, word: float | None, by: str) -> BestKnown:
    if word is None or not np.isfinite(word) or (known.vouched is not None and word <= known.vouched):
        return known
    return replace(known, vouched=word, by=by)
