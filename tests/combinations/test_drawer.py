"""The drawer's own theorem: whatever is drawn together has a plan, and the checker sees when it is damaged."""

from __future__ import annotations

import numpy as np
import pytest

from tests.combinations.checker import broken, joined, least_targets
from tests.combinations.drawer import draw
from tests.combinations.features import CLASHES, FEATURES, case, clash
from tests.combinations.measured import drawn
from tests.sampled import first_of
from tests.trials.crowd_checker import fits, keeps, promised, whole

SIZES = [(3, 5, 40), (40, 15, 40), (300, 25, 10), (3000, 800, 2)]


def each_drawn(tasks: int, workers: int, count: int):
    """Campaigns that have a plan."""
    for seed in range(count):
        c = draw(*drawn(seed, tasks, workers))
        if c["hidden"] is not None:
            yield seed, c


@pytest.mark.parametrize(("tasks", "workers", "count"), first_of(SIZES, 2))
def test_the_hidden_plan_holds(tasks, workers, count):
    """Limits are fitted to it."""
    for seed, c in each_drawn(tasks, workers, count):
        assert not broken(c, c["hidden"]), seed


@pytest.mark.parametrize(("tasks", "workers", "count"), first_of(SIZES, 2))
def test_a_damaged_plan_is_seen(tasks, workers, count):
    """A target just below what a task's labels keep, a worker without room, a label given twice."""
    for seed, c in each_drawn(tasks, workers, count):
        plan, busy = c["hidden"], int(np.argmax(np.bincount(c["hidden"][:, 1], minlength=c["m"])))
        load = np.bincount(plan[:, 1], minlength=c["m"])
        full = c | {"capacity": np.where(np.arange(c["m"]) == busy, load - 1, c["capacity"])}
        kept = least_targets(c, joined(c, plan))
        strict = c | {"epsilon": np.minimum(c["epsilon"], kept - 1e-9)}
        assert any(one.startswith("capacity of 1,") for one in broken(full, plan)), seed
        assert any(one.startswith("target") for one in broken(strict, plan)), seed
        assert "a pair twice" in broken(c, np.concatenate([plan, plan[:1]])), seed


@pytest.mark.parametrize(("tasks", "workers", "count"), first_of(SIZES[:3], 2))
def test_a_dropped_label_is_seen_where_it_was_needed(tasks, workers, count):
    """A task's labels of which one is dropped promise no more than before; all dropped, they break something."""
    for seed, c in each_drawn(tasks, workers, count):
        plan = c["hidden"]
        fewer = plan[1:]
        before, after = (least_targets(c, joined(c, some)) for some in (plan, fewer))
        assert (after >= before - 1e-9).all(), seed
        needed = after[plan[0, 0]] > c["epsilon"][plan[0, 0]]
        assert not needed or any(one.startswith("target") for one in broken(c, fewer)), seed
        if (least_targets(c, joined(c, plan[:0])) > c["epsilon"]).any():
            assert broken(c, plan[:0]), seed


def test_both_checkers_say_the_same():
    """The one for all tasks at once, and the one that looks at one set after another, on plans good and bad."""
    held = 0
    for seed, c in each_drawn(3, 5, 60):
        rng = np.random.default_rng(seed)
        for plan in (c["hidden"], np.argwhere(rng.random((3, 5)) < 0.6)):
            sets = [sorted(plan[plan[:, 0] == i, 1].tolist()) for i in range(3)]
            lists = c | {name: np.asarray(c[name]).reshape(-1, 2).tolist() for name in ("barred", "fixed", "collected")}
            every = [[j for k, j in lists["collected"] if k == i] + one for i, one in enumerate(sets)]
            fine = all(fits(lists, i, one) and keeps(lists, i, every[i])[0] for i, one in enumerate(sets))
            assert (fine and whole(lists, sets, [])) == (not broken(c, plan)), seed
            held += fine
            if c["rule"] != "mean-error":
                slow = [promised(lists, i, one) for i, one in enumerate(every)]
                assert least_targets(c, joined(c, plan)) == pytest.approx(slow, rel=1e-9, abs=1e-9), seed
    assert held


def test_every_feature_is_drawn_and_none_with_what_it_clashes_with():
    """Whoever adds a feature sees it drawn."""
    cases = [case(seed, 40, 15)[1] for seed in range(300)]
    assert set().union(*cases) == set(FEATURES)
    assert not any(clash(features) for features in cases)
    assert set().union(*CLASHES) <= set(FEATURES)
