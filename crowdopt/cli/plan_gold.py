"""The verb plan-gold."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import click

from crowdopt.api.plan_gold import GOLDS, GoldPlan, GoldRow, plan_gold
from crowdopt.cli.common import PATH, ProgressLine, as_json, manual, say, seed, trust_gold
from crowdopt.errors import InputError

HEAD = ("gold", "gold labels", "skills within", "Theorem 4", "Theorem 5", "labels /IP", "labels", "short", "wrong")


@click.command(
    "plan-gold",
    epilog=manual(
        "crowdopt plan-gold my-campaign --epsilon 0.3 --gold 5,10 --trials 2", reads="a campaign", writes="nothing"
    ),
)
@click.argument("campaign", type=PATH)
@click.option("--gold", default=",".join(map(str, GOLDS)), help="Numbers of gold tasks per worker and type to try.")
@click.option("--gamma", default=0.3, help="Number of preliminary workers for each worker.")
@click.option("--delta", default=0.1, help="Probability with which the theorems' promise may fail.")
@click.option("--epsilon", type=float, help="Error target in place of the campaign's.")
@click.option("--trials", default=5, type=click.IntRange(min=0), help="Number of simulated runs; 0: none.")
@seed("Seed of the simulation")
@trust_gold
@as_json
def plan_gold_verb(campaign: Path, gold: str, as_json: bool, **options: Any) -> None:
    """Say how much gold a target needs: by the theorems of Ho et al., and by simulation."""
    try:
        golds = [int(one) for one in gold.split(",")]
    except ValueError:
        raise InputError(f"--gold is a list of whole numbers such as 5,10,20, not {gold!r}") from None
    with ProgressLine():
        plan = plan_gold(campaign, golds=golds, **options)
    say(as_json, asdict(plan), *_sentences(plan))


def _sentences(plan: GoldPlan) -> list[str]:
    mended = "nothing" if plan.mended_error >= 1 else f"{plan.mended_error:.3g}"
    said = (
        []
        if plan.unmet is None
        else [
            f"target {plan.unmet:g}: even with skills known no plan covers every task under rule hoeffding, which the "
            f"theorems are about (crowdopt explain --rule hoeffding says why); this is for {plan.target:g}, the least "
            "that is known to have one"
        ]
    )
    said += [
        f"target {plan.target:g}: with skills known the LP takes {plan.lp:.1f}; a label of its plan brings a task at "
        f"least {plan.least_quality:.4g} of evidence on average, and {plan.assigned_quality:.4g} at worst",
        f"preliminary workers: {plan.preliminary} (gamma {plan.gamma:g}; Theorem 5: {plan.least_gamma:.3g} or more)",
        f"Theorem 5 as printed asks for {plan.asked} gold tasks per worker and type, with which its loss l1 is 1 and "
        f"nothing is promised; {plan.useful} make l1 one half",
        f"Theorems 2 and 5 promise an error only for targets below 1e{plan.first_exponent:.0f}, whatever the gold; "
        f"Theorem 2 at this target: printed {plan.printed_error:.3g}, mended {mended}",
        "  ".join(f"{name:>13}" for name in HEAD),
    ]
    said += ["  ".join(f"{cell:>13}" for cell in _cells(row)) for row in plan.rows]
    return [
        *said,
        "- : nothing is promised. labels, short, wrong: simulated, gold included, as printed (no stop, no repair)",
    ]


def _cells(row: GoldRow) -> list[str]:
    return [
        str(row.gold),
        str(row.gold_labels),
        f"{row.tolerance:.3g}",
        "-" if row.learned_error >= 1 else f"{row.learned_error:.3g}",
        "-" if row.error >= 1 else f"{row.error:.3g}",
        "-" if not isfinite(row.labels_ratio) else f"{row.labels_ratio:.3g}",
        "" if row.labels is None else f"{row.labels:.0f}",
        "" if row.short is None else f"{row.short:.1%}",
        "" if row.wrong is None else f"{row.wrong:.2%}",
    ]


VERBS = (plan_gold_verb,)
