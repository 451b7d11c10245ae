"""What the verb solve says of an adaptive plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, class_labels
from crowdopt.core.solution import Status
from crowdopt.io.answers import Answered, Onward, facts
from crowdopt.io.plan import run_facts
from crowdopt.io.policy import policy_summary
from crowdopt.notebooks import at_most

SO_SURE = " as sure of each answer given its votes"
SO_APART = " within the limits of classes"
EACH = " in which each task keeps its target"
SHOWN = 5  # types in a sentence


def policy_said(plan: AdaptivePlan, output: str) -> tuple[Any, ...]:
    """The plan in facts, and in sentences."""
    facts = {**policy_summary(plan), **run_facts(plan)}
    if plan.pairs is None:
        why = _why_not(plan)
        return {**facts, "why": why}, *why
    tasks = plan.instance.n_tasks
    said = [
        *([plan.note] if plan.note else []),
        *([] if plan.found else [_out_of_reach(plan)]),
        f"{plan.calls:.6g} labels expected for {tasks} tasks, cost {plan.objective:.6g} expected"
        + _with_expert(plan)
        + _how_many(plan),
        *_missed(plan),
        _how_good(plan),
        f"first round: {len(plan.pairs)} labels in {output}/queues",
        f"wrote {output} in {plan.seconds:.2f} s",
    ]
    return {**facts, "plan": output}, *said


def _how_many(plan: AdaptivePlan) -> str:
    if plan.order_of is not None:
        return f"; {len(plan.orders)} orders in which tasks ask workers"
    states = len({(row.kind, row.round, row.votes) for row in plan.rows})
    return f"; a policy of {len(plan.rows)} rows over {states} states of votes"


def _with_expert(plan: AdaptivePlan) -> str:
    tasks = float((plan.to_expert * np.bincount(plan.askers.kind)).sum())
    return f", {tasks:.4g} of them by the expert" if tasks > 0 else ""


def _missed(plan: AdaptivePlan) -> list[str]:
    if not plan.class_error:
        return []
    every = zip(class_labels(plan.instance), plan.missed, plan.class_error, strict=True)
    shares = [
        f"{name} {100 * share:.3g} %" + (f" (limit {100 * limit:.3g})" if np.isfinite(limit) else "")
        for name, share, limit in every
    ]
    return [f"expected to be answered otherwise, by true class: {', '.join(shares)}"]


def _how_good(plan: AdaptivePlan) -> str:
    rounds = "" if plan.rounds is None else f" of {plan.rounds} round{'s' * (plan.rounds > 1)}"
    rounds += SO_SURE * plan.given_votes + SO_APART * bool(plan.class_error) + EACH * plan.each_task
    if plan.proven:
        return f"proven optimal: no adaptive plan{rounds} costs less (anyone can recompute that from the plan)"
    less = f"no adaptive plan{rounds} costs less than {plan.bound:.6g}"
    return f"at most {at_most(plan.gap)} above the optimum: {less}" if plan.bound > 0 else less


def _out_of_reach(plan: AdaptivePlan) -> str:
    help_of = "more capacity or other judges" if plan.each_task else "more capacity, other judges or --expert PRICE"
    if plan.status is not Status.INFEASIBLE:
        return (
            f"no adaptive plan was found that keeps the targets within the limits; this one errs "
            f"{plan.times:.4g} times as much; {help_of} would help"
        )
    return (
        f"no adaptive plan keeps the targets within the limits (proven by multipliers); the least errors are "
        f"{plan.times:.4g} times these, which this plan has; {help_of} would help"
    )


def _why_not(plan: AdaptivePlan) -> list[str]:
    if plan.status is not Status.INFEASIBLE:
        return ["no adaptive plan was found; nothing is known of the optimum"]
    return ["no adaptive plan keeps the targets within the limits (proven by multipliers)"]


def onward_said(answered: Answered, onward: Onward, output: Path) -> list[str]:
    """What labels that came back say of an adaptive plan."""
    known, instance = facts(answered), answered.instance
    said = [
        f"{known['tasks']} answers from {known['labels']} labels ({known['new_labels']} of them new); "
        f"{known['expected_wrong']:.3g} expected to be wrong if no more is asked"
    ]
    if known["missing"]:
        said.append(f"{known['missing']} labels that were asked for have not come; see {output}/missing.csv")
    if not onward.options or not onward.asks:
        last = "the plan asks nothing more" if onward.options else "that was the plan's last round"
        return [*said, f"wrote {output}; {last}"]
    pairs = sorted(
        {(instance.type_id(int(k)), float(t)) for k, t in zip(instance.task_type, onward.targets, strict=True)}
    )
    targets = ", ".join(f"{name} {100 * target:.3g} %" for name, target in pairs[:SHOWN]) + ", ..." * (
        len(pairs) > SHOWN
    )
    most = "at most " * ("--given-votes" in onward.options)
    return [
        *said,
        f"{most}{onward.targets.sum():.3g} if the plan goes on: the next one's targets, given these votes: {targets}",
        f"wrote {output}; to go on: crowdopt solve {output}/campaign {onward.options} -o NEXT-PLAN",
    ]
