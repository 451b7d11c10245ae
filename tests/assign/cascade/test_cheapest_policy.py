"""The cheapest adaptive plan: against all policies, against a program over histories, and simulated."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, assign, init, verify
from tests.assign.cascade.simulated_policies import followed
from tests.assign.cascade.small_panels import (
    EXPERT,
    drawn,
    least_by_histories,
    least_of_all_policies,
    limited,
    policies,
)
from tests.chance import between, most, seeds
from tests.chance import rng as drawing
from tests.sampled import first_of

BY_DEFAULT, ALL = 30, 300
MANY = 20_000  # policies of a type, beyond which they are not listed
SEEDS = [*range(BY_DEFAULT), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(BY_DEFAULT, ALL))]


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_the_least_of_all_policies(seed, tmp_path):
    """Up to two judges every policy is listed; beyond, histories make the program. ``verify`` agrees with both."""
    one, expert = drawn(seed), EXPERT if seed % 3 == 0 else None
    plan = assign(one, adaptive=True, expert=expert)
    listed = one.n_workers == 2
    least = partial(least_of_all_policies if listed else least_by_histories, one, expert)
    if not np.isfinite(least()):
        assert not plan.found and not np.isfinite(least(times=1 + 0.999 * (plan.times - 1)))
        assert least(times=plan.times * (1 + 1e-6)) <= plan.objective * (1 + 1e-6)
        assert verify(one, plan).holds and plan.times > 1
        assert assign(one, adaptive=True, expert=expert, strict=True).bound == np.inf
        return
    assert plan.proven and plan.objective == pytest.approx(least(), rel=1e-7, abs=1e-7)
    report = verify(one, plan)
    assert report.holds and report.proven, report.problems


@pytest.mark.parametrize("seed", first_of(range(40), 20))
def test_labels_that_must_be_had_and_rows_of_ones_own(seed):
    """Fixed pairs, fewest labels of a task, of a group, of a worker, own rows: against all policies listed."""
    one, expert = limited(seed), EXPERT if seed % 3 == 0 else None
    plan, least = assign(one, adaptive=True, expert=expert), partial(least_of_all_policies, one, expert)
    if not np.isfinite(least()):
        assert not plan.found
        assert plan.objective is None or verify(one, plan).holds
        return
    assert plan.proven and plan.objective == pytest.approx(least(), rel=1e-7, abs=1e-7)
    report = verify(one, plan)
    assert report.holds and report.proven, report.problems


def test_three_judges_have_few_enough_policies_to_list():
    """The two references agree, on panels of three judges and two classes."""
    compared = 0
    for seed in range(12):
        one = drawn(seed, judges=3)
        if one.classes == 2:
            assert len(policies(one, 0, None)) < MANY
            assert least_of_all_policies(one) == pytest.approx(least_by_histories(one), rel=1e-7)
            compared += 1
    assert compared


@pytest.mark.parametrize("seed", range(10))
def test_more_rounds_cost_no_more_and_all_of_them_cost_what_one_by_one_does(seed, tmp_path):
    """One round is fixed sets; as many rounds as judges are votes one by one."""
    one = drawn(seed, judges=3)
    costs = []
    for rounds in (1, 2, 3, None):
        plan = assign(one, adaptive=True, rounds=rounds, expert=EXPERT)
        assert plan.proven and verify(one, plan).proven
        costs.append(plan.objective)
    assert costs == pytest.approx(sorted(costs, reverse=True)) and costs[2] == pytest.approx(costs[3])


@pytest.mark.parametrize("seed", range(4))
def test_workers_alike_cost_what_they_cost_one_by_one(seed):
    """Counts of votes are states enough: prices that differ by nothing that matters make each worker an asker."""
    rng = np.random.default_rng(seed)
    skill = np.repeat(rng.uniform(0.6, 0.9, 2), 2)
    one = AssignmentInstance([skill], [0] * 20, np.full(4, 14), 0.15)
    apart = AssignmentInstance([skill + np.array([0, 1e-9, 0, 1e-9])], [0] * 20, np.full(4, 14), 0.15)
    together, each = (assign(which, adaptive=True, expert=EXPERT) for which in (one, apart))
    assert len(together.askers.names) == 2 and len(each.askers.names) == 4
    assert together.objective == pytest.approx(each.objective, rel=1e-6)
    for rounds in (1, 2):
        counted, single = (assign(which, adaptive=True, rounds=rounds, expert=EXPERT) for which in (one, apart))
        assert counted.objective == pytest.approx(single.objective, rel=1e-6)
        assert verify(one, counted).proven


@pytest.mark.chance
def test_simulated_tasks_err_and_ask_as_often_as_the_policy_says():
    """Thousands of tasks by ``next``, lots included: wrong answers and loads within what chance allows."""
    accuracy, items = np.array([[0.95, 0.85, 0.8, 0.7]]), 5_000
    one = AssignmentInstance(accuracy, [0] * 100, [40, 90, 100, 100], 0.05, cost=[3.0, 1.0, 0.4, 0.2])
    plan, rng = assign(one, adaptive=True), drawing()
    wrong, load = 0, np.zeros(4, np.int64)
    for _ in range(items):
        truth, votes = int(rng.integers(2)), {}
        action, what = plan.next(votes)
        while action == "ask":
            judge = int(what[0])
            load[judge] += 1
            votes[what[0]] = str(truth if rng.random() < accuracy[0, judge] else 1 - truth)
            action, what = plan.next(votes)
        wrong += what != (str(truth),)
    assert wrong <= most(items, float(plan.errors[0]) * (1 + 1e-9))
    low, high = between(np.full(4, items), plan.loads / 100)
    assert ((low <= load) & (load <= high)).all()


@pytest.mark.chance
@pytest.mark.parametrize("panels", [10, pytest.param(ALL, marks=pytest.mark.slow)])
def test_drawn_panels_err_and_ask_as_often_as_their_plans_say(panels):
    """20,000 items of each: errors within the claim, loads as expected, and these within capacities."""
    for seed in seeds(panels):
        plan = assign(drawn(seed), adaptive=True, expert=EXPERT if seed % 3 == 0 else None)
        one, rng = plan.instance, drawing(seed, 40)
        kinds, load = np.bincount(plan.askers.kind), np.zeros(len(plan.askers.names), np.int64)
        assert all(some.size == 1 for some in plan.askers.workers)
        for kind, items in enumerate((20_000 * kinds / one.n_tasks).astype(int).tolist()):
            wrong, asked = followed(plan, kind, items, rng)
            load += asked
            assert wrong <= most(items, float(plan.errors[kind]) * (1 + 1e-9) + 1e-12), (seed, kind)
        low, high = between(np.full(load.size, 20_000), plan.loads / one.n_tasks)
        assert ((low - kinds.size <= load) & (load <= high + kinds.size)).all(), seed  # parts of items are cut off
        capacity = one.capacity[[int(some[0]) for some in plan.askers.workers]]
        assert (plan.loads <= capacity + 1e-6).all(), seed


def test_shares_of_groups_bind_and_are_proven(tmp_path):
    """The panel that ``init --panel`` writes; and shares that the free plan breaks, each of which costs more."""
    init(tmp_path / "panel", panel=True)
    assert verify(tmp_path / "panel", assign(tmp_path / "panel", adaptive=True)).proven
    one = AssignmentInstance([[0.9, 0.8, 0.75]], [0] * 30, [30] * 3, 0.12, cost=[4.0, 1.0, 0.5])
    free = assign(one, adaptive=True)
    share = free.loads / free.calls
    for asker in range(3):
        for limit in ({"max_share": 0.6 * share[asker]}, {"min_share": min(0.9, 0.1 + share[asker])}):
            held = replace(one, groups=[Group("g", [asker], **limit)])
            plan = assign(held, adaptive=True, expert=20.0)
            assert plan.proven and verify(held, plan).proven
            got = plan.loads[asker] / plan.calls
            assert got <= limit.get("max_share", 1) + 1e-9 and got >= limit.get("min_share", 0) - 1e-9
            if share[asker] > 0 or "min_share" in limit:
                assert plan.objective > assign(one, adaptive=True, expert=20.0).objective
