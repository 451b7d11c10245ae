"""The command line. Exit status: 0 an answer, 1 the answer is no, 2 bad input, 130 interrupted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from crowdopt import api, backends
from crowdopt.backends import BackendMissing
from crowdopt.backends.probe import Available
from crowdopt.core.solution import Progress, Status
from crowdopt.crowd.errors import InputError
from crowdopt.crowd.evidence import RULES
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.synthetic import recipe
from crowdopt.io.export import check_file
from crowdopt.io.folder import CAMPAIGN, PLAN, check_target
from crowdopt.io.plan_folder import run_facts, summary
from crowdopt.io.sample import write_sample
from crowdopt.plan import Plan
from crowdopt.verify import Report, overridden
from crowdopt.version import __version__

NO, BAD_INPUT, INTERRUPTED = 1, 2, 130


class Verbs(click.Group):
    """A group whose verbs turn bad input into one sentence and exit 2, and Ctrl-C into exit 130."""

    def invoke(self, context: click.Context) -> Any:
        """Run the verb."""
        try:
            return super().invoke(context)
        except (InputError, BackendMissing) as error:
            click.echo(f"crowdopt: {error}", err=True)
            context.exit(BAD_INPUT)
        except KeyboardInterrupt:
            click.echo("crowdopt: interrupted", err=True)
            context.exit(INTERRUPTED)
        except MemoryError:
            click.echo("crowdopt: there is not enough memory for an instance of this size", err=True)
            context.exit(BAD_INPUT)


def _target(what: str) -> Callable[[Any], Any]:
    place = click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help=f"{what} to write.")
    force = click.option("--force", is_flag=True, help="Replace the output if it exists.")
    return lambda verb: place(force(verb))


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of sentences.")


def _say(as_json: bool, facts: dict[str, Any], *sentences: str) -> None:
    lines = [json.dumps(facts, ensure_ascii=False)] if as_json else sentences
    try:
        for line in lines:
            click.echo(line)
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on; the exit status still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crowdopt")
def main() -> None:
    """Decide who labels what: provably cheap plans with guaranteed accuracy."""


@main.command(epilog="Example: crowdopt init my-campaign")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace the folder if it exists.")
@as_json
def init(folder: Path, force: bool, as_json: bool) -> None:
    """Write a small campaign, with comments, to start from."""
    write_sample(folder, force)
    _say(
        as_json,
        {"campaign": str(folder)},
        f"wrote the sample campaign {folder}; its campaign.toml explains the tables",
        f"next: crowdopt solve {folder} -o my-plan",
    )


@main.command(epilog="Example: crowdopt generate R10:1000x300 --seed 0 -o r10")
@click.argument("name", metavar="RECIPE")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Seed of the draw.")
@click.option("--priced", is_flag=True, help="Draw a price of 1 to 5 for each worker.")
@_target("Campaign folder, or .npz file,")
@as_json
def generate(name: str, seed: int, priced: bool, output: Path, force: bool, as_json: bool) -> None:
    """Draw a synthetic campaign: HS, U, K<types>, R1, R10, T<types>, B5 or L3, as KIND:TASKSxWORKERS."""
    instance = recipe(name, seed, priced)
    api.write_campaign(instance, output, force)
    _say(as_json, {"campaign": str(output), **_size(instance)}, f"wrote {output}: {instance.title}")


@main.command("import", epilog="Example: crowdopt import labels.csv --truth truth.csv --epsilon 0.1 -o my-campaign")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="Known answers: task,label. Without, one-coin EM stands in.",
)
@click.option("--types", type=click.Path(path_type=Path), help="Types of the tasks: task,type.")
@click.option("--epsilon", default=0.05, show_default=True, help="Error probability each task may have.")
@click.option("--capacity", type=click.IntRange(min=0), help="Tasks per worker; default: as many labels as each gave.")
@click.option("--rule", default="bhattacharyya", show_default=True, type=click.Choice(list(RULES)))
@_target("Campaign folder")
@as_json
def import_(
    labels: Path,
    truth: Path | None,
    types: Path | None,
    epsilon: float,
    capacity: int | None,
    rule: str,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Make a campaign of real labels (columns task, worker, label): its tasks, its workers, their skills."""
    check_target(output, CAMPAIGN, force)
    found = api.import_labels(labels, truth, types, epsilon, capacity, rule)
    api.write_campaign(found.instance, output, force, found.gold, found.gold_source)
    size = _size(found.instance)
    asked = int((found.gold[1] > 0).sum())
    _say(
        as_json,
        {"campaign": str(output), **size, "gold_source": found.gold_source, "pairs_with_gold": asked},
        f"wrote {output}: {size['tasks']} tasks of {size['types']} type(s), {size['workers']} workers, "
        f"{found.instance.classes} classes",
        f"skills: tallies against {found.gold_source}; {asked} of {found.gold[1].size} worker-type pairs have any",
    )


