"""What is alike, what a plan breaks, what is in reach: against arithmetic that knows nothing of the package."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, OwnRows
from crowdopt.arrays import alike, same_entries
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.vote_errors import breaches, broken, is_exhausted, out_of_reach, worst_breach
from tests.checkers import plans
from tests.draw import campaigns, planned

SEEDS = st.integers(0, 10**6)


@pytest.mark.parametrize("types", [1, 5, 300])
def test_equal_rows_have_one_number_however_they_lie_in_memory(types):
    """So that workers alike are alike on any machine: sums of equal rows must be rounded alike."""
    for workers in range(2, 61):
        rows = np.tile(np.random.default_rng(types).random(types), (workers, 1))
        for table in (rows, np.asfortranarray(rows), rows > 0.5, np.broadcast_to(rows[0], rows.shape)):
            number, first = alike(table, np.zeros(workers))
            assert not number.any() and first.tolist() == [0]


@settings(max_examples=30)
@given(SEEDS)
def test_numbers_come_in_order_of_first_appearance_and_sets_of_entries_in_any(seed):
    """Against a dictionary of the rows, and the sets themselves."""
    rng = np.random.default_rng(seed)
    one, table = rng.integers(0, 3, 20), rng.integers(0, 2, (20, 3)).astype(float)
    known = {}
    wanted = [known.setdefault((value, *row), len(known)) for value, row in zip(one, table.tolist(), strict=True)]
    number, first = alike(one, table)
    assert number.tolist() == wanted and number[first].tolist() == list(range(len(known)))
    entries, found = [sorted(table[one == k].tolist()) for k in range(5)], same_entries(5, one, *table.T)
    assert (found[:, None] == found).tolist() == [[some == others for others in entries] for some in entries]
    assert (found == 0).tolist() == [not some for some in entries]


@settings(max_examples=40)
@given(campaigns(24), SEEDS)
def test_tasks_and_workers_of_a_class_may_change_places(instance, seed):
    """Any labels, with two tasks and two workers of a class exchanged: the same limits broken by as much, one cost."""
    rng, classes = np.random.default_rng(seed), classes_of(instance, joint=True)
    pairs = np.argwhere(rng.random((instance.n_tasks, instance.n_workers)) < 0.5)
    for side, of in enumerate((classes.task_class, classes.worker_class)):
        moved, place = pairs.copy(), np.lexsort((rng.random(of.size), of))
        moved[:, side] = place[np.argsort(np.argsort(of, kind="stable"))][pairs[:, side]]
        assert instance.prices(moved).sum() == pytest.approx(instance.prices(pairs).sum())
        both = [sorted((one.limit, one.amount) for one in breaches(instance, some)) for some in (pairs, moved)]
        assert [one for one, _ in both[0]] == [one for one, _ in both[1]]
        assert [amount for _, amount in both[0]] == pytest.approx([amount for _, amount in both[1]])


@settings(max_examples=12)
@given(st.integers(0, 10**6))
def test_a_plan_breaks_what_it_breaks_by_rational_sums(seed):
    """A plan that keeps all limits, and every plan that is one label away: with any limits and rule, in shares too."""
    found = planned(seed, 4, 6, skills="six")
    instance, chosen = found.instance, plans.table(found.instance, found.plan)
    assume(instance.rule != "probit")  # whose plans the checker holds to their exact errors
    for flip in np.vstack([np.zeros(24, bool), np.eye(24, dtype=bool)]):
        pairs = np.argwhere(chosen ^ flip.reshape(4, 6))
        assert (broken(instance, pairs) == "") == (not plans.broken(instance, pairs))
        ones = np.ones(len(pairs))
        assert breaches(instance, pairs, ones, 1e-6) == breaches(instance, pairs, None, 1e-6)
        assert not len(pairs) or worst_breach(instance, pairs, ones * 1.5) >= 0.5
    assert any(one.limit == "is in the plan twice" for one in breaches(instance, np.repeat(pairs, 2, axis=0)))


@pytest.mark.parametrize("lower", [-np.inf, -1e13])
def test_a_number_that_takes_no_part_excuses_nothing(lower):
    """Of a row, rounding is let pass by what it adds up, not by what it would add or by its other side."""
    pairs = np.array([(i, j) for i in range(4) for j in range(6)])
    numbers = np.append(1e12, np.ones(23))
    row = OwnRows(["r"], np.zeros(24, np.int64), pairs, numbers, np.array([lower]), np.array([3.0]))
    instance = AssignmentInstance(np.full((1, 6), 0.95), np.zeros(4, np.int64), np.full(6, 4), 0.2, own_rows=row)
    assert any("row r" in str(one) for one in breaches(instance, pairs[1:]))
    assert not any("row r" in str(one) for one in breaches(instance, pairs[1:4]))


WISHES = ("collected", "forbidden", "most-per-task", "least-per-task", "overlapping", "most-labels")


@settings(max_examples=40)
@given(campaigns(15, wishes=WISHES))
def test_a_task_has_what_some_set_of_labels_gives_it(instance):
    """Every set of workers for each task, by arithmetic of the tests: which the groups allow, and which serve it."""
    free = replace(instance, capacity=np.full(instance.n_workers, instance.n_tasks), fixed=None)
    loose = replace(free, min_labels=None, groups=[replace(one, min_per_task=0) for one in free.groups])
    for task, kind in enumerate(free.task_type.tolist()):
        assert not (out_of_reach(free)[task] and plans.sets_of(free, task))
        worth = [free.evidence[kind, workers].sum() for *_, workers in plans.sets_of(loose, task, targets=False)]
        assert is_exhausted(free)[task] == (max(worth) == 0)
