"""The verb bench."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from crowdopt.api.bench import bench as call
from crowdopt.cli.common import PATH, as_json, manual, say


@click.command(
    epilog=manual(
        "crowdopt bench my-campaign --backends exact,highs --time-limit 10 -o my-bench",
        reads="campaigns, recipes and MPS files",
        writes="the folder: results.csv, report.html",
    )
)
@click.argument("problems", nargs=-1, metavar="CAMPAIGN|RECIPE|FILE.mps...")
@click.option(
    "--backends",
    default="",
    show_default=False,
    help="Backends, such as exact,highs[presolve=off]; default: exact and all that work here.",
)
@click.option("--program", type=click.Choice(["ip", "lp", "both"]), default="both")
@click.option("--seeds", default=1, type=click.IntRange(1, 1000), help="Number of seeds (0, 1, …) for every problem.")
@click.option("--time-limit", type=float, default=60.0, help="Seconds for each solve.")
@click.option("--memory-limit", type=float, default=4000.0, help="Megabytes for each process tree.")
@click.option("--threads", type=click.IntRange(1, 1024), default=1, help="Threads of each solver.")
@click.option("--jobs", default=1, type=click.IntRange(1, 1024), help="Runs at a time.")
@click.option("-o", "--output", required=True, type=PATH, help="Folder to write.")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
@as_json
def bench(problems: tuple[str, ...], backends: str, output: Path, as_json: bool, **options: Any) -> None:
    """Run solver backends side by side, each in a process of its own within limits, and check every claim.

    Started again with the same words it goes on where it was stopped, and repeats runs that failed in the harness.
    """
    names = [name for name in re.split(r",(?![^\[]*\])", backends) if name]
    summary = call(problems, output=output, backends=names, **options)
    facts = {"folder": str(output), "rows": summary["rows"], "verdict": summary["verdict"]}
    page = f"wrote {output}: results.csv, {summary['page']}"
    bare = f"wrote {output}: results.csv; {summary['undrawn']}, then crowdopt report {output}"
    say(as_json, facts, *summary["verdict"], bare if summary["page"] is None else page)


VERBS = (bench,)
