"""The verb aggregate."""

from __future__ import annotations

from pathlib import Path

import click

from crowdopt.cli.answers import answer_with_plan
from crowdopt.cli.common import as_json


@click.command(epilog="Example: crowdopt aggregate labels.csv --plan my-plan --campaign my-campaign -o answers")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--plan", type=click.Path(path_type=Path), required=True, help="Plan whose weights the votes have.")
@click.option("--campaign", type=click.Path(path_type=Path), help="Campaign that the plan was made for.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder of answers to write.")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
@as_json
def aggregate(labels: Path, plan: Path, campaign: Path | None, output: Path | None, force: bool, as_json: bool) -> None:
    """Answers from labels: weighted votes with posteriors, tasks not yet sure, labels missing, the next campaign."""
    answer_with_plan(labels, plan, campaign, output, force, as_json)


VERBS = (aggregate,)
