"""The exact method, held against brute force, the full program and itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Status, assign, recipe
from crowdopt.assign.methods import linear_rules
from crowdopt.assign.plan import breaches
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.recheck.bounds.multipliers import fewest_labels, prove
from tests.sampled import first_of
from tests.small import brute_force, instances


def repeated(instance: AssignmentInstance, times: int) -> AssignmentInstance:
    """Every task so many times: classes of interchangeable tasks. Pairs are those of the first copies."""
    copies = np.tile(np.arange(instance.n_tasks), times)
    fields = {
        name: getattr(instance, name)[copies] for name in ("task_type", "epsilon", "demand", "min_labels", "max_labels")
    }
    return replace(instance, **fields, capacity=instance.capacity * times, min_load=instance.min_load)


@settings(max_examples=30)
@given(instances())
def test_the_optimum_is_that_of_brute_force(instance):
    """Every option, feasible or not: proven, of the same cost, and never a bound above it."""
    best, plan = brute_force(instance), assign(instance, gap=0.0)
    assert plan.proven
    if best is None:
        assert plan.status is Status.INFEASIBLE and not plan.found
    else:
        assert plan.status is Status.OPTIMAL and plan.objective == pytest.approx(best, abs=1e-9)
        assert plan.certified_bound <= best + 1e-9 and not breaches(instance, plan.pairs)


@settings(max_examples=25)
@given(instances(most_pairs=12), st.integers(2, 4))
def test_classes_change_nothing(instance, times):
    """With every task repeated, the method over classes finds what HiGHS finds on the full program."""
    many = repeated(replace(instance, fixed=None), times)
    plan, full = assign(many, time_limit=20, gap=0.0), assign(many, method="highs", time_limit=20, gap=0.0)
    if full.proven and plan.proven:
        assert plan.status is full.status
        assert plan.objective is None or plan.objective == pytest.approx(full.objective, abs=1e-6)
    if full.found:
        assert plan.bound <= full.objective + 1e-6
    if plan.found:
        assert full.bound <= plan.objective + 1e-6 and not breaches(many, plan.pairs)


@settings(max_examples=25)
@given(instances(most_pairs=12), st.integers(1, 4))
def test_the_lp_over_classes_is_the_lp(instance, times):
    """Aggregation is exact: the same optimum to 1e-9, certified, and the full primal keeps every limit."""
    many = repeated(replace(instance, fixed=None), times)
    plan, full = assign(many, program="lp"), assign(many, method="highs", program="lp")
    assert plan.status is full.status and plan.proof == "certificate"
    if plan.found:
        assert abs(plan.objective - full.objective) <= 1e-9 * max(1.0, full.objective)
        assert not breaches(many, plan.pairs, plan.amounts) and abs(plan.gap) <= 1e-9


@pytest.mark.parametrize(
    "name", ["HS:1000x300", "U:1000x300", "K3:1000x300", "R1:1000x300", "R10:1000x300", "B5:1000x300"]
)
def test_the_full_dual_is_read_off_the_classes(name):
    """Each class's multipliers, given to its members, prove the LP's optimum by verify's own sum."""
    instance = recipe(name)
    plan = assign(instance, program="lp")
    fewest = instance.new_label_limits[0]
    bound = prove(instance, plan.duals.task, plan.duals.worker, plan.duals.labels, 0.0, fewest)
    assert plan.proven and bound == pytest.approx(plan.objective, rel=1e-12)


@pytest.mark.parametrize(("name", "labels"), [("HS:1000x300", 29000), ("U:1000x300", 58000), ("K3:1000x300", 29000)])
def test_the_papers_crowds_are_proven_by_multipliers_alone(name, labels):
    """With the fewest labels per task as rows the LP is tight: nothing is left to a search, or to the compiler."""
    plan = assign(recipe(name), gap=0.0)
    assert plan.proven and plan.proof == "certificate" and plan.objective == plan.certified_bound == labels


