"""Adaptive plans of many workers who differ in skill: against the cheapest plan of all, where that can be had."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from crowdopt import Adaptive, AssignmentInstance, recipe, solve, verify
from crowdopt.assign.cascade.cheapest_policy import cheapest_orders, onward_orders
from crowdopt.assign.cascade.orders import expected
from crowdopt.assign.cascade.panels import skill_panel
from crowdopt.core.solution import Options
from crowdopt.crowd.labels import AskingOrder
from crowdopt.verbs.binding import SOLVERS
from tests.assign.cascade.panels import EXPERT, skilled
from tests.sampled import first_of


def orders_of(one: AssignmentInstance, expert: float | None = None):
    """The plan of orders, however few the workers are."""
    return cheapest_orders(skill_panel(one), expert, SOLVERS, Options())


@pytest.mark.parametrize("seed", first_of(range(40), 10))
def test_bound_least_plan_in_this_order(seed):
    """The bound is below the cheapest of all adaptive plans, that below the orders; ``verify`` agrees with both."""
    one, expert = skilled(seed), EXPERT if seed % 3 == 0 else None
    plan, least = orders_of(one, expert), solve(one, method=Adaptive(expert=expert), require="served")
    report = verify(one, plan) if plan.objective is not None else None
    assert report is None or report.holds, report.problems
    if least.found:
        assert plan.bound <= least.objective * (1 + 1e-7)
    if plan.found:
        assert least.found and plan.objective >= least.objective * (1 - 1e-7)
        assert plan.bound * (1 - 1e-9) <= report.certified_bound <= least.objective * (1 + 1e-7)


def by_hand(order: AskingOrder, likely: np.ndarray, law: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Chances to ask each worker of an order, to be wrong, to need the expert: every way its labels can fall."""
    asked, wrong, expert = np.zeros(len(order.workers)), 0.0, 0.0
    for truth, labels in product((0, 1), product((0, 1), repeat=len(order.workers))):
        given = dict(zip(order.workers, labels, strict=True))
        says = [likely[worker, truth] if label else 1 - likely[worker, truth] for worker, label in given.items()]
        chance, had = law[truth] * np.prod(says), dict[int, int]()
        while (turn := order.turn(had))[0] == "ask":
            asked[order.workers.index(turn[1])] += chance
            had[turn[1]] = given[turn[1]]
        wrong += chance * (turn[0] == "answer" and turn[1] != truth)
        expert += chance * (turn[0] == "expert")
    return asked, wrong, expert


def test_an_order_comes_to_what_all_its_labels_come_to():
    """Score by score is the same as label by label, for every way in which the labels can fall."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        panel, n = skill_panel(skilled(seed, judges=4)), int(rng.integers(0, 5))
        adds = tuple((-int(a), int(b)) for a, b in rng.integers(0, 6, (n, 2)))
        low, high = (tuple(rng.integers(*ends, n + 1).tolist()) for ends in ((-5, 1), (1, 6)))
        order, law = AskingOrder(tuple(rng.permutation(4)[:n].tolist()), adds, low, high), np.array([0.4, 0.6])
        found, known = expected(panel, 0, order, law, (0, 0)), by_hand(order, panel.likely[0], law)
        for a, b in zip(found, known, strict=True):
            assert np.allclose(a, b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_errors_given_the_first_label_average_to_the_orders_own(seed):
    """So the targets of the next round keep this one's promise."""
    one = replace(skilled(seed, judges=4), min_load=None, own_rows=None, budget=None, epsilon=np.asarray(0.2))
    panel, plan = skill_panel(one), orders_of(one)
    for share in (share for share in plan.orders if share.order.workers):
        worker, task, mean = share.order.workers[0], int(panel.first[share.kind]), 0.0
        for label in range(2):
            chance = np.abs(panel.likely[share.kind, worker] - (1 - label)) @ one.prior
            had = skill_panel(replace(one, collected=[(task, worker)]), np.array([label]))
            start = next(start for start in had.starts if start.votes)
            alone = replace(had, kind=np.arange(one.n_tasks), first=np.arange(one.n_tasks), starts=(start,))
            mean += chance * onward_orders(alone, [share.order], np.zeros(one.n_tasks, int))[0][task]
        wrong = expected(panel, share.kind, share.order, one.prior, (0, 0))[1]
        assert mean == pytest.approx(wrong, abs=1e-8)


def test_ten_types_of_tasks_are_planned_next_to_their_bound():
    """60 workers, each with a skill of their own for each type; what is far beyond all states of votes."""
    one = replace(recipe("R10:200x60", seed=0), rule="exact-error")
    plan = solve(one, method=Adaptive())
    assert plan.found and len(plan.askers.names) == 60 and plan.gap <= 0.02
    report = verify(one, plan)
    assert report.holds and report.certified_bound >= plan.bound * (1 - 1e-9)
