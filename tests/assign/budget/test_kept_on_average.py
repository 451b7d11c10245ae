"""Where labels bought one by one keep an average, there is a plan, however roughly skills are rounded."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdopt import AssignmentInstance, assign
from crowdopt.crowd.exactness import exact_errors


@pytest.mark.parametrize("seed", range(6))
def test_what_all_labels_keep_has_a_plan(seed):
    """Skills in three pools are rounded down so far that no patterns of theirs keep what all labels keep."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(5, 9))
    skills = rng.uniform(0.55, 0.9, (2, m)) * np.array([[1], [0.85]])
    every = np.array(list(product(range(n), range(m))))

    def promising(error: float) -> AssignmentInstance:
        return AssignmentInstance(skills, np.arange(n) % 2, np.full(m, n), error, rule="mean-error")

    target = exact_errors(promising(0.2), every)[0].mean() + 1e-6
    plan = assign(promising(float(target)), "patterns:pools=3", time_limit=5, strict=True)
    assert plan.found and exact_errors(plan.instance, plan.pairs)[0].mean() <= target
    less = assign(promising(float(target) - 2e-6), "patterns:pools=3", time_limit=5, strict=True)
    assert not less.found
