"""A benchmark in tables, series and sentences: everything its page shows, as plain JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.bench.figures import statistics
from crowdopt.bench.harness.judge import FEASIBLE, INFEASIBLE, NOTHING, PROVEN, ROUGH, VOUCHED, WRONG
from crowdopt.bench.harness.measure import CRASHED, FAILED, GREEDY, LATE, REFUSED
from crowdopt.bench.harness.results import Result
from crowdopt.bench.sources import PROGRAMS

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
        return statistics.shifted_mean(self.seconds, self.limit)

    @cached_property
    def intervals(self) -> Floats:
        """(2, methods): their bootstrap intervals over seeds."""
        names = list(dict.fromkeys(case[0] for case in self.cases))
        groups = np.array([names.index(case[0]) for case in self.cases])
        return statistics.interval(self.seconds, groups, self.limit, np.random.default_rng(0))

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
    factors, shares = statistics.profile(comparison.seconds)
    profile = [
        {"method": comparison.methods[k], "factor": float(factor), "share": float(share)}
        for k in comparison.ranking
        for factor, share in zip(factors, shares[:, k], strict=True)
    ]
    means = [
        {key: row[key] for key in ("method", "settled", "cases", "seconds", "seconds_low", "seconds_high")}
        for row in _methods(comparison)
    ]
    return {"means": means, "profile": profile}
