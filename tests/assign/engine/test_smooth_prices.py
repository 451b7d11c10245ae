"""The smoothed dual: its value and gradient are those of all sets written out, and cold it is the bound itself."""

from itertools import product

import numpy as np
import pytest

from crowdopt.assign.engine.prepared import levels_apart, problem_of
from crowdopt.assign.engine.set_prices import sweep
from crowdopt.assign.engine.smooth_kernels import softly
from crowdopt.assign.engine.smooth_prices import SoftDual, smoothed
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import AssignmentInstance


def _enumerated(price, width, heat, needs, tasks):
    chosen = np.array(list(product([0, 1], repeat=price.size)))
    paid, brought = chosen @ price, chosen @ width
    value, use = 0.0, np.zeros(price.size)
    for need, number in zip(needs, tasks, strict=True):
        enough = brought >= need
        chance = np.exp(-(paid - paid[enough].min()) / heat) * enough
        value += number * (paid[enough].min() - heat * np.log(chance.sum()))
        use += number * (chance / chance.sum()) @ chosen
    return value, use


@pytest.mark.parametrize("seed", range(20))
def test_value_and_gradient_are_those_of_all_sets(seed):
    rng = np.random.default_rng(seed)
    price, width = rng.uniform(-0.5, 3.0, 8), rng.integers(1, 6, 8)
    needs, tasks = np.array([3, 7, 9]), np.array([2.0, 1.0, 4.0])
    needs = np.minimum(needs, width.sum())
    ways, use = np.empty((9, int(needs.max()) + 1)), np.empty(8)
    value = softly(price, width, 0.4, 0.3, needs, tasks, ways, use)
    expected, used = _enumerated(price, width, 0.4, needs, tasks)
    assert value == pytest.approx(expected, rel=1e-9)
    assert use == pytest.approx(used, rel=1e-9, abs=1e-12)


def _instance(seed, **given):
    rng = np.random.default_rng(seed)
    n, m = 60, 12
    return AssignmentInstance(
        accuracy=rng.uniform(0.6, 0.95, (2, m)),
        task_type=np.arange(n) % 2,
        epsilon=0.1,
        capacity=rng.integers(20, 40, m),
        cost=rng.uniform(1.0, 3.0, (2, m)),
        rule="bhattacharyya",
        **given,
    )


@pytest.mark.parametrize("given", [{}, {"min_labels": 4}, {"max_labels": 6}])
def test_slope_is_the_change_of_the_value(given):
    problem = problem_of(_instance(0, **given))
    dual, rng = SoftDual(problem), np.random.default_rng(1)
    point = np.clip(rng.normal(-0.3, 0.2, dual.lower.size), dual.least, dual.most)
    point = np.where(point == 0, np.where(np.isfinite(dual.upper), -0.1, 0.1), point)
    slope, step = dual.at(point, 0.3)[1], 1e-5
    for k in range(point.size):
        ahead, behind = (dual.at(point + sign * step * (np.arange(point.size) == k), 0.3)[0] for sign in (1, -1))
        assert (ahead - behind) / (2 * step) == pytest.approx(slope[k], rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_found_proves_more_than_no_prices(seed):
    instance = _instance(seed)
    problem = problem_of(instance)
    nothing = np.zeros(problem.coupling.lower.size)
    found = smoothed(problem, nothing, Clock(10.0))
    assert (found == problem.coupling.valid(found)).all()
    assert sweep(problem, found).bound >= sweep(problem, nothing).bound
    runs = levels_apart(problem, sweep(problem, found).least, 3)
    for row, parts in zip(problem.rows, runs, strict=True):
        assert len(parts) <= 3
        assert np.concatenate(parts).tolist() == list(range(row.kinds.size))