def test_a_first_plan_leaves_the_engine_most_of_the_time(monkeypatch):
    """Aiming sees a clock of three tenths, the engine what the limit leaves."""
    left = []

    def go_on(search):
        left.append(search.clock.left)
        raise StopIteration  # what comes after takes seconds

    monkeypatch.setattr(linear_rules, "aim", lambda search, *_: left.append(search.clock.left))
    monkeypatch.setattr(linear_rules, "go_on", go_on)
    with pytest.raises(StopIteration):
        assign(recipe("R10:100x60"), time_limit=20, nodes=1, strict=True, gap=0.0)
    assert left[0] <= 6 < 12 < left[1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_type_binding_capacity_is_proven(seed):
    """R1: general solvers stay percents away; splitting by exact repartition closes it."""
    plan = assign(recipe("R1:1000x300", seed), time_limit=20, gap=0.0)
    assert plan.proven and plan.proof == "certificate"


@pytest.mark.parametrize("name", [pytest.param("R10:1000x300", marks=pytest.mark.slow), "B5:1000x300"])
def test_many_types_come_within_three_per_mille(name):
    """Plans near the bound after a fixed number of attempts, the same on every machine."""
    first, second = (assign(recipe(name), nodes=2, time_limit=300, gap=0.003) for _ in range(2))
    assert first.gap <= 0.003 and np.array_equal(first.pairs, second.pairs)


@settings(max_examples=4)
@given(st.integers(0, 10**6))
def test_relabelling_tasks_and_workers_changes_nothing(seed):
    """The cost of the best plan does not depend on who is called what."""
    rng = np.random.default_rng(seed)
    base = recipe("R10:20x20", seed % 50)
    tasks, workers = rng.permutation(20), rng.permutation(20)
    shuffled = replace(
        base,
        task_type=base.task_type[tasks],
        accuracy=base.accuracy[:, workers],
        capacity=base.capacity[workers],
        title="",
    )
    one, other = assign(base, gap=0.0), assign(shuffled, gap=0.0)
    assert one.status is other.status and one.proven and one.objective == other.objective


@pytest.mark.parametrize("name", first_of(["R10:60x40", "L3:80x40", "B5:200x60"], 2))
def test_splitting_a_class_changes_nothing(name):
    """A type under two names is one class of tasks again; a worker without capacity takes part in nothing."""
    base = recipe(name)
    half = np.arange(base.n_tasks) % 2
    twice = replace(
        base,
        accuracy=np.hstack([np.vstack([base.accuracy, base.accuracy]), np.vstack([base.accuracy] * 2)[:, :1]]),
        task_type=base.task_type + half * base.n_types,
        capacity=np.append(base.capacity, 0),
        cost=1.0,
        min_load=np.zeros(base.n_workers + 1, np.int64),
        title="",
    )
    one, other = assign(base, time_limit=30, gap=0.0), assign(twice, time_limit=30, gap=0.0)
    assert one.proven and other.proven and one.objective == other.objective
    assert one.certified_bound == pytest.approx(other.certified_bound)


def test_scaling_prices_scales_the_cost():
    """Paying all twice as much doubles the cost; paying 1.5 times as much too, though bounds no longer round."""
    base = recipe("R10:20x20", priced=True)
    cheap = assign(base, time_limit=20, gap=0.0)
    for factor in (2.0, 1.5):
        dear = assign(replace(base, cost=base.cost * factor), time_limit=20, gap=0.0)
        assert cheap.proven and dear.proven and dear.objective == pytest.approx(factor * cheap.objective)


@settings(max_examples=20)
@given(instances(), st.sampled_from([0.5, 0.9, 1.1, 2.0, 10.0]))
def test_scaled_multipliers_never_prove_too_much(instance, factor):
    """The bound follows from any multipliers, so spoiling the stored ones cannot raise it above the optimum."""
    best, plan = brute_force(instance), assign(instance, gap=0.0)
    if best is None or plan.duals is None:
        return
    duals, fewest = plan.duals, fewest_labels(instance)
    for spoilt in (
        (duals.task * factor, duals.worker, duals.labels),
        (duals.task, duals.worker * factor, duals.labels),
        (duals.task, duals.worker, duals.labels * factor),
    ):
        assert prove(instance, *spoilt, duals.budget, fewest) <= best + 1e-9


def test_structureless_instances_go_to_the_backend():
    """One type per task: no classes to speak of, so the full program is searched from the plan found here."""
    rng = np.random.default_rng(4)
    instance = AssignmentInstance(rng.uniform(0.6, 0.95, (12, 10)), None, rng.integers(3, 6, 10), 0.3)
    plan, full = assign(instance, time_limit=20, gap=0.0), assign(instance, method="highs", time_limit=20, gap=0.0)
    assert plan.proven and full.proven and plan.objective == full.objective


@pytest.mark.slow
def test_limits_are_kept_on_the_way():
    """Label limits, barred and fixed pairs, labels already in and a budget, all at once on a larger instance."""
    rng = np.random.default_rng(8)
    base = recipe("R10:200x100", 3)
    pairs = np.unique(rng.integers(0, (200, 100), (60, 2)), axis=0)
    pairs = pairs[rng.permutation(len(pairs))]
    instance = replace(
        base,
        rule="bhattacharyya",
        forbidden=pairs[:20],
        fixed=pairs[20:30],
        collected=pairs[30:],
        min_labels=rng.integers(0, 4, 200),
        max_labels=np.where(rng.random(200) < 0.5, UNLIMITED, 14),
        epsilon=rng.choice([0.05, 0.1, 0.2], 200),
        budget=5000.0,
    )
    plan = assign(instance, time_limit=20, gap=0.02)
    assert plan.found and plan.gap <= 0.02 and not breaches(instance, plan.pairs)
