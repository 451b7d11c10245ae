"""The verb verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.verify import Report
from crowdopt.api.verify import verify as call
from crowdopt.cli.common import NO, as_json, say


@click.command(epilog="Example: crowdopt verify my-campaign my-plan")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.argument("plan", type=click.Path(path_type=Path))
@as_json
def verify(campaign: Path, plan: Path, as_json: bool) -> None:
    """Recompute everything a plan claims from the two folders alone; exit 0 only if it holds."""
    report = call(campaign, plan)
    say(as_json, _verified(report), *_verdict(report))
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


VERBS = (verify,)
