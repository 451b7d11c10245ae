"""Adaptive plans for the verb solve: from a campaign with its labels, or an instance, to the cheapest policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

from crowdopt.api.binding import SOLVERS, AnyPath, InstanceLike, instance_of, options_of
from crowdopt.api.watching import watched
from crowdopt.arrays import Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.cascade.cheapest_policy import cheapest_policy
from crowdopt.core.solution import Listener
from crowdopt.crowd.hard_needs import stated
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_reading import read_with_labels
from crowdopt.io.campaign.overrides import overridden
from crowdopt.io.campaign.recorded_settings import SETTINGS
from crowdopt.io.plan.policy_folder import write_policy
from crowdopt.io.tables.folder import PLAN, check_target

OF_FIXED_SETS = {  # arguments of assign that say how fixed sets are searched for, and what they are by default
    "method": "exact",
    "program": "ip",
    "rows": None,
    "gap": 0.0,
    "nodes": None,
    "isolated": False,
    "solver_options": (),
}


@dataclass(frozen=True)
class AdaptiveTerms:
    """What is asked of an adaptive plan: rounds, and the price of an expert who is right."""

    rounds: int | None = None
    expert: float | None = None

    def __post_init__(self) -> None:
        if self.rounds is not None and (isinstance(self.rounds, bool) or self.rounds < 1):
            raise InputError(f"rounds must be a whole number of at least 1, not {self.rounds}")
        if self.expert is not None and not (isfinite(self.expert) and self.expert >= 0):
            raise InputError(f"the expert's price must be finite and at least 0, not {self.expert}")


def refuse_settings(given: dict[str, Any]) -> None:
    """InputError for a setting of fixed sets that an adaptive plan would ignore; given: of OF_FIXED_SETS, by name."""
    odd = [name for name, value in given.items() if value not in (OF_FIXED_SETS[name], [], None)]
    if odd:
        names = " and ".join(f"--{'option' if name == 'solver_options' else name}" for name in odd)
        raise InputError(f"{names} is about plans of fixed sets and says nothing of an adaptive one; leave it out")


def assign_adaptive(
    campaign: InstanceLike,
    terms: AdaptiveTerms,
    *,
    rule: str | None = None,
    epsilon: float | None = None,
    difficulty: tuple[float, float] | None = None,
    trust_gold: bool = False,
    time_limit: float = 60.0,
    strict: bool = False,
    threads: int = 1,
    seed: int = 0,
    listener: Listener | None = None,
    output: AnyPath | None = None,
    force: bool = False,
) -> AdaptivePlan:
    """The cheapest plan that looks at answers before it asks again; labels that are in are where its tasks stand."""
    if output is not None:
        check_target(Path(output), PLAN, force)
    options, started = options_of(time_limit, seed, threads=threads), datetime.now(UTC)
    begun = perf_counter()
    asked = instance_of(campaign, rule, epsilon, difficulty, trust_gold=trust_gold)
    instance, labels = with_labels(campaign, asked)
    with watched(listener, time_limit) as told:
        plan = cheapest_policy(
            instance,
            labels,
            SOLVERS,
            options,
            rounds=terms.rounds,
            expert=terms.expert,
            listener=told,
            strict=strict,
        )
    note = "; ".join(filter(None, [plan.note, _law_said(instance)]))
    plan = replace(plan, note=note, started=started.isoformat(timespec="seconds"), seconds=perf_counter() - begun)
    if output is not None and plan.pairs is not None:
        write_policy(plan, output, force=force)
    return plan


def _law_said(instance: AssignmentInstance) -> str:
    """How votes are taken to depend on one another."""
    if instance.vote_law is not None:
        return f"votes of an item depend on one another by the {instance.vote_law.name} law of gold votes"
    return stated(instance.difficulty) if instance.difficulty.share else ""


def with_labels(campaign: InstanceLike, asked: AssignmentInstance) -> tuple[AssignmentInstance, Ints | None]:
    """The instance with the prior that it had before any label, and the class that each label in it says."""
    if isinstance(campaign, AssignmentInstance) or not len(asked.collected):
        return asked, None
    known = read_with_labels(campaign)
    before = replace(known.instance, class_names=known.class_names()).as_read()
    stated_in_place = () if asked.origin is None else asked.origin.stated
    return overridden(before, {key: SETTINGS[key].write(asked) for key in stated_in_place}), known.indices()
