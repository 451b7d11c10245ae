"""The engine's oracle against all sets of labels, and its plans against the search of the whole program."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, assign, recipe, verify, write_campaign, write_plan
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.engine.cheapest_sets import priced
from crowdopt.assign.engine.prepared import ANY, Overlaps, TaskRow, finer, levelled, levels_of, problem_of
from crowdopt.assign.engine.set_engine import sets_of, solve_by_sets
from crowdopt.assign.plan import breaches
from crowdopt.assign.standing import Solvers
from crowdopt.core.solution import Options, Solution, Status
from crowdopt.crowd.exactness import exact_errors


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
    """Under limits on labels in all and of groups, at prices of either sign; the bound is the cheapest's price."""
    rng = np.random.default_rng(0)
    for _ in range(150):
        row = drawn_row(rng)
        price = rng.uniform(-0.3, 1, row.room.size)
        wanted = cheapest_of_all(row, price)
        at = priced(row, price)
        bound, sets = at.cheapest(0)
        if wanted == np.inf:
            assert bound == np.inf and not sets
            continue
        assert bound == pytest.approx(wanted, abs=1e-6)
        assert price[sets[0]].sum() == pytest.approx(wanted, abs=1e-6)
        for labels in [*sets, *at.through(float(row.need[0]), 1.0, 9)]:
            inside = np.bincount(row.group[labels], minlength=3)
            assert (
                row.fewest <= labels.size <= row.most
                and (np.bincount(labels, minlength=9)[: row.room.size] <= row.room).all()
            )
            assert row.evidence[labels].sum() >= row.need[0] - 1e-9
            assert (inside >= row.low).all() and (inside <= row.top).all() and row.beside.keeps(labels)


def test_a_search_that_ends_early_still_bounds():
    """A step is enough for a bound that no set is below."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        row, price = drawn_row(rng), rng.uniform(0.1, 1, 8)
        price = price[: row.room.size]
        bound, _ = priced(row, price, cells=(5, 50, 1_000_000)).cheapest(0, steps=-1000)
        assert bound <= cheapest_of_all(row, price) + 1e-9


def campaign(rng: np.random.Generator, n: int, m: int) -> AssignmentInstance:
    """Four types, about four labels a task, capacities that bind somewhat."""
    accuracy = np.clip(rng.beta(6, 2.2, (4, m)), 0.5, 0.97)
    return AssignmentInstance(
        accuracy=accuracy, task_type=rng.integers(4, size=n), epsilon=0.1, capacity=max(3, int(7 * n / m))
    )


LIMITS = {
    "share": lambda m: {"groups": [Group("half", range(m // 2), max_share=0.4)]},
    "least share": lambda m: {"groups": [Group("half", range(m // 2), min_share=0.6)]},
    "sites": lambda m: {"groups": [Group(f"s{k}", range(5 * k, 5 * k + 5), max_per_task=1) for k in range(m // 5)]},
    "a senior": lambda m: {"groups": [Group("seniors", range(m // 3), min_per_task=1)]},
    "fewest and most": lambda m: {"min_labels": 3, "max_labels": 9, "groups": [Group("a", range(4), max_per_task=1)]},
    "money": lambda m: {"budget": 2000.0, "groups": [Group("a", range(4), max_per_task=1)]},
    "own pairs": lambda m: {
        "fixed": [(0, 1), (3, 2)],
        "forbidden": [(1, 1), (2, 5)],
        "groups": [Group("a", range(m // 2), max_share=0.5)],
    },
}


@pytest.mark.parametrize("limits", LIMITS)
def test_every_limit_has_a_plan_that_holds(limits, tmp_path):
    """Whatever ties tasks or is of one task: a plan keeps it, and what its folder claims is proven anew."""
    base = campaign(np.random.default_rng(2), 200, 25)
    plan = solve_by_sets(replace(base, **LIMITS[limits](25)), SOLVERS, Options(time_limit=30.0, nodes=8))
    assert plan is not None and plan.found
    assert not breaches(plan.instance, plan.pairs)
    assert plan.objective >= plan.bound - 1e-9
    write_campaign(plan.instance, tmp_path / "campaign")
    write_plan(plan, tmp_path / "plan")
    assert verify(tmp_path / "campaign", tmp_path / "plan").holds


def test_a_plan_that_is_known_brings_its_sets():
    """Each of its tasks' labels are a set that serves the task's kind; one that lacks evidence is left out."""
    base = campaign(np.random.default_rng(3), 200, 25)
    base = replace(base, rule="bhattacharyya")
    known = assign(base, time_limit=10, gap=0.05)
    problem = problem_of(base)
    assert known.found and problem is not None
    sets = sets_of(problem, known.pairs)
    assert len(sets) == 200
    for kind, labels in sets:
        row = problem.rows[problem.row_of[kind]]
        assert row.evidence[labels].sum() >= row.need[row.kinds == kind][0]
    assert len(sets_of(problem, known.pairs[1:])) <= 199


@pytest.mark.parametrize("load", [4, 8])
def test_least_loads_are_proven(load):
    """Three types, workers who all differ: labels that serve no need are counted at their price, and a proof comes."""
    base = replace(recipe("L3:300x100", 0), epsilon=0.25, rule="bhattacharyya")
    plan = assign(replace(base, min_load=np.minimum(base.capacity, load)), time_limit=30, strict=True)
    assert plan.found and plan.gap <= 0.005
    assert (np.bincount(plan.pairs[:, 1], minlength=100) >= np.minimum(base.capacity, load)).all()


def test_plans_cost_what_the_whole_program_finds_optimal():
    """No plan is below what HiGHS proves of the whole program, and the engine's is at most 1 % above its plan."""
    found = 0
    for seed in range(4):
        base, group = campaign(np.random.default_rng(seed), 60, 12), Group("a", tuple(range(4)), max_per_task=1)
        instance = replace(base, capacity=base.capacity + 10, groups=(group,))
        whole = assign(instance, method="highs", time_limit=60, gap=1e-3)
        plan = solve_by_sets(instance, SOLVERS, Options(time_limit=30.0, nodes=8))
        assert plan is not None and plan.found == whole.found
        if whole.found:
            assert whole.bound - 1e-6 <= plan.objective <= 1.01 * whole.objective
            found += 1
    assert found


