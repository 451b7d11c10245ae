"""The verb rehearse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.generate import how_errors_are_drawn, how_truth_is_drawn
from crowdopt.api.generate import rehearse as call
from crowdopt.cli.common import PATH, PLANNED, REHEARSED, as_json, manual, say, seed


@click.command(
    epilog=manual(
        PLANNED, REHEARSED, reads="campaign and plan", writes="labels task,worker,label; with --truth task,label"
    )
)
@click.argument("campaign", type=PATH)
@click.argument("plan", type=PATH)
@seed("Seed of the draw", 2**63 - 1)
@click.option("--lost", default=0.0, type=click.FloatRange(0, 1), help="Share of the labels that are not given.")
@click.option("-o", "--output", type=PATH, required=True, help="Label table to write.")
@click.option("--truth", type=PATH, help="Table of the true answers: written, or read where it exists.")
@click.option("--force", is_flag=True, help="Replace the label table if it exists.")
@as_json
def rehearse(campaign: Path, plan: Path, output: Path, truth: Path | None, as_json: bool, **options: Any) -> None:
    """Simulate the labels of a plan by the campaign's skills, to try the whole loop before paying for labels."""
    drawn_anew = truth is None or not truth.exists()
    count = call(campaign, plan, output=output, truth=truth, **options)
    drawn = how_errors_are_drawn(campaign)
    true = how_truth_is_drawn(campaign) if drawn_anew else ""
    sentences = [f"wrote {output}: {count} simulated labels", true, drawn if "families" in drawn else ""]
    say(as_json, {"labels": count, "file": str(output), "errors": drawn, "truth": true}, *filter(None, sentences))


VERBS = (rehearse,)
