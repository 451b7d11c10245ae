"""The tasks that are left after a round: the others cost neither time nor labels, and the proof is for all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import assign, recipe
from crowdopt.answers.planned import posteriors
from crowdopt.assign.plan import breaches
from crowdopt.crowd.recipes.named_recipes import simulated_labels
from crowdopt.recheck.bounds.proofs import prove_blocks


@pytest.mark.slow
def test_a_second_round_is_planned_to_the_optimum():
    """R10 with the labels of its first round in: few tasks are open, each of its own need, and the plan is proven."""
    first = replace(recipe("R10:600x200", 3), rule="bhattacharyya")
    pairs = assign(first, time_limit=5.0, gap=0.0).pairs
    _, labels = simulated_labels(first, pairs, np.random.default_rng(3))
    left = first.capacity - np.bincount(pairs[:, 1], minlength=200)
    known = replace(first, collected=pairs, capacity=left)
    second = known.given(posteriors(known, pairs, labels))
    assert (second.floor <= 0).mean() > 0.5
    plan = assign(second, time_limit=20.0, gap=0.0)
    assert plan.proven and not breaches(second, plan.pairs)
    assert set(np.flatnonzero(plan.task_labels)) <= set(np.flatnonzero(second.floor > 0))
    proven = prove_blocks(second, plan.duals.worker, plan.duals.labels, plan.duals.budget)
    if plan.proof == "certificate":
        assert np.ceil(proven - 1e-6) == plan.bound
