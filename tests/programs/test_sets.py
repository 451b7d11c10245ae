"""The program over sets has the optimum of the promise itself: brute force, `solve`, limits and labels that are in."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdopt
from crowdopt.core.solution import Status
from crowdopt.crowd.vote_errors import CERTAIN, errors_of, exact_errors
from crowdopt.programs import sets


@st.composite
def small(draw):
    """Two tasks, four workers, two or three classes, limits now and then."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    classes = draw(st.sampled_from([2, 3]))
    options = {"max_labels": 3} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        options["collected"] = [(0, 1)]
    return crowdopt.AssignmentInstance(
        rng.uniform(0.5, 0.95, (2, 4)),
        [0, 1],
        rng.integers(1, 3, 4),
        rng.uniform(0.1, 0.45, 2),
        cost=rng.integers(1, 4, 4).astype(float),
        classes=classes,
        forbidden=[(1, 0)] if draw(st.booleans()) else [],
        **options,
    )


def brute(instance) -> float | None:
    """The least cost of pairs that keep all targets and limits, by trying all of them."""
    free = [(i, j) for i, j in product(range(2), range(4)) if [i, j] not in instance.barred.tolist()]
    best = None
    for count in range(len(free) + 1):
        for some in combinations(free, count):
            pairs = np.array(some, np.int64).reshape(-1, 2)
            loads, labels = np.bincount(pairs[:, 1], minlength=4), np.bincount(pairs[:, 0], minlength=2)
            labels += np.bincount(instance.collected[:, 0], minlength=2)
            if (loads > instance.capacity).any() or (labels > instance.max_labels).any():
                continue
            if (exact_errors(instance, pairs)[0] <= instance.epsilon + CERTAIN).all():
                cost = float(instance.prices(pairs).sum())
                best = cost if best is None else min(best, cost)
    return best


@given(small())
def test_its_optimum_is_that_of_brute_force(instance):
    """Whole labels, every limit: the same cost, or no point at all."""
    program, wanted = sets.build(instance), brute(instance)
    solved = crowdopt.solve_program(program, "highs")
    if wanted is None:
        assert solved.status is Status.INFEASIBLE
        return
    known = crowdopt.certify(solved)
    assert known.value == pytest.approx(wanted) and known.is_feasible()
    pairs = np.argwhere(program.column("y").view(solved.primal) > 0.5)
    assert (exact_errors(instance, pairs)[0] <= instance.epsilon + CERTAIN).all()
    plan = crowdopt.solve(instance, time_limit=10)
    assert plan.objective == pytest.approx(wanted)


def test_least_sets_are_least_and_all_of_them():
    """Of five workers every set is looked at: one is least if it keeps the target and no part of it does."""
    instance = crowdopt.AssignmentInstance([[0.9, 0.8, 0.75, 0.7, 0.6]], [0], [1] * 5, 0.12)
    every = [one for size in range(6) for one in combinations(range(5), size)]
    error = errors_of(instance, np.zeros(len(every), np.int64), [np.array(one, np.int64) for one in every])
    keeps = {one for one, e in zip(every, error, strict=True) if e <= 0.12 + CERTAIN}
    least = {one for one in keeps if not any(set(other) < set(one) for other in keeps)}
    assert set(sets.least_sets(instance, 0, 10**6)) == least and least
    assert sets.least_sets(instance, 0, 3) is None


def test_where_more_votes_may_err_more_there_is_none():
    """Hard tasks, a linear rule, too many pairs: the rule's program stands in, and says by which rule it is."""
    one = crowdopt.AssignmentInstance([[0.9, 0.8, 0.7]], [0, 0], [2] * 3, 0.2)
    assert sets.build(one) is not None
    assert sets.build(replace(one, rule="bhattacharyya")) is None
    assert sets.build(replace(one, difficulty=(0.2, 0.4))) is None
    assert sets.build(crowdopt.recipe("HS:1000x300")) is None
