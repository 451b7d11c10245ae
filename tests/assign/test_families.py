"""Families by exact errors: at most one of each in a set, however many there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

import crowdopt
from crowdopt import AssignmentInstance, Group, OwnRows
from crowdopt.crowd.vote_errors import breaches, exact_errors
from tests.checkers.plans import broken, least_cost
from tests.sampled import first_of

TARGET = 0.0801  # that no label of three digits meets to the last bit


def drawn(seed: int, tasks: int, workers: int, families: int) -> AssignmentInstance:
    """Workers in families, each with a price; twice as much capacity as three labels a task take."""
    rng = np.random.default_rng([93, seed])
    parts = np.array_split(rng.permutation(workers), families)
    return AssignmentInstance(
        rng.uniform(0.6, 0.95, (2, workers)).round(3),
        rng.integers(0, 2, tasks),
        np.full(workers, max(1, 6 * tasks // workers)),
        TARGET,
        cost=rng.integers(1, 8, workers) / 2,
        rule="exact-error",
        classes=2 + seed % 2,
        groups=[Group(f"f{k}", part, dependent=True) for k, part in enumerate(parts)],
    )


@pytest.mark.parametrize("seed", first_of(range(4), 1))
def test_a_plan_of_many_families_is_close_to_proven(seed):
    """Families are more than the method tells apart by segments: a bound that forgot them stayed far below."""
    one = drawn(seed, 120, 60, 9 + 4 * (seed % 4))
    plan = crowdopt.solve(one, time_limit=30)
    assert plan.found and plan.gap <= 0.01 and broken(one, plan.pairs) == []


@pytest.mark.parametrize("seed", first_of(range(10, 16), 2))
def test_a_task_of_many_families_gets_its_cheapest_set(seed):
    """Against every set of workers, no two of a family."""
    one = drawn(seed, 1, 14, 10)
    plan, best = crowdopt.solve(one, time_limit=30), least_cost(one)
    assert plan.found == np.isfinite(best)
    if plan.found:
        assert plan.proven and plan.objective == pytest.approx(best)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_rows_of_days_leave_next_to_nobody_short_who_could_be_served(seed):
    """Who gives six labels a day at most: the most tasks, day by day, by a program over all sets of who is in."""
    rng = np.random.default_rng([94, seed])
    days, tasks, workers, most = 4, 30, 14, 6
    skill, away = rng.uniform(0.65, 0.93, workers).round(3), rng.random((days, workers)) < 0.2
    here = ~np.repeat(away, tasks, axis=0)
    every, barred = np.argwhere(here), np.argwhere(~here)
    row = every[:, 0] // tasks * workers + every[:, 1]
    known, row = np.unique(row, return_inverse=True)
    sides = np.full(known.size, -np.inf), np.full(known.size, float(most))
    rows = OwnRows(list(map(str, known)), row, every, np.ones(len(every)), *sides)
    given = {"rule": "exact-error", "own_rows": rows, "forbidden": barred, "types": ["all"]}
    one = AssignmentInstance(skill[None], np.zeros(days * tasks, np.int64), days * most, TARGET, **given)
    sets = [list(some) for size in range(6) for some in combinations(range(workers), size)]
    single = AssignmentInstance(skill[None], np.zeros(len(sets), np.int64), len(sets), TARGET, rule="exact-error")
    pairs = np.array([(k, j) for k, some in enumerate(sets) for j in some])
    fine = exact_errors(single, pairs)[0] <= TARGET
    table = np.array([[j in some for j in range(workers)] for some in sets])[fine].astype(float)
    each, best = np.ones(len(table)), 0
    for gone in away:
        limits = LinearConstraint(np.vstack([table.T, each]), -np.inf, [*np.where(gone, 0, most), tasks])
        best += round(-milp(-each, constraints=limits, integrality=each).fun)
    plan = crowdopt.solve(one, time_limit=120)
    assert days * tasks - len(plan.short) >= best - 1
    assert not breaches(one, plan.pairs, short=plan.short)
