"""Tasks by themselves: bounds hold, plans hold, and small cases end at the optimum."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, recipe
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.individual import plan_stages
from crowdopt.assign.individual.kernels.least_set import least_set, new_desk, no_rests, rank, rests_of
from crowdopt.assign.individual.own_stages import is_individual, solve_individually
from crowdopt.assign.plan import breaches
from crowdopt.core.solution import Options, Progress
from crowdopt.recheck.bounds.individual_proofs import least_sets
from crowdopt.recheck.bounds.proofs import minimum_knapsack, prove_blocks
from tests.small import brute_force, instances

OFTEN = settings(max_examples=5)


def solved(instance: AssignmentInstance, seconds: float = 10.0):
    return solve_individually(instance, SOLVERS, Options(time_limit=seconds), None).plan()


def individual(seed: int, n: int = 60, m: int = 12) -> AssignmentInstance:
    """Own accuracies and prices, a target per task, barred, fixed and collected pairs, limits on labels and loads."""
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(n * m)[: 3 * n // 2]
    barred, collected, fixed = np.split(np.column_stack(np.divmod(pairs, m)), [n // 2, n])
    fewest = rng.integers(0, 3, n) * (rng.random(n) < 0.3)
    return AssignmentInstance(
        accuracy=rng.uniform(0.6, 0.97, (n, m)),
        task_type=np.arange(n),
        rule="bhattacharyya",
        capacity=rng.integers(n // 3, n // 2 + 8, m),
        epsilon=rng.uniform(0.1, 0.3, n),
        cost=np.round(rng.uniform(0.5, 3.0, (n, m)), 2),
        forbidden=barred,
        collected=collected,
        fixed=fixed[: n // 6],
        min_labels=fewest,
        max_labels=np.where(rng.random(n) < 0.3, fewest + 5, 10**6),
        min_load=rng.integers(0, 4, m),
    )


def check_small(instance: AssignmentInstance) -> None:
    plan, best = solved(instance), brute_force(instance)
    if best is None:
        assert not plan.found
        return
    assert plan.bound <= best + 1e-9 * max(1.0, best)
    assert plan.found and not breaches(instance, plan.pairs)
    assert plan.objective == pytest.approx(best, rel=1e-9, abs=1e-9)
    if plan.duals is not None and plan.duals.form == "blocks":
        proven = prove_blocks(instance, plan.duals.worker, plan.duals.labels, plan.duals.budget)
        whole = bool((instance.cost == np.rint(instance.cost)).all())
        proven = np.ceil(proven - 1e-9 * max(1.0, abs(proven))) if whole else proven
        assert plan.certified_bound <= proven + 1e-9 * max(1.0, abs(proven))


@OFTEN
@given(instances())
def test_small_cases_end_at_the_optimum(instance):
    """With every option on: the bound is below the optimum, and the plan is the optimum that brute force knows."""
    check_small(instance)


@pytest.mark.slow
@settings(max_examples=400)
@given(instances())
def test_many_small_cases_end_at_the_optimum(instance):
    """The same, many times over."""
    check_small(instance)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_the_bound_is_recomputed_by_another_algorithm(seed):
    """Multipliers prove what the plan says they prove, priced by compiled loops and by plain numpy alike."""
    instance = individual(seed)
    plan = solved(instance, 5.0)
    assert plan.found and not breaches(instance, plan.pairs) and plan.duals.form == "blocks"
    duals = plan.duals
    load = np.where((duals.worker > 0) & (instance.min_load == 0), 0.0, duals.worker)
    proven = prove_blocks(instance, duals.worker, duals.labels, duals.budget)
    assert plan.certified_bound <= proven + 1e-9 * abs(proven)
    compiled = least_sets(instance, load, duals.labels, 1.0).sum()
    links = proven - prove_each(instance, load, duals.labels)
    assert links + compiled == pytest.approx(proven, rel=1e-6)
    assert plan.gap < 0.02


def prove_each(instance: AssignmentInstance, load, limit) -> float:
    """The tasks' own parts of the bound, one knapsack after another."""
    total = 0.0
    for i in range(instance.n_tasks):
        mine = instance.fixed[instance.fixed[:, 0] == i, 1]
        free = np.ones(instance.n_workers, bool)
        free[[*mine, *instance.barred[instance.barred[:, 0] == i, 1]]] = False
        kind = instance.task_type[i]
        reduced, worth = instance.cost[kind] - load - limit[i], instance.evidence[kind]
        need = instance.floor[i] - worth[mine].sum()
        total += reduced[mine].sum() + minimum_knapsack(reduced[free], worth[free], float(need))
    return total


