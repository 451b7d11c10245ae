"""Adaptive plans of many workers who differ in skill: against the cheapest plan of all, where that can be had."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from crowdopt import AssignmentInstance, aggregate, assign, generate, recipe, rehearse, solve, verify
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.cascade.belief_prices import BeliefPrices
from crowdopt.assign.cascade.cheapest_orders import cheapest_orders
from crowdopt.assign.cascade.order_master import expected
from crowdopt.assign.cascade.panels import skill_panel
from crowdopt.core.solution import Options
from crowdopt.crowd.asking_orders import AskingOrder
from crowdopt.recheck.policies.belief_recursion import BeliefRecursion
from tests.assign.cascade.own_panels import by_hand, drawn_own
from tests.assign.cascade.small_panels import EXPERT
from tests.chance import between, most
from tests.chance import rng as drawing
from tests.sampled import first_of


def orders_of(one, expert=None):
    """The plan of orders, however few the workers are."""
    return cheapest_orders(skill_panel(one), expert, SOLVERS, Options())


@pytest.mark.parametrize("seed", first_of(range(40), 10))
def test_bound_least_plan_in_this_order(seed):
    """The bound is below the cheapest of all adaptive plans, that below the orders; ``verify`` agrees with both."""
    one, expert = drawn_own(seed), EXPERT if seed % 3 == 0 else None
    plan, least = orders_of(one, expert), assign(one, adaptive=True, expert=expert, strict=True)
    report = verify(one, plan)
    assert report.holds, report.problems
    if least.found:
        assert plan.bound <= least.objective * (1 + 1e-7)
    if plan.found:
        assert least.found and plan.objective >= least.objective * (1 - 1e-7)
        assert report.certified_bound <= least.objective * (1 + 1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_a_finer_lattice_never_lowers_the_bound(seed):
    """Prices are concave in belief, so knots among which all the old ones are cut off less; same multipliers."""
    one, expert = drawn_own(seed), EXPERT if seed % 2 else None
    plan, problem, bounds = orders_of(one, expert), skill_panel(one), []
    for step in (0.4, 0.2, 0.1, 0.05, 0.025):
        prices = BeliefPrices(problem, step, expert)
        asking = problem.asking(plan.proof_of)
        values = [prices.knots(kind, plan.proof_of, asking[kind]) for kind in range(problem.first.size)]
        bounds.append(prices.bound(plan.proof_of, values, plan.times))
    assert all(a <= b + 1e-7 * abs(b) for a, b in pairwise(bounds)), bounds
    assert bounds[-1] == pytest.approx(plan.bound, rel=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_two_algorithms_agree_on_prices(seed):
    """Value iteration of the method and policy iteration of the second opinion, on the same knots.

    Where some votes are free tasks go on next to certainty, where the second opinion has more knots.
    """
    one, rng = drawn_own(seed), np.random.default_rng(seed)
    problem, plan = skill_panel(one), orders_of(one, EXPERT)
    prices, free = BeliefPrices(problem, 0.05, EXPERT), rng.random(one.n_workers) < (seed % 2) / 2
    for kind in range(problem.first.size):
        asking = np.where(free, -0.01 * (seed % 4 == 3), problem.asking(plan.proof_of)[kind])
        mine = prices.knots(kind, plan.proof_of, asking)
        labels = min(one.n_workers, int(one.max_labels[problem.first[kind]]))
        money = EXPERT * (1 - plan.proof_of.budget)
        theirs = BeliefRecursion(problem.likely[kind], asking, plan.proof_of.error[kind], money, 0.05, labels)
        for belief in (0.1, 0.37, 0.5, 0.81):
            a, b = prices.at(mine, belief), theirs.at(belief)
            assert a <= b + 1e-6 * abs(b) + 1e-9 and (free.any() or a == pytest.approx(b, rel=1e-6))


def test_an_order_comes_to_what_all_its_labels_come_to():
    """Score by score is the same as label by label, for every way in which the labels can fall."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        one = drawn_own(seed, workers=4)
        problem, n = skill_panel(one), int(rng.integers(0, 5))
        workers = tuple(rng.permutation(4)[:n].tolist())
        adds = tuple((-int(a), int(b)) for a, b in rng.integers(0, 6, (n, 2)))
        low = tuple(int(x) for x in -rng.integers(0, 6, n + 1))
        high = tuple(max(1, int(x)) for x in rng.integers(1, 6, n + 1))
        order, law = AskingOrder(workers, adds, low, high), np.array([0.4, 0.6])
        found, known = expected(problem, 0, order, law, (0, 0)), by_hand(order, problem.likely[0], law)
        for a, b in zip(found, known, strict=True):
            assert np.allclose(a, b, rtol=0, atol=1e-12)


