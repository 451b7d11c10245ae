"""The verb export."""

from __future__ import annotations

from pathlib import Path

import click

from crowdopt.api.export import EXPORTS
from crowdopt.api.export import export as call
from crowdopt.cli.common import PATH, as_json, manual, say, target
from crowdopt.io.programs import DATA

WRITTEN = {  # by the program's name
    "assignment": "the integer program, a minimum",
    "assignment-lp": "the LP relaxation, a minimum",
    "assignment-dual": "the paper's dual as a minimum: its optimum is minus the LP's",
    "assignment-lp-dual": "the dual of the LP with all its limits, as a minimum: its optimum is minus the LP's",
    **{name: f"{EXPORTS[name].what}, a minimum" for name in ("sampled", "approximated", "selection")},
}


@click.command(
    epilog=manual(
        "crowdopt export my-campaign --program lp -o my-campaign.mps",
        reads="a campaign, or for a selection a table of gold",
        writes="an .mps, .lp or .dat file",
    )
)
@click.argument("campaign", type=PATH)
@click.option(
    "--program",
    default="ip",
    help=f"{', '.join(EXPORTS)}; options as in sampled:share=.3:seed=1, approximated:tolerance=.01:least-quality=.2, "
    "selection:most=8.",
)
@target("File that ends in .mps or .lp, or in .dat: data for the program's model in models/")
@as_json
def export(campaign: Path, program: str, output: Path, force: bool, as_json: bool) -> None:
    """Write the program for any other solver, its columns and rows named after tasks and workers."""
    written = call(campaign, output, program=program, force=force)
    said = WRITTEN[written.name], written.about
    size = {"columns": written.cost.size, "rows": written.row_lower.size, "entries": int(written.matrix.nnz)}
    say(
        as_json,
        {"file": str(output), "program": written.name, "about": written.about, **size},
        f"wrote {output}: {'data for ' if output.suffix.lower() == DATA else ''}{', '.join(filter(None, said))}",
        f"{size['columns']} columns, {size['rows']} rows, {size['entries']} entries",
    )


VERBS = (export,)
