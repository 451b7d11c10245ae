"""The verb solve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.assign import assign
from crowdopt.api.methods import PROGRAMS
from crowdopt.api.no_plan import ways_as_facts, ways_said, what_it_lacked, why_not, why_short
from crowdopt.api.parts import assign_parts
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan
from crowdopt.cli.adaptive_lines import policy_said
from crowdopt.cli.common import (
    INTERRUPTED,
    NO,
    PATH,
    PLANNED,
    ProgressLine,
    as_json,
    manual,
    say,
    seed,
    target,
    trust_gold,
)
from crowdopt.cli.parts_options import NEEDED, PartsLine, check_options, in_parts, is_stated, report_parts
from crowdopt.crowd.rules import RULES
from crowdopt.crowd.skills import AGREEMENT, ESTIMATORS
from crowdopt.io.parts import is_in_parts
from crowdopt.io.plan import run_facts, summary

PARTS = ("campaign", "time_limit", "seed", "require_proof", "output", "force", "as_json")  # what all campaigns have


@click.command(
    epilog=manual(
        PLANNED,
        reads="a campaign folder (or .npz file), or one in parts",
        writes="the plan: assignment.csv, queues/, weights.csv, tasks.csv, workers.csv, plan.json, run.json",
    )
)
@click.argument("campaign", type=PATH)
@click.option(
    "--method",
    default="exact",
    help="exact; primal-approximation; or a backend.",
)
@click.option("--program", type=click.Choice(PROGRAMS), default="ip", help="Whole labels, or the LP.")
@click.option("--rule", type=click.Choice(list(RULES)), help="Rule of evidence, in place of the campaign's.")
@click.option("--epsilon", type=float, help="Error probability of every task, in place of the campaign's.")
@click.option(
    "--difficulty",
    type=float,
    nargs=2,
    metavar="SHARE LEFT",
    help="Share of tasks that are hard, and share of skill that is left on them: 0.3 0.2. For rule exact-error.",
)
@click.option("--skills", type=click.Choice(ESTIMATORS), help="How gold becomes skills: over all priors, or by one.")
@click.option(
    "--confidence", type=float, help="Chance that the mean error keeps the targets, as far as gold tells: 0.95."
)
@click.option(
    "--rows", type=PATH, help="Table of your own rows of the program: row,task,worker,coefficient,lower,upper."
)
@trust_gold
@click.option("--time-limit", default=60.0, help="Seconds in all; a campaign in parts has no limit by default.")
@click.option("--gap", default=0.001, help="How far above the optimum the plan may be, as a share.")
@click.option("--nodes", type=int, help="The most branch-and-bound nodes; unlike seconds this is reproducible.")
@click.option("--threads", default=1, type=click.IntRange(1, 1024), help="Threads of the solver.")
@seed("Random seed of the solver")
@click.option(
    "--option", "solver_options", multiple=True, help="An option of the solver's own, key=value; may be repeated."
)
@click.option(
    "--isolated", is_flag=True, help="Run the backend in a process of its own, which is ended when the time is up."
)
@in_parts
@click.option(
    "--adaptive", is_flag=True, help="Look at answers before asking again: plan a policy in place of fixed sets."
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    help="With --adaptive: number of rounds, in each of which a set is asked at once.",
)
@click.option("--expert", type=float, help="With --adaptive: price of an expert's answer, which is right.")
@click.option("--given-votes", is_flag=True, help="With --adaptive: keep the target for each answer, given its votes.")
@click.option(
    "--each-task", is_flag=True, help="With --adaptive --rounds 1: keep the target for each task, not on average."
)
@click.option(
    "--class-error",
    multiple=True,
    metavar="CLASS=SHARE",
    help="With --adaptive: share of a class's tasks that may be answered otherwise; may be repeated.",
)
@click.option("--strict", is_flag=True, help="Write no plan unless it serves every task.")
@click.option("--require-proof", is_flag=True, help="Exit with 1 unless the plan is proven optimal.")
@target("Plan folder")
@as_json
def solve(campaign: Path, output: Path, require_proof: bool, as_json: bool, **options: Any) -> None:
    """Find the cheapest labels that give every task its guarantee, and say how good they provably are."""
    is_parts = is_in_parts(campaign)
    check_options(is_parts, PARTS)
    of_parts = {name: options.pop(name) for name in NEEDED}
    if is_parts:
        with ProgressLine() as line:
            of_parts |= {name: options[name] for name in ("seed", "force")}
            limit = options["time_limit"] if is_stated("time_limit") else None
            done = assign_parts(campaign, output=output, time_limit=limit, told=PartsLine(line).show, **of_parts)
        report_parts(done, str(output), as_json)
        if not done.found or (require_proof and not done.facts["proven"]):
            raise SystemExit(NO)
        return
    options["class_error"] = _shares(options["class_error"])
    with ProgressLine() as line:
        plan: Plan | AdaptivePlan = assign(campaign, output=output, listener=line.show, **options)
    if isinstance(plan, AdaptivePlan):
        say(as_json, *policy_said(plan, str(output)), *_skills_said(plan))
    else:
        _report_plan(plan, output, as_json, options["time_limit"])
    if plan.interrupted:
        raise SystemExit(INTERRUPTED)
    sure = isinstance(plan, AdaptivePlan) or plan.is_sure
    if not (plan.found and sure) or (require_proof and not plan.proven):
        raise SystemExit(NO)


def _shares(words: tuple[str, ...]) -> dict[str, float]:
    found = {}
    for word in words:
        name, _, share = word.rpartition("=")
        try:
            found[name] = float(share)
        except ValueError:
            raise click.UsageError(f"--class-error {word}: it takes a class and a share, yes=.02") from None
    return found


def _report_plan(plan: Plan, output: Path, as_json: bool, time_limit: float) -> None:
    facts = {**summary(plan), **run_facts(plan)}
    if plan.found:
        say(as_json, {**facts, "plan": str(output)}, *_plan_sentences(plan, output))
        return
    if plan.pairs is None:
        why = why_not(plan)
        say(as_json, {**facts, "why": why}, *why)
        return
    why, ways = why_short(plan, time_limit=time_limit)
    facts = {**facts, "plan": str(output), "why": why, "ways": ways_as_facts(ways)}
    say(as_json, facts, *why, *ways_said(ways), *_plan_sentences(plan, output))


def _plan_sentences(plan: Plan, output: Path) -> list[str]:
    busy = int((plan.loads > 0).sum())
    full = int((plan.loads >= plan.instance.capacity - 1e-9)[plan.loads > 0].sum())
    said = [
        f"{plan.labels:g} labels for {plan.instance.n_tasks} tasks by {busy} of {plan.instance.n_workers} workers "
        f"({full} at capacity), cost {plan.objective:.10g}",
        *([] if plan.repaired is None else [what_it_lacked(plan)]),
        *([plan.in_words] if plan.found else []),
        *_skills_said(plan),
        f"wrote {output} in {plan.seconds:.2f} s",
    ]
    said = [plan.note, *said] if plan.note else said
    return ["interrupted; this is the best plan so far", *said] if plan.interrupted else said


def _skills_said(plan: Plan | AdaptivePlan) -> list[str]:
    if isinstance(plan, Plan) and plan.left_open is not None:
        return [str(plan.left_open)]
    said = "skills rest on the agreement of labels, with no known answers: errors that workers share are not in them"
    return [said] if AGREEMENT in plan.instance.skills_source else []


VERBS = (solve,)
