"""Why there is no plan, and what would help."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, Status, solve
from crowdopt.assign.shortage import shortage
from crowdopt.verbs.solve import probe
from tests.small import brute_force, instances


@settings(max_examples=15)
@given(instances(), instances(options=False))
def test_what_is_missing_and_what_is_possible(limited, instance):
    """The least total shortage is 0 if and only if the LP has a point.

    No plan promises less than ``no_epsilon_below``; one exists for ``epsilon_within_reach``.
    """
    found = shortage(limited, probe(60))
    assert (found.total <= 1e-6 and found.money is None) == (solve(limited, program="lp").status is Status.OPTIMAL)
    found = shortage(instance, probe(60))
    assert not found.blocked
    if found.no_epsilon_below < 0.499:
        assert solve(instance.with_epsilon(found.no_epsilon_below * 0.99)).status is Status.INFEASIBLE
    if found.epsilon_within_reach is not None:
        assert found.no_epsilon_below <= found.epsilon_within_reach + 1e-9
        assert brute_force(instance.with_epsilon(found.epsilon_within_reach)) is not None


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"min_labels": [5, 0]}, "task 0 is 2 label"),
        ({"min_load": [2, 2, 2], "max_labels": [1, 1]}, "short of its min_tasks"),
        ({"budget": 0.3}, "the budget of 0.3 is too small: no plan costs less than 0.5"),
    ],
)
def test_other_limits_are_named(limits, sentence):
    """What is missing may be people, work or money."""
    instance = AssignmentInstance([[0.95, 0.95, 0.95]], [0, 0], [2, 2, 2], 0.4, rule="bhattacharyya", **limits)
    assert solve(instance).status is Status.INFEASIBLE
    assert any(sentence in line for line in shortage(instance, probe(60)).sentences(instance))


def test_whole_labels_may_not_fit_where_shares_do():
    """Two tasks, three workers with room for one task each: shares cover both, whole labels only one."""
    one_and_a_half = -1.5 * math.log(4 * 0.8 * 0.2)
    epsilon = 0.5 * math.exp(-one_and_a_half / 2) + 1e-12
    instance = AssignmentInstance([[0.8, 0.8, 0.8]], [0, 0], [1, 1, 1], epsilon, rule="bhattacharyya")
    plan = solve(instance)
    assert solve(instance, program="lp").found and plan.status is Status.INFEASIBLE
    assert "no plan of whole labels does" in shortage(instance, probe(60)).sentences(instance)[0]
