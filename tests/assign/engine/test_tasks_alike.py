"""Tasks that barred pairs tell apart, told alike where nothing ties tasks together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import assign, recipe
from crowdopt.assign.engine.alike import loosened
from crowdopt.assign.plan import breaches


def with_barred_pairs(instance, part, seed):
    """Some pairs forbidden at random, so that nearly every task has its own."""
    rng = np.random.default_rng(seed)
    count = int(part * instance.n_tasks * instance.n_workers)
    pairs = np.column_stack([rng.integers(0, instance.n_tasks, count), rng.integers(0, instance.n_workers, count)])
    return replace(instance, forbidden=np.unique(pairs, axis=0))


def test_they_are_where_needs_are_few_and_not_where_most_differ():
    """Without the barred pairs one table serves all tasks of one need; a thousand needs gain nothing."""
    few = with_barred_pairs(recipe("R10:1000x60"), 0.02, 0)
    loose = loosened(few)
    assert loose is not None and not len(loose.forbidden)
    targets = np.random.default_rng(0).uniform(0.05, 0.2, 1000)
    assert loosened(replace(few, epsilon=targets)) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["R10", "R1", "B5"])
def test_plans_keep_barred_pairs_and_bounds_are_no_plan_s_cost(kind):
    """The loosened instance is a relaxation, and what is handed out breaks nothing; HiGHS's own plan costs no less."""
    instance = with_barred_pairs(recipe(f"{kind}:1000x60"), 0.02, 1)
    assert loosened(instance) is not None
    plan = assign(instance, time_limit=10, gap=0.0)
    assert plan.found and not breaches(instance, plan.pairs)
    theirs = assign(instance, method="highs", time_limit=10, gap=0.0)
    assert not theirs.found or plan.bound <= theirs.objective
