"""The engine's oracle against all sets of labels; its plans under every limit against another solver and verify."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, Status, assign, recipe, verify
from crowdopt.assign.engine.cheapest_sets import priced
from crowdopt.assign.engine.given_sets import Given, serve
from crowdopt.assign.engine.prepared import ANY, Overlaps, TaskRow, problem_of
from crowdopt.core.clock import Clock
from crowdopt.crowd.vote_errors import CERTAIN, exact_errors
from tests.sampled import first_of


def drawn_row(rng: np.random.Generator) -> TaskRow:
    """A task of up to seven classes of workers in up to two groups, with limits of every kind."""
    size = int(rng.integers(2, 8))
    top = np.append(rng.choice([1, 2, ANY], 2), ANY)
    low = np.append(np.minimum(rng.choice([0, 0, 1], 2), top[:2]), 0)
    fewest = int(rng.integers(0, 4))
    beside = Overlaps.none(size)
    if rng.random() < 0.3:
        beside = Overlaps(
            rng.random((2, size)) < 0.5, np.array([0, rng.integers(0, 2)]), np.array([rng.integers(1, 3), 9])
        )
    return TaskRow(
        evidence=rng.choice([0.0, *rng.uniform(0.1, 1, 6)], size),
        cost=np.ones(size),
        given=np.zeros(0, np.int64),
        room=rng.integers(1, 3, size),
        group=rng.integers(0, 3, size),
        low=low,
        top=top,
        fewest=fewest,
        most=int(rng.choice([fewest + 1, fewest + 3, ANY])),
        kinds=np.array([0]),
        need=np.array([rng.uniform(0, 2.5)]),
        beside=beside,
    )


def cheapest_of_all(row: TaskRow, price: np.ndarray) -> float:
    """The least price of all sets that keep the row's limits."""
    items = np.repeat(np.arange(row.room.size), row.room)
    best = np.inf
    for size in range(row.fewest, min(row.most, items.size) + 1):
        for chosen in combinations(items.tolist(), size):
            labels = np.array(chosen, np.int64)
            inside = np.bincount(row.group[labels], minlength=3)
            if row.evidence[labels].sum() >= row.need[0] and (inside >= row.low).all() and (inside <= row.top).all():
                if not row.beside.keeps(labels):
                    continue
                best = min(best, float(price[labels].sum()))
    return best


def test_the_cheapest_set_is_that_of_all_sets():
    """Under limits on labels in all and of groups, at prices of either sign; the bound is the cheapest's price.

    A search that ends early still bounds.
    """
    rng = np.random.default_rng(0)
    for _ in range(150):
        row = drawn_row(rng)
        price = rng.uniform(rng.choice([-0.3, 0.1]), 1, row.room.size)
        wanted = cheapest_of_all(row, price)
        at = priced(row, price)
        bound, sets = at.cheapest(0)
        if wanted == np.inf:
            assert bound == np.inf and not sets
            continue
        assert bound == pytest.approx(wanted, abs=1e-6)
        assert price[sets[0]].sum() == pytest.approx(wanted, abs=1e-6)
        assert price.min() < 0 or priced(row, price, cells=(5, 50, 10**6)).cheapest(0, steps=-1000)[0] <= wanted + 1e-9
        for labels in [*sets, *at.through(float(row.need[0]), 1.0, 9)]:
            inside = np.bincount(row.group[labels], minlength=3)
            assert (
                row.fewest <= labels.size <= row.most
                and (np.bincount(labels, minlength=9)[: row.room.size] <= row.room).all()
            )
            assert row.evidence[labels].sum() >= row.need[0] - 1e-9
            assert (inside >= row.low).all() and (inside <= row.top).all() and row.beside.keeps(labels)


@pytest.mark.parametrize("seed", first_of(range(3)))
def test_tasks_with_other_labels_in_are_not_alike_where_errors_are_exact(seed):
    """Labels that are in with evidence beyond the need leave all the same need, 0, and not the same errors."""
    rng, (n, m) = np.random.default_rng(seed), (150, 120)
    skill, task = rng.choice([0.95, 0.9, 0.858, 0.83], m), np.arange(110)
    instance = AssignmentInstance(
        accuracy=skill[None],
        task_type=np.zeros(n, np.int64),
        capacity=np.full(m, 4),
        epsilon=0.033,
        rule="exact-error",
        classes=3,
        cost=np.round(1 + 4 * (skill - 0.8), 2),
        fixed=np.vstack([np.array([task, 2 * task % m]).T, np.array([task, (2 * task + 1 + 2 * (task % 5)) % m]).T]),
    )
    plan = assign(instance, time_limit=1, strict=True, gap=0.0)
    assert plan.found and (exact_errors(instance, plan.pairs)[0] <= instance.epsilon + 2 * CERTAIN).all()
    assert verify(instance, plan).holds


def test_least_loads_are_proven():
    """Three types, workers who all differ: labels that serve no need are counted at their price, and a proof comes."""
    base = replace(recipe("L3:300x100", 0), epsilon=0.25, rule="bhattacharyya")
    load = np.minimum(base.capacity, 8)
    plan = assign(replace(base, min_load=load), time_limit=30, strict=True)
    assert plan.found and plan.gap <= 0.005
    assert (np.bincount(plan.pairs[:, 1], minlength=100) >= load).all()


def test_what_no_plan_keeps_is_proven_infeasible():
    """The multipliers of the LP over classes prove it, groups' among them."""
    instance, home = recipe("R10:100x80", seed=0), np.random.default_rng(0).integers(0, 3, 80)
    groups = [Group(f"g{k}", np.flatnonzero(home == k).tolist(), max_per_task=1) for k in range(3)]
    plan = assign(replace(instance, groups=groups))
    assert plan.status is Status.INFEASIBLE and plan.proof == "certificate"


def test_tasks_with_too_many_labels_for_exact_errors_have_a_plan_all_the_same():
    """Fifteen answers can be combined in 32,768 ways: more than are followed, with every label more twice as many."""
    fixed = np.column_stack([np.zeros(15, np.int64), np.arange(15)])
    many = AssignmentInstance(np.full((1, 40), 0.6), [0, 0], np.full(40, 2), 0.2, rule="exact-error", fixed=fixed)
    plan = assign(many, time_limit=2)
    assert plan.found and exact_errors(many, plan.pairs)[0].max() <= 0.2


def test_what_loads_lack_costs_spare_labels():
    """Sets of 400 labels or so leave loads of six each short: the plan is worth its sets and the labels that make up.

    A label for a load's sake costs what the cheapest task pays; with a budget it may not fit, and counts as broken.
    """
    rng = np.random.default_rng(0)
    base = AssignmentInstance(
        accuracy=np.clip(rng.beta(6, 2.2, (4, 240)), 0.5, 0.97),
        task_type=rng.integers(4, size=400),
        epsilon=0.1,
        capacity=12,
        cost=np.round(rng.uniform(0.5, 1.5, (4, 240)), 2),
        min_load=6,
    )
    one = problem_of(base)
    given = serve(Given.nothing(one), np.zeros(one.coupling.lower.size), Clock(60.0))
    short = np.maximum(given.lack, 0.0)
    assert short.sum() > 100
    cheapest = np.min([row.cost for row in one.rows], axis=0)
    assert given.worth == (0, 0.0, pytest.approx(given.cost + float(short @ cheapest)))
    again = Given.of(problem_of(replace(base, budget=4000.0)), given.sets)
    assert again.worth[1] == pytest.approx(short.sum()) and again.worth[2] == pytest.approx(given.cost)
