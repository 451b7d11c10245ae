"""The cheapest adaptive plan: against all policies, against a program over histories, and simulated."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, assign, init, verify
from tests.assign.cascade.simulated_policies import followed
from tests.assign.cascade.small_panels import EXPERT, drawn, least_by_histories, limited
from tests.chance import between, most, seeds
from tests.chance import rng as drawing
from tests.sampled import first_of


@pytest.mark.parametrize("made", [drawn, limited])
@pytest.mark.parametrize("seed", first_of(range(60), 15))
def test_it_is_the_least_of_all_policies(seed, made):
    """By a program over histories, with fixed pairs, fewest labels and own rows or without; ``verify`` agrees."""
    one, expert = made(seed), EXPERT if seed % 3 == 0 else None
    plan, least = assign(one, adaptive=True, expert=expert), partial(least_by_histories, one, expert)
    report = verify(one, plan) if plan.objective is not None else None
    assert report is None or report.holds, report.problems
    if np.isfinite(least()):
        assert plan.proven and report.proven and plan.objective == pytest.approx(least(), rel=1e-7, abs=1e-7)
        return
    assert not plan.found
    assert assign(one, adaptive=True, expert=expert, strict=True).bound == np.inf
    if made is drawn:  # nothing must be had, so a larger multiple of the targets always does
        assert plan.times > 1 and not np.isfinite(least(times=1 + 0.999 * (plan.times - 1)))
        assert least(times=plan.times * (1 + 1e-6)) <= plan.objective * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_more_rounds_cost_no_more_and_all_of_them_cost_what_one_by_one_does(seed):
    """One round is fixed sets; as many rounds as judges are votes one by one."""
    one = drawn(seed, judges=3)
    costs = []
    for rounds in (1, 2, 3, None):
        plan = assign(one, adaptive=True, rounds=rounds, expert=EXPERT)
        assert plan.proven and verify(one, plan).proven
        costs.append(plan.objective)
    assert costs == pytest.approx(sorted(costs, reverse=True)) and costs[2] == pytest.approx(costs[3])


@pytest.mark.parametrize("seed", range(2))
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
@pytest.mark.parametrize("panels", [10, pytest.param(60, marks=pytest.mark.slow)])
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
