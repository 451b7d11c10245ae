"""The last label: amounts between classes lead to a plan, or show that one more label is needed."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Status, assign, recipe
from crowdopt.assign.exact import stages
from crowdopt.assign.exact.search import Search
from crowdopt.assign.plan import breaches
from tests.small import brute_force


def test_what_amounts_say_is_true_of_plans(monkeypatch):
    """Without a search of the full program: no bound above the optimum that brute force knows, no plan that breaks."""
    monkeypatch.setattr(stages, "SMALL", 0)
    monkeypatch.setattr(Search, "in_full", lambda *_: None)
    proven = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        kinds, n, m = int(rng.integers(1, 3)), 3, 4
        instance = AssignmentInstance(
            accuracy=rng.choice([0.9, 0.65, 0.75], (kinds, m)),
            task_type=rng.integers(0, kinds, n),
            capacity=rng.integers(1, n + 1, m),
            epsilon=rng.choice([0.2, 0.3]),
            cost=rng.integers(1, 4, m).astype(float),
        )
        plan, best = assign(instance, nodes=4, time_limit=60), brute_force(instance)
        if best is None:
            assert not plan.found
            continue
        assert plan.bound <= best + 1e-9
        assert not plan.found or not breaches(instance, plan.pairs)
        proven += plan.status is Status.OPTIMAL
    assert proven >= 3


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "bound"), [(4, 8005), (6, 7696)])
def test_the_last_label_of_adversarial_crowds(seed, bound):
    """Where sets in shares cost 8004.3 amounts lead to 8005; where they cost 7694.98 none are found at 7695."""
    plan = assign(recipe("B5:1000x300", seed), time_limit=60)
    assert plan.found and plan.bound == bound
    assert plan.objective <= bound + 1
    assert plan.certified_bound <= bound
