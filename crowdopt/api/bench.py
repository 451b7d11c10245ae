"""The calls behind ``crowdopt bench`` and ``crowdopt report``; they load what they need when they are called."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdopt.errors import InputError

if TYPE_CHECKING:
    from crowdopt.bench.run import Benchmark

__all__ = ["bench", "benchmark", "export_library", "report"]


def benchmark(
    problems: Sequence[str] = (),
    suite: str | None = None,
    methods: Sequence[str] = (),
    programs: Sequence[str] = ("ip", "lp"),
    seeds: int | None = None,
    limits: dict[str, Any] | None = None,
) -> Benchmark:
    """Say what is to be measured; :func:`bench` measures it.

    Parameters
    ----------
    problems : sequence of str
        Paths of campaigns, and recipes.
    suite : str, optional
        A named set of problems, with limits of its own.
    methods : sequence of str
        ``exact`` and backends; without any, all that work here.
    programs : sequence of str
        Of ``ip`` and ``lp``, those wanted.
    seeds : int, optional
        How many seeds for each problem, in place of the suite's (one for a problem given by itself).
    limits : dict, optional
        ``seconds``, ``megabytes``, ``threads``, in place of the suite's.

    Raises
    ------
    InputError
        If there is nothing to measure, or a name is unknown.
    """
    from crowdopt.bench import methods as known
    from crowdopt.bench.run import Benchmark
    from crowdopt.bench.subject import Limits
    from crowdopt.bench.suites import Entry, cases_of, suite_named

    named = None if suite is None else suite_named(suite)
    entries = [*(() if named is None else named.entries), *(Entry(problem, ("ip", "lp")) for problem in problems)]
    cases = cases_of(entries, programs, seeds)
    if not cases:
        raise InputError("nothing to measure: name a campaign, a recipe such as R10:50x20, or a --suite")
    allowed = replace(Limits() if named is None else named.limits, **(limits or {}))
    title = ", ".join(filter(None, [f"suite {suite}" if suite else "", *problems]))
    return Benchmark(title, tuple(cases), tuple(known.chosen(methods)), allowed)


def bench(
    plan: Benchmark,
    folder: str | Path,
    processes: int = 1,
    cluster: str | None = None,
    force: bool = False,
    retry: bool = False,
) -> dict[str, Any]:
    """Measure what is not measured yet, and write tables, summary and page; returns the summary.

    Without the extra ``plots`` there is no page, and ``page`` is None; :func:`report` writes it later.

    Parameters
    ----------
    plan : Benchmark
    folder : path
        One that holds the same benchmark is gone on with.
    processes : int
        Subjects at once.
    cluster : str, optional
        Address of a Dask scheduler to run on.
    force : bool
        Whether a folder that holds another benchmark may be taken over.
    retry : bool
        Whether to run again what failed in the harness itself.

    Raises
    ------
    InputError
        If the folder holds something else, or the cluster cannot be reached.
    """
    from crowdopt import jobs
    from crowdopt.bench.run import run_benchmark
    from crowdopt.report.charts import can_draw

    try:
        with ExitStack() as stack:
            executor = None if cluster is None else stack.enter_context(jobs.cluster(cluster))
            summary = run_benchmark(plan, Path(folder), processes, executor, force, retry)
    except jobs.JobsError as error:
        raise InputError(str(error)) from None
    return {**summary, "page": str(report(folder)) if can_draw() else None}


def report(folder: str | Path) -> Path:
    """Write the page of a folder anew from its raw rows; returns its path.

    Raises
    ------
    InputError
        If the folder is of no kind that has a page.
    """
    from crowdopt.bench.run import MARK, summarise
    from crowdopt.report import kind_of, write_page

    again = {MARK: summarise}
    kind = kind_of(Path(folder))
    if kind.mark in again:
        again[kind.mark](Path(folder))
    return write_page(Path(folder))


def export_library(
    cases: Sequence[tuple[str, str, int]], folder: str | Path, form: str = "mps", force: bool = False
) -> list[str]:
    """Write the programs of cases for any other solver, with an index; returns the names of the files."""
    from crowdopt.bench.library import export_library as write

    return write(cases, Path(folder), form, force)
