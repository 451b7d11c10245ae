"""The verb report."""

from __future__ import annotations

from pathlib import Path

import click

from crowdopt.api.bench import report as call
from crowdopt.cli.common import PATH, PLANNED, as_json, manual, say


@click.command(
    epilog=manual(
        PLANNED,
        "crowdopt report my-plan",
        reads="the folder of a plan, comparison, learning run, audit or benchmark",
        writes="its page, report.html",
    )
)
@click.argument("folder", type=PATH)
@as_json
def report(folder: Path, as_json: bool) -> None:
    """Write the HTML page of a plan, comparison, learning run, audit or benchmark."""
    page = call(folder)
    say(as_json, {"page": str(page)}, f"wrote {page}")


VERBS = (report,)
