"""Plans and bounds of the whole engine, and of its prices, against brute force; no solver looks at all pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Group, Options, Status, recipe, verify
from crowdopt.assign import search
from crowdopt.assign.plan import Plan
from crowdopt.assign.prices import linear
from crowdopt.assign.problem import problem_of
from crowdopt.verbs.binding import SOLVERS
from tests.assign.linear.drawn import KNOWN, SEEDS, swept
from tests.checkers.plans import broken, cost_of, least_cost
from tests.draw import campaigns, clash, planned
from tests.sampled import first_of
from tests.small import instances

LINEAR = "hoeffding", "bhattacharyya"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine never asks for the whole program."""
    monkeypatch.setattr(search, "SearchParams", lambda kind=search.SearchParams: kind(small=0, whole=0))


def true_plan(one: AssignmentInstance, best: float, **options: float) -> Plan:
    """The engine's plan, of which nothing false is said: verify, which searches in another way, finds the same bound.

    best: what some plan costs, infinite where there is none.
    """
    plan = search.solve_exact(one, SOLVERS, Options(**{"time_limit": 5.0} | options))
    assert plan.bound <= best + 1e-6 * max(1.0, best) and (plan.status is not Status.INFEASIBLE or best == np.inf)
    assert not plan.found or not (broken(one, plan.pairs) or (not len(one.collected) and verify(one, plan).problems))
    return plan


@settings(max_examples=40)
@given(st.one_of(campaigns(12, LINEAR, KNOWN), instances(12)))
def test_no_bound_is_above_the_optimum_and_every_plan_keeps_its_limits(one):
    """Under every limit; infeasible is said only of what no plan keeps."""
    plan = true_plan(one, best := least_cost(one))
    assert not plan.found or plan.objective >= best - 1e-6 * max(1.0, best)


@settings(max_examples=20)
@given(campaigns(12, LINEAR, ["prices", "prices-by-type", "targets"], spoiled=True))
def test_where_tasks_and_loads_are_all_there_is_a_plan_is_found(one):
    """Unless there is none."""
    assert true_plan(one, best := least_cost(one)).found == (best < np.inf)


@settings(max_examples=25)
@given(campaigns(12, (*LINEAR, "probit"), KNOWN), SEEDS)
def test_every_price_proves_a_true_bound(one, seed):
    """Of the linear program, whose own value is one, and any others."""
    problem, rng, best = problem_of(one), np.random.default_rng(seed), least_cost(one)
    prices = [problem.unit * scale * rng.normal(size=problem.coupling.lower.size) for scale in (0.1, 1, 100)]
    point, found = linear(problem, SOLVERS.solve, Options())
    if point is not None:
        prices.append(point.duals)
        assert point.value + problem.constant <= best + 1e-6 * max(1.0, best)
    assert found.status is not Status.INFEASIBLE or best == np.inf
    for duals in prices:
        at = swept(problem, duals, nodes=int(rng.integers(500)), close=2e-6)
        assert at.bound <= best + 1e-7 * (1 + abs(best) + problem.count @ np.abs(at.value))


@settings(max_examples=6)
@given(SEEDS, st.sampled_from(LINEAR), st.sets(st.sampled_from(KNOWN), max_size=3))
def test_of_larger_campaigns_nothing_false_is_said(seed, rule, wishes):
    """Each made around a plan; one near the bound is found where tasks, loads and money are all that is asked."""
    if not clash((rule, *wishes)):
        made = planned(seed, 50, 16, (rule, *sorted(wishes)), skills="three", spoiled=False)
        plan = true_plan(made.instance, cost_of(made.instance, made.plan), gap=0.05, time_limit=20.0)
        if wishes <= {"", "prices", "prices-by-type", "targets", "forbidden", "fixed", "least-loads", "budget"}:
            assert plan.found and plan.gap <= 0.06


@pytest.mark.parametrize("skills", first_of([12, 8, 30]))
def test_workers_alike_but_for_their_loads_have_a_plan(skills):
    """Most of what all can tell is needed, and labels of a class are those of people who can give so many each."""
    rng = np.random.default_rng(skills)
    skill = rng.uniform(0.62, 0.9, (4, skills))[:, rng.integers(0, skills, 60)]
    kind, room = rng.integers(0, 4, 200), rng.integers(28, 65, 60)
    target = float(np.exp(-0.45 * ((2 * skill - 1) ** 2)[kind].mean(axis=0) @ room / 200))
    one = AssignmentInstance(skill, kind, room, target, rule="hoeffding")
    plan = true_plan(one, np.inf, gap=0.005, time_limit=30.0)
    assert plan.found and plan.gap <= 0.005


@pytest.mark.parametrize(("rule", "target"), [("bhattacharyya", 0.0139), ("hoeffding", 0.0848)])
def test_few_workers_who_all_label_most_tasks_have_a_plan(rule, target):
    """Twelve labels a task, of thirty workers: most of what they can give."""
    one = replace(recipe("R1:60x30"), rule=rule).with_epsilon(target)
    plan = true_plan(one, np.inf, gap=0.005, time_limit=30.0)
    assert plan.found and plan.gap <= 0.005


SKILL = [0.691, 0.691, 0.707, 0.903, 0.707, 0.691, 0.765, 0.765, 0.691, 0.903, 0.707, 0.763]
PAIRS = [
    Group(f"g{k}", pair, max_per_task=1) for k, pair in enumerate([(2, 4), (0, 5), (1, 3), (5, 6), (0, 4), (2, 3)])
]
TWO = [[0.74, 0.876, 0.74, 0.876, 0.824], [0.814, 0.845, 0.814, 0.845, 0.876]]
BY_HAND = {  # skills, target, capacity, cost, groups, and what the cheapest plan costs
    "prices of a share that climb without end": ([SKILL], 0.37, 1, 1, [Group("g", [3, 6, 7, 9], max_share=0.5)], 6),
    "more capacity than tasks": (TWO, 0.4, 4, [0.62, 1.52, 0.76, 1.41, 1.51], [Group("g", [0], max_share=0.2)], 11.02),
    "labels for nothing": ([[0.9] * 6] * 3, 0.25, 3, [0, 0, 0, 0, 0, 1.5], [], 0),
    "the same in whole numbers": ([[0.9, 0.97, 0.5, 0.97, 0.8]], 0.45, 1, [4, 0, 3, 0, 1], [], 0),
    "groups that overlap in many ways": ([[0.86, 0.86, 0.95, 0.95, 0.81, 0.788, 0.86]], 0.45, 1, 1, PAIRS, 3),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_by_hand(case):
    """What once was told falsely, or not found."""
    skill, target, room, cost, groups, wanted = BY_HAND[case]
    given = {"capacity": np.full(len(skill[0]), room), "epsilon": target, "cost": cost, "groups": groups}
    one = AssignmentInstance(skill, np.arange(len(skill)), rule="hoeffding", **given)
    assert least_cost(one) == pytest.approx(wanted) and true_plan(one, wanted).found


def test_a_linear_program_that_is_cut_short_ends_the_search():
    """Ctrl-C that a solver hears is no answer to go on from."""
    asked = []

    def cut(*given, **options):
        asked.append(given)
        return replace(SOLVERS.solve(*given, **options), interrupted=True)

    one = recipe("R10:200x60", 0)
    plan = search.solve_exact(one, replace(SOLVERS, solve=cut), Options(time_limit=20.0, gap=0.0))
    assert plan.interrupted and len(asked) == 1
