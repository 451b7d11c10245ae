"""Plans whose mean error keeps the targets with a stated chance, as far as gold tells: by lower targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from crowdopt.assign.plan import Plan
from crowdopt.crowd.doubt import PARAMS as DOUBT
from crowdopt.crowd.doubt import LeftOpen, left_open
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import most_errors
from crowdopt.errors import InputError
from crowdopt.io.settings import overridden

LOWERED = "for {:.3g} % of the targets, so that the mean error keeps these with chance {:g} as far as gold tells"
UNSURE = "no plan was found that keeps the targets with chance {:g} as far as gold tells: more gold would help"

LESS = 1e-6  # relative


class ConfidenceParams(NamedTuple):
    """Numbers of the search for targets."""

    tries: int = 6  # plans at most, each with its part of the time
    enough: float = 0.97  # of the targets, from which errors are near enough to them
    steep: float = 1.5  # power of errors over targets, by which these are lowered first
    close: float = 1.01  # times the targets that do, up to which others are not tried


PARAMS = ConfidenceParams()


def confident(
    instance: AssignmentInstance,
    chance: float,
    seconds: float,
    made: Callable[[AssignmentInstance, float], Plan],
    params: ConfidenceParams = PARAMS,
) -> Plan:
    """The cheapest of a few plans for lowered targets whose mean error keeps the mean target in so many crowds.

    made: ``made(instance, seconds)``: the plan for the targets of an instance. -> the last one, which says so, where
    none keeps it.
    """
    least, most = DOUBT.shares
    if not least <= chance <= most:
        raise InputError(f"confidence must lie between {least} and {most}, not {chance}")
    goal, low, high, factor = float(instance.epsilon.mean()), 0.0, np.inf, 1.0
    kept: Plan | None = None
    last: Plan | None = None
    for _ in range(params.tries):
        plan = made(_lowered(instance, factor), seconds / params.tries)
        if plan.found and plan.pairs is not None and not len(plan.pairs):  # it rests on no skill
            return plan
        if plan.found:
            known = _known(plan, chance)
            last = replace(plan, left_open=known)
            if known.high <= goal:
                kept, low = last, factor
                if factor == 1 or known.high >= params.enough * goal:
                    break
            else:
                high = factor * _slack(plan)
        elif last is None:  # there is none for the targets themselves
            return plan
        else:
            low = factor
        if low and high <= params.close * low:
            break
        factor = float(np.sqrt(low * high)) if low else min(high, factor * (goal / known.high) ** params.steep)
    if kept is None:
        assert last is not None
        return replace(last, is_sure=False, note="; ".join(filter(None, [last.note, UNSURE.format(chance)])))
    share = 100 * float(kept.instance.epsilon.sum() / instance.epsilon.sum())
    lowered = LOWERED.format(share, chance) if share < 100 else ""
    return replace(kept, note="; ".join(filter(None, [lowered, kept.note])))


def _slack(plan: Plan) -> float:
    """Just below the share of its targets that a plan keeps as well: for less there is another plan."""
    if not plan.instance.the_rule.checked or plan.pairs is None:
        return 1.0
    errors, epsilon = most_errors(plan.instance, plan.pairs), plan.instance.epsilon
    share = errors.mean() / epsilon.mean() if plan.instance.the_rule.average else (errors / epsilon).max()
    return float(min(1.0, share)) * (1 - LESS)


def _known(plan: Plan, chance: float) -> LeftOpen:
    known = None if plan.pairs is None or plan.amounts is not None else left_open(plan.instance, plan.pairs, chance)
    if known is None:
        needs = "skills that rest on gold, whole labels, and a campaign without labels so far"
        raise InputError(f"a confidence needs {needs}; leave it out")
    return known


def _lowered(instance: AssignmentInstance, factor: float) -> AssignmentInstance:
    """The instance with so much of its targets, which plans record."""
    if factor == 1:
        return instance
    one = instance.one_target
    return overridden(instance, {"epsilon": (instance.epsilon * factor).tolist() if one is None else one * factor})
