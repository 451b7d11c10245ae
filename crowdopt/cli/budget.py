"""The verb budget."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from crowdopt import api
from crowdopt.assign.budget.spending import Spent
from crowdopt.assign.plan import Plan
from crowdopt.cli.common import NO, as_json, percent, say, target
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign import overridden
from crowdopt.io.folder import PLAN, check_target
from crowdopt.io.plan_folder import run_facts, summary


@click.command(epilog="Example: crowdopt budget my-campaign --labels 60 -o my-plan")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--labels", type=click.IntRange(min=0), help="How many labels to buy, whatever they cost.")
@click.option("--money", type=click.FloatRange(min=0), help="How much money to spend, at the campaign's prices.")
@click.option(
    "--promise",
    type=click.Choice(("average", "each")),
    default="average",
    show_default=True,
    help="The fewest wrong answers on average, or the smallest error for each task.",
)
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="greedy; patterns[:pools=N], the true minimum for few skills; auto: the better where skills are few.",
)
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds in all.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**31 - 1), help="Of the solver.")
@target("Plan folder")
@as_json
def budget(
    campaign: Path,
    labels: int | None,
    money: float | None,
    promise: str,
    method: str,
    time_limit: float,
    seed: int,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Spend so many labels, or so much money, where that helps most, and say what no plan can do with it."""
    check_target(output, PLAN, force)
    if (labels is None) == (money is None):
        raise InputError("say what there is to spend: either --labels or --money")
    settings: dict[str, Any] = {} if labels is None else {"price": 1.0}
    instance = overridden(api.read_campaign(campaign), settings)
    amount = float(labels) if labels is not None else float(money or 0.0)
    if promise == "each":
        _promise(instance, amount, settings, time_limit, seed, output, force, as_json)
        return
    spent = api.spend(instance, amount, method, time_limit, seed)
    plan = replace(spent.plan, overrides={**settings, **spent.plan.overrides})
    api.write_plan(plan, output, force)
    say(as_json, {**_facts(plan, output), **_known(spent)}, *_sentences(spent, output))


def _facts(plan: Plan, output: Path) -> dict[str, Any]:
    return {**summary(plan), **run_facts(plan), "plan": str(output)}


def _known(spent: Spent) -> dict[str, Any]:
    return {
        "wrong": spent.wrong,
        "wrong_bound": spent.wrong_bound,
        "greedy": {
            "surrogate": spent.surrogate,
            "surrogate_bound": spent.surrogate_bound,
            "gap": spent.greedy_gap,
            "guarantee": spent.guarantee,
        },
    }


def _sentences(spent: Spent, output: Path) -> list[str]:
    plan, n = spent.plan, spent.plan.instance.n_tasks
    wrong = f"{spent.wrong:.4g} of {n} answers expected to be wrong ({percent(spent.wrong / n)})"
    ahead = "" if spent.guarantee is None else f", {percent(spent.guarantee)} of it guaranteed beforehand"
    return [
        f"{plan.labels:g} labels, cost {plan.objective:.10g} of {spent.money:.10g}, by {spent.method}: {wrong}",
        f"no plan of that cost expects fewer than {spent.wrong_bound:.4g} (certificate)",
        f"greedy has all but {percent(spent.greedy_gap)} of the gain any plan has by the Bhattacharyya bound{ahead}",
        f"wrote {output} in {plan.seconds:.2f} s",
    ]


def _promise(
    instance: AssignmentInstance,
    money: float,
    settings: dict[str, Any],
    time_limit: float,
    seed: int,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """The smallest error for each task: bisection, then the cheapest plan for it."""
    if instance.the_rule.average:
        raise InputError("rule mean-error promises nothing to each task; choose another rule for --promise each")
    found = api.promise(instance, money, time_limit / 2, seed)
    least = f"no plan of {money:.10g} promises every task less than {found.least_epsilon:.4g} (certificate)"
    if found.epsilon is None or found.pairs is None:
        say(as_json, {"epsilon": None, "least_epsilon": found.least_epsilon}, "no plan was found that promises", least)
        raise SystemExit(NO)
    plan = _cheapest(instance.with_epsilon(found.epsilon), found.pairs, time_limit / 2, seed)
    plan = replace(plan, overrides={**settings, "epsilon": found.epsilon})
    api.write_plan(plan, output, force)
    facts = {"epsilon": found.epsilon, "least_epsilon": found.least_epsilon}
    said = f"{plan.labels:g} labels, cost {plan.objective:.10g}: every task's error is at most {found.epsilon:.4g}"
    say(as_json, {**_facts(plan, output), **facts}, said, least, f"wrote {output}")


def _cheapest(instance: AssignmentInstance, pairs: Any, time_limit: float, seed: int) -> Plan:
    """A plan with a bound for the error promised: the pairs found, unless there is a cheaper one."""
    plan = api.assign(instance, time_limit=time_limit, gap=0.01, seed=seed)
    cost = float(instance.prices(pairs).sum())
    if plan.found and plan.objective is not None and plan.objective <= cost:
        return plan
    return Plan.of(
        instance,
        "ip",
        plan.certificate,
        plan.certified_bound,
        plan.duals,
        np.asarray(pairs),
        method="budget",
        backend=plan.backend,
        seed=seed,
    )


VERBS = (budget,)
