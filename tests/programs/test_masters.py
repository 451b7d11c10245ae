"""Masters over sets and orders: brute force over all choices of sets is never cheaper than they."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from crowdopt import AssignmentInstance, relax
from crowdopt.programs import assignment, masters
from crowdopt.programs.masters import OrderLimits, PairLimits, SomePairs, of_orders
from tests.draw import campaigns
from tests.programs.optima import optimum

DEAR = 100.0
WISHES = ("forbidden", "collected", "least-labels", "most-labels", "least-loads", "budget", "prices", "prices-by-type")


@pytest.mark.parametrize("seed", range(3))
def test_no_whole_choice_of_sets_is_cheaper(seed):
    """Two kinds of tasks, three workers with capacities, a share: brute force over all ways to deal the sets."""
    rng = np.random.default_rng(seed)
    pairs = np.array([a for a in product((0, 1), repeat=3) if sum(a) == 2])
    kind, count = np.repeat([0, 1], 3), np.vstack([pairs, pairs])
    cost, tasks = rng.integers(1, 5, 6).astype(float), np.array([2, 1])
    weight = np.vstack([np.eye(3), [0.5, -0.5, -0.5]])
    sides = np.full(4, -np.inf), np.array([2.0, 2, 2, -0.5])
    columns = sparse.csc_array(np.vstack([kind == 0, kind == 1, weight @ count.T]).astype(float))
    best = np.inf
    for chosen in product(range(3), range(3), range(3, 6)):
        use = weight @ count[list(chosen)].sum(axis=0)
        best = min(best, cost[list(chosen)].sum() + DEAR * np.maximum(0, use - sides[1]).sum())
    dear, free = (
        optimum(masters.of_sets(sides, tasks, cost, columns, DEAR, (np.full(4, price), np.full(4, price))))
        for price in (DEAR, 0.0)
    )
    assert dear <= best + 1e-9
    assert free == pytest.approx(2 * cost[:3].min() + cost[3:].min()), "rows that cost nothing do not bind"


def test_orders_by_hand():
    """Answer at once, or ask a worker twice: .5 wrong, or .1. Ten tasks, at most 3 wrong: half of them ask.

    With 4 labels 2 tasks ask, 4.2 answers are wrong, 1.2 too many; or there are labels too many, where those are dear.
    Of two kinds, one out of reach: the other's target grows by the same multiple, both to 4, so ten ask in vain.
    """
    none, price = np.full(1, -np.inf), np.array([0.0, 2.0])
    ask = sparse.csc_array([[1.0, 1.0], [0.5, 0.1], [0.0, 2.0]])
    for room, wanted in ((100.0, 10.0), (4.0, 4 + 1.2 * DEAR)):
        limits = OrderLimits(np.array([10.0]), np.array([3.0]), none, np.array([room]))
        assert optimum(of_orders(limits, price, ask, DEAR)) == pytest.approx(wanted)
    both = sparse.csc_array([[1.0, 1.0, 0, 0], [0, 0, 1.0, 1.0], [0.5, 0.4, 0, 0], [0, 0, 0.5, 0.1], [0, 1.0, 0, 1.0]])
    limits = OrderLimits(np.full(2, 10.0), np.full(2, 2.0), none, np.array([100.0]))
    assert optimum(of_orders(limits, np.array([0, 1.0, 0, 1.0]), both, DEAR)) == pytest.approx(12.5 + 4 * DEAR)


def over(instance: AssignmentInstance, some: np.ndarray) -> float:
    """The optimum over some of the pairs that are not barred, tasks and labels as they are."""
    task, worker = np.divmod(some, instance.n_workers)
    kind = instance.task_type[task]
    fewest, most = instance.new_label_limits
    sides = PairLimits(
        need=instance.floor,
        fewest=fewest.astype(float),
        most=np.where(most > 10**9, np.inf, most),
        least=instance.min_load.astype(float),
        room=instance.capacity.astype(float),
        money=np.inf if instance.budget is None else instance.budget,
    )
    pairs = SomePairs(task, worker, instance.evidence[kind, worker], instance.cost[kind, worker], np.ones(task.size))
    return optimum(masters.of_pairs(pairs, sides, (1e4, 1e4)))


@settings(max_examples=25)
@given(campaigns(60, ("hoeffding", "bhattacharyya"), WISHES, spoiled=False))
def test_over_every_pair_it_is_the_relaxation(instance):
    """The same optimum as the assignment's relaxation; fewer pairs cost no less, and what is missing is dear."""
    whole = optimum(relax(assignment.build(instance)))
    able = np.ones((instance.n_tasks, instance.n_workers), bool)
    able[tuple(instance.barred.T)] = False
    every = np.flatnonzero(able)
    assert over(instance, every) == pytest.approx(whole, rel=1e-7, abs=1e-6)
    assert over(instance, every[::2]) >= whole - 1e-6
