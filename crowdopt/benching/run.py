"""A benchmark from its plan to its folder: rows, table, summary."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from crowdopt import jobs
from crowdopt.arrays import places
from crowdopt.benching.figures import sentences, standings, summary
from crowdopt.benching.judge import FAILED, OUTCOMES, Result, crossed
from crowdopt.benching.measure import BACKEND, EXACT, handles, measure
from crowdopt.benching.sources import open_problem
from crowdopt.documents import NUMBER, TEXT, Each, Keys, Maybe, Value, each_of, misfit, one_of, read_json, write_json
from crowdopt.errors import InputError
from crowdopt.io.cells import write_table
from crowdopt.solvers import available, named
from crowdopt.solvers.probe import version_of_library
from crowdopt.version import __version__

MARK = "bench.json"  # the file that tells a benchmark's folder
LEAST = 50.0  # megabytes: what an interpreter needs
SUBJECT = ("problem", "program", "seed", "method")
LIMITS = ("seconds", "megabytes", "threads")
PLAN = Keys(
    {
        **each_of({"kind title machine": TEXT}),
        "subjects": Each(
            Value(
                "a list of problem, program, seed and method",
                lambda one: isinstance(one, list) and [type(value) for value in one] == [str, str, int, str],
            )
        ),
        "limits": Keys(dict.fromkeys(LIMITS, NUMBER)),
        "versions": Each(TEXT, dict),
    }
)
MEASURED = Keys(  # the result of a row
    {
        **each_of({"value bound violation fraction gap": Maybe(NUMBER), "why proof about": TEXT, "megabytes": NUMBER}),
        "outcome": one_of(*OUTCOMES),
        "claimed": Maybe(TEXT),
        "seconds": Maybe(Value("a number of seconds", lambda one: isinstance(one, int | float) and 0 <= one < inf)),
    }
)
BESIDE = Keys(each_of({"violation fraction": NUMBER}), open=True)  # what a value comes with
EMPTY = {**dict.fromkeys(MEASURED.required), "why": "", "proof": "none", "about": "", "megabytes": 0.0}


@dataclass(frozen=True)
class Benchmark:
    """What is to be measured: cases by methods, within limits for each run."""

    title: str
    cases: tuple[tuple[str, str, int], ...]  # problem, program, seed
    methods: tuple[str, ...]
    seconds: float = 60.0  # handed to the solver; past them and a grace the whole process tree is killed
    megabytes: float = 4000.0  # resident memory of the whole process tree, interpreter and libraries included
    threads: int = 1  # handed to the solver, and set for every library that reads it from the environment

    def __post_init__(self) -> None:
        if not 0 < self.seconds < inf:
            raise InputError(f"a time limit must be a positive, finite number of seconds, not {self.seconds:g}")
        if not LEAST <= self.megabytes < inf:
            says = f"a memory limit must be a finite number of megabytes, at least {LEAST:g}, what an interpreter needs"
            raise InputError(f"{says}, not {self.megabytes:g}")

    def subjects(self) -> list[tuple[str, str, int, str]]:
        """Every case with every method that handles it, in the order of running: each case begins with another method.

        So no method always comes first, nor always after the same one, on a machine that warms up or is shared.
        """
        subjects = []
        for number, (problem, program, seed) in enumerate(self.cases):
            able = [method for method in self.methods if handles(method, problem, program)]
            turn = number // 2 % len(able) if able else 0
            rotated = [*able[turn:], *able[:turn]]
            subjects += [(problem, program, seed, method) for method in rotated[:: 1 if number % 2 == 0 else -1]]
        return subjects


def cases_of(problems: Iterable[str], programs: Sequence[str], seeds: int) -> list[tuple[str, str, int]]:
    """Every case of the problems, in their order, each once; what cannot be read is refused before anything runs."""
    for problem in problems:
        open_problem(problem, 0)
    return list(dict.fromkeys(product(problems, programs, range(seeds))))


def chosen(names: Sequence[str]) -> list[str]:
    """The methods of these names; without any, our own and every backend that works here."""
    if not names:
        return [EXACT, *(one.name for one in available() if one.works)]
    if len(set(names)) < len(names):
        raise InputError(f"a method is named twice in {', '.join(names)}")
    for name in names:
        if name != EXACT:
            named(name)
    return list(names)


def version_of(method: str) -> str:
    """The version of the library behind a method."""
    if method == EXACT:
        return f"{__version__} with {BACKEND} {version_of(BACKEND)}"
    return version_of_library(named(method).library) or "unknown"


def machine() -> str:
    """What seconds are those of."""
    size = psutil.virtual_memory().total / 1e9
    kind = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {size:.0f} GB"
    return f"{kind}, Python {platform.python_version()}, numpy {np.__version__}"


def run_benchmark(plan: Benchmark, folder: Path, processes: int = 1, force: bool = False) -> dict[str, Any]:
    """Measure what is not measured yet, or failed in the harness itself, then write table and summary.

    folder: for finished rows, table and summary; processes: how many subjects run at once, more than one disturb each
    other; force: whether a folder that holds another benchmark may be taken over, rows that fit are kept; -> the
    summary, as summary.json has it.
    """
    subjects, place = plan.subjects(), places(plan.cases)
    content = {
        "kind": "bench",
        "title": plan.title,
        "machine": machine(),
        "subjects": [
            list(one) for one in sorted(subjects, key=lambda one: (place[one[:3]], plan.methods.index(one[3])))
        ],
        "limits": {name: getattr(plan, name) for name in LIMITS},
        "versions": {"crowdopt": __version__, **{method: version_of(method) for method in plan.methods}},
    }
    mark = folder / MARK
    if folder.exists() and not mark.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not a benchmark; choose another name")
    if mark.exists() and not force and read_json(mark, Keys(open=True), "benchmark") != content:
        says = "holds another benchmark, or one of another machine or other versions"
        raise InputError(f"{folder} {says}; choose another name, or --force to go on with this one")
    folder.mkdir(parents=True, exist_ok=True)
    write_json(mark, content)
    jobs.run([_job(one, content) for one in subjects], folder / "rows", processes, retry=True, title="subjects")
    return summarise(folder)


def _job(subject: Sequence[Any], content: dict[str, Any]) -> jobs.Job:
    versions = {key: content["versions"][key] for key in ("crowdopt", subject[-1])}
    return jobs.Job.of(measure, versions=versions, **dict(zip(SUBJECT, subject, strict=True)), **content["limits"])


def summarise(folder: Path) -> dict[str, Any]:
    """Rebuild table and summary from the raw rows alone; rows that are missing are left out."""
    known: dict[str, Any] = read_json(folder / MARK, PLAN, "benchmark")
    missing = {"crowdopt", *(subject[-1] for subject in known["subjects"])} - set(known["versions"])
    if missing:
        raise InputError(f"{MARK}: versions.{min(missing)} is missing")
    rows = jobs.finished([_job(subject, known) for subject in known["subjects"]], folder / "rows")
    if not rows:
        raise InputError(f"{folder} has no finished row yet; run the same `crowdopt bench` command again")
    results, limit = crossed([_result(row) for row in rows]), known["limits"]["seconds"]
    found = {
        **{key: known[key] for key in ("kind", "title", "machine", "limits", "versions")},
        "rows": len(rows),
        "missing": len(known["subjects"]) - len(rows),
        "outcomes": OUTCOMES,
        "verdict": sentences(results, limit),
        "comparisons": [summary(one) for one in standings(results, limit)],
    }
    lines = [line for one in found["comparisons"] for line in one["results"]]
    write_table(folder / "results.csv", list(lines[0]), ([line[key] for line in lines] for key in lines[0]), force=True)
    write_json(folder / "summary.json", found)
    return found


def _result(row: jobs.Row) -> Result:
    """What a row says, held to the shape of a measurement."""
    wrong = misfit(row.error, TEXT, "error") if row.error is not None else misfit(row.result, MEASURED)
    if wrong is None and row.error is None and row.result["value"] is not None:
        wrong = misfit(row.result, BESIDE)
    named = {key: row.arguments[key] for key in SUBJECT}
    if wrong is not None:
        says = f"the row of {named['problem']} by {named['method']}: {wrong}"
        raise InputError(f"{says}; delete the folder's rows, and run the same command again")
    if row.error is not None:
        return Result(**named, outcome=FAILED, why=row.error, facts=EMPTY)
    return Result(**named, outcome=row.result["outcome"], why=row.result["why"], facts=row.result)
