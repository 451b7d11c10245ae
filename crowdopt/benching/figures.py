"""Methods beside each other: tables, curves, and what they mean for a reader who has to choose a solver today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from crowdopt.arrays import Floats
from crowdopt.benching.judge import (
    CRASHED,
    FAILED,
    FEASIBLE,
    GREEDY,
    LATE,
    OUTCOMES,
    REFUSED,
    ROUGH,
    SETTLED,
    WRONG,
    Result,
)
from crowdopt.benching.sources import IP, LP

SHIFT = 1.0  # second; keeps cases of milliseconds from deciding everything
LEVEL = 0.95  # of intervals
FRONTS = ("pulp", "cvxpy", "ortools")  # libraries that lead to the solvers of others
LONGEST = 120  # characters of a reason, or of names of problems
KIND = {IP: "programs in whole numbers", LP: "linear programs"}
TROUBLE = {
    WRONG: "Made claims that are not true",
    CRASHED: "Crashed",
    GREEDY: "Ran out of memory",
    LATE: "Had to be stopped long past the time limit",
    FAILED: "Failed with an error",
    ROUGH: "Called rough answers optimal",
    REFUSED: "Refused",
}


def shifted_mean(seconds: Floats, limit: float) -> Floats:
    """``exp(mean log(t + SHIFT)) - SHIFT`` over cases, (methods,); NaN, not settled, counts the limit."""
    return np.exp(np.log(_counted(seconds, limit) + SHIFT).mean(axis=0)) - SHIFT


def par2(seconds: Floats, limit: float) -> Floats:
    """Mean seconds, (methods,), with twice the limit for a case that was not settled (PAR-2)."""
    return np.where(np.isnan(seconds), 2 * limit, np.minimum(seconds, limit)).mean(axis=0)


def times_as_long(seconds: Floats, limit: float) -> tuple[float, float, float]:
    """How many times as long the second method takes as the first, shifted, on average; low and high of the interval.

    ``exp mean log((t_2 + SHIFT) / (t_1 + SHIFT))``, Student's interval over cases, LEVEL; one case has no ends.

    seconds (cases, 2): NaN where not settled, which counts the limit.
    """
    lead = np.diff(np.log(_counted(seconds, limit) + SHIFT), axis=1)[:, 0]
    if lead.size < 2:
        return float(np.exp(lead[0])), 0.0, np.inf
    spread = stdtrit(lead.size - 1, (1 + LEVEL) / 2) * lead.std(ddof=1) / np.sqrt(lead.size)
    low, middle, high = np.exp(lead.mean() + spread * np.array([-1.0, 0.0, 1.0])).tolist()
    return middle, low, high


def _counted(seconds: Floats, limit: float) -> Floats:
    return np.minimum(np.where(np.isnan(seconds), limit, seconds), limit)


def profile(seconds: Floats) -> tuple[Floats, Floats]:
    """Performance profile (Dolan & More 2002): the share of cases settled within a factor of the fastest.

    seconds (cases, methods): NaN where a method did not settle a case; -> factors (steps,): where any method's share
    rises, from 1; shares (steps, methods): of all cases, also those that no method settled.
    """
    if not np.isfinite(seconds).any():
        return np.ones(1), np.zeros((1, seconds.shape[1]))
    known = np.where(np.isnan(seconds), np.inf, seconds)
    with np.errstate(invalid="ignore"):
        ratios = np.where(np.isnan(seconds), np.inf, seconds / known.min(axis=1, keepdims=True))
    factors = np.unique(np.append(ratios[np.isfinite(ratios)], 1.0))
    return factors, (ratios[None] <= factors[:, None, None]).mean(axis=1)


class Standing(NamedTuple):
    """All results on programs of one kind, as arrays over cases and methods."""

    program: str
    kind: str  # in words
    results: Sequence[Result]
    limit: float
    cases: list[tuple[str, str, int]]
    methods: list[str]  # who settled most comes first, then who was fastest
    seconds: Floats  # (cases, methods): what a user waits for once libraries are loaded; NaN where not settled

    def of(self, method: str) -> list[Result]:
        """The results of one method."""
        return [result for result in self.results if result.method == method]

    def settled(self, k: int) -> int:
        """How many cases a method settled."""
        return int(np.isfinite(self.seconds[:, k]).sum())


def standings(results: Sequence[Result], limit: float) -> list[Standing]:
    """How the methods stand on programs in whole numbers, and on linear ones, wherever the same ones took part."""
    took_part: dict[tuple[str, str, int], set[str]] = {}
    for one in results:
        took_part.setdefault(one.case, set()).add(one.method)
    groups: dict[tuple[str, frozenset[str]], list[Result]] = {}
    for one in results:
        groups.setdefault((one.program, frozenset(took_part[one.case])), []).append(one)
    found = []
    for (program, _), own in groups.items():
        cases, names = list(dict.fromkeys(one.case for one in own)), list(dict.fromkeys(one.method for one in own))
        known = {(one.case, one.method): one.facts["seconds"] for one in own if one.settled}
        seconds = np.array([[known.get((case, name)) for name in names] for case in cases], np.float64)
        order = np.lexsort((shifted_mean(seconds, limit), -np.isfinite(seconds).sum(axis=0)))
        alone = sum(key[0] == program for key in groups) == 1
        named = shorten(", ".join(dict.fromkeys(case[0] for case in cases)), LONGEST, placeholder=" …")
        listed = "" if alone else f" ({named})"
        ranked = [names[k] for k in order]
        found.append(Standing(program, KIND[program] + listed, own, limit, cases, ranked, seconds[:, order]))
    return found


def summary(standing: Standing) -> dict[str, Any]:
    """A row for each method, a row for each result, and the curves: all that the page shows, as plain JSON."""
    factors, shares = profile(standing.seconds)
    curves = [
        {"method": method, "factor": float(factor), "share": float(share)}
        for k, method in enumerate(standing.methods)
        for factor, share in zip(factors, shares[:, k], strict=True)
    ]
    return {
        "program": standing.program,
        "kind": standing.kind,
        "methods": [_method(standing, k) for k in range(len(standing.methods))],
        "results": [row(one) for one in sorted(standing.results, key=lambda one: standing.cases.index(one.case))],
        "profile": curves,
    }


def _method(standing: Standing, k: int) -> dict[str, Any]:
    own, seconds = standing.of(standing.methods[k]), standing.seconds[:, [k]]
    counts = Counter(result.outcome for result in own)
    gaps = [result.facts["gap"] for result in own if result.outcome in (*SETTLED, FEASIBLE, ROUGH)]
    known = [max(0.0, gap) for gap in gaps if gap is not None]
    claims = [one for one in own if one.facts["claimed"] not in (None, "undecided") or one.outcome == WRONG]
    return {
        "method": standing.methods[k],
        "cases": len(own),
        "settled": standing.settled(k),
        "proven": sum(result.proven for result in own),
        "seconds": float(shifted_mean(seconds, standing.limit)[0]),
        "par2": float(par2(seconds, standing.limit)[0]),
        "worst_gap": max(known, default=None),
        "claims": len(claims),
        "false": sum(one.outcome in (WRONG, ROUGH) for one in claims),
        "megabytes": max(result.facts["megabytes"] or 0.0 for result in own),
        **{outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome] and outcome not in SETTLED},
    }


def row(result: Result) -> dict[str, Any]:
    """A result that reads as one line."""
    named = {key: getattr(result, key) for key in ("problem", "program", "seed", "method", "outcome")}
    facts = ("value", "bound", "gap", "proof", "violation", "fraction", "claimed")
    times = {key: result.facts[key] for key in ("seconds", "megabytes")}
    return {**named, **{key: result.facts[key] for key in facts}, "why": result.why, **times}


def sentences(results: Sequence[Result], limit: float) -> list[str]:
    """Which backend to take and how sure that is; then who is not to be trusted with what."""
    said = [_advice(standing) for standing in standings(results, limit)]
    return [*said, *_rules(results), *_troubles(results), *_proofs(results)]


def _advice(standing: Standing) -> str:
    kind, count, best = standing.kind, len(standing.cases), standing.methods[0]
    if not standing.settled(0):
        return f"For these {kind} there is none to take: nobody settled any of the {count} within {standing.limit:g} s."
    facts = f"it settled {standing.settled(0)} of {count}, {_seconds(standing, 0)} on average"
    rivals = [k for k in range(1, len(standing.methods)) if _solver(standing.methods[k]) != _solver(best)]
    if not rivals:
        return f"For these {kind} take {best}: {facts}."
    other = rivals[0]
    middle, low, high = times_as_long(standing.seconds[:, [0, other]], standing.limit)
    next_best = f"{standing.methods[other]}, the next, settled {standing.settled(other)}"
    lead = f"and took {middle:.2g} times as long, one second added to each"
    if count < 2:
        return f"For this one of the {kind} take {best}: {facts}; {next_best}, {lead}. One case says little of others."
    interval = f"95 % interval {low:.2g} to {high:.2g} times, case by case"
    if float(f"{low:.2g}") > 1:
        return f"For these {kind} take {best}: {facts}; {next_best}, {lead} ({interval})."
    return (
        f"For these {kind} {best} came first, but {count} cases do not tell it apart from the next: {facts}; "
        f"{next_best}, {lead} ({interval}). Measure more cases, or take either."
    )


def _seconds(standing: Standing, k: int) -> str:
    return f"{shifted_mean(standing.seconds[:, [k]], standing.limit)[0]:.2g} s"


def _solver(method: str) -> str:
    """The solver behind a method: ``cvxpy-highs`` and ``highs-ipm`` are both HiGHS."""
    words = method.partition("[")[0].split("-")
    return words[1] if words[0] in FRONTS and len(words) > 1 else words[0]


def _rules(results: Sequence[Result]) -> list[str]:
    named: dict[str, list[str]] = {}
    for result in results:
        if result.facts["about"]:
            named.setdefault(result.facts["about"], []).append(result.problem)
    return [
        f"{', '.join(dict.fromkeys(problems))}: the programs are {about}; proven, optimal and infeasible are meant so."
        for about, problems in named.items()
    ]


def _troubles(results: Sequence[Result]) -> list[str]:
    said = []
    for outcome, words in TROUBLE.items():
        of_kind = [result for result in results if result.outcome == outcome]
        methods = dict.fromkeys(result.method for result in of_kind)
        listed = [_trouble(method, [one for one in of_kind if one.method == method]) for method in methods]
        said += [f"{words}: {'; '.join(listed)}."] if listed else []
    return said


def _trouble(method: str, results: Sequence[Result]) -> str:
    reason = shorten(results[0].why.rstrip("."), LONGEST, placeholder=" …")
    why = "" if results[0].outcome == LATE else f", as on {results[0].problem}: {reason}"
    return f"{method} ({len(results)}{why})"


def _proofs(results: Sequence[Result]) -> list[str]:
    proven, settled = (sum(getattr(result, what) for result in results) for what in ("proven", "settled"))
    said = (
        f"Proven means that multipliers were checked outside the solver's process: so it is for {proven} of the "
        f"{settled} answers called settled; for the others only the solver vouches."
    )
    return [said] if settled else []
