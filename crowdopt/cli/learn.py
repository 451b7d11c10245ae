"""The verb learn, and the list of policies of asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.learn import learn as call
from crowdopt.api.learn import policies as all_policies
from crowdopt.api.learn import shared_notes
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
    truth,
)


@click.command(
    epilog=manual(
        "crowdopt learn --draw 10 --policies ls-ol,full-majority --trials 3 -o learned",
        reads="skills worker,accuracy[,type][,at][,price], or labels and truth, or nothing with --draw",
        writes="the folder: tables of trials, means and curves, charts, a page",
    )
)
@click.option("--skills", type=PATH, help="Table of skills: worker,accuracy[,price] and, for contexts, type or at.")
@labels
@truth
@click.option("--types", type=PATH, help="Types of these tasks: task,type.")
@click.option(
    "--draw",
    metavar="M[:LOW:HIGH]",
    help="Draw M labelers for each trial, with uniform skills and a majority above 1/2.",
)
@policies
@click.option("--horizon", default=2000, type=click.IntRange(min=1), help="Number of tasks of a run, T.")
@click.option("--trials", default=20, type=click.IntRange(min=1), help="Number of runs of every policy.")
@click.option("--classes", default=2, type=click.IntRange(2, 100), help="Number of classes of simulated labels.")
@click.option("--cost", default=0.0, type=click.FloatRange(min=0), help="Cost of a label that has no price.")
@seed("Seed of everything that is drawn")
@processes
@click.option("-o", "--output", type=PATH, required=True, help="Folder to write.")
@click.option("--force", is_flag=True, help="Replace the study if it exists.")
@lists(all_policies)
@as_json
def learn(policies: str, output: Path, as_json: bool, **options: Any) -> None:
    """Learn whom to ask while tasks arrive and no truth is shown, and measure the regret against the best set.

    After an interruption the same command goes on where it stopped.
    """
    found = call(None, policies.split(","), output=output, **options)
    facts = {"learned": str(output), "policies": found.summary, "failed": found.failed}
    said = [found.in_words, *policy_table(found.summary, found.columns), *shared_notes(found.summary)]
    say(as_json, facts, *said, *found.failed, *found.undrawn, f"wrote {output}")
    if found.failed:
        raise click.exceptions.Exit(NO)


VERBS = (learn,)
