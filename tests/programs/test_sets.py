"""The program over sets has the optimum of the promise itself: brute force, `solve`, limits and labels that are in."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, Status, certify, recipe, solve, solve_program
from crowdopt.crowd.vote_errors import CERTAIN, errors_of
from crowdopt.programs import sets
from tests.checkers.plans import broken, least_cost
from tests.draw import WISHES, campaigns


@settings(max_examples=15)
@given(campaigns(8, ["exact-error"], [wish for wish in WISHES if wish != "difficulty"], skills="each"))
def test_its_optimum_is_that_of_brute_force(instance):
    """Whole labels, every limit: the same cost, or no point at all."""
    program, wanted = sets.build(instance), least_cost(instance)
    solved = solve_program(program, "highs")
    if wanted == np.inf:
        assert solved.status is Status.INFEASIBLE
        return
    known = certify(solved)
    assert known.value == pytest.approx(wanted) and known.is_feasible()
    assert not broken(instance, np.argwhere(program.column("y").view(solved.primal) > 0.5))
    assert solve(instance, time_limit=10).objective == pytest.approx(wanted)


def test_least_sets_are_least_and_all_of_them():
    """Of five workers every set is looked at: one is least if it keeps the target and no part of it does."""
    instance = AssignmentInstance([[0.9, 0.8, 0.75, 0.7, 0.6]], [0], [1] * 5, 0.12)
    every = [one for size in range(6) for one in combinations(range(5), size)]
    error = errors_of(instance, np.zeros(len(every), np.int64), [np.array(one, np.int64) for one in every])
    keeps = {one for one, e in zip(every, error, strict=True) if e <= 0.12 + CERTAIN}
    least = {one for one in keeps if not any(set(other) < set(one) for other in keeps)}
    assert set(sets.least_sets(instance, 0, 10**6)) == least and least
    assert sets.least_sets(instance, 0, 3) is None


def test_where_more_votes_may_err_more_there_is_none():
    """Hard tasks, a linear rule, too many pairs: the rule's program stands in, and says by which rule it is."""
    one = AssignmentInstance([[0.9, 0.8, 0.7]], [0, 0], [2] * 3, 0.2)
    assert sets.build(one) is not None
    for other in (replace(one, rule="bhattacharyya"), replace(one, difficulty=(0.2, 0.4)), recipe("HS:1000x300")):
        assert sets.build(other) is None
