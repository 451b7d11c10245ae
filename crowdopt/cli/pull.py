"""The verb pull."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from crowdopt.api.exchange import pull as call
from crowdopt.cli.common import PATH, PLANNED, REHEARSED, as_json, manual, say
from crowdopt.io.bridges.pulled import Pulled


@click.command(
    epilog=manual(
        PLANNED,
        REHEARSED,
        "crowdopt pull my-campaign labels.csv --from crowd-kit -o back",
        reads="campaign; the tool's files, or its server with --url and the token in LABEL_STUDIO_API_KEY",
        writes="a folder: labels.csv for aggregate, skipped.csv, others.csv, truth.csv",
    )
)
@click.argument("campaign", type=PATH)
@click.argument("files", type=PATH, nargs=-1)
@click.option("--from", "tool", required=True, help="The tool or format; the guide's page of bridges lists them.")
@click.option("--url", help="Address of the tool's server, in place of files.")
@click.option("--project", help="Title of the project there; default: the campaign's title.")
@click.option("--people", type=PATH, help="Table of the workers' accounts: worker,account.")
@click.option("--field", help="The question whose answers are the labels, where there are several.")
@click.option("--key", help="The key of a task's data that holds its id.")
@click.option("-o", "--output", type=PATH, required=True, help="Folder to write, or to add to.")
@click.option("--force", is_flag=True, help="Take over labels that were deleted or changed in the tool.")
@click.option("--insecure", is_flag=True, help="Allow plain HTTP to another machine.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@as_json
def pull(campaign: Path, files: tuple[Path, ...], output: Path, dry_run: bool, as_json: bool, **options: Any) -> None:
    """Get labels back from the tool where people label, into a folder; a second pull adds what is new."""
    pulled = call(campaign, files, output=output, dry_run=dry_run, **options)
    facts = {"folder": str(output), "dry_run": dry_run, **pulled.facts, "new": pulled.new}
    say(as_json, facts, *_sentences(pulled, output, dry_run))


def _sentences(pulled: Pulled, output: Path, dry_run: bool) -> list[str]:
    said = [f"{pulled.source}: {len(pulled.labels)} labels ({pulled.new} new), {len(pulled.skipped)} skipped"]
    if pulled.skipped:
        who = [f"{name} ({count})" for name, count in pulled.silent.items()]
        share = 100 * len(pulled.skipped) / (len(pulled.skipped) + len(pulled.labels))
        said.append(f"{share:.3g} % of those asked gave no label: {', '.join(who[:5])}{', ...' * (len(who) > 5)}")
    why = Counter(reason for _, reason in pulled.others)
    first = {reason: row.place for row, reason in reversed(pulled.others) if row.refused}
    said += [
        f"{count} label(s) do not count: {reason}{f' (first: {first[reason]})' if reason in first else ''}"
        for reason, count in why.items()
    ]
    said += [f"{pulled.repeated} row(s) were there twice"] * bool(pulled.repeated)
    if pulled.truth:
        said.append(f"{len(pulled.truth)} task(s) are marked with their truth")
    if dry_run:
        return [*said, f"nothing was written; {output} would be"]
    if pulled.formulas:
        said.append(
            f"{pulled.formulas} row(s) have a text that begins with = + - or @: to a spreadsheet it is a formula, so "
            "import the columns as text"
        )
    skipped = f" --skipped {output}/skipped.csv" if pulled.skipped else ""
    go_on = f"crowdopt aggregate {output}/labels.csv{skipped} --plan PLAN --campaign CAMPAIGN"
    return [*said, f"wrote {output}; to go on: {go_on}"]


VERBS = (pull,)
