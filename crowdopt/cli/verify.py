"""The verb verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.verify import AuditReport, Report
from crowdopt.api.verify import verify as call
from crowdopt.cli.adaptive_lines import EACH, SO_APART, SO_SURE
from crowdopt.cli.common import NO, PATH, PLANNED, as_json, manual, say
from crowdopt.cli.parts_options import check_options, in_parts
from crowdopt.io.parts import is_in_parts


@click.command(
    epilog=manual(
        PLANNED,
        "crowdopt verify my-campaign my-plan",
        reads="campaign and plan, or answers and audit",
        writes="nothing",
    )
)
@click.argument("campaign", type=PATH)
@click.argument("plan", type=PATH)
@click.option("--commitment", help="The audit's commitment, as it was handed on before the expert began.")
@click.option("--after", multiple=True, type=PATH, help="An earlier audit that the audit must name.")
@in_parts
@as_json
def verify(campaign: Path, plan: Path, as_json: bool, **options: Any) -> None:
    """Recompute everything that a plan claims from the two folders alone; exit with 0 only if it holds.

    An audit is verified by its answers and its folder, in place of campaign and plan.
    """
    check_options(is_in_parts(campaign), ("campaign", "plan", "as_json"))
    report = call(campaign, plan, **options)
    if isinstance(report, AuditReport):
        _audit(report, options["commitment"] is not None, bool(options["after"]), as_json)
        return
    say(as_json, _verified(report), *_verdict(report))
    if not report.holds:
        raise SystemExit(NO)


def _audit(report: AuditReport, handed_on: bool, earlier_too: bool, as_json: bool) -> None:
    facts = {"holds": report.holds, "problems": report.problems, "commitment": report.commitment}
    said = [f"the audit holds: {report.sentence}", "recomputed from the answers, the seed and what the expert says"]
    if report.earlier:
        sure = f"all claims together hold with {100 * report.confidence:.10g} %"
        sure += "" if earlier_too else ", if what those spent is as it says: pass their folders as --after"
        said.append(f"the draw names {report.earlier} earlier audit(s); {sure}")
    if not handed_on:
        said.append(
            "not shown: that it was drawn before the expert began; pass the --commitment that was handed on then"
        )
    if not report.holds:
        said = [f"the audit does not hold: {len(report.problems)} problem(s)", *(f"- {one}" for one in report.problems)]
    say(as_json, {**facts, "sentence": report.sentence}, *said)
    if not report.holds:
        raise SystemExit(NO)


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
        **({"short": report.short} if report.short else {}),
        **({} if report.rounds is None else {"rounds": report.rounds}),
        **({} if report.expert is None else {"expert": report.expert}),
        **({"given_votes": True} if report.given_votes else {}),
        **({"each_task": True} if report.each_task else {}),
        **({"class_error": report.class_error} if report.class_error else {}),
        **({"in_place_of_campaign": report.overrides} if report.overrides else {}),
        **({} if report.wrong is None else {"wrong": report.wrong, "wrong_bound": report.wrong_bound}),
    }


def _verdict(report: Report) -> list[str]:
    if not report.holds:
        count = len(report.problems)
        return [
            f"the plan does not hold: {count} problem(s)",
            *(f"- {problem}" for problem in report.problems[:20]),
        ]
    rule = report.of_rule
    if report.expected:
        return _policy_verdict(report)
    said = [f"the plan holds: {report.labels:g} labels, cost {report.objective:.10g}, every limit kept"]
    if report.short:
        said[0] += f" but of {report.short} task(s), which get less than they ask for, as it says"
    if report.certified_bound is not None:
        least = report.certified_bound + 0.0  # not -0
        said.append(f"recomputed: no plan{rule} costs less than {least:.10g}")
    if report.proof == "solver":
        said.append(f"only the solver vouches for: no plan{rule} costs less than {report.bound:.10g}")
    if report.wrong is not None:
        fewer = "" if report.wrong_bound is None else f"; no plan of that money fewer than {report.wrong_bound:.6g}"
        said.append(f"recomputed: {report.wrong:.6g} answers expected to be wrong{fewer}")
    if report.overrides:
        changed = ", ".join(f"{key} = {value}" for key, value in report.overrides.items())
        said.append(f"this is for {changed}, in place of what the campaign says")
    if report.short:
        return [*said, "it is no plan for every task: the best that was found"]
    optimal = f"so it is optimal{rule}" + ", if the solver is right" * (report.proof == "solver")
    return [*said, optimal if report.proven else "it is not claimed to be optimal"]


def _policy_verdict(report: Report) -> list[str]:
    """Of an adaptive plan: its figures are expectations."""
    said = [
        f"the policy holds: {report.labels:.6g} labels, cost {report.objective:.6g} expected, errors and limits kept"
    ]
    if report.given_votes:
        said[0] += ", of each answer given its votes"
    if report.each_task:
        said[0] += ", targets by each task"
    if report.class_error:
        said[0] += ", and of " + ", ".join(f"{name} {limit:.4g}" for name, limit in report.class_error.items())
    if report.times > 1:
        said[0] += f" but targets: errors are within {report.times:.4g} times these, as it says"
    if report.certified_bound is not None:
        rounds = "" if report.rounds is None else f" of at most {report.rounds} round(s)"
        rounds += SO_SURE * report.given_votes + SO_APART * bool(report.class_error) + EACH * report.each_task
        said.append(f"recomputed: no adaptive plan{rounds} costs less than {report.certified_bound:.6g}")
    if report.expert is not None:
        said.append(f"this is for an expert at {report.expert:.6g} a task, as the plan states")
    if report.overrides:
        changed = ", ".join(f"{key} = {value}" for key, value in report.overrides.items())
        said.append(f"this is for {changed}, in place of what the campaign says")
    return [*said, "so it is optimal" if report.proven else "it is not claimed to be optimal"]


VERBS = (verify,)
