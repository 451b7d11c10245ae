"""The verb explain."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from crowdopt import api
from crowdopt.cli.common import NO, as_json, say
from crowdopt.crowd.evidence import EACH, refuse_average
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign import overridden
from crowdopt.io.explanation_folder import EXPLANATION, write_explanation
from crowdopt.io.folder import check_target
from crowdopt.io.stored_plan import read_overrides
from crowdopt.report.charts import MISSING

SHOWN = 5  # tasks or workers in a sentence


@click.command(epilog="Example: crowdopt explain my-campaign -o why")
@click.argument("campaign", type=click.Path(path_type=Path))
@click.argument("plan", type=click.Path(path_type=Path), required=False)
@click.option("--rule", type=click.Choice(EACH), help="Evidence rule, in place of the campaign's.")
@click.option("--epsilon", type=float, help="Error probability of every task, in place of the campaign's.")
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds in all.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder of tables and the curve to write.")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
@as_json
def explain(
    campaign: Path,
    plan: Path | None,
    rule: str | None,
    epsilon: float | None,
    time_limit: float,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Why there is no plan and the cheapest ways out; where there is one, what one more unit of anything is worth.

    With a PLAN its rule and target are taken.
    """
    if output is not None:
        check_target(output, EXPLANATION, force)
    settings: dict[str, Any] = {} if plan is None else read_overrides(plan)
    settings |= {key: value for key, value in (("rule", rule), ("epsilon", epsilon)) if value is not None}
    instance = overridden(api.read_campaign(campaign), settings)
    refuse_average(instance.the_rule, "explain")
    margins = api.margins(instance, time_limit / 6)
    if margins is None or not api.has_plan(instance, time_limit / 6):
        _no_plan(instance, margins is None, time_limit, output, force, as_json)
        raise SystemExit(NO)
    _worth(instance, margins, time_limit, output, force, as_json)


def _no_plan(
    instance: AssignmentInstance, settled: bool, seconds: float, output: Path | None, force: bool, as_json: bool
) -> None:
    short = api.explain(instance, seconds / 4)
    if short is None:
        raise InputError(f"the time of {seconds:g} s is over before anything is known; allow more")
    types = api.conflict(instance, seconds / 6)
    ways = api.remedies(instance, seconds / 3, short.epsilon_within_reach)
    known = "there is no plan: not even shares of labels would do" if settled else "no plan was found soon"
    said = [known, *short.sentences(instance)[: len(EACH) * 5]]
    if 1 < len(types) < instance.n_types:
        names = ", ".join(instance.type_id(k) for k in types)
        said.append(f"types {names} cannot all be met; without any one of them the others can")
    said += [f"way out: {way.sentence} ({len(way.pairs)} labels)" for way in ways]
    facts = {
        "feasible": False,
        "missing": short.total,
        "no_epsilon_below": short.no_epsilon_below,
        "conflict": [instance.type_id(k) for k in types],
        "ways": [{"kind": way.kind, "do": way.sentence, "amount": way.amount} for way in ways],
    }
    if output is not None:
        table = {"task": None, "missing_evidence": short.evidence, "missing_labels": short.labels}
        write_explanation(instance, facts, {"shortage": table}, output, force)
    say(as_json, facts, *said)


def _worth(
    instance: AssignmentInstance, found: api.Margins, seconds: float, output: Path | None, force: bool, as_json: bool
) -> None:
    price, value = found.task_price, found.capacity_value
    said = [f"a plan exists; by the LP none costs less than {found.cost:.6g}"]
    kinds = [(float(price[instance.task_type == k].mean()), k) for k in np.unique(instance.task_type)]
    dear = sorted(kinds, reverse=True)[:SHOWN]
    said += [f"one more task of type {instance.type_id(int(k))} costs about {cost:.4g}" for cost, k in dear if cost > 0]
    for j in np.argsort(-value, kind="stable")[:SHOWN].tolist():
        if value[j] > 1e-9:
            checked = "" if np.isnan(found.capacity_saving[j]) else f" (solved again: {found.capacity_saving[j]:.4g})"
            said.append(f"one more label by worker {instance.worker_id(j)} saves at most {value[j]:.4g}{checked}")
    facts = {"feasible": True, "bound": found.cost, "dearest_types": [instance.type_id(int(k)) for _, k in dear]}
    if output is not None:
        curve = api.curve(instance, seconds / 2)
        _write(instance, found, curve, facts, output, force)
        said += [] if api.can_draw() else [MISSING]
        drawn = ", curve.svg" if api.can_draw() else ""
        said.append(f"wrote {output}: prices, capacities, and what each error target costs (curve.csv{drawn})")
    say(as_json, facts, *said)


def _write(
    instance: AssignmentInstance,
    found: api.Margins,
    curve: api.CostCurve,
    facts: dict[str, Any],
    output: Path,
    force: bool,
) -> None:
    tables: dict[str, dict[str, Any]] = {
        "tasks": {"task": None, "price": found.task_price, "saving": _blank(found.task_saving)},
        "workers": {"worker": None, "value": found.capacity_value, "saving": _blank(found.capacity_saving)},
        "curve": {
            "epsilon": curve.epsilon,
            "bound": curve.bound,
            "slope": _blank(curve.slope),
            "plan": _blank(curve.plan),
        },
    }
    pictures = {"curve.svg": partial(api.draw_curve, curve)} if api.can_draw() else {}
    write_explanation(instance, facts, tables, output, force, pictures)


def _blank(values: Any) -> list[Any]:
    """NaN as an empty cell."""
    return ["" if value != value else value for value in values.tolist()]


VERBS = (explain,)
