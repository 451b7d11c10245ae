"""Compiled loops, each against what it claims."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crowdopt.assign.dealt import Dealt, Terms
from crowdopt.assign.exact import kernels, split
from crowdopt.assign.exact.alarm import NEVER
from crowdopt.crowd.classes import classes_of
from tests.small import instances


@settings(max_examples=25)
@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=11), st.floats(-0.5, 6.0))
def test_meeting_in_the_middle_finds_the_closest_sum(values, target):
    """Against all 2^k subsets; the mask is the subset whose sum is returned."""
    array = np.array(values)
    mask, total = kernels.closest.py_func(array, array.size, target)
    chosen = np.array([mask >> k & 1 for k in range(array.size)], bool)
    assert array[chosen].sum() == pytest.approx(total)
    best = min(abs(sum(part) - target) for r in range(len(values) + 1) for part in itertools.combinations(values, r))
    assert abs(total - target) == pytest.approx(best, abs=1e-12)


WIDEST = 16  # labels of a task: two of each class at most


def hands_of(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    held = np.array([len(hand) for hand in lists])
    hands = np.zeros((len(lists), WIDEST), np.int32)  # as the method has them, or all compiles a second time
    for i, hand in enumerate(lists):
        hands[i, : len(hand)] = hand
    return hands, held


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_sharing_out_keeps_the_labels_and_helps_the_poorer(seed):
    """The multiset of labels stays, no worker labels a task twice, and the smaller slack never falls."""
    rng = np.random.default_rng(seed)
    groups = WIDEST // 2
    size = rng.integers(1, 3, groups)
    lists = [[g for g in range(groups) for _ in range(rng.integers(0, size[g] + 1))] for _ in range(2)]
    worth = rng.uniform(0.05, 1.0, groups)
    hands, held = hands_of(lists)
    slack = np.array([worth[hand].sum() if hand else 0.0 for hand in lists]) - 2.0
    before, labels = slack.copy(), sorted(lists[0] + lists[1])
    one = worth[None]
    terms = Terms(np.zeros(2, np.int64), one, one, size[None], size, np.zeros(2, np.int64), np.full(2, WIDEST))
    dealt = Dealt(hands, held, slack, size.copy(), np.zeros(1), np.array([seed + 1], np.uint64), NEVER)
    rose = kernels.share_out(0, 1, terms, dealt, False)
    after = [hands[i, : held[i]].tolist() for i in range(2)]
    assert sorted(after[0] + after[1]) == labels
    assert all(hand.count(g) <= size[g] for hand in after for g in hand)
    assert [worth[hand].sum() if hand else 0.0 for hand in after] == pytest.approx(slack + 2.0)
    assert rose == (slack.min() > before.min() + kernels.CLOSE)


@settings(max_examples=25)
@given(instances())
def test_classes_are_of_interchangeable_members(instance):
    """Members of a class agree in all that a plan is judged by, and every member is counted once."""
    classes = classes_of(instance)
    task, worker = classes.task_class, classes.worker_class
    assert np.array_equal(classes.evidence[task][:, worker], instance.evidence[instance.task_type])
    assert np.array_equal(classes.cost[task][:, worker], instance.cost[instance.task_type])
    assert np.array_equal(classes.need[task], instance.residual_need)
    assert np.array_equal(classes.capacity[worker], instance.capacity)
    assert np.array_equal(np.bincount(task), classes.tasks_in) and np.array_equal(
        np.bincount(worker), classes.workers_in
    )
    barred = np.zeros((instance.n_tasks, instance.n_workers), bool)
    barred[tuple(instance.barred.T)] = True
    assert np.array_equal(classes.room[task][:, worker] == 0, barred)


@settings(max_examples=25)
@given(instances())
def test_the_fewest_labels_are_the_fewest(instance):
    """No set of workers smaller than the class's cardinality reaches the need, whatever the capacities."""
    classes = classes_of(instance)
    for i in range(instance.n_tasks):
        allowed = [j for j in range(instance.n_workers) if classes.room[classes.task_class[i], classes.worker_class[j]]]
        enough = [
            r
            for r in range(len(allowed) + 1)
            for some in itertools.combinations(allowed, r)
            if instance.evidence[instance.task_type[i], list(some)].sum() >= instance.residual_need[i] - 1e-9
        ]
        fewest = max(min(enough, default=len(allowed) + 1), instance.new_label_limits[0][i])
        assert classes.cardinality[classes.task_class[i]] <= fewest
        assert not enough or classes.cardinality[classes.task_class[i]] == fewest


@settings(max_examples=50)
@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 9), st.integers(1, 3)), elements=st.sampled_from([-1.5, -0.0, 0.0, 0.5])
    )
)
def test_rows_are_ranked_in_lexicographic_order(rows):
    """Equal rows share a place, 0 and -0 being equal, and the places are numpy's: plans depend on their order."""
    assert split._ranks(rows).tolist() == np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).tolist()