@main.command(epilog="Example: crowdopt solve my-campaign --epsilon 0.05 -o my-plan")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--method", default="exact", show_default=True, help="exact, or a backend for the full program.")
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
@_target("Plan folder")
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
    with _ProgressLine() as line:
        plan = api.assign(instance, method, program, time_limit, gap, nodes, threads, seed, line.show)
    plan = replace(plan, overrides=settings)
    if plan.found:
        api.write_plan(plan, output, force)
    _report_plan(plan, output, as_json, time_limit)
    if plan.interrupted:
        raise SystemExit(INTERRUPTED)
    if not plan.found or (require_proof and not plan.proven):
        raise SystemExit(NO)


@main.command(epilog="Example: crowdopt verify my-campaign my-plan")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.argument("plan", type=click.Path(path_type=Path))
@as_json
def verify(campaign: Path, plan: Path, as_json: bool) -> None:
    """Recompute everything a plan claims from the two folders alone; exit 0 only if it holds."""
    report = api.verify(campaign, plan)
    _say(as_json, _verified(report), *_verdict(report))
    if not report.holds:
        raise SystemExit(NO)


WRITTEN = {  # by the program's name
    "assignment": "the integer program, a minimum",
    "assignment-lp": "the LP relaxation, a minimum",
    "assignment-dual": "the paper's dual as a minimum: its optimum is minus the LP's",
    "assignment-lp-dual": "the dual of the LP with all its limits, as a minimum: its optimum is minus the LP's",
}


@main.command(epilog="Example: crowdopt export my-campaign --program lp -o my-campaign.mps")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option(
    "--program",
    type=click.Choice(api.EXPORTS),
    default="ip",
    show_default=True,
    help="Whole labels, the LP, or its dual.",
)
@_target("File that ends in .mps or .lp")
@as_json
def export(campaign: Path, program: str, output: Path, force: bool, as_json: bool) -> None:
    """Write the program for any other solver, its columns and rows named after tasks and workers."""
    check_file(output, force)
    written = api.export(api.read_campaign(campaign), output, program, force)
    size = {"columns": written.cost.size, "rows": written.row_lower.size, "entries": int(written.matrix.nnz)}
    _say(
        as_json,
        {"file": str(output), "program": written.name, **size},
        f"wrote {output}: {WRITTEN[written.name]}",
        f"{size['columns']} columns, {size['rows']} rows, {size['entries']} entries",
    )


@main.command("backends", epilog="Example: crowdopt backends")
@as_json
def backends_(as_json: bool) -> None:
    """Which solver backends work here (each is tried, in a process of its own) and how to get the others."""
    found = backends.available()
    _say(as_json, {"backends": [asdict(one) for one in found]}, *_backend_table(found))


def _backend_table(found: list[Available]) -> list[str]:
    """Name, version and what it handles; for one that does not work, why, and what to type."""
    line = "{:16} {:14} {:>3} {:>3} {:>6}  {}"
    said = [line.format("backend", "version", "LP", "IP", "duals", "")]
    for one in found:
        able = ["yes" if yes else "-" for yes in (one.linear, one.integers, one.duals)]
        said.append(line.format(one.name, one.version or "-", *able, one.why).rstrip())
    return said


def _size(instance: AssignmentInstance) -> dict[str, int]:
    return {"tasks": instance.n_tasks, "workers": instance.n_workers, "types": instance.n_types}


class _ProgressLine:
    """One line on a terminal that follows the search; silent in a pipe."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()

    def __enter__(self) -> _ProgressLine:
        return self

    def show(self, moment: Progress) -> None:
        if self.live:
            best = "none yet" if moment.value is None else f"{moment.value:g}"
            bound = "none yet" if moment.bound is None else f"{moment.bound:g}"
            gap = "" if moment.gap is None else f", gap {_percent(moment.gap)}"
            note = f" ({moment.note})" if moment.note else ""
            sys.stderr.write(f"\r\x1b[K{moment.seconds:.0f} s: best {best}, bound {bound}{gap}{note}")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.live:
            sys.stderr.write("\r\x1b[K")


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.3g} %"


def _report_plan(plan: Plan, output: Path, as_json: bool, seconds: float) -> None:
    facts = {**summary(plan), **run_facts(plan)}
    if plan.found:
        _say(as_json, {**facts, "plan": str(output)}, *_plan_sentences(plan, output))
        return
    why = _why_not(plan, max(1.0, seconds - plan.seconds))
    _say(as_json, {**facts, "why": why}, *why)


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
        f"feasible, at most {_percent(plan.gap)} above the optimum: none costs less than {plan.bound:.10g} ({vouched})"
    )


def _why_not(plan: Plan, seconds: float) -> list[str]:
    if plan.interrupted:
        return ["interrupted before any plan was found"]
    if plan.status is not Status.INFEASIBLE:
        known = f"; no plan costs less than {plan.bound:.10g}" if np.isfinite(plan.bound) else ""
        return [f"no plan was found within the limits{known}; allow more time"]
    vouched = "proven" if plan.proof == "certificate" else f"on {plan.backend}'s word"
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
    if report.overrides:
        changed = ", ".join(f"{key} = {value}" for key, value in report.overrides.items())
        said.append(f"this is for {changed}, in place of what the campaign says")
    return [*said, "so it is optimal" if report.proven else "it is not claimed to be optimal"]


if __name__ == "__main__":
    main()
