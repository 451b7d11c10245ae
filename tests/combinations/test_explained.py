"""Explanations and what money buys on tiny campaigns, against every plan there is."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from crowdopt import budget
from crowdopt.assign.shortage import shortage
from crowdopt.verbs.solve import probe
from tests.checkers.plans import every_plan
from tests.draw import WISHES, campaign, clash
from tests.sampled import first_of

RULES = "bhattacharyya", "hoeffding", "exact-error"
KNOWN = tuple(name for name in WISHES if "share" not in name and "famil" not in name and name != "difficulty")
MANY = [*first_of(range(16), 4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(16, 1600, 8))]
NEAR = 1e-6


def tightened(seed: int):
    """A tiny campaign, its limits and targets perhaps too tight for any plan."""
    rng = np.random.default_rng([seed, 77])
    while True:
        wishes = (RULES[seed % 3], *rng.choice(KNOWN, int(rng.integers(1, 4)), replace=False).tolist())
        if not clash(wishes):
            return campaign(seed, 2, 4, wishes, spoiled=True)


def smallest_error(one, most: float = inf) -> float:
    """The largest error of a task in the plan that has the smallest such, among those of so much money."""
    return min((kept.max() for cost, kept, _ in every_plan(one, targets=False) if cost <= most + 1e-9), default=inf)


@pytest.mark.parametrize("seed", MANY)
def test_explanations_are_true(seed):
    """No plan keeps a smaller target than the one said to be impossible; the one said to be within reach is."""
    one = tightened(seed)
    if any(True for _ in every_plan(one)) or (lack := shortage(one, probe(10.0))) is None:
        return
    smallest = smallest_error(one)
    if lack.no_epsilon_below is not None:
        assert min(lack.no_epsilon_below, 0.4999) <= smallest * (1 + NEAR) + NEAR
    if lack.blocked:
        assert smallest == inf
    if lack.epsilon_within_reach is not None:
        assert smallest <= lack.epsilon_within_reach + NEAR


@pytest.mark.parametrize("seed", MANY)
def test_money_buys_what_is_said(seed):
    """Wrong answers are counted exactly, and no plan of the money has fewer than the bound."""
    wishes = ("exact-error", "prices", ("prior", "priors", "forbidden", "collected", "targets")[seed % 5])
    one, money = campaign(seed, 2, 4, wishes), float(seed % 9 + 1)
    spent = budget(one, money=money, time_limit=10)
    least = min(kept.sum() for cost, kept, _ in every_plan(one, targets=False) if cost <= money + 1e-9)
    assert spent.wrong_bound <= least + 1e-9 and spent.wrong >= least - 1e-9


@pytest.mark.parametrize("seed", MANY)
def test_promises_to_each_are_kept(seed):
    """The error that a sum of money promises to every task has a plan of it; none can promise less than is said."""
    one, money = tightened(seed), float(seed % 9 + 1)
    if one.budget is not None:
        return
    promised, smallest = budget(one, money=money, promise="each", time_limit=4), smallest_error(one, money)
    assert min(promised.least_epsilon, 0.4999) <= smallest * (1 + NEAR) + NEAR
    if promised.epsilon is not None:
        assert smallest <= promised.epsilon + NEAR
