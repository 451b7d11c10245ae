"""A search that found no plan leaves what it has: who goes on from there serves no task less, and breaks nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, assign
from crowdopt.api.assign import probe
from crowdopt.assign.engine.given_sets import Given
from crowdopt.assign.engine.prepared import problem_of
from crowdopt.assign.engine.set_engine import plan_pairs
from crowdopt.assign.mending import TaskLabels
from crowdopt.assign.methods.best_effort import best_effort
from crowdopt.assign.plan import breaches, short_tasks
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Status
from crowdopt.crowd.group_limits import TaskGroups, membership, task_limits
from crowdopt.crowd.stated.groups import Group


@st.composite
def grouped(draw):
    """Forty tasks, twelve workers who differ, two groups with limits per task; there is a plan for most."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    first, second = np.sort(rng.permutation(12)[:6]), np.sort(rng.permutation(12)[:5])
    most, fewest = int(rng.integers(1, 3)), int(rng.integers(0, 2))
    return AssignmentInstance(
        accuracy=rng.uniform(0.6, 0.95, (2, 12)),
        task_type=rng.integers(0, 2, 40),
        capacity=rng.integers(10, 30, 12),
        epsilon=rng.choice([0.1, 0.2], 40),
        rule=draw(st.sampled_from(["bhattacharyya", "exact-error"])),
        groups=[
            Group("first", first.tolist(), max_per_task=most),
            Group("second", second.tolist(), min_per_task=fewest),
        ],
    )


def some_left(instance, seed):
    """A plan, the labels of a tenth of its tasks taken away; none where no plan is found."""
    plan = assign(instance, time_limit=3, strict=True)
    if not plan.found:
        return plan, None
    gone = np.random.default_rng(seed).permutation(instance.n_tasks)[: instance.n_tasks // 10]
    return plan, plan.pairs[~np.isin(plan.pairs[:, 0], gone)]


@given(grouped(), st.integers(0, 99))
@settings(max_examples=10)
def test_who_goes_on_serves_all_that_were_served(instance, seed):
    """And here, where their own labels are free again, all others."""
    plan, left = some_left(instance, seed)
    if left is None:
        return
    none = replace(plan, status=Status.UNDECIDED, pairs=None, partial=left)
    found = best_effort(none, np.zeros(0, np.int64), lambda *_: none, probe(5.0))
    assert found.pairs is not None and not breaches(instance, found.pairs, short=found.short)
    assert not np.setdiff1d(found.short, short_tasks(instance, left)).size


@given(grouped(), st.integers(0, 99))
@settings(max_examples=10)
def test_groups_of_a_hand_are_counted_as_one_counts(instance, seed):
    """Task by task, group by group."""
    rng, groups = np.random.default_rng(seed), TaskGroups.of(instance)
    hands = [np.flatnonzero(rng.random(12) < 0.3) for _ in range(40)]
    limited, fewest, most = task_limits(instance)
    member = membership(instance)[limited]
    by_hand = [
        all(fewest[g, i] <= member[g, hand].sum() <= most[g, i] for g in range(len(limited)))
        for i, hand in enumerate(hands)
    ]
    place = np.repeat(np.arange(40), [hand.size for hand in hands])
    assert groups.keep(np.arange(40), place, np.concatenate(hands)).tolist() == by_hand


@given(grouped(), st.integers(0, 99))
@settings(max_examples=10)
def test_what_is_mended_keeps_limits_of_groups(instance, seed):
    """Whether it comes to an end or not: a task that is mended keeps its groups' limits, others lose nothing."""
    instance = replace(instance, rule="exact-error")
    _, left = some_left(instance, seed)
    if left is None:
        return
    labels = TaskLabels.of(instance, left)
    wrong = set(labels.wrong().tolist())
    done = labels.mend(Clock(5.0))
    assert set(labels.wrong().tolist()) <= wrong
    assert not done or not breaches(instance, labels.pairs())


def test_tasks_without_a_set_have_no_labels():
    """Of a kind of three tasks two have sets: the third has none, and nobody gives more than they can."""
    instance = AssignmentInstance([[0.8, 0.8, 0.8, 0.8]], [0, 0, 0], [2, 2, 2, 2], 0.3, rule="bhattacharyya")
    problem = problem_of(instance, False)
    set_of_two = np.zeros(2, np.int64)
    pairs = plan_pairs(Given.of(problem, [(0, set_of_two), (0, set_of_two)]))
    assert np.bincount(pairs[:, 0], minlength=3).tolist() == [2, 2, 0]
    assert np.bincount(pairs[:, 1], minlength=4).max() == 1
