"""A benchmark from its plan to its folder: rows, tables, summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

from crowdopt import jobs
from crowdopt.arrays import places
from crowdopt.benching.figures import compare, sentences, series, tables
from crowdopt.benching.measure import measure
from crowdopt.benching.methods import handles, version_of
from crowdopt.benching.results import results_of
from crowdopt.benching.sources import source_of
from crowdopt.benching.subject import (
    CIRCUMSTANCES,
    DISTURBED,
    PLAN,
    Limits,
    Subject,
    check_plan,
    check_row,
    circumstances,
    sentence,
    slowdowns,
)
from crowdopt.documents import Keys, read_json, write_json
from crowdopt.errors import InputError
from crowdopt.io.cells import write_table
from crowdopt.version import __version__

MARK = "bench.json"  # the file that tells a benchmark's folder

Case = tuple[str, str, int]  # problem, program, seed


@dataclass(frozen=True)
class Benchmark:
    """What is to be measured: cases by methods, within limits."""

    title: str
    cases: tuple[Case, ...]
    methods: tuple[str, ...]
    limits: Limits

    def subjects(self) -> list[Subject]:
        """Every case with every method that handles it, in the order of running: each case begins with another method.

        So no method always comes first, nor always after the same one, on a machine that warms up or is shared.
        """
        subjects = []
        for number, (problem, program, seed) in enumerate(self.cases):
            able = [method for method in self.methods if handles(method, problem, program)]
            turn = number // 2 % len(able) if able else 0
            rotated = [*able[turn:], *able[:turn]]
            for method in rotated[:: 1 if number % 2 == 0 else -1]:
                subjects.append(Subject(problem, program, method, seed, self.limits))
        return subjects

    def in_order(self) -> list[Subject]:
        """The same in the order of cases and methods, as tables have them."""
        place = places(self.cases)
        return sorted(self.subjects(), key=lambda one: (place[one.case], self.methods.index(one.method)))


def cases_of(problems: Iterable[str], programs: Sequence[str], seeds: int) -> list[Case]:
    """Every case of the problems, in their order, each once; what cannot be read is refused before anything runs."""
    for problem in problems:
        source = source_of(problem)
        if Path(problem).exists():
            source.open(problem, 0)
    return list(dict.fromkeys(product(problems, programs, range(seeds))))


def run_benchmark(plan: Benchmark, folder: Path, processes: int = 1, force: bool = False) -> dict[str, Any]:
    """Measure what is not measured yet, or failed in the harness itself, then write table and summary.

    folder: for finished rows, table and summary.
    processes: how many subjects run at once. More than one disturbs the timings.
    force: whether a folder that holds another benchmark may be taken over; rows that fit are kept.
    -> the summary, as summary.json has it.
    """
    begin(plan, folder, force)
    known = _plan(folder)["versions"]
    subjects, rows = plan.subjects(), folder / "rows"
    first = jobs.run([_job(subject, known) for subject in subjects], rows, processes, retry=True, title="subjects")
    for row in first:
        check_row(row)
    if processes == 1:  # several at once disturb each other
        again = [_job(subjects[k], known, 1) for k in disturbed(first)]
        jobs.run(again, rows, processes, retry=True, title="disturbed")
    return summarise(folder)


def disturbed(rows: Sequence[jobs.Row]) -> list[int]:
    """Places of those beside which the machine was slower than it can be, by more than DISTURBED allows."""
    ratios = slowdowns([_reference(row) for row in rows])
    return [k for k, ratio in enumerate(ratios) if ratio is not None and ratio > DISTURBED]


def _reference(row: jobs.Row) -> float | None:
    seconds: float | None = row.result.get("reference") if row.error is None else None
    return seconds


def begin(plan: Benchmark, folder: Path, force: bool) -> None:
    """Mark the folder with the plan, so that it can be resumed and read without asking."""
    content = {
        "kind": "bench",
        "title": plan.title,
        "subjects": [[*one.case, one.method] for one in plan.in_order()],
        "limits": asdict(plan.limits),
        "versions": {"crowdopt": __version__, **{method: version_of(method) for method in plan.methods}},
    }
    mark = folder / MARK
    if folder.exists() and not mark.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not a benchmark; choose another name")
    if mark.exists() and not force and read_json(mark, Keys(open=True), "benchmark") != content:
        raise InputError(f"{folder} holds another benchmark; choose another name, or --force to go on with this one")
    folder.mkdir(parents=True, exist_ok=True)
    write_json(mark, content)
    if not (folder / "run.json").exists() or force:
        write_json(folder / "run.json", circumstances())


def summarise(folder: Path) -> dict[str, Any]:
    """Rebuild table and summary from the raw rows alone; rows that are missing are left out."""
    known, wanted, rows = opened(folder)
    limits = Limits(**known["limits"])
    results = results_of(rows)
    comparisons = compare(results, limits.seconds)
    summary = {
        **{key: known[key] for key in ("kind", "title", "limits", "versions")},
        "run": _circumstances(folder),
        "rows": len(rows),
        "missing": wanted - len(rows),
        "verdict": [*sentences(comparisons), *filter(None, [sentence([_reference(row) for row in rows])])],
        "comparisons": [
            {"family": one.family, "program": one.program, **tables(one), **series(one)} for one in comparisons
        ],
    }
    lines = [line for one in summary["comparisons"] for line in one["results"]]
    write_table(folder / "results.csv", list(lines[0]), ([line[key] for line in lines] for key in lines[0]), force=True)
    write_json(folder / "summary.json", summary)
    return summary


def opened(folder: Path) -> tuple[dict[str, Any], int, list[jobs.Row]]:
    """What a benchmark's folder says it is, how many rows it is to have, and those it has; of two the quieter one."""
    known = _plan(folder)
    limits = Limits(**known["limits"])
    rows = []
    for problem, program, seed, method in known["subjects"]:
        subject = Subject(problem, program, method, seed, limits)
        tries = jobs.finished([_job(subject, known["versions"], attempt) for attempt in (0, 1)], folder / "rows")
        for row in tries:
            check_row(row)
        if tries:
            rows.append(min(tries, key=lambda row: _reference(row) or inf))
    if not rows:
        raise InputError(f"{folder} has no finished row yet; run the same `crowdopt bench` command again")
    return known, len(known["subjects"]), rows


def _job(subject: Subject, versions: dict[str, str], attempt: int = 0) -> jobs.Job:
    needed = {key: versions[key] for key in ("crowdopt", subject.method)}
    return jobs.Job.of(measure, versions=needed, attempt=attempt, **subject.arguments())


def _plan(folder: Path) -> dict[str, Any]:
    known: dict[str, Any] = read_json(folder / MARK, PLAN, "benchmark")
    check_plan(known)
    return known


def _circumstances(folder: Path) -> Any:
    return read_json(folder / "run.json", CIRCUMSTANCES, "benchmark")
