"""What methods claimed, and how much of it is true: a line a method, over all kinds of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crowdopt.bench.harness.judge import CLOSED, FEASIBLE, INFEASIBLE, LOOSE, PROVEN, ROUGH, VOUCHED, WRONG
from crowdopt.bench.harness.results import Result
from crowdopt.core.certificate import INTEGRALITY

Case = tuple[str, str, int]  # problem, program, seed


def claim_table(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Counts of claims by what holds of them, a line a method, in the order in which methods come.

    ``optimal`` splits into ``optimal_proven`` (multipliers, its own or another's, were checked), ``optimal_vouched``,
    ``optimal_open`` (off by more than 1e-6) and ``optimal_false``; ``infeasible`` into ``infeasible_proven``, its word
    alone, and ``infeasible_false``. ``feasible_false`` are points that break a row; ``bounds_false`` are bounds above a
    plan that holds. ``duals`` came with the claim of an optimum, and ``duals_open`` do not prove it; so with ``rays``.
    """
    best = _best_values(results)
    methods = dict.fromkeys(result.subject.method for result in results)
    return [_line(method, [one for one in results if one.subject.method == method], best) for method in methods]


def _line(method: str, results: Sequence[Result], best: dict[Case, float]) -> dict[str, Any]:
    optimal, infeasible, feasible = (
        [one for one in results if one.facts["claimed"] == claim] for claim in ("optimal", "infeasible", "feasible")
    )
    bounds = [one for one in results if one.facts["claimed_bound"] is not None]
    duals = [one for one in optimal if "dual" in _given(one)]
    rays = [one for one in infeasible if "ray" in _given(one)]
    return {
        "method": method,
        "runs": len(results),
        "optimal": len(optimal),
        "optimal_proven": _count(optimal, lambda one: one.outcome == PROVEN),
        "optimal_vouched": _count(optimal, lambda one: one.outcome == VOUCHED),
        "optimal_open": _count(optimal, lambda one: one.outcome in (ROUGH, FEASIBLE)),
        "optimal_false": _count(optimal, _is_false),
        "infeasible": len(infeasible),
        "infeasible_proven": _count(infeasible, lambda one: one.outcome == INFEASIBLE and _is_certified(one)),
        "infeasible_false": _count(infeasible, _is_false),
        "feasible": len(feasible),
        "feasible_false": _count(feasible, _is_broken),
        "bounds": len(bounds),
        "bounds_false": _count(bounds, lambda one: _is_above(one, best)),
        "duals": len(duals),
        "duals_open": _count(duals, lambda one: one.facts["own_proof"] != "certificate" or one.outcome != PROVEN),
        "rays": len(rays),
        "rays_open": _count(rays, lambda one: one.facts["own_proof"] != "certificate"),
    }


def _count(results: Sequence[Result], holds: Callable[[Result], bool]) -> int:
    return sum(holds(one) for one in results)


def _given(result: Result) -> Sequence[str]:
    """Which of point, multipliers and ray came back; rows of older versions do not say."""
    given: Sequence[str] = result.facts.get("gave") or ()
    return given


def _is_false(result: Result) -> bool:
    return result.outcome == WRONG


def _is_broken(result: Result) -> bool:
    """Whether its point is none: not numbers, not whole, or beyond a row."""
    facts = result.facts
    if result.outcome != WRONG or facts["value"] is None:
        return result.outcome == WRONG
    return bool(facts["violation"] > LOOSE or facts["fraction"] > INTEGRALITY)


def _is_certified(result: Result) -> bool:
    return bool(result.facts["proof"] == "certificate")


def _is_above(result: Result, best: dict[Case, float]) -> bool:
    """Whether its bound is above a plan that holds."""
    value = best.get(result.subject.case)
    return value is not None and float(result.facts["claimed_bound"]) > value + 10 * CLOSED * max(1.0, abs(value))


def _best_values(results: Sequence[Result]) -> dict[Case, float]:
    best: dict[Case, float] = {}
    for one in results:
        if one.holds:
            best[one.subject.case] = min(float(one.facts["value"]), best.get(one.subject.case, float("inf")))
    return best
