"""Verbs about plans: solve, verify."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from crowdopt import api
from crowdopt.assign.plan import Plan
from crowdopt.cli.common import INTERRUPTED, NO, ProgressLine, as_json, percent, say, target
from crowdopt.core.solution import Status
from crowdopt.crowd.evidence import RULES
from crowdopt.io.campaign import overridden
from crowdopt.io.folder import PLAN, check_target
from crowdopt.io.plan_folder import run_facts, summary
from crowdopt.recheck.findings import Report


@click.command(epilog="Example: crowdopt solve my-campaign --epsilon 0.05 -o my-plan")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option(
    "--method",
    default="exact",
    show_default=True,
    help="exact; patterns[:pools=N], the true minimum by exact errors; or a backend.",
)
@click.option(
    "--program",
    type=click.Choice(api.PROGRAMS),
    default="ip",
    show_default=True,
    help="Whole labels, or the LP.",
)
@click.option("--rule", type=click.Choice(list(RULES)), help="Evidence rule, in place of the campaign's.")
@click.option("--epsilon", type=float, help="Error probability of every task, in place of the campaign's.")
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds in all.")
@click.option("--gap", default=0.0, show_default=True, help="Relative gap at which to stop.")
@click.option("--nodes", type=int, help="Limit on branch-and-bound nodes (reproducible, unlike seconds).")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1, 1024), help="Threads of the solver.")
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**31 - 1), help="Random seed of the solver."
)
@click.option("--require-proof", is_flag=True, help="Exit 1 unless the plan is proven optimal.")
@target("Plan folder")
@as_json
def solve(
    campaign: Path,
    method: str,
    program: str,
    rule: str | None,
    epsilon: float | None,
    time_limit: float,
    gap: float,
    nodes: int | None,
    threads: int,
    seed: int,
    require_proof: bool,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Find the cheapest labels that give every task its guarantee, and say how good they provably are."""
    check_target(output, PLAN, force)
    settings: dict[str, Any] = {} if rule is None else {"rule": rule}
    if epsilon is not None:
        settings["epsilon"] = epsilon
    instance = overridden(api.read_campaign(campaign), settings)
    with ProgressLine() as line:
        plan = api.assign(instance, method, program, time_limit, gap, nodes, threads, seed, line.show)
    plan = replace(plan, overrides=settings)
    if plan.found:
        api.write_plan(plan, output, force)
    _report_plan(plan, output, as_json, time_limit)
    if plan.interrupted:
        raise SystemExit(INTERRUPTED)
    if not plan.found or (require_proof and not plan.proven):
        raise SystemExit(NO)


@click.command(epilog="Example: crowdopt verify my-campaign my-plan")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.argument("plan", type=click.Path(path_type=Path))
@as_json
def verify(campaign: Path, plan: Path, as_json: bool) -> None:
    """Recompute everything a plan claims from the two folders alone; exit 0 only if it holds."""
    report = api.verify(campaign, plan)
    say(as_json, _verified(report), *_verdict(report))
    if not report.holds:
        raise SystemExit(NO)


def _report_plan(plan: Plan, output: Path, as_json: bool, seconds: float) -> None:
    facts = {**summary(plan), **run_facts(plan)}
    if plan.found:
        say(as_json, {**facts, "plan": str(output)}, *_plan_sentences(plan, output))
        return
    why = _why_not(plan, max(1.0, seconds - plan.seconds))
    say(as_json, {**facts, "why": why}, *why)


def _plan_sentences(plan: Plan, output: Path) -> list[str]:
    busy = int((plan.loads > 0).sum())
    full = int((plan.loads >= plan.instance.capacity - 1e-9)[plan.loads > 0].sum())
    said = [
        f"{plan.labels:g} labels for {plan.instance.n_tasks} tasks by {busy} of {plan.instance.n_workers} workers "
        f"({full} at capacity), cost {plan.objective:.10g}",
        _how_good(plan),
        f"wrote {output} in {plan.seconds:.2f} s",
    ]
    return ["interrupted; this is the best plan so far", *said] if plan.interrupted else said


def _how_good(plan: Plan) -> str:
    vouched = {
        "certificate": "anyone can recompute that from the plan",
        "solver": f"on {plan.backend}'s word; the plan's own multipliers prove {plan.certified_bound:.10g}",
        "none": "nothing is known about the optimum",
    }[plan.proof]
    if plan.proven:
        return f"proven optimal: no plan costs less ({vouched})"
    if plan.proof == "none":
        return f"feasible; {vouched}"
    return (
        f"feasible, at most {percent(plan.gap)} above the optimum: none costs less than {plan.bound:.10g} ({vouched})"
    )


def _why_not(plan: Plan, seconds: float) -> list[str]:
    if plan.interrupted:
        return ["interrupted before any plan was found"]
    if plan.status is not Status.INFEASIBLE:
        known = f"; no plan costs less than {plan.bound:.10g}" if np.isfinite(plan.bound) else ""
        return [f"no plan was found within the limits{known}; allow more time"]
    vouched = "proven" if plan.proof == "certificate" else f"on {plan.backend}'s word"
    if plan.instance.the_rule.average:
        return [
            f"infeasible ({vouched}): no labels that can be had err so little on average; raise epsilon or add workers"
        ]
    shortage = api.explain(plan.instance)
    return [
        f"infeasible ({vouched}): there is no such plan",
        *(shortage.sentences(plan.instance) if shortage else []),
    ]


def _verified(report: Report) -> dict[str, Any]:
    return {
        "holds": report.holds,
        "problems": report.problems,
        "objective": report.objective,
        "bound": report.bound,
        "certified_bound": report.certified_bound,
        "proof": report.proof,
        "proven": report.proven,
        "labels": report.labels,
        "violation": report.violation,
        **({} if report.wrong is None else {"wrong": report.wrong, "wrong_bound": report.wrong_bound}),
    }


def _verdict(report: Report) -> list[str]:
    if not report.holds:
        count = len(report.problems)
        return [
            f"the plan does not hold: {count} problem(s)",
            *(f"- {problem}" for problem in report.problems[:20]),
        ]
    said = [f"the plan holds: {report.labels:g} labels, cost {report.objective:.10g}, every limit kept"]
    if report.certified_bound is not None:
        said.append(f"recomputed: no plan costs less than {report.certified_bound:.10g}")
    if report.proof == "solver":
        said.append(f"only the solver vouches for: no plan costs less than {report.bound:.10g}")
    if report.wrong is not None:
        least = "" if report.wrong_bound is None else f"; no plan of that money fewer than {report.wrong_bound:.6g}"
        said.append(f"recomputed: {report.wrong:.6g} answers expected to be wrong{least}")
    if report.overrides:
        changed = ", ".join(f"{key} = {value}" for key, value in report.overrides.items())
        said.append(f"this is for {changed}, in place of what the campaign says")
    return [*said, "so it is optimal" if report.proven else "it is not claimed to be optimal"]


VERBS = (solve, verify)