@pytest.mark.chance
def test_simulated_tasks_err_and_ask_as_often_as_the_orders_say():
    """6,000 tasks of eight workers by ``next``: wrong answers and loads within what chance allows."""
    accuracy = drawing(8).uniform(0.55, 0.9, (1, 8))
    one = AssignmentInstance(accuracy, [0] * 100, np.full(8, 60), 0.12)
    plan, rng, times = orders_of(one), drawing(), 60
    wrong, load = 0, np.zeros(8, np.int64)
    for task in [str(i) for i in range(100)] * times:
        truth, votes = int(rng.integers(2)), {}
        action, what = plan.next(votes, task=task)
        while action == "ask":
            worker = int(what[0])
            load[worker] += 1
            votes[what[0]] = str(truth if rng.random() < accuracy[0, worker] else 1 - truth)
            action, what = plan.next(votes, task=task)
        wrong += what != (str(truth),)
    dealt = [own_of(plan, one, number) for number in plan.order_of.tolist()]
    asked = np.sum([loads for loads, _ in dealt], axis=0) * times
    assert wrong <= most(100 * times, float(np.mean([error for _, error in dealt])))
    low, high = between(np.full(8, 100 * times), asked / (100 * times))
    assert ((low <= load) & (load <= high)).all()
    assert np.abs(asked / times - plan.loads).max() < len(
        plan.orders
    )  # a deal is the plan's up to a task of each order


def own_of(plan, one, number):
    """Loads and error of one order, by hand."""
    order, loads = plan.orders[number].order, np.zeros(one.n_workers)
    asked, wrong, _ = by_hand(order, skill_panel(one).likely[0], np.array([0.5, 0.5]))
    loads[list(order.workers)] = asked
    return loads, wrong


def test_ten_types_of_tasks_are_planned_next_to_their_bound():
    """30 workers, each with a skill of their own for each type; what is far beyond all states of votes."""
    one = replace(recipe("R10:200x60", seed=0), rule="exact-error")
    plan = assign(one, adaptive=True)
    assert plan.found and len(plan.askers.names) == 60 and plan.gap <= 0.02
    report = verify(one, plan)
    assert report.holds and report.certified_bound >= plan.bound * (1 - 1e-9)


@pytest.mark.slow
def test_rounds_go_on_from_where_tasks_stand(tmp_path):
    """Labels that are in are where orders start; each round is verified, and no capacity is broken in the end."""
    generate("R10:60x25", seed=0, output=tmp_path / "c0")
    campaign, rounds = tmp_path / "c0", 0
    while True:
        plan = solve(campaign, adaptive=True, rule="exact-error", output=tmp_path / f"p{rounds}", seed=rounds)
        assert plan.order_of is not None and verify(campaign, tmp_path / f"p{rounds}").holds
        labels = tmp_path / f"l{rounds}.csv"
        rehearse(campaign, tmp_path / f"p{rounds}", output=labels, truth=tmp_path / "truth.csv", seed=rounds)
        found = aggregate(labels, plan=tmp_path / f"p{rounds}", campaign=campaign, output=tmp_path / f"a{rounds}")
        if found.onward is None or not found.onward.asks:
            break
        campaign, rounds = tmp_path / f"a{rounds}" / "campaign", rounds + 1
        assert rounds < 20
    assert rounds >= 1
    capacity = assign(tmp_path / "c0", adaptive=True, rule="exact-error").instance.capacity
    given = np.bincount(found.pairs[:, 1], minlength=capacity.size)
    assert (given <= capacity).all()
