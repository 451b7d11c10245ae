"""How methods compare over many cases: arrays of seconds in, figures out.

Seconds are an array (cases, methods) with NaN where a method did not settle a case.

A benchmark in tables, series and sentences: everything its page shows, as plain JSON.

What the figures mean for a reader who has to choose a solver today, in sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from textwrap import shorten
from typing import Any, TypeAlias

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.benching.judge import FEASIBLE, INFEASIBLE, NOTHING, PROVEN, ROUGH, VOUCHED, WRONG
from crowdopt.benching.measure import CRASHED, FAILED, GREEDY, LATE, REFUSED
from crowdopt.benching.methods import OWN
from crowdopt.benching.results import Result
from crowdopt.benching.sources import PROGRAMS

SHIFT = 1.0  # second; keeps cases of milliseconds from deciding everything
DRAWS, LEVEL = 2000, 0.95  # of intervals


def shifted_mean(seconds: Floats, limit: float) -> Floats:
    """``exp(mean log(t + SHIFT)) - SHIFT`` over cases, (methods,); NaN, not settled, counts the limit."""
    counted = np.minimum(np.where(np.isnan(seconds), limit, seconds), limit)
    return np.exp(np.log(counted + SHIFT).mean(axis=0)) - SHIFT


def interval(seconds: Floats, groups: Ints, limit: float, rng: np.random.Generator) -> Floats:
    """Bootstrap interval of the shifted mean over seeds: the cases of each problem are drawn again among themselves.

    seconds (cases, methods): NaN where a method did not settle a case.
    groups (cases,): which problem a case belongs to. A problem with one seed contributes no spread.
    -> (2, methods): low and high.
    """
    sampled = np.stack([shifted_mean(seconds[_redrawn(groups, rng)], limit) for _ in range(DRAWS)])
    tail = (1 - LEVEL) / 2
    return np.quantile(sampled, [tail, 1 - tail], axis=0)


def _redrawn(groups: Ints, rng: np.random.Generator) -> Ints:
    picks = np.empty_like(groups)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        picks[members] = rng.choice(members, members.size)
    return picks


def profile(seconds: Floats) -> tuple[Floats, Floats]:
    """Performance profile (Dolan & More 2002): the share of cases settled within a factor of the fastest.

    seconds (cases, methods): NaN where a method did not settle a case; -> factors (steps,): where any method's share
    rises, from 1; shares (steps, methods): of all cases, also those that no method settled.
    """
    if not np.isfinite(seconds).any():
        return np.ones(1), np.zeros((1, seconds.shape[1]))
    best = np.nanmin(np.where(np.isnan(seconds), np.inf, seconds), axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        ratios = np.where(np.isnan(seconds), np.inf, seconds / best)
    factors = np.unique(np.append(ratios[np.isfinite(ratios)], 1.0))
    shares = (ratios[None] <= factors[:, None, None]).mean(axis=1)
    return factors, shares


Case: TypeAlias = tuple[str, str, int]  # problem, program, seed
OUTCOMES = (
    *(PROVEN, VOUCHED, ROUGH, FEASIBLE, INFEASIBLE, NOTHING),
    *(LATE, GREEDY, CRASHED, FAILED, REFUSED, WRONG),
)


@dataclass(frozen=True)
class MethodComparison:
    """All results on programs of one kind, as arrays over cases and methods."""

    family: str
    program: str
    results: Sequence[Result]
    limit: float

    @cached_property
    def cases(self) -> list[Case]:
        """What was to be solved, in the order given."""
        return list(dict.fromkeys(result.subject.case for result in self.results))

    @cached_property
    def methods(self) -> list[str]:
        """Who took part, in the order given."""
        return list(dict.fromkeys(result.subject.method for result in self.results))

    @cached_property
    def at(self) -> dict[tuple[Case, str], Result]:
        """The result of a case and a method."""
        return {(result.subject.case, result.subject.method): result for result in self.results}

    def of(self, method: str) -> list[Result]:
        """The results of one method."""
        return [result for result in self.results if result.subject.method == method]

    @cached_property
    def seconds(self) -> Floats:
        """(cases, methods): seconds where a case was settled, NaN elsewhere."""
        return np.array([[self._seconds(case, method) for method in self.methods] for case in self.cases])

    def _seconds(self, case: Case, method: str) -> float:
        result = self.at.get((case, method))
        if result is None or not result.is_solved or result.seconds is None:
            return float("nan")
        return result.seconds

    @cached_property
    def gaps(self) -> Floats:
        """(cases, methods): the gap at the end, infinite without a plan that holds."""
        return np.array([[gap_of(self.at.get((case, method))) for method in self.methods] for case in self.cases])

    @cached_property
    def means(self) -> Floats:
        """(methods,): shifted geometric means of seconds."""
        return shifted_mean(self.seconds, self.limit)

    @cached_property
    def intervals(self) -> Floats:
        """(2, methods): their bootstrap intervals over seeds."""
        names = list(dict.fromkeys(case[0] for case in self.cases))
        groups = np.array([names.index(case[0]) for case in self.cases])
        return interval(self.seconds, groups, self.limit, np.random.default_rng(0))

    @cached_property
    def ranking(self) -> list[int]:
        """Places of the methods: first who settled most, then who was fastest."""
        settled = np.isfinite(self.seconds).sum(axis=0)
        return sorted(range(len(self.methods)), key=lambda k: (-int(settled[k]), float(self.means[k])))


def gap_of(result: Result | None) -> float:
    """The gap at the end, 0 where the case is settled, infinite without a plan that holds."""
    if result is None or result.outcome not in (PROVEN, VOUCHED, FEASIBLE, ROUGH, INFEASIBLE):
        return float("inf")
    if result.is_solved:
        return 0.0
    gap = result.facts["gap"]
    return float("inf") if gap is None else max(0.0, float(gap))


def compare(results: Sequence[Result], limit: float) -> list[MethodComparison]:
    """One comparison for each kind of question and of program there is."""
    families = list(dict.fromkeys(result.family for result in results))
    found = []
    for family in families:
        for program in PROGRAMS:
            own = [one for one in results if (one.family, one.subject.program) == (family, program)]
            found += [MethodComparison(family, program, own, limit)] if own else []
    return found


def tables(comparison: MethodComparison) -> dict[str, Any]:
    """Methods and results, each a list of rows."""
    return {"methods": _methods(comparison), "results": _results(comparison)}


def _methods(comparison: MethodComparison) -> list[dict[str, Any]]:
    rows = []
    for k in comparison.ranking:
        own = comparison.of(comparison.methods[k])
        counts = Counter(result.outcome for result in own)
        gaps = [gap for gap in comparison.gaps[:, k].tolist() if np.isfinite(gap)]
        low, high = comparison.intervals[:, k].tolist()
        rows.append(
            {
                "method": comparison.methods[k],
                "cases": len(own),
                "settled": int(np.isfinite(comparison.seconds[:, k]).sum()),
                **{outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]},
                "seconds": float(comparison.means[k]),
                "seconds_low": low,
                "seconds_high": high,
                "mean_gap": float(np.mean(gaps)) if gaps else None,
                "megabytes": _median(own, "megabytes"),
                "load": _median_of([result.facts["timings"].get("load") for result in own]),
                "cores": _median_of([_cores(result) for result in own]),
            }
        )
    return rows


def _median(results: Sequence[Result], fact: str) -> float | None:
    return _median_of([result.facts[fact] for result in results])


def _median_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _cores(result: Result) -> float | None:
    timings = result.facts["timings"]
    return timings["cpu"] / timings["wall"] if timings.get("cpu") and (timings.get("wall") or 0) > 1 else None


TIMINGS = ("load", "build", "hand_over", "solve", "read_back", "total", "wall", "cpu")


def _results(comparison: MethodComparison) -> list[dict[str, Any]]:
    rows = []
    for case in comparison.cases:
        for method in comparison.methods:
            result = comparison.at.get((case, method))
            if result is not None:
                rows.append(result_row(result))
    return rows


def result_row(result: Result) -> dict[str, Any]:
    """A result that reads as one line: everything but its timings is the same in equal runs."""
    subject, facts = result.subject, result.facts
    return {
        **{key: getattr(subject, key) for key in ("problem", "program", "seed", "method")},
        "outcome": result.outcome,
        **{key: facts[key] for key in ("value", "bound", "gap", "proof", "violation", "fraction", "claimed")},
        "why": result.why,
        **{key: facts["timings"].get(key) for key in TIMINGS},
        "megabytes": facts["megabytes"],
        "reference": facts.get("reference"),
    }


def series(comparison: MethodComparison) -> dict[str, Any]:
    """What the charts draw: mean seconds, performance profiles."""
    factors, shares = profile(comparison.seconds)
    curves = [
        {"method": comparison.methods[k], "factor": float(factor), "share": float(share)}
        for k in comparison.ranking
        for factor, share in zip(factors, shares[:, k], strict=True)
    ]
    means = [
        {key: row[key] for key in ("method", "settled", "cases", "seconds", "seconds_low", "seconds_high")}
        for row in _methods(comparison)
    ]
    return {"means": means, "profile": curves}


KIND = {
    "assignment ip": "For plans in whole labels",
    "assignment lp": "For the assignment's linear programs (prices, bounds)",
    "selection ip": "For whom to hire",
    "selection lp": "For its linear relaxation",
    "hiring ip": "For whom to hire within a sum of money",
    "hiring lp": "For its linear relaxation with money",
    "foreign ip": "For the programs of others",
    "foreign lp": "For the relaxations of the programs of others",
}
FRONTS = ("pulp", "cvxpy", "ortools")  # libraries that lead to the solvers of others
LONGEST = 120  # characters of a reason
LOADS = 1.0  # seconds of loading that are worth a word
TROUBLE = {
    WRONG: "Made claims that are not true",
    CRASHED: "Crashed",
    GREEDY: "Ran out of memory",
    LATE: "Had to be stopped long past the time limit",
    FAILED: "Failed with an error",
    ROUGH: "Called rough answers optimal",
    REFUSED: "Refused",
}


def sentences(comparisons: Sequence[MethodComparison]) -> list[str]:
    """The advice, then who is not to be trusted with what."""
    said = [sentence for comparison in comparisons for sentence in _advice(comparison)]
    results = [result for comparison in comparisons for result in comparison.results]
    return [*said, *_rules(results), *_troubles(results), *_loads(results), *_proofs(results)]


def _advice(comparison: MethodComparison) -> list[str]:
    settled = np.isfinite(comparison.seconds).sum(axis=0)
    order, count = comparison.ranking, len(comparison.cases)
    kind = f"{comparison.family} {comparison.program}"
    purpose = KIND.get(kind, f"For {kind}")
    if not order or not settled[order[0]]:
        return [f"{purpose}: no method settled any of the {count} cases within {comparison.limit:g} s."]
    first = order[0]
    said = [f"{purpose}, use {_performance(comparison, first, count)}"]
    leader = _solver(comparison.methods[first])
    rivals = [k for k in order[1:] if comparison.methods[k] not in OWN and settled[k]]
    rivals = [k for k in rivals if _solver(comparison.methods[k]) != leader] or rivals
    if rivals:
        word = "Of the general solvers the best is" if comparison.methods[first] in OWN else "Next comes"
        said.append(f"{word} {_performance(comparison, rivals[0], count)}{_distance(comparison, first, rivals[0])}")
    return [". ".join(said) + "."]


def _solver(method: str) -> str:
    """The solver behind a method: ``cvxpy-highs`` and ``highs-ipm`` are both HiGHS."""
    words = method.split("-")
    return words[1] if words[0] in FRONTS and len(words) > 1 else words[0]


def _performance(comparison: MethodComparison, k: int, count: int) -> str:
    settled = int(np.isfinite(comparison.seconds[:, k]).sum())
    low, high = comparison.intervals[:, k].tolist()
    span = "" if f"{low:.2g}" == f"{high:.2g}" else f" (95 % interval {low:.2g} to {high:.2g} s)"
    proven = sum(is_proven(result) for result in comparison.of(comparison.methods[k]))
    return (
        f"{comparison.methods[k]}: {settled} of {count} cases settled, {proven} of them proven, "
        f"{comparison.means[k]:.2g} s on average{span}"
    )


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.2g} times"


def is_proven(result: Result) -> bool:
    """Whether multipliers that were checked settle the case: an optimum, or that there is no plan."""
    return result.is_solved and result.facts["proof"] == "certificate"


def _distance(comparison: MethodComparison, first: int, other: int) -> str:
    both = np.isfinite(comparison.seconds[:, [first, other]]).all(axis=1)
    if not both.any():
        return "; there is no case that both settled"
    ratio = float(np.median(comparison.seconds[both, other] / comparison.seconds[both, first]))
    leader = comparison.methods[first]
    if ratio >= 1:
        return f"; where both settled a case, {leader} was {_times(ratio)} as fast (median)"
    return f"; where both settled a case, it was {_times(1 / ratio)} as fast as {leader} (median)"


def _rules(results: Sequence[Result]) -> list[str]:
    named: dict[str, list[str]] = {}
    for result in results:
        if result.facts.get("about"):
            named.setdefault(result.facts["about"], []).append(result.subject.problem)
    return [
        f"{', '.join(dict.fromkeys(problems))}: the programs are {about}; proven, optimal and infeasible are meant so."
        for about, problems in named.items()
    ]


def _troubles(results: Sequence[Result]) -> list[str]:
    said = []
    for outcome, words in TROUBLE.items():
        of_kind = [result for result in results if result.outcome == outcome]
        methods = dict.fromkeys(result.subject.method for result in of_kind)
        listed = [_trouble(method, [one for one in of_kind if one.subject.method == method]) for method in methods]
        if listed:
            said.append(f"{words}: {'; '.join(listed)}.")
    return said


def _trouble(method: str, results: Sequence[Result]) -> str:
    reason = shorten(results[0].why.rstrip("."), LONGEST, placeholder=" …")
    why = "" if results[0].outcome == LATE else f", as on {results[0].subject.problem}: {reason}"
    return f"{method} ({len(results)}{why})"


def _loads(results: Sequence[Result]) -> list[str]:
    times: dict[str, list[float]] = {}
    for result in results:
        if result.facts["timings"].get("load") is not None:
            times.setdefault(result.subject.method, []).append(result.facts["timings"]["load"])
    slow = [(method, median(some)) for method, some in times.items() if median(some) >= LOADS]
    listed = ", ".join(f"{method} {load:.1f} s" for method, load in sorted(slow, key=lambda one: -one[1]))
    return [f"Loading libraries and compiled code is counted apart, once a process: {listed}."] if slow else []


def _proofs(results: Sequence[Result]) -> list[str]:
    proven = sum(is_proven(result) for result in results)
    solved = sum(result.is_solved for result in results)
    if not solved:
        return []
    return [
        f"Proven means that multipliers were checked outside the solver's process: so it is for {proven} of the "
        f"{solved} answers called settled; for the others only the solver vouches."
    ]
