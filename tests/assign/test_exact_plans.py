"""The exact method, held against brute force, the full program and itself."""

from __future__ import annotations

from dataclasses import replace
from threading import active_count
from time import sleep

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Status, recipe, solve, write_plan
from crowdopt.assign.standing import alarm
from crowdopt.core.clock import Clock
from crowdopt.crowd.vote_errors import breaches
from crowdopt.recheck.bounds import JointPull, prove_sets
from tests.sampled import first_of
from tests.small import instances

pytestmark = pytest.mark.usefixtures("compiled")  # nothing here is timed before the loops are compiled


def repeated(instance: AssignmentInstance, times: int) -> AssignmentInstance:
    """Every task so many times: classes of interchangeable tasks. Pairs are those of the first copies."""
    names = ("task_type", "epsilon", "demand", "min_labels", "max_labels")
    copies = {name: np.tile(getattr(instance, name), times) for name in names}
    return replace(instance, **copies, capacity=instance.capacity * times)


@settings(max_examples=12)
@given(instances(most_pairs=12), st.integers(2, 4))
def test_classes_change_nothing(instance, times):
    """With every task repeated, the method over classes finds what HiGHS finds on the full program; shares too."""
    many = repeated(replace(instance, fixed=None), times)
    plan, full = (solve(many, method, time_limit=20, gap=0.0) for method in ("exact", "highs"))
    if full.proven and plan.proven:
        assert plan.status is full.status
        assert plan.objective is None or plan.objective == pytest.approx(full.objective, abs=1e-6)
    if full.found:
        assert plan.bound <= full.objective + 1e-6
    if plan.found:
        assert full.bound <= plan.objective + 1e-6 and not breaches(many, plan.pairs)
    plan, full = (solve(many, method, program="lp") for method in ("exact", "highs"))
    assert plan.status is full.status and plan.proof == "certificate"
    if plan.found:
        assert abs(plan.objective - full.objective) <= 1e-9 * max(1.0, full.objective)
        assert not breaches(many, plan.pairs, plan.amounts) and abs(plan.gap) <= 1e-9


@pytest.mark.parametrize(("name", "labels"), [("HS:1000x300", 29000), ("U:1000x300", 58000), ("K3:1000x300", 29000)])
def test_the_papers_crowds_are_proven_by_multipliers_alone(name, labels):
    """With the fewest labels per task as rows the LP is tight: nothing is left to a search, or to the compiler."""
    plan = solve(recipe(name), gap=0.0)
    assert plan.proven and plan.proof == "certificate" and plan.objective == plan.certified_bound == labels


@pytest.mark.parametrize("tasks", [1, 3])
def test_few_tasks_may_need_more_workers_than_many_would_get_room_for(tasks):
    """Skills next to a guess: 81 labels a task at least, by multipliers; a plan of that length keeps the target."""
    accuracy = np.random.default_rng(0).uniform(0.52, 0.58, (1, 200))
    one = AssignmentInstance(accuracy, np.zeros(tasks, int), np.full(200, tasks), 0.1, rule="exact-error")
    plan = solve(one, time_limit=5)
    assert plan.found and not breaches(one, plan.pairs) and plan.objective > 64 * tasks


def test_the_watch_on_a_limit_of_any_length_goes_on():
    """Longer than a thread can wait at a time: it does not end in a fault of its own."""
    before = active_count()
    with alarm(Clock(1e300)) as rung:
        sleep(0.05)
        assert active_count() == before + 1 and not rung[0]


def test_one_type_binding_capacity_is_proven():
    """R1: general solvers stay percents away; splitting by exact repartition closes it."""
    plan = solve(recipe("R1:1000x300", 0), time_limit=20, gap=0.0)
    assert plan.proven and plan.proof == "certificate"


def test_many_types_come_within_three_per_mille():
    """A plan near the bound after a fixed number of attempts."""
    assert solve(recipe("B5:1000x300"), nodes=2, time_limit=300, gap=0.003).gap <= 0.003


@pytest.mark.parametrize("name", first_of(["R10:60x40", "L3:80x40", "B5:200x60"]))
def test_equal_runs_write_equal_bytes(name, tmp_path):
    """The same seed and node limit: every file but run.json."""
    first, second = tmp_path / "a", tmp_path / "b"
    for place in (first, second):
        write_plan(solve(recipe(name), nodes=2, time_limit=300, seed=3, gap=0.0), place)
    files = [path.relative_to(first) for path in first.rglob("*") if path.is_file() and path.name != "run.json"]
    assert files and all((first / file).read_bytes() == (second / file).read_bytes() for file in files)


@pytest.mark.parametrize("skills", first_of([((0.9, 0.75, 0.6),), ((0.8, 0.7, 0.6, 0.55),)]))
def test_few_skills_are_proven_by_certificate(skills):
    """Many workers alike make many equal sets; a search that looks at twins once still finds the cheapest."""
    accuracy = np.resize(skills, (1, 60))
    instance = AssignmentInstance(accuracy, np.zeros(100, int), np.full(60, 60), 0.02, rule="hoeffding")
    plan = solve(instance, time_limit=60, nodes=10, gap=0.0)
    assert plan.proven and plan.proof == "certificate"


@pytest.mark.parametrize(("tasks", "first"), first_of([(100, 15), (1000, 143)]))
def test_capacities_just_short_of_whole_labels_are_proven_too_small(tasks, first):
    """Nine of ten labels of .85 cover a task by themselves, but every task's last label is only needed in part.

    Below ``first`` labels each, evidence suffices in the mean, whole sets do not; from there on there is a plan. The
    multipliers prove it by verify's own searches too: more than all workers could be paid.
    """
    skills = np.resize((0.85, 0.65), (1, 60))
    short, enough = (
        AssignmentInstance(skills, np.zeros(tasks, int), np.full(60, capacity), 0.1, rule="bhattacharyya")
        for capacity in (first - 1, first)
    )
    assert short.evidence.sum() * (first - 1) >= short.need.sum()
    plan = solve(short, require="served", time_limit=60, gap=0.0)
    assert plan.status is Status.INFEASIBLE and plan.proof == "certificate" and plan.duals is not None
    proven = prove_sets(short, plan.duals.worker, plan.duals.budget, JointPull.none(short))
    assert proven > short.cost.max(axis=0) @ np.minimum(short.capacity, tasks)
    assert solve(enough, require="served", time_limit=60, gap=0.0).status is Status.OPTIMAL


def test_where_sets_are_few_the_best_choice_of_them_is_proven():
    """Two pools have 576 sets: prices leave 2 % open, the whole program over the sets nothing."""
    accuracy = np.repeat([0.9, 0.65], [5, 95])
    instance = AssignmentInstance(accuracy[None], np.zeros(200, int), np.full(100, 120), 0.05, rule="bhattacharyya")
    plan = solve(instance, gap=0.0, time_limit=60)
    assert plan.proven and plan.objective == 3934 and plan.proof == "solver"
