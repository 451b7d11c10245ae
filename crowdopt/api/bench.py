"""The verb bench: solver backends and our own methods side by side; it loads what it needs when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdopt.api.binding import AnyPath
from crowdopt.api.report import report
from crowdopt.api.verbs import keywords_alone
from crowdopt.bench.figures.history import SLOWER as SLOWER
from crowdopt.bench.harness.suites import SUITES as SUITES
from crowdopt.bench.harness.suites import listed as listed
from crowdopt.errors import InputError

if TYPE_CHECKING:
    from crowdopt.bench.run import Benchmark

EXACT = "exact"


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Options of a benchmark: what is measured, how often, within which limits, and where it is kept.

    Parameters
    ----------
    problems : sequence of str
        Paths of campaigns, and recipes.
    suite : str, optional
        A named set of problems, with limits of its own.
    output : path
        Folder for tables, summary and page.
    backends : sequence of str
        ``exact`` and backends; without any, all that work here.
    program : str
        ``ip``, ``lp`` or ``both``.
    seeds : int, optional
        Seeds 0, 1, ... for each problem, in place of the suite's.
    permutations : int
        How often each backend solves each program: as it is, then with columns and rows in other orders and with other
        seeds of its own. Our own methods, which read the campaign, only get other seeds.
    time_limit, memory_limit, threads : float, float, int, optional
        Seconds for each solve, megabytes for each process tree, threads of each solver; default: the suite's, else 60,
        4000 and 1.
    jobs : int
        Subjects at once.
    cluster : str, optional
        A Dask scheduler to run on.
    export : str, optional
        ``mps`` or ``lp``: write the programs as a library instead of measuring. With a ``time_limit`` each is solved
        for so long, and its best value, its best bound and their certificates stand beside it.
    retry : bool
        Whether to run again what failed in the harness itself.
    force : bool
        Whether a folder that holds something else of the kind may be taken over.
    """

    problems: Sequence[str] = field(default=(), kw_only=False)
    suite: str | None = field(default=None, kw_only=False)
    output: AnyPath
    backends: Sequence[str] = ()
    program: str = "both"
    seeds: int | None = None
    permutations: int = 1
    time_limit: float | None = None
    memory_limit: float | None = None
    threads: int | None = None
    jobs: int = 1
    cluster: str | None = None
    export: str | None = None
    retry: bool = False
    force: bool = False


@keywords_alone(BenchOptions)
def bench(asked: BenchOptions) -> dict[str, Any]:
    """Solver backends side by side, each in a process of its own within limits, every claim checked.

    Called again with the same arguments it goes on where it was stopped.

    Returns
    -------
    dict
        The summary (``rows``, ``verdict``, ``page``); of an export its ``files``, and ``programs``.

    Raises
    ------
    InputError
        If there is nothing to measure, a name is unknown, or the folder cannot be used.
    """
    limits = {"seconds": asked.time_limit, "megabytes": asked.memory_limit, "threads": asked.threads}
    limits = {name: value for name, value in limits.items() if value is not None}
    programs = ("ip", "lp") if asked.program == "both" else (asked.program,)
    methods = [EXACT] if asked.export is not None else asked.backends
    plan = benchmark(
        asked.problems,
        asked.suite,
        methods=methods,
        programs=programs,
        seeds=asked.seeds,
        permutations=asked.permutations,
        limits=limits,
    )
    if asked.export is not None:
        return _exported(
            plan, asked.output, asked.export, asked.force, None if asked.time_limit is None else plan.limits.seconds
        )
    return measure(
        plan, asked.output, processes=asked.jobs, cluster=asked.cluster, force=asked.force, retry=asked.retry
    )


