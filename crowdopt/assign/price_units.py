"""Prices in the largest unit of which each is a multiple: every plan's cost is whole then, so bounds are rounded up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.solution import Listener, told_in
from crowdopt.crowd.instance import PRICES, AssignmentInstance

MANY = 1_000  # prices that all differ have no unit worth looking for


def in_units(
    instance: AssignmentInstance,
    listener: Listener | None,
    solve: Callable[[AssignmentInstance, Listener | None], Plan],
) -> Plan:
    """The plan of the instance with prices in units as one of the instance.

    With prices c and budget B divided by the unit u, costs, bounds and multipliers are u times those found; money's own
    multiplier has no unit.
    """
    unit = price_unit(instance.cost)
    if unit is None:
        return solve(instance, listener)
    size = float(unit)
    budget = None if instance.budget is None else float(Fraction(Decimal(repr(float(instance.budget)))) / unit)
    part = replace(instance, cost=np.rint(instance.cost / size), budget=budget)

    plan = solve(part, told_in(listener, lambda cost: cost * size))
    value = None if plan.pairs is None else float(instance.prices(plan.pairs).sum())
    return replace(
        plan,
        instance=instance,
        certificate=replace(plan.certificate, value=value, bound=plan.bound * size),
        certified_bound=plan.certified_bound * size,
        duals=None if plan.duals is None else _scaled(plan.duals, size),
    )


def price_unit(cost: Floats) -> Fraction | None:
    """The largest unit of which every price, as it is written in decimals, is a multiple; None for 1, or too small."""
    prices = np.unique(cost[cost > 0])
    if not 0 < prices.size <= MANY:
        return None
    exact = [Fraction(Decimal(repr(one))) for one in prices.tolist()]
    bottom = lcm(*(one.denominator for one in exact))
    unit = Fraction(gcd(*(int(one * bottom) for one in exact)), bottom)
    return None if unit == 1 or float(prices[-1] / unit) > PRICES[1] else unit


def _scaled(duals: Duals, size: float) -> Duals:
    return replace(
        duals,
        task=size * duals.task,
        worker=size * duals.worker,
        labels=size * duals.labels,
        wrong=size * duals.wrong,
        joint={name: size * values for name, values in duals.joint.items()},
    )
