"""The oracle of evidence, workers alike but for their prices among the others: no set is cheaper, every set fits."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from crowdopt.assign.engine import cheapest_sets
from crowdopt.assign.engine.cheapest_sets import priced
from crowdopt.assign.engine.prepared import ANY, Overlaps, row_of_need


def _drawn(seed):
    """A row whose workers have few skills, some of several labels, in two groups with limits or none."""
    rng = np.random.default_rng(seed)
    evidence = rng.choice([0.3, 0.7, 1.1], 7)
    row = row_of_need(evidence, rng.integers(1, 3, 7), float(rng.uniform(1.0, 3.0)))
    if seed % 2:
        group, top = rng.integers(0, 3, 7), np.array([int(rng.integers(1, 3)), ANY, ANY])
        row = replace(row, group=group, low=np.array([0, int(rng.integers(0, 2)), 0]), top=top)
    if seed % 3 == 0:
        row = replace(row, fewest=int(rng.integers(1, 4)))
    return row, rng.choice([0.5, 1.0, 1.5, 2.0, -0.2], 7)


def _fits(row, count):
    inside = np.bincount(row.group, count, row.low.size)
    enough = count @ row.evidence >= row.need[0] - 1e-9 and count.sum() >= row.fewest
    return enough and (count <= row.room).all() and (inside >= row.low).all() and (inside <= row.top).all()


@pytest.mark.parametrize("seed", range(60))
def test_no_set_is_cheaper_and_all_fit(seed):
    row, price = _drawn(seed)
    counts = [np.array(count) for count in product(*(range(room + 1) for room in row.room))]
    costs = [float(count @ price) for count in counts if _fits(row, count)]
    at = priced(row, price)
    bound, best = at.cheapest(0)
    if not costs:
        assert not best
        return
    assert bound == pytest.approx(min(costs), abs=1e-6)
    assert price[best[0]].sum() == pytest.approx(min(costs), abs=1e-6)
    for labels in [*best, *at.others(0, best, 20), *at.dearer(best[0], 20)]:
        assert _fits(row, np.bincount(labels, minlength=7))


def test_no_set_goes_through_a_worker_whom_an_overlapping_group_bars():
    """A group of which no label is left has no member in any set, whomever sets are looked for through."""
    row = row_of_need(np.array([0.9, 0.8, 0.7, 0.6, 0.75]), np.ones(5, np.int64), 1.2)
    row = replace(
        row,
        beside=Overlaps(np.array([[True, False, False, True, False]]), np.zeros(1, np.int64), np.zeros(1, np.int64)),
    )
    at = priced(row, np.array([1.0, 1.0, 1.0, 9.0, 1.1]))
    found = at.through(1.2, 1.0, 10)
    assert found
    assert all(row.beside.keeps(labels) for labels in found)


@pytest.mark.parametrize("seed", range(30))
def test_a_table_in_used_memory_is_that_in_new_memory(seed):
    """Whatever numbers are left in it; two tables that are in use at a time have each its own."""
    row, price = _drawn(seed)
    cheapest_sets._gone.clear()
    new = priced(row, price)
    assert not cheapest_sets._gone
    for left in (0.0, -1.0, np.nan):
        cheapest_sets._gone.append(np.full(new.rest.size + 5, left))
        again = priced(row, price)
        assert not np.shares_memory(again.rest, new.rest)
        np.testing.assert_array_equal(again.rest, new.rest)
        memory = again.rest
        del again
        assert np.shares_memory(cheapest_sets._gone.pop(), memory)
