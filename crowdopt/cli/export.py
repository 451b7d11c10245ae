"""The verb export."""

from __future__ import annotations

from pathlib import Path

import click

from crowdopt.api.export import EXPORTS
from crowdopt.api.export import export as call
from crowdopt.api.proof_files import ProofFile
from crowdopt.cli.common import as_json, say, target
from crowdopt.cli.manual import manual
from crowdopt.cli.proof_lines import proof_facts, proof_said
from crowdopt.io.programs.program_files import DATA

WRITTEN = {  # by the program's name
    "assignment": "the integer program, a minimum",
    "assignment-lp": "the LP relaxation, a minimum",
    "assignment-dual": "the paper's dual as a minimum: its optimum is minus the LP's",
    "assignment-lp-dual": "the dual of the LP with all its limits, as a minimum: its optimum is minus the LP's",
    **{name: f"{EXPORTS[name].what}, a minimum" for name in ("sampled", "approximated", "patterns", "selection")},
}


@click.command(
    epilog=manual(
        "crowdopt export my-campaign --program lp -o my-campaign.mps",
        reads="a campaign, or for a selection a table of gold",
        writes="an .mps, .lp or .dat file",
    )
)
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option(
    "--program",
    default="ip",
    show_default=True,
    help=f"{', '.join(EXPORTS)}; options as in sampled:share=.3:seed=1, approximated:tolerance=.01:least-quality=.2, "
    "selection:most=8.",
)
@click.option(
    "--proof", help="vipr: solve the program and write it with its point and bound in fractions, for a checker."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0.01),
    default=60.0,
    show_default=True,
    help="With --proof: seconds for the solver.",
)
@target("File that ends in .mps or .lp, or in .dat: data for the program's model in models/; with --proof .vipr")
@as_json
def export(
    campaign: Path, program: str, proof: str | None, time_limit: float, output: Path, force: bool, as_json: bool
) -> None:
    """Write the program for any other solver, its columns and rows named after tasks and workers."""
    written = call(campaign, output, program=program, force=force, proof=proof, time_limit=time_limit)
    if isinstance(written, ProofFile):
        say(as_json, proof_facts(written), proof_said(written))
        return
    said = WRITTEN[written.name], written.about
    size = {"columns": written.cost.size, "rows": written.row_lower.size, "entries": int(written.matrix.nnz)}
    say(
        as_json,
        {"file": str(output), "program": written.name, "about": written.about, **size},
        f"wrote {output}: {'data for ' if output.suffix.lower() == DATA else ''}{', '.join(filter(None, said))}",
        f"{size['columns']} columns, {size['rows']} rows, {size['entries']} entries",
    )


VERBS = (export,)
