"""Workers told alike: bounds are bounds of the instance, and plans keep the limits that were left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, OwnRows, assign, verify, write_campaign, write_plan
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.engine import alike
from crowdopt.assign.engine.seating import Seating
from crowdopt.assign.engine.set_engine import solve_by_sets
from crowdopt.assign.fixed_labels import with_fixed_labels
from crowdopt.assign.plan import breaches
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options
from crowdopt.crowd.classes import classes_of, equal_rows
from crowdopt.crowd.exactness import CERTAIN, exact_errors
from crowdopt.recheck.bounds.fixed_pairs import beside_fixed
from crowdopt.recheck.bounds.limited_sets import prove_sets
from tests.recheck.test_sets import read
from tests.sampled import first_of

DRAWS = first_of(range(8), 3)
ROUNDING = 1e-12


def drawn(seed: int, rule: str = "bhattacharyya") -> AssignmentInstance:
    """Pools of workers whom pairs, families, loads and an own row tell apart, with plenty of room."""
    rng = np.random.default_rng(seed)
    n, m = 40, 24
    pairs = rng.permutation(n * m)[: n * m // 10]
    some = np.column_stack(np.divmod(pairs, m))
    order = rng.permutation(m)
    families = [Group(f"f{k}", order[3 * k : 3 * k + 3].tolist(), dependent=True) for k in range(6)]
    shared = Group("shared", rng.permutation(m)[:8].tolist(), max_share=0.6)
    entry = rng.integers(-1, 4, len(some)).astype(float)
    sides = np.array([-np.inf]), np.array([float(np.maximum(entry[:10], 0).sum()) + 3])
    return AssignmentInstance(
        accuracy=rng.choice([0.8, 0.9, 0.95], m)[None].repeat(2, axis=0) - np.array([[0.0], [0.05]]),
        task_type=rng.integers(0, 2, n),
        rule=rule,
        capacity=rng.integers(18, 30, m),
        epsilon=rng.choice([0.05, 0.1]),
        forbidden=some[20:] if seed % 3 else None,
        fixed=some[:10] if seed % 3 == 1 else None,
        collected=some[10:20] if seed % 2 else None,
        min_load=rng.integers(0, 3, m),
        groups=[*families, shared] if seed % 4 < 3 else (),
        own_rows=OwnRows(["r"], np.zeros(len(entry), np.int64), some, entry, *sides) if seed % 4 > 1 else None,
    )


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small instances count as large ones."""
    monkeypatch.setattr(alike, "MANY", 5)
    monkeypatch.setattr(alike, "PART", 0.2)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("seed", DRAWS)
def test_plans_keep_what_was_left_out_and_bounds_are_of_the_instance(seed, tmp_path):
    """A relaxation's bound holds for all plans, and the second opinion, which knows all limits, proves no less."""
    instance, options = drawn(seed), Options(time_limit=20.0, nodes=3, gap=1.0)
    loose = with_fixed_labels(instance, None, lambda one, _: solve_by_sets(one, SOLVERS, options, alike=True))
    assert loose is not None
    assert loose.pairs is not None
    assert not breaches(instance, loose.pairs)
    write_campaign(instance, tmp_path / "campaign", collected_labels=["1"] * len(instance.collected))
    write_plan(loose, tmp_path / "plan")
    report = verify(tmp_path / "campaign", tmp_path / "plan")
    assert report.holds, report.problems
    assert report.certified_bound is not None
    assert loose.certified_bound - 1e-6 <= report.certified_bound <= loose.objective + 1e-6


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("seed", DRAWS)
def test_bounds_of_exact_errors_are_of_the_instance(seed):
    """The second opinion proves no less by the same multipliers, with all limits and the labels of each task."""
    instance = beside_fixed(drawn(seed, "exact-error"))[0]
    loose = solve_by_sets(instance, SOLVERS, Options(time_limit=20.0, nodes=1, gap=0.0), alike=True)
    assert loose is not None
    assert loose.duals is not None
    assert loose.duals.form == "sets"
    lines = [("max_share", group.name, "", 0.0) for group in instance.groups if group.max_share is not None]
    lines += [("row", "r", "", 0.0)] if instance.own_rows is not None else []
    proven = prove_sets(instance, loose.duals.worker, 0.0, read(instance, lines))
    assert loose.certified_bound <= np.ceil(proven - 1e-6)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("seed", DRAWS)
