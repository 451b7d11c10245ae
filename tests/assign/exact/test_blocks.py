"""Blocks: knapsacks against brute force, bounds below every plan, boxes against the LP itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Options, assign, recipe, solve, write_plan
from crowdopt.assign.exact import boxstep, kernels
from crowdopt.assign.exact.blocks import BlockPrices, Blocks, Effort, Knapsack
from crowdopt.assign.exact.dive import DiveSettings, dive
from crowdopt.backends.highs import HighsMaster
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated
from crowdopt.recheck.bounds.proofs import minimum_knapsack, prove_blocks
from tests.effort import examples
from tests.small import brute_force, instances

ROUNDING = 1e-9


def knapsack(seed: int):
    """Costs of either sign, worths with many ties, a need that may be out of reach."""
    rng = np.random.default_rng(seed)
    n, digits = int(rng.integers(1, 11)), rng.integers(1, 4, 2)
    cost, worth = rng.uniform(-0.3, 2.0, n).round(digits[0]), rng.uniform(0.0, 1.0, n).round(digits[1])
    need = rng.uniform(-0.2, 1.1) * worth.sum() + 0.001
    best = np.inf
    for chosen in itertools.product([0, 1], repeat=n):
        if np.dot(chosen, worth) >= need - 1e-13:
            best = min(best, float(np.dot(chosen, cost)))
    return cost, worth, need, best, rng


@examples(300)
@given(st.integers(0, 10**9))
def test_the_priced_set_is_the_cheapest(seed):
    """Against all subsets, on any grid, and with so few nodes that only the bound is left."""
    cost, worth, need, best, rng = knapsack(seed)
    sets, sizes = np.empty((3, cost.size), np.int64), np.empty(3, np.int64)
    for nodes in (10**6, int(rng.integers(0, 3))):
        grid = int(rng.integers(1, 60))
        bound, value = kernels.cheapest_set(Knapsack(cost, worth, need), Effort(1e-12, nodes, grid), sets, sizes)
        assert bound <= best + ROUNDING and value >= best - ROUNDING
        if np.isfinite(best):
            chosen = sets[0, : sizes[0]]
            assert worth[chosen].sum() >= need - ROUNDING and cost[chosen].sum() == pytest.approx(value)
        if nodes == 10**6:
            assert bound == best or bound == pytest.approx(best, abs=ROUNDING)


@examples(300)
@given(st.integers(0, 10**9))
def test_verify_s_own_knapsack_agrees_with_brute_force(seed):
    """It is the second opinion on every block bound: never above the optimum, and within its tolerance of it."""
    cost, worth, need, best, _ = knapsack(seed)
    found = minimum_knapsack(cost, worth, need)
    assert found == best or best - 1e-6 * max(1.0, abs(best)) <= found <= best + ROUNDING


@examples(60)
@given(instances(), st.integers(0, 10**9))
def test_any_multipliers_bound_every_plan(instance, seed):
    """Weak duality over blocks: whatever stands in a plan folder, no plan costs less than it proves."""
    best = brute_force(instance)
    rng = np.random.default_rng(seed)
    worker, labels = rng.normal(0, 1, instance.n_workers), rng.normal(0, 1, instance.n_tasks)
    bound = prove_blocks(instance, worker, labels, float(-rng.exponential()))
    assert best is None or bound <= best + ROUNDING


@examples(30, deadline=None)
@given(instances())
def test_generated_bounds_lie_below_the_optimum(instance):
    """Column generation from no multipliers at all, with every option in the master; its claim is proven again."""
    best, classes = brute_force(instance), classes_of(instance)
    start = BlockPrices(np.zeros(classes.capacity.size), np.zeros(classes.need.size))
    blocks = Blocks(classes, HighsMaster, start, classes.tasks_in, classes.workers_in * classes.capacity)
    blocks.generate(30, 1e-6, np.inf, lambda: 10.0)
    assert best is None or blocks.proven <= best + ROUNDING
    prices = blocks.center
    worker, labels = prices.worker[classes.worker_class], prices.labels[classes.task_class]
    again = prove_blocks(instance, worker, labels, prices.budget)
    assert blocks.bound - blocks.doubt <= again + ROUNDING * max(1.0, abs(again))


@pytest.mark.parametrize("name", ["L3:60x40", "R10:100x60", "B5:100x60"])
@pytest.mark.parametrize("tries", [1, 3])
def test_a_dive_keeps_every_capacity(name, tries):
    """What is fixed, what is left and what room remains add up, and every set covers its task."""
    classes = classes_of(recipe(name))
    start = BlockPrices(np.zeros(classes.capacity.size), np.zeros(classes.need.size))
    supply = classes.workers_in * classes.capacity
    blocks = Blocks(classes, HighsMaster, start, classes.tasks_in, supply)
    blocks.generate(100, 1e-6, np.inf, lambda: 30.0)
    dived = dive(blocks, DiveSettings(5, tries), np.random.default_rng(0), np.inf, lambda: 30.0)
    used = np.zeros(supply.size, np.int64)
    left = classes.tasks_in.copy()
    for kind, groups, count in dived.hands(blocks):
        assert classes.evidence[kind, groups].sum() >= classes.floor[kind] - ROUNDING
        np.add.at(used, groups, count)
        left[kind] -= count
    assert (used + dived.room == supply).all() and (dived.room >= 0).all() and (left == dived.left).all()


@pytest.mark.parametrize(
    ("name", "seed"), [("R10:300x300", 0), ("B5:300x200", 1), ("R10:400x150", 2), ("L3:300x100", 0)]
)
@pytest.mark.parametrize("priced", [False, True], ids=["", "priced"])
def test_the_box_step_is_the_lp(name, seed, priced, monkeypatch):
    """From nested samples and boxes to the same optimum, with a dual that proves it, as simplex on the whole LP."""
    monkeypatch.setattr(boxstep, "SAMPLE", 60)
    monkeypatch.setattr(boxstep, "GROWTH", 2)
    classes = classes_of(recipe(name, seed, priced=priced))
    step = boxstep.box_step(classes, 0.0, solve, Options())
    whole = solve(aggregated.of_classes(classes), "highs-simplex")
    assert step is not None and step.value == pytest.approx(whole.claimed_bound, rel=1e-8)
    assert (step.amounts.sum(axis=1) <= classes.workers_in * classes.capacity + 1e-6).all()
    assert ((classes.evidence * step.amounts.T).sum(axis=1) >= classes.tasks_in * classes.floor - 1e-5).all()


@pytest.mark.parametrize("name", ["L3:80x40", "B5:200x60", "R10:60x40"])
def test_equal_runs_write_equal_bytes(name, tmp_path):
    """The same seed and node limit: every file but run.json."""
    for place in ("a", "b"):
        write_plan(assign(recipe(name), nodes=4, time_limit=300, seed=3), tmp_path / place)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert files
    for file in files:
        if file.name != "run.json":
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


@pytest.mark.parametrize("skills", [(0.9, 0.75, 0.6), (0.85, 0.65), (0.8, 0.7, 0.6, 0.55)])
@pytest.mark.parametrize("epsilon", [0.02, 0.1])
def test_few_skills_are_proven_by_certificate(skills, epsilon):
    """Many workers alike make many equal sets; a search that looks at twins once still finds the cheapest."""
    accuracy = np.resize(skills, (1, 60))
    instance = AssignmentInstance(accuracy, np.zeros(100, int), np.full(60, 60), epsilon, rule="hoeffding")
    plan = assign(instance, time_limit=60, nodes=10)
    assert plan.proven and plan.proof == "certificate"
