"""The verb report."""

from __future__ import annotations

from pathlib import Path

import click

from crowdopt.api.report import report as call
from crowdopt.cli.common import as_json, say


@click.command(epilog="Example: crowdopt report bench")
@click.argument("folder", type=click.Path(path_type=Path))
@as_json
def report(folder: Path, as_json: bool) -> None:
    """Write the page of a benchmark anew from its raw rows, or that of a study of learn from its summary."""
    page = call(folder)
    say(as_json, {"page": str(page)}, f"wrote {page}")


VERBS = (report,)
