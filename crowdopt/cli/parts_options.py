"""What the verbs share about campaigns in parts: options, what does not go with them, the line that follows a run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from crowdopt.cli.common import ProgressLine, say
from crowdopt.core.solution import Progress
from crowdopt.crowd.rules import RULES
from crowdopt.errors import InputError
from crowdopt.notebooks import at_most

NEEDED = ("processes", "cluster")  # options that only campaigns in parts have


def in_parts(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The options --processes and --cluster."""
    processes = click.option(
        "--processes",
        type=click.IntRange(0, 1024),
        default=0,
        show_default=False,
        help="For a campaign in parts: number of processes.  [default: none]",
    )
    cluster = click.option(
        "--cluster",
        metavar="ADDRESS",
        help="For a campaign in parts: a Dask scheduler (tcp://host:8786).",
    )
    return processes(cluster(verb))


def check_options(is_parts: bool, allowed: tuple[str, ...]) -> None:
    """InputError where an option was given that this kind of campaign does not have."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        if not is_stated(name):
            continue
        option = parameter.opts[0]
        if is_parts and name not in (*NEEDED, *allowed):
            raise InputError(f"a campaign in parts is not solved with {option}; leave it out")
        if not is_parts and name in NEEDED:
            raise InputError(f"{option} is for campaigns in parts (`crowdopt generate --parts`); leave it out")


def is_stated(option: str) -> bool:
    """Whether an option was given on the command line."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


class PartsLine:
    """Follows the parts on a terminal; silent in a pipe, but for where Dask's own page is."""

    def __init__(self, line: ProgressLine) -> None:
        self.line = line

    def show(self, what: str, seconds: float, bound: float | None, cost: float | None) -> None:
        """Write over the line what is known now."""
        if bound is None and cost is None and self.line.live:
            sys.stderr.write(f"\r\x1b[K{what}\n")
            return
        self.line.show(Progress(seconds, cost, bound, what))


def report_parts(plan: Any, output: str, as_json: bool) -> None:
    """Say what solving in parts came to."""
    facts = {**plan.facts, **plan.run}
    if not plan.found:
        say(as_json, {**facts, "why": plan.why}, plan.why)
        return
    vouched, rule = "anyone can recompute that from the plan", RULES[facts["rule"]].of_rule
    above = "" if facts["gap"] is None else f", at most {at_most(facts['gap'])} above the optimum{rule}"
    say(
        as_json,
        {**facts, "plan": output},
        *[f"{rule.strip()}, which implies {facts.get('promise')}'s promise"] * ("promise" in facts),
        f"{facts['labels']} labels for {facts['tasks']} tasks in {facts['parts']} parts, "
        f"cost {facts['objective']:.10g}",
        f"proven optimal{rule}: no plan{rule} costs less ({vouched})"
        if facts["proven"]
        else f"feasible{above}: none{rule} costs less than {facts['bound']:.10g} ({vouched})",
        f"wrote {output} in {facts['seconds']:.2f} s",
    )
