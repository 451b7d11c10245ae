"""The verb report."""

from __future__ import annotations

from pathlib import Path

import click

from crowdopt.api.report import report as call
from crowdopt.cli.common import as_json, say
from crowdopt.cli.manual import PLANNED, manual


@click.command(
    epilog=manual(
        PLANNED,
        "crowdopt report my-plan",
        reads="the folder of a plan, comparison, learning run, audit or benchmark",
        writes="its page, report.html",
    )
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--moving", is_flag=True, help="Make charts that can be dragged and zoomed; the page is 900 kB larger.")
@as_json
def report(folder: Path, moving: bool, as_json: bool) -> None:
    """Write the HTML page of a plan, comparison, learning run, audit or benchmark."""
    page = call(folder, moving=moving)
    say(as_json, {"page": str(page)}, f"wrote {page}")


VERBS = (report,)
