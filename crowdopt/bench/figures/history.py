"""Two benchmarks of the same cases, an old one and a new one: what became faster, what slower, what was lost.

The ratio of a case is new seconds over old ones, each with :data:`SHIFT` added so that cases of a millisecond do not
decide. A method's ratio is the geometric mean over the cases that it settled both times, with a 95 % interval by
Student's t in logarithms. It is called faster or slower if the interval leaves out 1 and the ratio is beyond
:data:`~crowdopt.bench.figures.statistics.SAME`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.bench.figures.statistics import SAME
from crowdopt.bench.harness.results import Result

SHIFT = 0.01  # seconds
LEAST_CASES = 3  # cases that an interval needs
LEVEL = 0.95
FASTER, SLOWER, SAME_SPEED, UNKNOWN = "faster", "slower", "no difference seen", "too few cases"
TOLERANCE = 1e-6  # relative; up to which two values are the same
MACHINE = ("processor", "cores", "memory_gb", "system", "python", "blas")


@dataclass(frozen=True)
class Benchmarked:
    """A finished benchmark: what is known of it, when and where it ran, and its results."""

    known: dict[str, Any]
    run: dict[str, Any]
    results: Sequence[Result]


def changes(old: Benchmarked, new: Benchmarked) -> dict[str, Any]:
    """What differs: ``methods`` and ``cases`` as rows, ``circumstances`` and ``verdict`` as sentences."""
    before, after = _by_run(old.results), _by_run(new.results)
    both = [key for key in before if key in after]
    cases = [_case(before[key], after[key]) for key in both]
    methods = [
        _method(key, [row for row in cases if _group(row) == key])
        for key in dict.fromkeys(_group(row) for row in cases)
    ]
    return {
        "methods": methods,
        "cases": cases,
        "circumstances": _circumstances(old, new),
        "verdict": _verdict(methods, len(before) - len(both), len(after) - len(both)),
    }


def _by_run(results: Sequence[Result]) -> dict[tuple[Any, ...], Result]:
    return {(*one.subject.run, one.subject.method): one for one in results}


def _group(row: dict[str, Any]) -> tuple[str, str]:
    return row["program"], row["method"]


def _case(old: Result, new: Result) -> dict[str, Any]:
    ratio = None
    if old.is_solved and new.is_solved and old.seconds is not None and new.seconds is not None:
        ratio = (new.seconds + SHIFT) / (old.seconds + SHIFT)
    subject = new.subject
    values = old.facts["value"], new.facts["value"]
    return {
        **{key: getattr(subject, key) for key in ("problem", "program", "seed", "permutation", "method")},
        "outcome_old": old.outcome,
        "outcome_new": new.outcome,
        "seconds_old": old.seconds if old.is_solved else None,
        "seconds_new": new.seconds if new.is_solved else None,
        "ratio": ratio,
        "change": _change(old, new),
        "value_old": values[0],
        "value_new": values[1],
    }


def _change(old: Result, new: Result) -> str:
    """In a word, what happened to the case; empty if it was settled both times or never."""
    if old.is_solved and new.is_solved:
        return "other optimum" if _differ(old.facts["value"], new.facts["value"]) else ""
    return "lost" if old.is_solved else "won" if new.is_solved else ""


def _differ(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is not other
    return abs(one - other) > TOLERANCE * max(1.0, abs(one), abs(other))


def _method(key: tuple[str, str], cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ratios = np.array([row["ratio"] for row in cases if row["ratio"] is not None])
    ratio, low, high = mean_ratio(ratios)
    counts = {word: sum(row["change"] == word for row in cases) for word in ("won", "lost", "other optimum")}
    return {
        "program": key[0],
        "method": key[1],
        "cases": len(cases),
        "compared": ratios.size,
        "ratio": ratio,
        "low": low,
        "high": high,
        **counts,
        "verdict": word_for(ratio, low, high),
    }


def mean_ratio(ratios: Floats) -> tuple[float | None, float | None, float | None]:
    """Geometric mean of ratios and its 95 % interval; None where there are too few; ratios (cases,): positive."""
    from scipy.stats import t

    if ratios.size == 0:
        return None, None, None
    logs = np.log(ratios)
    mean = float(logs.mean())
    if ratios.size < LEAST_CASES:
        return float(np.exp(mean)), None, None
    half = float(t.ppf((1 + LEVEL) / 2, ratios.size - 1) * logs.std(ddof=1) / np.sqrt(ratios.size))
    return float(np.exp(mean)), float(np.exp(mean - half)), float(np.exp(mean + half))


def word_for(ratio: float | None, low: float | None, high: float | None) -> str:
    """Faster, slower, no difference seen, or too few cases to tell; ratio, low, high: of :func:`mean_ratio`."""
    if ratio is None or low is None or high is None:
        return UNKNOWN
    if low > 1 and ratio > SAME:
        return SLOWER
    return FASTER if high < 1 and ratio < 1 / SAME else SAME_SPEED


def _circumstances(old: Benchmarked, new: Benchmarked) -> list[str]:
    """Everything but time that was not the same, a sentence each."""
    said = []
    for name in MACHINE:
        before, after = old.run.get(name), new.run.get(name)
        if before != after:
            said.append(f"{name}: {before} before, {after} now")
    for name, before in old.known["limits"].items():
        after = new.known["limits"].get(name)
        if before != after:
            said.append(f"limit of {name}: {before:g} before, {after:g} now")
    versions = {**old.run["libraries"], **old.known["versions"]}, {**new.run["libraries"], **new.known["versions"]}
    for name in dict.fromkeys([*versions[0], *versions[1]]):
        one, other = (some.get(name) for some in versions)
        if one is not None and other is not None and one != other:
            said.append(f"{name}: {one} before, {other} now")
    return said


def _verdict(methods: Sequence[dict[str, Any]], gone: int, added: int) -> list[str]:
    said = []
    for word in (SLOWER, FASTER, SAME_SPEED, UNKNOWN):
        listed = [_figure(row) for row in methods if row["verdict"] == word]
        if listed:
            said.append(f"{word[0].upper()}{word[1:]}: {'; '.join(listed)}.")
    for word, means in (
        ("lost", "settled before, not now"),
        ("won", "settled now, not before"),
        ("other optimum", "settled at another value"),
    ):
        listed = [f"{row['method']} ({row['program']}) {row[word]}" for row in methods if row[word]]
        if listed:
            said.append(f"Cases {means}: {', '.join(listed)}.")
    if not methods:
        said.append("The two have no case and method in common.")
    if gone or added:
        said.append(f"Only in the old one: {gone} rows; only in the new one: {added}. They do not count.")
    return said


def _figure(row: dict[str, Any]) -> str:
    name = f"{row['method']} ({row['program']})"
    if row["ratio"] is None:
        return f"{name}, no case settled both times"
    if row["low"] is None:
        return f"{name} {row['ratio']:.2f} times the seconds on {row['compared']}"
    return (
        f"{name} {row['ratio']:.2f} times the seconds ({row['low']:.2f} to {row['high']:.2f}, {row['compared']} cases)"
    )
