"""The verb explain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.explain import explain as call
from crowdopt.cli.common import NO, PATH, ProgressLine, as_json, manual, say, trust_gold, truth
from crowdopt.crowd.rules import RULES


@click.command(
    epilog=manual(
        "crowdopt explain my-campaign --time-limit 20 -o why",
        reads="a campaign; earlier labels and truth, if given",
        writes="with -o a folder of tables and charts",
    )
)
@click.argument("campaign", type=PATH)
@click.argument("plan", type=PATH, required=False)
@click.option("--rule", type=click.Choice(list(RULES)), help="Rule of evidence, in place of the campaign's.")
@click.option("--epsilon", type=float, help="Error probability of every task, in place of the campaign's.")
@click.option("--audit", help="Plan labels and an expert's audit together: price=20,confidence=.95[,ratio=1.5].")
@click.option("--labels", type=PATH, help="Earlier labels, from which the ratio of errors is taken.")
@truth
@trust_gold
@click.option("--time-limit", default=60.0, help="Seconds in all.")
@click.option(
    "-o", "--output", type=PATH, help="Folder to write: tables, and the cost of each error target as a curve."
)
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
@as_json
def explain(campaign: Path, plan: Path | None, output: Path | None, as_json: bool, **options: Any) -> None:
    """Say why there is no plan and which changes would allow one; where there is one, what each limit costs.

    With PLAN, rule and target are those of the plan.
    """
    with ProgressLine():
        found = call(campaign, plan, output=output, **options)
    written = (
        _written(output, found.undrawn, "cost_over_rounds" in found.facts)
        if found.feasible and output is not None
        else []
    )
    say(as_json, found.facts, *found.sentences, *written)
    if not found.feasible:
        raise SystemExit(NO)


def _written(output: Path, undrawn: list[str], rounds: bool) -> list[str]:
    if rounds:
        files = "rounds.csv" if undrawn else "rounds.csv, rounds.svg"
        return [*undrawn, f"wrote {output}: what each number of rounds costs, target by target ({files})"]
    picture = "" if undrawn else ", curve.svg"
    return [*undrawn, f"wrote {output}: prices, capacities, and what each error target costs (curve.csv{picture})"]


VERBS = (explain,)