def test_without_limits_workers_of_a_class_are_counted_together(seed):
    """What is left out is what tells single workers apart: classes keep their labels in all, and their skills."""
    instance = beside_fixed(drawn(seed))[0]
    loose = alike.loosened(instance)
    assert loose is not None
    classes = classes_of(loose, joint=True, pooled=True)
    least, most = classes.loads
    assert most.sum() == instance.capacity.sum()
    assert least.sum() == instance.min_load.sum()
    assert (
        instance.evidence
        == instance.evidence[:, np.unique(classes.worker_class, return_index=True)[1]][:, classes.worker_class]
    ).all()


def test_few_workers_told_apart_stay_so():
    """Where classes are few, all limits stay in the programs, whose bounds are then the better ones."""
    assert alike.loosened(drawn(0)) is None


def test_a_label_is_given_by_any_worker_of_the_class_who_may():
    """Two tasks, two workers alike with a label each, one pair barred: only the other way round keeps all limits."""
    instance = AssignmentInstance(
        accuracy=[[0.9, 0.9]], task_type=[0, 0], capacity=[1, 1], epsilon=0.4, forbidden=[[1, 1]]
    )
    loose = replace(instance, forbidden=None)
    seating = Seating(instance, classes_of(loose, pooled=True))
    for pairs in ([[0, 0], [1, 1]], [[0, 1], [1, 0]]):
        assert seating.seated(np.array(pairs), Clock(1.0)).tolist() == [[0, 1], [1, 0]]


def test_equal_rows_are_those_that_a_sort_finds():
    """Rows share a number where they are equal, 0 and -0 as well, and numbers go up where rows appear first."""
    table = np.random.default_rng(0).integers(0, 2, (60, 4)) * np.array([1.0, -1.0, 0.5, 1.0])
    place = equal_rows(table)
    assert ((place[:, None] == place) == (table[:, None] == table).all(axis=2)).all()
    first = np.unique(place, return_index=True)[1]
    assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("seed", first_of(range(3)))
def test_tasks_with_other_labels_in_are_not_alike_where_errors_are_exact(seed, tmp_path):
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
    plan = assign(instance, time_limit=2, strict=True, gap=0.0)
    assert plan.found and (exact_errors(instance, plan.pairs)[0] <= instance.epsilon + CERTAIN + ROUNDING).all()
    write_campaign(instance, tmp_path / "c")
    write_plan(plan, tmp_path / "p")
    assert verify(tmp_path / "c", tmp_path / "p").holds


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
@pytest.mark.parametrize("seed", range(4))
def test_tasks_that_a_row_tells_apart_trade_their_sets(seed, rule, monkeypatch, tmp_path):
    """No two workers are alike, and the row asks for less than sets in any order bring: still a plan, and its bound."""
    monkeypatch.setattr(alike, "FEW", 10)
    rng = np.random.default_rng(seed)
    n, m = 60, 12
    pairs = np.argwhere(rng.random((n, m)) < 0.5)
    entry = rng.integers(-1, 4, len(pairs)).astype(float)
    sides = np.array([0.29 * entry.sum()]), np.array([0.3 * entry.sum()])
    instance = AssignmentInstance(
        accuracy=rng.uniform(0.7, 0.95, (1, m)),
        task_type=np.zeros(n, np.int64),
        rule=rule,
        capacity=np.full(m, 35),
        epsilon=0.1,
        min_labels=np.full(n, 4),
        forbidden=np.argwhere(rng.random((n, m)) < 0.05),
        own_rows=OwnRows(["r"], np.zeros(len(entry), np.int64), pairs, entry, *sides),
    )
    free = alike.loosened(instance)
    assert free is not None and free.own_rows is None and not len(free.forbidden)
    plan = solve_by_sets(instance, SOLVERS, Options(time_limit=20.0, nodes=3), alike=True)
    assert plan is not None and plan.pairs is not None
    assert not breaches(instance, plan.pairs)
    write_campaign(instance, tmp_path / "campaign")
    write_plan(plan, tmp_path / "plan")
    report = verify(tmp_path / "campaign", tmp_path / "plan")
    assert report.holds, report.problems
    assert plan.certified_bound - 1e-6 <= report.certified_bound <= plan.objective + 1e-6
