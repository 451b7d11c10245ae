"""The verb bench: solver backends and our own methods side by side; it loads what it needs when it is called.

The verb report: one HTML page of a folder that another verb wrote.

The verb backends: which solvers work here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from crowdopt.documents import from_disk
from crowdopt.errors import InputError, public
from crowdopt.io.folders import PLAN
from crowdopt.io.policy import plan_overview
from crowdopt.io.results import EXPLANATION, read_explanation
from crowdopt.pages import kind_of, write_page
from crowdopt.said import Listed, Positive, Said, Threads, Verb, Word
from crowdopt.solvers import available
from crowdopt.solvers.probe import Available as Available
from crowdopt.verbs.binding import AnyPath, keywords_alone

if TYPE_CHECKING:
    from crowdopt.benching.run import Benchmark


@public
def report(folder: AnyPath) -> Path:
    """Write the page of a folder: a plan's, an explanation's, a comparison's, and so on.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Path
        Of the page, report.html in the folder.

    Raises
    ------
    InputError
        If the folder is of no kind that has a page, something in it cannot be read, or the extra ``plots`` is missing.

    Reads
    -----
    the folder of a plan, explanation, comparison, learning run, audit or benchmark

    Writes
    ------
    its page, report.html

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt report my-plan
    """
    from crowdopt.benching.run import MARK, summarise

    place = Path(folder)
    facts = {MARK: summarise, PLAN: plan_overview, EXPLANATION: read_explanation}.get(kind_of(place).mark)
    with from_disk(place):
        return write_page(place, None if facts is None else facts(place))


@public
def backends(
    names: Annotated[Sequence[str], Word(place="BACKEND")] = (), *, time_limit: float = 60.0
) -> list[Available]:
    """Try what each solver backend can do here, by solving, each in a process of its own.

    Parameters
    ----------
    names : sequence of str
        Which backends; all of them unless said.
    time_limit : float
        Seconds that one may take before it counts as not working.

    Reads
    -----
    nothing

    Writes
    ------
    nothing

    Examples
    --------
    ::

        crowdopt backends
    """
    return available(names, time_limit)


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Options of a benchmark: what is measured, how often, within which limits, and where it is kept.

    Parameters
    ----------
    problems : sequence of str
        Campaigns, recipes and MPS files.
    output : path
        Folder to write.
    backends : sequence of str
        Backends, such as exact,highs[presolve=off]; default: exact and all that work here.
    program : str
        Which program of a campaign.
    seeds : int
        Number of seeds (0, 1, …) for every problem.
    time_limit : float
        Seconds for each solve.
    memory_limit : float
        Megabytes for each process tree.
    threads : int
        Threads of each solver.
    jobs : int
        Runs at a time.
    force : bool
        Replace the output if it exists.
    """

    problems: Annotated[Sequence[str], Word(place="CAMPAIGN|RECIPE|FILE.mps")] = field(default=(), kw_only=False)
    output: AnyPath
    backends: Listed = ()
    program: Literal["ip", "lp", "both"] = "both"
    seeds: Positive = 1
    time_limit: float = 60.0
    memory_limit: float = 4000.0
    threads: Threads = 1
    jobs: Positive = 1
    force: bool = False


@keywords_alone(BenchOptions)
def bench(asked: BenchOptions) -> dict[str, Any]:
    """Run solver backends side by side, each in a process of its own within limits, every claim checked.

    Called again with the same arguments it goes on where it was stopped, and repeats what failed in the harness itself.

    Returns
    -------
    dict
        The summary: ``rows``, ``verdict``, ``page``, and all that the page shows.

    Raises
    ------
    InputError
        If there is nothing to measure, a name is unknown, or the folder cannot be used.

    Reads
    -----
    campaigns, recipes and MPS files

    Writes
    ------
    the folder: results.csv, report.html

    Examples
    --------
    ::

        crowdopt bench my-campaign --backends exact,highs --time-limit 10 -o my-bench
    """
    from crowdopt.benching.run import Benchmark, cases_of, chosen

    programs = ("ip", "lp") if asked.program == "both" else (asked.program,)
    cases = cases_of(asked.problems, programs, asked.seeds)
    if not cases:
        raise InputError("nothing to measure: name a campaign, a recipe such as R10:50x20, or an MPS file")
    limits = asked.time_limit, asked.memory_limit, asked.threads
    plan = Benchmark(", ".join(asked.problems), tuple(cases), (), *limits)  # refuses limits before anything is tried
    plan = replace(plan, methods=tuple(chosen(asked.backends)))
    return measure(plan, asked.output, asked.jobs, asked.force)


def measure(plan: Benchmark, folder: AnyPath, processes: int = 1, force: bool = False) -> dict[str, Any]:
    """Measure what is not measured yet, and write table, summary and page; returns the summary.

    Without the extra ``plots`` there is no page, and ``page`` is None; :func:`crowdopt.report` writes it later.
    """
    from crowdopt import jobs
    from crowdopt.benching.run import run_benchmark
    from crowdopt.pages.charts import MISSING, Undrawn, can_draw

    try:
        summary = run_benchmark(plan, Path(folder), processes, force)
    except jobs.JobsError as error:
        raise InputError(str(error)) from None
    try:
        if not can_draw():
            raise Undrawn(MISSING)
        return {**summary, "page": str(report(folder)), "undrawn": None}
    except Undrawn as error:
        return {**summary, "page": None, "undrawn": str(error)}


def _table(tried: list[Available]) -> list[str]:
    line = "{:16} {:14} {:>3} {:>3} {:>6}  {}"
    said = [line.format("backend", "version", "LP", "IP", "duals", "")]
    for backend in tried:
        able = ["yes" if yes else "-" for yes in (backend.linear, backend.integers, backend.duals)]
        said.append(line.format(backend.name, backend.version or "-", *able, backend.why).rstrip())
    return said


def _said_backends(tried: list[Available]) -> Said:
    return Said({"backends": [asdict(backend) for backend in tried]}, _table(tried))


def _said_report(page: Path) -> Said:
    return Said({"page": str(page)}, [f"wrote {page}"])


def _said_bench(summary: dict[str, Any], output: AnyPath) -> Said:
    page = f"wrote {output}: results.csv, {summary['page']}"
    bare = f"wrote {output}: results.csv; {summary['undrawn']}, then crowdopt report {output}"
    facts = {"folder": str(output), "rows": summary["rows"], "verdict": summary["verdict"]}
    return Said(facts, [*summary["verdict"], bare if summary["page"] is None else page])


VERBS = (
    Verb("bench", bench, _said_bench),
    Verb("backends", backends, _said_backends),
    Verb("report", report, _said_report),
)
