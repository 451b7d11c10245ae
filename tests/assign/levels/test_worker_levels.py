"""Levels: relaxations that close as they are cut finer, and the plans drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import assign, recipe, write_plan
from crowdopt.assign.engine.prepared import problem_of
from crowdopt.assign.engine.set_master import SetMaster
from crowdopt.assign.engine.set_prices import Climb
from crowdopt.assign.levels import climb
from crowdopt.assign.levels.cut import Levels
from crowdopt.assign.levels.filling import fill, hands
from crowdopt.assign.levels.level_blocks import Enough, LevelBlocks
from crowdopt.assign.methods import linear_rules
from crowdopt.assign.plan import breaches
from crowdopt.backends.highs import HighsMaster
from crowdopt.core.clock import Clock
from crowdopt.crowd.classes import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.campaign.campaign_writing import write_campaign
from crowdopt.recheck.verification import verify
from tests.sampled import first_of
from tests.small import brute_force

ROUNDING = 1e-6


def even_levels(classes, count: int) -> Levels:
    """About so many levels for each class of tasks, with as many workers in each."""
    ends = np.linspace(0, 1, count + 1)[1:]
    return Levels.cut(classes, [np.unique(np.quantile(worth, ends, method="higher")) for worth in classes.evidence])


def generated(classes, levels: Levels) -> LevelBlocks:
    """Column generation to its end, from values that say nothing."""
    blocks = LevelBlocks(levels, Enough(classes), HighsMaster, [np.zeros(top.size) for top in levels.tops], [])
    blocks.generate(500, 1e-7, lambda: 60.0)
    return blocks


@st.composite
def crowds(draw: st.DrawFn) -> AssignmentInstance:
    """Tasks of up to two kinds, workers of many skills, prices or none; small enough for brute force."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, m, kinds = (2, 5, 2) if draw(st.booleans()) else (3, 3, 1)
    return AssignmentInstance(
        accuracy=rng.uniform(0.55, 0.99, (kinds, m)).round(2),
        task_type=rng.integers(0, kinds, n),
        capacity=rng.integers(0, n + 1, m),
        epsilon=rng.choice([0.2, 0.3, 0.4], size=n),
        cost=rng.integers(1, 5, m).astype(float) if draw(st.booleans()) else 1.0,
    )


@settings(max_examples=15, deadline=None)
@given(crowds(), st.integers(1, 4))
def test_whatever_the_levels_no_plan_costs_less(instance, count):
    """Counting a worker as the best of their level only makes tasks cheaper to cover."""
    best, classes = brute_force(instance), classes_of(instance)
    bound = generated(classes, even_levels(classes, count)).bound
    assert best is None or bound <= best + ROUNDING


@pytest.mark.parametrize("name", ["L3:60x40", "L3:80x40", "L3:200x60"])
@pytest.mark.parametrize("priced", [False, True], ids=["", "priced"])
def test_a_level_for_each_worker_loses_nothing(name, priced):
    """Then the bound is that of sets of workers; with fewer levels it lies between nothing and that, and grows."""
    instance = recipe(name, 1, priced=priced)
    classes, problem = classes_of(instance), problem_of(instance)
    assert problem is not None
    exact = Climb(problem, SetMaster(problem, HighsMaster), np.zeros(problem.coupling.lower.size), near=1e-7)
    exact.begin(exact.duals, Clock(60.0))
    exact.master.start()
    assert exact.run(Clock(60.0))
    each = Levels.cut(classes, [np.unique(worth) for worth in classes.evidence])
    bounds = [generated(classes, even_levels(classes, count)).bound for count in (3, 12)]
    assert generated(classes, each).bound == pytest.approx(exact.bound, rel=1e-5)
    assert max(bounds) <= exact.bound * (1 + 1e-6)


@pytest.mark.parametrize("seed", first_of([0, 1]))
def test_cutting_where_a_bound_rests_on_rounding_raises_it(seed):
    """Never less than before; every worker stays in the level that ends at or above them; it ends without cheats."""
    classes = classes_of(recipe("L3:100x60", seed))
    levels, last = even_levels(classes, 4), -np.inf
    for _ in range(30):
        blocks = generated(classes, levels)
        assert blocks.bound >= last - ROUNDING * abs(blocks.bound)
        last = blocks.bound
        finer, values, sets, cheated = blocks.refined()
        for kind, top in enumerate(finer.tops):
            assert (classes.evidence[kind] <= top[finer.of[kind]]).all() and values[kind].size == top.size
            assert set(levels.tops[kind]) <= set(top)
        assert all(finer.tops[kind][chosen].sum() >= classes.floor[kind] - 1e-12 for kind, chosen in sets)
        if cheated == 0:
            return
        assert finer.starts[-1] > levels.starts[-1]
        levels = finer
    raise AssertionError("levels were cut thirty times")


@pytest.mark.parametrize("name", ["L3:200x60", "T4:100x60"])
def test_hands_drawn_from_levels_keep_every_limit(name):
    """A hand for each task at most, no worker twice on a task, no worker beyond their capacity."""
    classes = classes_of(recipe(name))
    blocks = generated(classes, even_levels(classes, 12))
    filled = fill(blocks, lambda: 60.0)
    assert filled is not None
    dealt, tasks = np.zeros(classes.capacity.size, np.int64), np.zeros(classes.need.size, np.int64)
    for kind, hand, count in hands(blocks, filled):
        group, each = np.unique(hand, return_counts=True)
        assert (each <= classes.room[kind, group]).all()
        dealt[group] += each * count
        tasks[kind] += count
    assert (dealt <= classes.workers_in * classes.capacity).all() and (tasks <= classes.tasks_in).all()


@pytest.mark.parametrize(("name", "seed"), [("L3:200x60", 0), ("L3:300x100", 0), ("L3:200x80", 2)])
def test_the_method_by_levels_finds_what_it_finds_without(name, seed, monkeypatch, tmp_path):
    """Both bounds hold for both plans, and what the levels' prices prove is proven again from the folder."""
    instance = recipe(name, seed)
    by_sets = assign(instance, time_limit=20, gap=0.02)
    monkeypatch.setattr(climb, "GROUPS", 0)
    monkeypatch.setattr(linear_rules, "go_on", lambda _: False)
    by_levels = assign(instance, time_limit=20, gap=0.02)
    assert by_levels.bound <= by_sets.objective + ROUNDING and by_sets.bound <= by_levels.objective + ROUNDING
    write_campaign(instance, tmp_path / "campaign")
    write_plan(by_levels, tmp_path / "plan")
    assert verify(tmp_path / "campaign", tmp_path / "plan").holds


def test_workers_with_most_of_a_level_s_time_label_no_task_twice(monkeypatch):
    """Few strong workers with room for many tasks: counted with others in a level, they would be dealt to a task twice.

    They get a level of their own. On the first five draws the plan of the levels alone is 0 to 2.5 % above their bound.
    """
    monkeypatch.setattr(climb, "GROUPS", 0)
    monkeypatch.setattr(linear_rules, "_stages", lambda search, soon: iter([lambda: climb.climb(search)]))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        instance = AssignmentInstance(
            accuracy=rng.beta(4, 2, (2, 80)),
            task_type=np.minimum(rng.geometric(0.4, 400) - 1, 1),
            capacity=np.minimum(400, np.rint(rng.lognormal(np.log(40), 0.9, 80)).astype(int)),
            epsilon=0.05,
        )
        plan = assign(instance, time_limit=120)
        assert plan.found and plan.gap <= 0.05 and not breaches(instance, plan.pairs), seed