@pytest.mark.slow
def test_the_gap_is_small_where_tasks_are_many():
    """Shapley and Folkman: the gap is at most about m + 1 times the dearest task, so nothing where tasks are many."""
    rng = np.random.default_rng(5)
    instance = AssignmentInstance(
        accuracy=rng.uniform(0.6, 0.97, (2000, 10)),
        task_type=np.arange(2000),
        capacity=np.full(10, 1200),
        epsilon=rng.uniform(0.2, 0.35, 2000),
        cost=np.round(rng.uniform(0.5, 3.0, 10), 3),
    )
    plan = solved(instance, 20.0)
    assert plan.found and plan.gap < 1e-3 and not breaches(instance, plan.pairs)


def test_individual_is_who_has_a_need_of_their_own():
    """Ten kinds of task are no individuals, a thousand targets are."""
    rng = np.random.default_rng(0)
    given = {"accuracy": rng.uniform(0.5, 0.95, (10, 100)), "task_type": np.arange(1000) % 10, "capacity": [200] * 100}
    assert not is_individual(AssignmentInstance(**given, epsilon=0.1))
    assert is_individual(AssignmentInstance(**given, epsilon=rng.uniform(0.05, 0.15, 1000)))


def test_a_plan_comes_before_the_first_bound(monkeypatch):
    """With little time, or little of the machine, there is a plan; better ones follow."""
    rng = np.random.default_rng(3)
    instance = recipe("R10:60x30", seed=2).with_epsilon(rng.uniform(0.07, 0.13, 60))
    monkeypatch.setattr(plan_stages, "SOON", 0)
    told: list[Progress] = []
    plan = solve_individually(instance, SOLVERS, Options(time_limit=600.0, nodes=1, gap=0.02), told.append).plan()
    first = next(one for one in told if one.value is not None)
    assert first.bound is None
    assert first.value >= plan.objective >= plan.bound > 0
    assert not breaches(instance, plan.pairs)


@pytest.mark.parametrize("seed", range(12))
def test_a_table_of_what_is_left_open_hides_no_set(seed):
    """With it, for fewer than the most that a row needs and with workers barred: the same least set, found sooner."""
    rng = np.random.default_rng(seed)
    price, worth = rng.integers(1, 6, 12).astype(float), rng.choice([0.2, 0.3, 0.45], 12)
    most, barred = 2.5, rng.integers(0, 12, 2)
    order, ratio = np.empty(12, np.int64), np.empty(12)
    n = rank(price, worth, order, ratio)
    table = rests_of(n, order, price, worth, most)
    able = np.setdiff1d(np.arange(12), barred)
    for need in rng.uniform(0.1, most, 3):
        sets = [list(one) for size in range(11) for one in combinations(able, size)]
        wanted = min((price[one].sum() for one in sets if worth[one].sum() >= need), default=np.inf)
        bounds = []
        for rests in (no_rests(), table):
            for nodes in (1, 100_000):
                desk = new_desk(12)
                desk.skip[barred] = True
                bound, cost = least_set(n, order, price, worth, need, 1e-9, nodes, rests, desk)
                bounds.append(bound)
                assert bound <= wanted + 1e-9 and cost >= wanted - 1e-9
            assert bound == pytest.approx(wanted) == pytest.approx(cost)
        assert bounds[2] >= bounds[0] - 1e-9  # after one node
