"""The scores of a comparison as rows: a line a method, and a line a method and kind of problem for growth."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.bench.figures import scores, statistics
from crowdopt.bench.figures.scores import Moments
from crowdopt.bench.figures.summary import MethodComparison, gap_of
from crowdopt.bench.harness.results import Result
from crowdopt.bench.sources import IP

GAPS = {"to_1": 0.01, "to_01": 0.001}  # columns, and the gaps that they wait for
MEGABYTES = 100.0  # shift of the mean of memory: about what an interpreter holds
SIZE = re.compile(r"(.*?)(\d+)x(\d+)(.*)")  # of a recipe


def score_tables(comparison: MethodComparison) -> dict[str, Any]:
    """``scores`` and ``growth``, each a list of rows."""
    return {"scores": _scores(comparison), "growth": _growth(comparison)}


def _scores(comparison: MethodComparison) -> list[dict[str, Any]]:
    seconds, limit = comparison.seconds, comparison.limit
    shared = scores.common(seconds)
    columns = {
        "par2": scores.penalised(seconds, limit, 2),
        "par10": scores.penalised(seconds, limit, 10),
        "alone": scores.alone(seconds),
        "contribution": scores.contributions(seconds, limit),
        "common": statistics.shifted_mean(seconds[shared], limit)
        if shared.any()
        else np.full(seconds.shape[1], np.nan),
        "common_cases": np.where(np.isfinite(seconds).any(axis=0), shared.sum(), 0),
    }
    rows = []
    for k in comparison.ranking:
        own = comparison.of(comparison.methods[k])
        row = {name: _plain(values[k]) for name, values in columns.items()}
        rows.append({"method": comparison.methods[k], **row, **_searching(comparison, own), "mean_mb": _memory(own)})
    return rows


def _searching(comparison: MethodComparison, results: list[Result]) -> dict[str, Any]:
    """How soon plans became good; of a search that tells nothing on the way, unknown, and the time to its end."""
    if comparison.program != IP:
        return {}
    paths = [path_of(result) for result in results]
    times = {name: np.array([[scores.time_to(path, gap)] for path in paths]) for name, gap in GAPS.items()}
    row = {name: _plain(statistics.shifted_mean(some, comparison.limit)[0]) for name, some in times.items()}
    best = [comparison.best_values.get(result.subject.case) for result in results]
    areas = [
        scores.primal_integral(path, value, comparison.limit)
        for path, value in zip(paths, best, strict=True)
        if value is not None
    ]
    told = areas and comparison.tells(results[0].subject.method)
    return {"primal_integral": None if not told else float(np.mean(areas)), **row}


def path_of(result: Result) -> Moments:
    """What was told on the way and, last, what was left at the end, recomputed."""
    path: Moments = [list(moment) for moment in result.facts["moments"]]
    if result.seconds is not None and np.isfinite(gap_of(result)):
        value = result.facts["value"]
        bound = value if result.is_solved else result.facts["bound"]
        path.append([max(result.seconds, path[-1][0] or 0.0) if path else result.seconds, value, bound])
    return path


def _memory(results: list[Result]) -> float | None:
    known = [result.facts["megabytes"] for result in results if result.facts["megabytes"] is not None]
    return float(statistics.shifted_mean(np.array([known]).T, np.inf, MEGABYTES)[0]) if known else None


def _growth(comparison: MethodComparison) -> list[dict[str, Any]]:
    places = [SIZE.fullmatch(case[0]) for case in comparison.cases]
    kinds = ["" if place is None else place[1] + place[4] for place in places]
    sizes = np.array([0.0 if place is None else float(place[2]) * float(place[3]) for place in places])
    rows = []
    for kind in dict.fromkeys(filter(None, kinds)):
        cases = np.array([one == kind for one in kinds])
        for k in comparison.ranking:
            exponent, error = scores.growth(sizes[cases], comparison.seconds[cases, k])
            if np.isfinite(exponent):
                rows.append(_grown(kind, comparison.methods[k], exponent, error, comparison.seconds[cases, k]))
    return rows


def _grown(kind: str, method: str, exponent: float, error: float, seconds: Floats) -> dict[str, Any]:
    settled = int(np.isfinite(seconds).sum())
    return {"kind": kind.strip(":"), "method": method, "exponent": exponent, "error": error, "settled": settled}


def _plain(value: Any) -> float | int | None:
    number = value.item()
    return None if isinstance(number, float) and not np.isfinite(number) else number
