"""The verb bench."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from crowdopt.api.bench import SLOWER, SUITES, listed
from crowdopt.api.bench import bench as call
from crowdopt.api.bench import bench_changes as changes
from crowdopt.api.instance_library import library, submit
from crowdopt.cli.common import as_json, say
from crowdopt.cli.manual import STATUS, manual

COMPARE, LIBRARY, SUBMIT = "compare", "library", "submit"
SETTLED = 60.0  # seconds for each program of the library
REGRESSED = 3  # exit status of compare --fail-if-slower


@click.command(
    epilog=manual(
        "crowdopt bench my-campaign --backends exact,highs --time-limit 10 -o my-bench",
        reads="campaigns",
        writes="the folder: results.csv, timings.csv, report.html; with --export the programs and index.csv",
        status=f"{STATUS} With --fail-if-slower: {REGRESSED} something became slower.",
    )
)
@click.argument("problems", nargs=-1, metavar="[CAMPAIGN|RECIPE]...")
@click.option("--list", "wants_list", is_flag=True, help="List the suites and exit.")
@click.option("--suite", type=click.Choice(list(SUITES)), help="A named set of problems.")
@click.option(
    "--backends",
    default="",
    help="Backends, such as exact,highs[presolve=off]; default: exact and all that work here.",
)
@click.option("--program", type=click.Choice(["ip", "lp", "both"]), default="both", show_default=True)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    help="Number of seeds (0, 1, …) for every problem, in place of the suite's.",
)
@click.option(
    "--permutations",
    default=1,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="Times to solve each program, each in another order of columns and rows with another seed.",
)
@click.option("--time-limit", type=float, help="Seconds for each solve; default: the suite's, else 60.")
@click.option("--memory-limit", type=float, help="Megabytes for each process tree; default: the suite's, else 4000.")
@click.option("--threads", type=click.IntRange(1, 1024), help="Threads of each solver; default 1.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 1024), help="Runs at a time.")
@click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler such as tcp://host:8786.")
@click.option("--export", type=click.Choice(["mps", "lp"]), help="Write the programs instead of solving them.")
@click.option("--fail-if-slower", is_flag=True, help="With compare: exit with 3 if a method became slower.")
@click.option("--retry", is_flag=True, help="Repeat the runs that failed in the harness itself.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write.")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
@as_json
def bench(
    problems: tuple[str, ...],
    wants_list: bool,
    fail_if_slower: bool,
    suite: str | None,
    backends: str,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Run solver backends side by side, each in a process of its own within limits, and check every claim.

    Started again with the same words it goes on where it was stopped. `crowdopt bench compare OLD NEW` says what
    became faster or slower between two such folders. `crowdopt bench library -o FOLDER` writes our instance library,
    its points and proofs (with --export mps: its programs alone), and `crowdopt bench library submit FILE` checks a
    result for it, FILE.sol or FILE.vipr (-o: a copy of the index, to be written anew where it is better).
    """
    if wants_list:
        say(as_json, {"suites": listed()}, *listed())
        return
    if problems[:1] == (COMPARE,) and len(problems) == 3:
        _show_changes(as_json, fail_if_slower, changes(*problems[1:]))
        return
    if problems[:2] == (LIBRARY, SUBMIT):
        if len(problems) != 3:
            raise click.UsageError(f"{LIBRARY} {SUBMIT} takes one file, NAME.sol or NAME.vipr.")
        _show_result(as_json, submit(problems[2], output))
        return
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output': the folder to write.")
    if problems[:1] == (LIBRARY,):
        seconds = None if options["export"] is not None else options["time_limit"] or SETTLED
        _show_library(as_json, output, library(output, problems=list(problems[1:]), time_limit=seconds))
        return
    names = [name for name in re.split(r",(?![^\[]*\])", backends) if name]
    summary = call(problems, suite, output=output, backends=names, **options)
    if "files" in summary:
        files = summary["files"]
        said = f"wrote {len(files)} programs and their index to {output}"
        say(as_json, {"folder": str(output), "files": files}, said)
        return
    _show(as_json, summary, output)


def _show(as_json: bool, summary: dict[str, Any], output: Path) -> None:
    facts = {"folder": str(output), "rows": summary["rows"], "verdict": summary["verdict"]}
    page = f"wrote {output}: results.csv, timings.csv, {summary['page']}"
    bare = f"wrote {output}: results.csv, timings.csv; {summary['undrawn']}, then crowdopt report {output}"
    say(as_json, facts, *summary["verdict"], bare if summary["page"] is None else page)


def _show_library(as_json: bool, output: Path, made: dict[str, Any]) -> None:
    rows, proven = made["rows"], sum(row["bound"] is not None for row in made["rows"])
    by_status = ", ".join(f"{count} {status}" for status, count in made["counts"].items())
    said = [f"wrote {len(rows)} programs and their index to {output}: {by_status}; {proven} with a proven bound"]
    said += [f"{name} is not the program of the index: its checksum is another one" for name in made["other"]]
    say(as_json, {"folder": str(output), **made}, *said)


def _show_result(as_json: bool, found: dict[str, Any]) -> None:
    what, row = "value" if "value" in found else "bound", found["row"]
    news = (
        f"better than what is known; it is {row['status']} now" if found["better"] else "no better than what is known"
    )
    say(as_json, found, f"{found['file']}: {what} {found[what]:.10g}, checked; {news}")


def _show_changes(as_json: bool, fail_if_slower: bool, found: dict[str, Any]) -> None:
    differences = [f"not the same: {difference}" for difference in found["circumstances"]]
    say(as_json, found, *found["verdict"], *differences)
    if fail_if_slower and any(row["verdict"] == SLOWER for row in found["methods"]):
        raise SystemExit(REGRESSED)


VERBS = (bench,)
