"""The cost of adaptive plans over the number of rounds, and over the error targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from crowdopt.api.adaptive_plans import by_class, with_labels
from crowdopt.api.at_hand import PlanLike
from crowdopt.api.binding import SOLVERS, AnyPath, InstanceLike, instance_of, options_of
from crowdopt.api.explain_laws import LawsExplained, explain_laws
from crowdopt.arrays import Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.cascade.cheapest_policy import cheapest_policy
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import finite
from crowdopt.errors import InputError
from crowdopt.io.plan import read_claims, read_overrides
from crowdopt.io.policy import is_policy
from crowdopt.io.settings import overridden, overrides

ROUNDS = (1, 2, 3, 5, None)  # None: one vote at a time, without limit
FACTORS = (0.8, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)  # of all targets, for the curve
HIGHEST = 0.49  # a target lies below 1/2
TERMS = ("expert", "given_votes", "class_error", "each_task")


@dataclass(frozen=True)
class CostOfRounds:
    """The cheapest plan of so many rounds at so many times the targets; None where there is none."""

    rounds: int | None
    factor: float
    cost: float | None
    labels: float
    bound: float

    @property
    def name(self) -> str:
        """The rounds in words."""
        if self.rounds is None:
            return "one vote at a time"
        return "1 round (fixed sets)" if self.rounds == 1 else f"{self.rounds} rounds"


@dataclass(frozen=True, eq=False)
class RoundsExplained:
    """The cost over rounds at the plan's own targets, over targets too where asked for, and what was too large."""

    instance: AssignmentInstance
    rows: list[CostOfRounds]
    curve: list[CostOfRounds]
    too_large: list[str]
    laws: LawsExplained | None = None

    @property
    def sentences(self) -> list[str]:
        """The table in words."""
        width = max(len(row.name) for row in self.rows)
        said = ["expected cost over rounds, a set of votes asked at once in each; errors and limits are the same"]
        for row in self.rows:
            none = "no plan keeps the targets"
            what = (
                none
                if row.cost is None
                else f"{row.cost:10.6g}  ({row.labels:.6g} labels; none costs less: {row.bound:.6g})"
            )
            said.append(f"{row.name:{width}}  {what}")
        return said + self.too_large + ([] if self.laws is None else self.laws.sentences)

    @property
    def facts(self) -> dict[str, Any]:
        """The same as plain JSON."""
        table = [
            {"rounds": row.rounds, "cost": row.cost, "labels": row.labels, "bound": finite(row.bound)}
            for row in self.rows
        ]
        facts = {"feasible": any(row.cost is not None for row in self.rows), "cost_over_rounds": table}
        return facts if self.laws is None else {**facts, "laws": self.laws.facts}

    @property
    def points(self) -> list[tuple[str, float, float]]:
        """Rounds in words, mean target and cost: of the chart."""
        mean = float(self.instance.epsilon.mean())
        return [(row.name, mean * row.factor, row.cost) for row in self.curve if row.cost is not None]

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """rounds.csv: every plan of the curve."""
        rows = [row for row in self.curve if row.cost is not None]
        return {
            "rounds": {
                "rounds": ["" if row.rounds is None else row.rounds for row in rows],
                "times_targets": [row.factor for row in rows],
                "cost": [row.cost for row in rows],
                "labels": [row.labels for row in rows],
                "bound": [row.bound for row in rows],
            }
        }


def is_adaptive(plan: PlanLike | None) -> TypeGuard[AdaptivePlan | str | Path]:
    """Whether a plan, or the one in a folder, is adaptive."""
    return isinstance(plan, AdaptivePlan) or (isinstance(plan, str | Path) and is_policy(read_claims(plan)))


def explain_rounds(
    campaign: InstanceLike, plan: AdaptivePlan | AnyPath, *, trust_gold: bool, time_limit: float, with_curve: bool
) -> RoundsExplained:
    """The cost of 1, 2, 3, 5 rounds and of no limit, with the settings and terms of an adaptive plan."""
    clock = Clock(time_limit)
    settings = overrides(plan.instance) if isinstance(plan, AdaptivePlan) else read_overrides(plan)
    asked = instance_of(campaign, trust_gold=trust_gold)
    instance, labels = with_labels(campaign, overridden(asked, settings) if settings else asked)
    terms = _terms(plan, instance)
    rows: list[CostOfRounds] = []
    curve: list[CostOfRounds] = []
    too_large: list[str] = []
    for rounds in ROUNDS:
        try:
            rows.append(_row(instance, labels, rounds, 1.0, terms, clock))
            curve += [_row(instance, labels, rounds, factor, terms, clock) for factor in FACTORS if with_curve]
        except InputError as error:
            if rounds is None:
                raise
            too_large.append(str(error))
    of_laws = {name: terms[name] for name in TERMS if name != "each_task"}
    laws = explain_laws(instance, clock, rounds=None, **of_laws)
    return RoundsExplained(instance, rows, curve, too_large, laws)


def _terms(plan: AdaptivePlan | AnyPath, instance: AssignmentInstance) -> dict[str, Any]:
    """What an adaptive plan goes by beside its campaign."""
    if isinstance(plan, AdaptivePlan):
        return {name: getattr(plan, name) for name in TERMS}
    claims = read_claims(plan)
    said = {name: bool(claims.get(name)) for name in ("given_votes", "each_task")}
    return {"expert": claims.get("expert"), "class_error": by_class(instance, claims.get("class_error", {})), **said}


def _row(
    instance: AssignmentInstance,
    labels: Ints | None,
    rounds: int | None,
    factor: float,
    terms: dict[str, Any],
    clock: Clock,
) -> CostOfRounds:
    scaled = replace(instance, epsilon=np.minimum(HIGHEST, instance.epsilon * factor))
    options = options_of(max(1.0, clock.left), 0)
    of_rounds = {**terms, "each_task": terms["each_task"] and rounds == 1}
    plan = cheapest_policy(scaled, labels, SOLVERS, options, rounds=rounds, strict=True, **of_rounds)
    return CostOfRounds(rounds, factor, plan.objective, plan.calls, plan.bound)
