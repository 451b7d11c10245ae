"""The second opinion on a plan in parts: each part counted and priced anew, by another algorithm, where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt import jobs
from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import BOUND, sum_below
from crowdopt.core.solution import relative_gap
from crowdopt.crowd.vote_errors import breaches
from crowdopt.documents import finite
from crowdopt.errors import InputError
from crowdopt.io.parts import (
    ASSIGNMENT,
    PartsFolder,
    known_folder,
    read_numbers,
    read_pairs,
    read_part,
    read_parts_folder,
)
from crowdopt.recheck.bounds import FOLLOWED, JointPull, PairPrices, least_by_evidence
from crowdopt.recheck.findings import Report
from crowdopt.recheck.plans import SAME, agrees, check_columns, refuse_excess

HELD = {"form", "status", "proven", "proof", "objective", "bound", "gap", "labels", "tasks", "workers", "parts"}
HELD |= {"rule", "promise"}
SHOWN = 20  # problems of a part
MADE = {"title", "method", "seed", "edition", "versions"}  # how it was made: no claim about the plan


def verify_parts(
    campaign: str | Path, plan: str | Path, processes: int = 0, executor: Executor | None = None
) -> Report:
    """Hold a plan in parts against its campaign, a part at a time.

    processes: spawned here; 0 checks in this process.
    """
    folder, place = read_parts_folder(campaign), Path(plan)
    claims, workers = read_numbers(place, folder)
    report = Report(overrides={"rule": folder.rule} if folder.promise else {}, rule=folder.rule)
    dual, load = workers.numbers("dual"), workers.counts("load")
    check_columns(workers, {"capacity": folder.capacity.astype(np.float64)}, report)
    _check_files(place, folder, report)
    if (dual > 0).any():
        report.complain("workers.csv", "a multiplier of a capacity is above 0, so they prove nothing")
        dual = np.zeros_like(dual)
    shared = {"folder": str(folder.folder.absolute()), "stamp": folder.stamp, "plan": str(place.absolute())}
    rows = [jobs.Job.of(check_part, **shared, part=part, prices=dual) for part in folder.parts]
    answers = [_answer(row) for row in jobs.run(rows, None, processes, executor, title="parts")]
    for answer in answers:
        report.problems.extend(answer["problems"])
    _check_sums(folder, claims, load, answers, report)
    _check_bound(folder, claims, _proven(folder, dual, answers), report)
    return report


def _proven(folder: PartsFolder, dual: Floats, answers: Sequence[dict[str, Any]]) -> float | None:
    """What the multipliers prove; None where some are so large that they prove nothing, or a task has no set at all."""
    with np.errstate(over="ignore"):
        terms = np.append(dual * folder.capacity, [np.nan if one["bound"] is None else one["bound"] for one in answers])
        proven = sum_below(terms)
    if not np.isfinite(proven):
        return None
    whole_prices = bool((folder.price == np.rint(folder.price)).all())
    return float(np.ceil(proven - BOUND * max(1.0, abs(proven)))) if whole_prices else proven


def _check_bound(folder: PartsFolder, claims: dict[str, Any], proven: float | None, report: Report) -> None:
    """The bound, and what is said of it: no more than is proven, nothing proven where it is above the plan's cost."""
    said, cost = claims["bound"], claims["objective"]
    report.bound = report.certified_bound = proven
    if proven is None:
        report.complain("workers.csv", "the multipliers prove nothing: they are too large, or a task has no set at all")
    elif not said <= proven + BOUND * max(1.0, abs(proven)):
        report.complain("plan.json", f"bound says {said!r}, but the multipliers prove no more than {proven!r}")
    else:
        report.proof = "certificate"
    is_optimal = said >= cost
    for name, value in {
        "rule": folder.rule,
        "promise": folder.promise,
        "workers": len(folder.workers),
        "proof": report.proof,
        "proven": is_optimal,
        "status": "optimal" if is_optimal else "feasible",
    }.items():
        if not agrees(claims.get(name), value):
            report.complain("plan.json", f"{name} says {claims.get(name)!r}, but it is {value!r}")
    for name in sorted(claims.keys() - HELD - MADE):
        report.complain("plan.json", f"has an entry {name!r}, which nothing is held against")
    refuse_excess(report)
    near = SAME * max(1.0, abs(cost))
    report.proven = report.holds and proven is not None and cost <= proven + near


def check_part(folder: str, stamp: str, part: str, plan: str, prices: list[float]) -> dict[str, Any]:
    """Count the labels of one part, and bound what its tasks cost at least.

    folder, stamp, part: the campaign, as it was when the check began, and the part's name; prices: the workers'
    multipliers.
    """
    read = read_part(known_folder(folder, stamp), part)
    instance, pairs = read.instance, read_pairs(Path(plan) / ASSIGNMENT, read)
    found = breaches(instance, pairs)
    if found:
        found = breaches(replace(instance, tasks=read.ids.to_pylist()), pairs)
    with np.errstate(all="ignore"):
        paid = PairPrices.of(instance, np.array(prices), 0.0, JointPull.none(instance))
        least = sum_below(least_by_evidence(instance, paid, np.arange(instance.n_tasks), FOLLOWED[-1]))
    return {
        "problems": [f"{ASSIGNMENT}/{part}: {one}" for one in found[:SHOWN]],
        "tasks": instance.n_tasks,
        "labels": len(pairs),
        "load": np.bincount(pairs[:, 1], minlength=instance.n_workers),
        "cost": fsum(instance.prices(pairs).tolist()),
        "bound": finite(least),
    }


def _answer(row: jobs.Row) -> dict[str, Any]:
    if row.error is None:
        return dict(row.result)
    if row.refusal is not None:
        raise InputError(row.refusal)
    raise jobs.JobsError(f"{row.arguments['part']}: {row.error}")


def _check_files(place: Path, folder: PartsFolder, report: Report) -> None:
    there = {path.name for path in (place / ASSIGNMENT).iterdir()}
    for name in sorted(set(folder.parts) - there):
        raise InputError(f"{ASSIGNMENT}/{name} is missing; the plan is of other parts")
    for name in sorted(there - set(folder.parts)):
        report.complain(ASSIGNMENT, f"{name} is no part of the campaign")


def _check_sums(
    folder: PartsFolder, claims: dict[str, Any], said: Ints, answers: Sequence[dict[str, Any]], report: Report
) -> None:
    load = np.sum([answer["load"] for answer in answers], axis=0)
    for wrong, file, what in (
        (load > folder.capacity, ASSIGNMENT, "more labels than their capacity"),
        (load != said, "workers.csv", "another load than the labels say"),
    ):
        if wrong.any():
            report.complain(file, f"worker {folder.workers[int(np.flatnonzero(wrong)[0])]} has {what}")
    report.violation = float(np.maximum(0, load - folder.capacity).max(initial=0))
    report.objective = fsum(answer["cost"] for answer in answers)
    report.labels = float(load.sum())
    sums = {"labels": int(load.sum()), "tasks": sum(answer["tasks"] for answer in answers), "parts": len(answers)}
    for name, value in sums.items():
        if claims[name] != value:
            report.complain("plan.json", f"{name} says {claims[name]!r}, counted {value}")
    if abs(claims["objective"] - report.objective) > SAME * max(1.0, abs(report.objective)):
        report.complain("plan.json", f"objective says {claims['objective']!r}, the labels cost {report.objective!r}")
    gap = finite(max(0.0, relative_gap(claims["objective"], claims["bound"])))
    if not agrees(claims.get("gap", gap), gap):
        report.complain("plan.json", f"gap says {claims['gap']!r}, but objective and bound are {gap!r} apart")
