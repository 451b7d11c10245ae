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
from crowdopt.crowd.votes.evidence import RULES

COLUMNS = (  # title, figure, form
    ("cost", "cost", "10.1f"),
    ("/bound", "ratio_bound", "7.3f"),
    ("/possible", "ratio_possible", "9.3f"),
    ("short", "short_share", "7.1%"),
    ("shortfall", "short_mean", "9.2%"),
    ("error", "error_realised", "7.4f"),
    ("claimed", "error_claimed", "7.4f"),
    ("unsure", "unfinished", "7.1%"),
)
PROMISED = (("/promise", "ratio_promise", "9.3f"), ("missed", "missed_share", "7.1%"))  # of a rule that is not linear
AUDITED = (("certified", "certified", "9.4f"), ("with audit", "cost_audited", "10.1f"))  # of recorded answers


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
    best = found.optimum
    said = [*_offline(found), *_beside(found)]
    width = max(6, *(len(str(line["policy"])) for line in found.summary)) if found.summary else 6
    columns = COLUMNS + PROMISED * bool(best.promise)
    columns += AUDITED * any(line.get("certified") is not None for line in found.summary)
    head = f"{'policy':{width}}  " + "  ".join(f"{title:>{int(form.partition('.')[0])}}" for title, _, form in columns)
    return [*said, head, *(_line(line, width, columns) for line in found.summary), *found.failed]


def _offline(found: Comparison) -> list[str]:
    best = found.optimum
    of_rule = RULES[best.rule].of_rule
    if best.bound is None:
        linear = f"there is no offline plan{of_rule} for this campaign"
        linear += "" if best.promise else ": costs have nothing to be held against"
    else:
        linear = f"offline, skills known, no plan{of_rule} costs less than {best.bound:.10g} (LP {best.lp:.10g})"
    if not best.promise:
        return [linear]
    promised = RULES[best.promise].of_rule
    least = f"offline, skills known, no plan{promised} costs less than {best.promise_bound:.10g}"
    if best.promise_bound is None:
        least = f"there is no offline plan{promised} for this campaign"
    return [least, f"policies go by rule {best.rule}, {_relation(best.implied, best.promise)}: {linear}"]


def _relation(implied: bool, promise: str) -> str:
    """What the rule that policies go by has to do with the promise."""
    if implied:
        return f"which implies {promise}'s promise"
    return "with needs that are mostly enough where tasks may be hard (missed: where they were not)"


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
