"""The last label: amounts between classes lead to a plan, or show that one more label is needed."""

from __future__ import annotations

import pytest

from crowdopt import Status, assign, recipe
from crowdopt.assign.exact.last_label import settle
from crowdopt.assign.exact.search import Search
from crowdopt.assign.methods import linear_rules
from crowdopt.assign.plan import breaches
from tests.small import brute_force, three_by_four


def test_what_amounts_say_is_true_of_plans(monkeypatch):
    """Nothing else makes plans: no bound is above the optimum of brute force, no plan breaks a limit, some prove."""
    monkeypatch.setattr(linear_rules, "SMALL", 0)
    monkeypatch.setattr(Search, "in_full", lambda *_: None)
    monkeypatch.setattr(linear_rules, "aim", lambda *_, **__: None)
    monkeypatch.setattr(linear_rules, "go_on", lambda search: settle(search, search.classes))
    proven = 0
    for seed in range(8):
        instance = three_by_four(seed, (0.9, 0.65, 0.75))
        plan, best = assign(instance, nodes=4, time_limit=60, gap=0.0), brute_force(instance)
        if best is None:
            assert not plan.found
            continue
        assert plan.bound <= best + 1e-9, seed
        if plan.found:
            assert not breaches(instance, plan.pairs) and plan.objective >= best - 1e-9, seed
        proven += plan.status is Status.OPTIMAL
    assert proven >= 2


@pytest.mark.parametrize(
    ("seed", "bound"),
    [pytest.param(4, 8005, marks=pytest.mark.slow), pytest.param(6, 7696, marks=pytest.mark.long)],
)
def test_the_last_label_of_adversarial_crowds(seed, bound):
    """Where sets in shares cost 8004.3 amounts lead to 8005; where they cost 7694.98 none are found at 7695."""
    plan = assign(recipe("B5:1000x300", seed), time_limit=60, gap=0.0)
    assert plan.found and plan.bound == bound
    assert plan.objective <= bound + 1
    assert plan.certified_bound <= bound
