"""The verb budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.budget import PROMISES, Promised, Spent
from crowdopt.api.budget import budget as call
from crowdopt.assign.plan import Plan
from crowdopt.cli.common import NO, PATH, ProgressLine, as_json, manual, say, seed, target, trust_gold
from crowdopt.io.plan import run_facts, summary
from crowdopt.notebooks import percent


@click.command(
    epilog=manual(
        "crowdopt budget my-campaign --labels 60 -o spent", reads="a campaign", writes="a plan folder, as solve does"
    )
)
@click.argument("campaign", type=PATH)
@click.option("--labels", type=click.IntRange(min=0), help="Number of labels to buy, whatever they cost.")
@click.option("--money", type=click.FloatRange(min=0), help="Money to spend, at the campaign's prices.")
@click.option(
    "--promise",
    type=click.Choice(PROMISES),
    default="average",
    help="What is made small: the average error, or the largest error of a task.",
)
@click.option(
    "--method",
    default="auto",
    help="greedy; exact, the fewest over sets of labels; auto: the better of both.",
)
@trust_gold
@click.option("--time-limit", default=60.0, help="Seconds in all.")
@seed("Seed of the solver")
@target("Plan folder")
@as_json
def budget(campaign: Path, output: Path, as_json: bool, **options: Any) -> None:
    """Spend a number of labels, or an amount of money, where it helps most, and say what no plan can do with it."""
    with ProgressLine():
        found: Spent | Promised = call(campaign, output=output, **options)
    if isinstance(found, Spent):
        say(as_json, {**_facts(found.plan, output), **_known(found)}, *_sentences(found, output))
        return
    money = float(options["money"] if options["labels"] is None else options["labels"])
    facts = {"epsilon": found.epsilon, "least_epsilon": found.least_epsilon}
    least = (
        f"{found.by_rule}no plan of {money:.10g} promises every task less than {found.least_epsilon:.4g} (certificate)"
    )
    if not found.rules_out:
        least = "no error is ruled out"
    if found.plan is None:
        say(as_json, facts, "no plan was found that promises each task anything", least)
        raise SystemExit(NO)
    plan = found.plan
    said = f"{plan.labels:g} labels, cost {plan.objective:.10g}: every task's error is at most {found.epsilon:.4g}"
    if found.by_rule and plan.vote_error is not None:
        said += f" {found.by_rule.strip()}, {plan.vote_error.max():.4g} by its vote's exact error"
    say(as_json, {**_facts(plan, output), **facts}, said, least, f"wrote {output}")


def _facts(plan: Plan, output: Path) -> dict[str, Any]:
    return {**summary(plan), **run_facts(plan), "plan": str(output)}


def _known(spent: Spent) -> dict[str, Any]:
    return {
        "wrong": spent.wrong,
        "wrong_bound": spent.wrong_bound,
        "guarantee": spent.guarantee,
    }


def _sentences(spent: Spent, output: Path) -> list[str]:
    plan, n = spent.plan, spent.plan.instance.n_tasks
    wrong = f"{spent.wrong:.4g} of {n} answers expected to be wrong ({percent(spent.wrong / n)})"
    least = f"no plan of that cost expects fewer than {spent.wrong_bound:.4g} (certificate)"
    ahead = f"greedy has {percent(spent.guarantee or 0.0)} of the gain any plan has by the Bhattacharyya bound, or more"
    return [
        f"{plan.labels:g} labels, cost {plan.objective:.10g} of {spent.money:.10g}, by {spent.method}: {wrong}",
        least if spent.wrong_bound > 0 else "what other plans of that cost expect is not known",
        *filter(None, [ahead if spent.guarantee is not None else "", plan.note]),
        f"wrote {output} in {plan.seconds:.2f} s",
    ]


VERBS = (budget,)
