"""explain and solve agree: whether there is a plan, whether that is proven, and in which words there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crowdopt import Status, solve
from crowdopt.verbs.explain import explain
from crowdopt.verbs.plans_said import headline, why_not
from tests.checkers.plans import broken
from tests.draw import campaign
from tests.sampled import first_of

NONE = ("infeasible", "no plan", "no such plan", "do not fit")


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error", "exact-error classes"])
@pytest.mark.parametrize("seed", first_of([0, 3, 1, 2], 2))
def test_explain_and_solve_agree(seed, rule):
    """No plan in the one is no plan in the other, in the same words; and each way out of it has its plan."""
    instance = campaign(seed, 3, 4, f"{rule} budget" if seed % 2 else rule)
    instance = replace(instance, epsilon=instance.epsilon * (0.3 if seed < 3 else 1.0))
    plan, found = solve(instance, require="served"), explain(instance, time_limit=30)
    assert plan.status in (Status.OPTIMAL, Status.INFEASIBLE)
    assert found.feasible == plan.found
    if plan.found:
        assert not any(word in line for line in found.sentences for word in NONE)
        return
    assert found.sentences[0] == headline(plan) == why_not(plan)[0]
    assert found.sentences[: len(why_not(plan))] == why_not(plan)
    best = solve(instance)
    assert best.short.size and why_not(best) == why_not(plan)
    for way in found.ways:
        assert broken(way.instance, way.pairs) == []