def benchmark(
    problems: Sequence[str] = (),
    suite: str | None = None,
    *,
    methods: Sequence[str] = (),
    programs: Sequence[str] = ("ip", "lp"),
    seeds: int | None = None,
    permutations: int = 1,
    limits: dict[str, Any] | None = None,
) -> Benchmark:
    """A benchmark that states what is to be measured; :func:`measure` measures it.

    problems: paths of campaigns, and recipes; suite: a named set of problems, with limits of its own; programs: of
    ``ip`` and ``lp``, those wanted; seeds: how many seeds for each problem, in place of the suite's (one for a
    problem given by itself); permutations: how often each backend solves each program, beyond the first time in
    another order of columns and rows; limits: ``seconds``, ``megabytes``, ``threads``, in place of the suite's.
    """
    from crowdopt.bench.harness import methods as known
    from crowdopt.bench.harness.subject import Limits
    from crowdopt.bench.harness.suites import Entry, cases_of, suite_named
    from crowdopt.bench.run import Benchmark

    named = None if suite is None else suite_named(suite)
    entries = [*(() if named is None else named.entries), *(Entry(problem, ("ip", "lp")) for problem in problems)]
    cases = cases_of(entries, programs, seeds)
    if not cases:
        raise InputError("nothing to measure: name a campaign, a recipe such as R10:50x20, or a --suite")
    allowed = replace(Limits() if named is None else named.limits, **(limits or {}))
    title = ", ".join(filter(None, [f"suite {suite}" if suite else "", *problems]))
    return Benchmark(title, tuple(cases), tuple(known.chosen(methods)), allowed, permutations)


def measure(
    plan: Benchmark,
    folder: AnyPath,
    *,
    processes: int = 1,
    cluster: str | None = None,
    force: bool = False,
    retry: bool = False,
) -> dict[str, Any]:
    """Measure what is not measured yet, and write tables, summary and page; returns the summary.

    Without the extra ``plots`` there is no page, and ``page`` is None; :func:`crowdopt.report` writes it later.

    folder: one that holds the same benchmark is gone on with; processes: subjects at once; cluster: A Dask scheduler to
    run on; retry: whether to run again what failed in the harness itself; -> ``rows``, ``verdict``, ``page`` and all
    that the page shows.
    """
    from crowdopt import jobs
    from crowdopt.bench.run import run_benchmark
    from crowdopt.report.charts import MISSING, Undrawn, can_draw

    try:
        with ExitStack() as stack:
            executor = None if cluster is None else stack.enter_context(jobs.cluster(cluster))
            summary = run_benchmark(plan, Path(folder), processes, executor, force, retry)
    except jobs.JobsError as error:
        raise InputError(str(error)) from None
    try:
        if not can_draw():
            raise Undrawn(MISSING)
        return {**summary, "page": str(report(folder)), "undrawn": None}
    except Undrawn as error:
        return {**summary, "page": None, "undrawn": str(error)}


def bench_changes(old: AnyPath, new: AnyPath) -> dict[str, Any]:
    """Two benchmarks of the same cases held against each other: what became faster, what slower, what was lost.

    old, new: folders that :func:`bench` wrote: with other versions, on another machine, with other options;
    -> ``methods`` (geometric mean of new over old seconds with its 95 % interval, and a verdict) and ``cases`` as rows;
    ``circumstances``, all that was not the same, and ``verdict`` as sentences.
    """
    from crowdopt.bench.figures.history import changes
    from crowdopt.bench.run import benchmarked

    return changes(benchmarked(Path(old)), benchmarked(Path(new)))


def _exported(plan: Benchmark, output: AnyPath, form: str, force: bool, seconds: float | None) -> dict[str, Any]:
    from crowdopt.bench.harness.library import export_library
    from crowdopt.core.solution import Options
    from crowdopt.report.library_page import library_page

    limits = plan.limits
    options = None if seconds is None else Options(seconds, threads=limits.threads, memory=limits.megabytes)
    rows = export_library(plan.cases, Path(output), form, force, options, library_page)
    return {"files": [row["file"] for row in rows], "programs": rows}
