"""What the figures mean for a reader who has to choose a solver today, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from textwrap import shorten

import numpy as np

from crowdopt.bench.figures.summary import MethodComparison
from crowdopt.bench.harness.judge import ROUGH, WRONG
from crowdopt.bench.harness.measure import CRASHED, FAILED, GREEDY, LATE, REFUSED
from crowdopt.bench.harness.ours import OWN
from crowdopt.bench.harness.results import Result

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
