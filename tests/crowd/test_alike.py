"""One quotient: what is alike may change places, and nothing that a plan keeps or costs changes with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt.arrays import alike, same_entries
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.vote_errors import breaches
from tests.draw import campaigns

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


@settings(max_examples=30)
@given(campaigns(24))
def test_no_set_of_fewer_labels_reaches_a_need(instance):
    """The best workers' labels, one by one."""
    classes = classes_of(instance, joint=True)
    for t, count in enumerate(classes.cardinality.tolist()):
        labels = np.sort(np.repeat(classes.evidence[t], classes.room[t]))[::-1]
        reached = np.flatnonzero(np.append(0, np.cumsum(labels)) >= classes.floor[t] - 1e-12)
        assert count == max(classes.fewest[t], reached[0] if reached.size else labels.size + 1)
