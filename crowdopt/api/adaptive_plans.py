"""Adaptive plans for the verb solve: from a campaign with its labels, or an instance, to the cheapest policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from time import perf_counter

from crowdopt.api.assign_options import AdaptiveOptions, AssignOptions
from crowdopt.api.binding import SOLVERS, InstanceLike, instance_of, options_of
from crowdopt.api.watching import watched
from crowdopt.arrays import Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, class_labels
from crowdopt.assign.cascade.cheapest_policy import cheapest_policy
from crowdopt.crowd.doubt import gold_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_with_labels
from crowdopt.io.folders import PLAN, check_target
from crowdopt.io.policy import write_policy
from crowdopt.io.settings import RECORDABLE as SETTINGS
from crowdopt.io.settings import alone, overridden


def assign_adaptive(campaign: InstanceLike, asked: AdaptiveOptions) -> AdaptivePlan:
    """The cheapest plan that looks at answers before it asks again; labels that are in are where its tasks stand."""
    if asked.output is not None:
        check_target(Path(asked.output), PLAN, asked.force)
    started = datetime.now(UTC)
    options = options_of(asked.time_limit, asked.seed, gap=AssignOptions.gap, threads=asked.threads)
    begun = perf_counter()
    stating = instance_of(
        campaign, asked.rule, asked.epsilon, asked.difficulty, skills=asked.skills, trust_gold=asked.trust_gold
    )
    instance, labels = with_labels(campaign, stating)
    with watched(asked.listener, asked.time_limit) as told:

        def made(one: AssignmentInstance) -> AdaptivePlan:
            return cheapest_policy(
                one,
                labels,
                SOLVERS,
                options,
                rounds=asked.rounds,
                expert=asked.expert,
                given_votes=asked.given_votes,
                class_error=by_class(one, asked.class_error or {}),
                each_task=asked.each_task,
                listener=told,
                strict=asked.strict,
            )

        try:
            plan = made(instance)
        except InputError:  # many judges who differ have no joint law; gold told of one that nobody stated
            if alone(instance) is instance:
                raise
            plan = made(alone(instance))
    note = "; ".join(filter(None, [plan.note, _law_said(plan.instance)]))
    plan = replace(plan, note=note, started=started.isoformat(timespec="seconds"), seconds=perf_counter() - begun)
    if asked.output is not None and plan.pairs is not None:
        write_policy(plan, asked.output, force=asked.force)
    return plan


def by_class(instance: AssignmentInstance, limits: Mapping[str, float]) -> tuple[float, ...]:
    """Limits of all classes, infinity where there is none; nothing where no class has one."""
    names = class_labels(instance)
    if unknown := [name for name in limits if name not in names]:
        raise InputError(f"there is no class {unknown[0]!r} to limit; they are {', '.join(names)}")
    return tuple(float(limits.get(name, inf)) for name in names) if limits else ()


def _law_said(instance: AssignmentInstance) -> str:
    gold = gold_of(instance)
    if instance.vote_law is not None:
        return f"votes of an item depend on one another by the {instance.vote_law.name} law of gold votes"
    if instance.difficulty.share:
        return instance.difficulty.stated()
    if gold is not None and gold.law is not None:
        return (
            f"votes of an item depend on one another by the {gold.law.name} law of gold votes, which is not heeded here"
        )
    return ""


def with_labels(campaign: InstanceLike, asked: AssignmentInstance) -> tuple[AssignmentInstance, Ints | None]:
    """The instance with the prior that it had before any label, and the class that each label in it says."""
    if isinstance(campaign, AssignmentInstance) or not len(asked.collected):
        return asked, None
    known = read_with_labels(campaign)
    before = replace(known.instance, class_names=known.class_names()).as_read(known.gold)
    stated_in_place = () if asked.origin is None else asked.origin.stated
    return overridden(before, {key: SETTINGS[key].write(asked) for key in stated_in_place}), known.indices()
