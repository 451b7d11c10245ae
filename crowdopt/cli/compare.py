"""The verb compare, and the list of online policies."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import click

from crowdopt.api.compare import Comparison, possible_facts
from crowdopt.api.compare import compare as call
from crowdopt.api.compare import policies as all_policies
from crowdopt.cli.common import (
    NO,
    PATH,
    as_json,
    labels,
    lists,
    manual,
    policies,
    policy_table,
    processes,
    say,
    seed,
    trust_gold,
    truth,
)


@click.command(
    epilog=manual(
        "crowdopt compare my-campaign --policies re-solve,greedy --trials 3 -o compared",
        reads="a campaign; recorded labels and truth, if given",
        writes="the folder: tables of trials and means, charts, a page",
    )
)
@click.argument("campaign", type=PATH)
@policies
@click.option("--trials", default=20, type=click.IntRange(min=1), help="Number of random orders of arrival.")
@seed("Seed of orders and labels")
@labels
@truth
@click.option("--gold-share", default=0.2, help="Share of the tasks of known truth that is held out as gold.")
@click.option(
    "--breach",
    default="",
    show_default=False,
    help="How simulated workers deviate from the model: difficulty=.3, clique=.2, drift=.1.",
)
@click.option(
    "--audit",
    default="",
    show_default=False,
    help="The audit of recorded answers: checks=100,price=20,confidence=.95 (the default).",
)
@click.option("--rule", help="Rule of evidence, in place of the campaign's.")
@click.option("--epsilon", type=float, help="Error target in place of the campaign's.")
@trust_gold
@click.option("--time-limit", default=60.0, help="Seconds for the offline plan.")
@processes
@click.option("-o", "--output", type=PATH, required=True, help="Folder to write.")
@click.option("--force", is_flag=True, help="Replace the comparison if it exists.")
@lists(all_policies)
@as_json
def compare(campaign: Path, policies: str, output: Path, as_json: bool, **options: Any) -> None:
    """Compare online policies on the same arrivals, each with the proven offline optimum.

    After an interruption the same command goes on where it stopped.
    """
    found = call(campaign, policies.split(","), output=output, **options)
    possible = None if found.least is None else possible_facts(found.least)
    facts: dict[str, Any] = {"comparison": str(output), "optimum": asdict(found.optimum), "policies": found.summary}
    facts |= {"possible": possible, "constant_error": found.constant_error, "breach": found.breach}
    say(as_json, {**facts, "failed": found.failed}, *_sentences(found), *found.undrawn, f"wrote {output}")
    if found.failed:
        raise click.exceptions.Exit(NO)


def _sentences(found: Comparison) -> list[str]:
    """A short table: cost against what offline plans and any policy need, shortfall, errors claimed and true."""
    said = [*found.offline, *_beside(found)]
    return [*said, *policy_table(found.summary, found.columns), *found.failed]


def _beside(found: Comparison) -> list[str]:
    said = []
    if found.least is not None and isfinite(found.least.cost):
        one = found.least
        learning = "" if one.unknown is None or not one.independent else f", {one.unknown:.0f} if they are not"
        least = one.information if one.known is None else one.known
        said.append(
            f"online, no policy keeps the mean error target below {least:.0f} even if skills are known{learning}"
        )
    elif found.least is not None:
        said.append("online, no policy keeps the mean error target: all the labels there are do not suffice")
    if found.constant_error is not None:
        said.append(f"without any label, the commonest answer is wrong {found.constant_error:.4f} of the time")
    return [*said, f"the crowd breaks the model: {found.breach}"] if found.breach else said


VERBS = (compare,)
