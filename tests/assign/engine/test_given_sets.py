"""Labels handed out task by task: what sets take from the rows, and limits kept however tight workers are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group
from crowdopt.assign.engine.given_sets import Given, repaired, serve
from crowdopt.assign.engine.prepared import Prepared, problem_of
from crowdopt.core.clock import Clock

SECONDS = 60.0


def problem(seed: int, **limits: object) -> Prepared:
    """Four types of tasks, 240 workers who all differ, so that tasks come in batches."""
    rng = np.random.default_rng(seed)
    accuracy = np.clip(rng.beta(6, 2.2, (4, 240)), 0.5, 0.97)
    base = AssignmentInstance(
        accuracy=accuracy,
        task_type=rng.integers(4, size=400),
        epsilon=0.1,
        capacity=12,
        cost=np.round(rng.uniform(0.5, 1.5, (4, 240)), 2),
    )
    found = problem_of(replace(base, **limits))
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(3))
def test_labels_handed_out_are_those_that_rows_lose(seed):
    """Every task has a set that meets its need, nobody gives more than there is, and the books agree with the sets."""
    one = problem(seed, budget=4000.0)
    given = serve(Given.nothing(one), np.zeros(one.coupling.lower.size), Clock(SECONDS))
    assert not given.left.any() and given.holds
    again = Given.of(one, given.sets)
    assert np.allclose(again.room, given.room)
    assert all(np.allclose(again.use([(k, labels)])[:, 0], given.use_of(k, labels)) for k, labels in given.sets[:50])
    for kind, labels in given.sets:
        row = one.rows[one.row_of[kind]]
        assert row.evidence[labels].sum() >= row.need[row.kinds == kind][0] - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_repairs_leave_no_plan_worse(seed):
    """A share that the first prices break is nearer to its side afterwards, or kept."""
    group = Group("half", range(120), min_share=0.7)
    one = problem(seed, groups=[group])
    none = np.zeros(one.coupling.lower.size)
    given = serve(Given.nothing(one), none, Clock(SECONDS))
    assert given.lack[-1] > 0  # broken
    found = repaired(given, none, np.random.default_rng(seed), Clock(SECONDS))
    assert found.worth < given.worth and not found.left.any()
    assert np.allclose(Given.of(one, found.sets).lack[-1], found.lack[-1])


def test_what_loads_lack_costs_spare_labels():
    """Sets of 400 labels or so leave loads of six each short: the plan is worth its sets and the labels that make up.

    A label for a load's sake costs what the cheapest task pays; with a budget it may not fit, and counts as broken.
    """
    one = problem(0, min_load=6)
    given = serve(Given.nothing(one), np.zeros(one.coupling.lower.size), Clock(SECONDS))
    short = np.maximum(given.lack, 0.0)
    assert short.sum() > 100
    cheapest = np.min([row.cost for row in one.rows], axis=0)
    assert given.worth == (0, 0.0, pytest.approx(given.cost + float(short @ cheapest)))
    tied = problem(0, min_load=6, budget=4000.0)
    again = Given.of(tied, given.sets)
    assert again.worth[1] == pytest.approx(short.sum()) and again.worth[2] == pytest.approx(given.cost)


def test_no_multiplier_pays_more_for_a_load_than_a_label_costs():
    """Beyond the price of a spare label the label itself is cheaper, so prices of labels are never negative."""
    one = problem(0, min_load=6)
    duals = one.coupling.valid(np.full(one.coupling.lower.size, 9.0))
    assert all((one.coupling.prices(row, duals) >= -1e-12).all() for row in range(len(one.rows)))
