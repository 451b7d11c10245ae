"""Every answer on thousands of tiny campaigns against a checker that shares no code with the package."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, Status, assign, budget, select
from crowdopt.api.assign import probe
from crowdopt.assign.explain.shortage import shortage
from tests.trials.own_checker import best_score, draw, plans, total_error

DEFAULT, SLOW = range(40), range(40, 240)
MANY = [*DEFAULT, *(pytest.param(seed, marks=pytest.mark.slow) for seed in SLOW)]
MANY += [*(pytest.param(seed, marks=pytest.mark.long) for seed in range(240, 8000, 40))]
NEAR = 1e-6


def instance_of(campaign: dict) -> AssignmentInstance:
    """The package's instance; InputError where the options contradict one another."""
    fields = ("forbidden", "fixed", "collected")
    pairs = {name: np.array(campaign[name], np.int64).reshape(-1, 2) for name in fields}
    return AssignmentInstance(
        np.array(campaign["accuracy"]),
        np.array(campaign["task_type"]),
        np.array(campaign["capacity"]),
        np.array(campaign["epsilon"]),
        rule=campaign["rule"],
        cost=np.array(campaign["cost"]),
        classes=campaign["classes"],
        prior=None if campaign["prior"] is None else np.array(campaign["prior"]),
        min_labels=np.array(campaign["min_labels"]),
        max_labels=None if campaign["max_labels"] is None else np.array(campaign["max_labels"]),
        min_load=np.array(campaign["min_load"]),
        budget=campaign["budget"],
        **pairs,
    )


def cases(first: int) -> range:
    """A long case stands for forty seeds, a default one for itself."""
    return range(first, first + 1) if first < 240 else range(first, first + 40)


def drawn(seed: int) -> tuple[dict, AssignmentInstance] | None:
    campaign = draw(seed)
    try:
        return campaign, instance_of(campaign)
    except InputError:
        return None


@pytest.mark.parametrize("first", MANY)
def test_plans_are_the_cheapest(first):
    """Costs, bounds and infeasibility are those of enumeration."""
    check_plans(cases(first))


def test_where_mending_finds_no_plan_all_sets_are_looked_at():
    """Exact errors of a handful of tasks with one plan alone, or none: campaigns that once ended undecided."""
    check_plans([1132, 2381, 2904, 3133, 4313, 5502])


def check_plans(seeds):
    for seed in seeds:
        both = drawn(seed)
        if both is None:
            continue
        campaign, instance = both
        allowed = plans(campaign)
        optimum = min((cost for cost, _, _ in allowed), default=np.inf)
        plan = assign(instance, time_limit=10, strict=True)
        assert plan.bound <= optimum + NEAR, seed
        assert plan.found == bool(allowed), seed
        assert (plan.status is Status.INFEASIBLE) == (not allowed), seed
        if plan.pairs is not None:
            workers = [sorted(plan.pairs[plan.pairs[:, 0] == i, 1].tolist()) for i in range(campaign["n"])]
            assert workers in [sorted_of for _, _, sorted_of in allowed], seed
            assert plan.objective >= optimum - NEAR and (not plan.proven or plan.objective <= optimum + NEAR), seed


@pytest.mark.parametrize("first", MANY[::6])
def test_explanations_are_true(first):
    """No plan keeps a smaller target than the one said to be impossible; the one said to be within reach is."""
    for seed in cases(first):
        both = drawn(seed)
        if both is None:
            continue
        campaign, instance = both
        if plans(campaign):
            continue
        smallest = min((worst for _, worst, _ in plans(campaign, evidence=False)), default=np.inf)
        lack = shortage(instance, probe(10.0))
        if lack is None:
            continue
        if lack.no_epsilon_below is not None:
            assert min(lack.no_epsilon_below, 0.4999) <= smallest * (1 + NEAR) + NEAR, seed
        if lack.blocked:
            assert smallest == np.inf, seed
        if lack.epsilon_within_reach is not None:
            assert smallest <= lack.epsilon_within_reach + NEAR, seed


@pytest.mark.parametrize("first", MANY[::6])
def test_money_buys_what_is_said(first):
    """Wrong answers are counted exactly, and no plan of the money has fewer than the bound."""
    for seed in cases(first):
        campaign = {**draw(seed), "rule": "exact-error", "classes": 2, "min_load": [0] * draw(seed)["m"]}
        if campaign["prior"] is not None and np.array(campaign["prior"]).shape[-1] == 3:
            campaign["prior"] = None
        campaign |= {"budget": None, "max_labels": None, "min_labels": [0] * campaign["n"], "fixed": []}
        money = float(seed % 9 + 1)
        try:
            spent = budget(instance_of(campaign), money=money, time_limit=10)
        except InputError:
            continue
        every = [
            (total_error(campaign, some), cost) for cost, _, some in plans({**campaign, "epsilon": [1] * campaign["n"]})
        ]
        least = min(wrong for wrong, cost in every if cost <= money + 1e-9)
        assert spent.wrong_bound <= least + 1e-9, seed
        assert spent.wrong >= least - 1e-9, seed


@pytest.mark.parametrize("first", MANY[::6])
def test_promises_to_each_are_kept(first):
    """The error that a sum of money promises to every task has a plan of it; none can promise less than is said."""
    for seed in cases(first):
        both = drawn(seed)
        if both is None or both[0]["budget"] is not None:
            continue
        campaign, instance = both
        money = float(seed % 9 + 1)
        try:
            promised = budget(instance, money=money, promise="each", time_limit=4)
        except InputError:
            continue
        errors = [worst for cost, worst, _ in plans(campaign, evidence=False) if cost <= money + 1e-9]
        smallest = min(errors, default=np.inf)
        assert min(promised.least_epsilon, 0.4999) <= smallest * (1 + NEAR) + NEAR, seed
        if promised.epsilon is not None:
            assert smallest <= promised.epsilon + NEAR, seed


@pytest.mark.parametrize("first", MANY[::3])
def test_the_hired_score_most(first):
    """Algorithm 1 finds the largest score over all sets."""
    for seed in cases(first):
        rng = np.random.default_rng([seed, 78])
        workers, classes = int(rng.integers(1, 9)), int(rng.integers(2, 5))
        asked = rng.integers(2, 12, workers)
        correct = rng.binomial(asked, rng.uniform(0.2, 1.0, workers))
        most = int(rng.integers(1, workers + 1))
        selection = select(correct, asked, classes=classes, most=most, trust_gold=True)
        assert selection.score == pytest.approx(best_score(correct.tolist(), asked.tolist(), classes, most)), seed
