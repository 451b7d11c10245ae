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
from crowdopt.cli.common import NO, as_json, lists, policies, processes, say, trust_gold
from crowdopt.cli.manual import manual


@click.command(
    epilog=manual(
        "crowdopt compare my-campaign --policies re-solve,greedy --trials 3 -o compared",
        reads="a campaign; recorded labels and truth, if given",
        writes="the folder: tables of trials and means, charts, a page",
    )
)
@click.argument("campaign", type=click.Path(path_type=Path))
@policies
@click.option(
    "--trials", default=20, show_default=True, type=click.IntRange(min=1), help="Number of random orders of arrival."
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**31 - 1), help="Seed of orders and labels."
)
@click.option("--labels", type=click.Path(path_type=Path), help="Replay these labels (task,worker,label).")
@click.option("--truth", type=click.Path(path_type=Path), help="Known answers to these tasks: task,label.")
@click.option(
    "--gold-share", default=0.2, show_default=True, help="Share of the tasks of known truth that is held out as gold."
)
@click.option(
    "--breach", default="", help="How simulated workers deviate from the model: difficulty=.3, clique=.2, drift=.1."
)
@click.option(
    "--audit", default="", help="The audit of recorded answers: checks=100,price=20,confidence=.95 (the default)."
)
@click.option("--rule", help="Rule of evidence, in place of the campaign's.")
@click.option("--epsilon", type=float, help="Error target in place of the campaign's.")
@trust_gold
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds for the offline plan.")
@processes
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to write.")
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
    width = max(6, *(len(str(line["policy"])) for line in found.summary)) if found.summary else 6
    columns = found.columns
    head = f"{'policy':{width}}  " + "  ".join(f"{title:>{int(form.partition('.')[0])}}" for title, _, form in columns)
    return [*said, head, *(_line(line, width, columns) for line in found.summary), *found.failed]


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


def _line(line: dict[str, object], width: int, columns: tuple[tuple[str, str, str], ...]) -> str:
    if not line["trials"]:
        return f"{line['policy']:{width}}  failed in every trial"
    return f"{line['policy']:{width}}  " + "  ".join(_cell(line.get(key), form) for _, key, form in columns)


def _cell(value: object, form: str) -> str:
    return f"{value:{form}}" if isinstance(value, float) else f"{'-':>{int(form.partition('.')[0])}}"


VERBS = (compare,)
