"""explain and solve agree: whether there is a plan, whether that is proven, and in which words there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Status, assign
from crowdopt.api.explain import explain
from crowdopt.api.no_plan import headline, why_not
from crowdopt.assign.plan import breaches
from crowdopt.crowd.exactness import CERTAIN, exact_errors

NONE = ("infeasible", "no plan", "no such plan", "do not fit")


def drawn(seed):
    """A small campaign of any rule, about half of which have no plan."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(2, 7))
    instance = AssignmentInstance(
        accuracy=rng.choice([0.55, 0.6, 0.7, 0.8, 0.9], (2, m)),
        task_type=rng.integers(0, 2, n),
        capacity=rng.integers(0, n + 1, m),
        epsilon=rng.choice([0.05, 0.1, 0.2, 0.3], n),
        rule=str(rng.choice(["bhattacharyya", "exact-error"])),
        classes=int(rng.choice([2, 3])),
    )
    return replace(instance, budget=float(rng.integers(1, 10))) if rng.random() < 0.3 else instance


@pytest.mark.parametrize("seed", range(6))
def test_explain_and_solve_agree(seed):
    """No plan in the one is no plan in the other, in the same words; and each way out of it has its plan."""
    instance = drawn(seed)
    plan, found = assign(instance, strict=True), explain(instance, time_limit=30)
    assert plan.status in (Status.OPTIMAL, Status.INFEASIBLE)
    assert found.feasible == plan.found
    if plan.found:
        assert not any(word in line for line in found.sentences for word in NONE)
        return
    assert found.sentences[0] == headline(plan) == why_not(plan)[0]
    assert found.sentences[: len(why_not(plan))] == why_not(plan)
    best = assign(instance)
    assert best.short.size and why_not(best) == why_not(plan)
    for way in found.ways:
        assert not breaches(way.instance, way.pairs)
        if instance.rule == "exact-error":
            assert (exact_errors(way.instance, way.pairs)[0] <= way.instance.epsilon + CERTAIN).all()