def test_levels_of_need_serve_every_task():
    """Needs are only raised, so a set of a level has the evidence of each task in it."""
    rng = np.random.default_rng(4)
    instance = replace(campaign(rng, 200, 25), epsilon=rng.uniform(0.05, 0.2, 200))
    problem = problem_of(instance)
    assert problem is not None
    few = levelled(problem, levels_of(problem, 5))
    assert few.count.sum() == problem.count.sum()
    need = np.concatenate([row.need for row in few.rows])
    for row in problem.rows:
        assert (need[few.kind_of[row.kinds]] >= row.need).all()


def test_levels_are_cut_where_they_are_too_coarse_and_nowhere_else():
    """Every kind stays in one level of its row, in order; those not named stay as they are."""
    rng = np.random.default_rng(4)
    problem = problem_of(replace(campaign(rng, 200, 25), epsilon=rng.uniform(0.05, 0.2, 200)))
    assert problem is not None
    levels = levels_of(problem, 3)
    coarse = np.arange(sum(map(len, levels))) % 2 == 0
    cut = finer(levels, coarse, 4)
    number = 0
    for row, before, after in zip(problem.rows, levels, cut, strict=True):
        assert np.concatenate(after).tolist() == list(range(row.kinds.size))
        for level in before:
            parts = [one for one in after if np.isin(one, level).all()]
            assert len(parts) == (min(4, level.size) if coarse[number] else 1)
            number += 1


def test_tasks_with_too_many_labels_for_exact_errors_are_left_to_other_methods():
    """Fifteen answers can be combined in 32,768 ways: more than are followed, with every label more twice as many."""
    crowd = AssignmentInstance(np.full((1, 40), 0.6), np.zeros(2, np.int64), np.full(40, 2), 0.2, rule="exact-error")
    few, many = (replace(crowd, fixed=np.column_stack([np.zeros(k, np.int64), np.arange(k)])) for k in (3, 15))
    assert problem_of(few) is not None and problem_of(many) is None
    plan = assign(many, time_limit=20)
    assert plan.found and exact_errors(many, plan.pairs)[0].max() <= 0.2


def of_whole_numbers_only(program, backend="highs", options=Options(), listener=None):  # noqa: B008
    """A solver whose time is over before any LP ends."""
    if program.integer.any():
        return SOLVERS.solve(program, backend, options, listener)
    return Solution(program, backend, Status.UNDECIDED, None, None, None, None, 0.0, "time limit")


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
def test_a_first_lp_that_does_not_end_costs_no_plan(rule):
    """Prices only say which labels are dear: from none at all tasks get sets, and column generation finds the rest."""
    base, group = campaign(np.random.default_rng(3), 80, 16), Group("a", tuple(range(8)), max_share=0.7)
    instance = replace(base, rule=rule, groups=(group,))
    solvers = Solvers(of_whole_numbers_only, SOLVERS.make_master, SOLVERS.backend)
    plan, usual = (solve_by_sets(instance, one, Options(time_limit=30.0, nodes=8)) for one in (solvers, SOLVERS))
    assert plan is not None and plan.found and not breaches(instance, plan.pairs)
    assert usual is not None and usual.found
    assert plan.bound <= usual.objective + 1e-6
    assert usual.bound <= plan.objective + 1e-6
