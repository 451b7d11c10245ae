"""Votes: their exact errors by enumeration, bounds where labels fall in too many ways, and the fewest labels."""

from __future__ import annotations

from itertools import chain, combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance
from crowdopt.crowd import vote_errors as votes
from crowdopt.crowd.vote_errors import CERTAIN, breaches, class_vote_errors, exact_errors, vote_errors
from tests.crowd.enumerated import coin, joint, least_error, vote_error
from tests.small import instances
from tests.weighted import weighted_error

skills = st.lists(st.one_of(st.sampled_from([0.0, 1.0, 0.3, 0.5, 0.7, 0.9]), st.floats(0.01, 0.99)), max_size=12)


@settings(max_examples=30)
@given(skills.map(np.array), st.integers(0, 1000), st.sampled_from([0.5, 0.2, 0.9]))
def test_errors_between_two_classes_are_those_of_enumeration(p, seed, prior):
    """Any weights, any skills, ties included; with equal weights it is the majority."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=p.size) if seed % 2 else rng.choice([-1.0, 1.0, 2.0], p.size)
    chance = joint([1 - prior, prior], coin(p))
    assert weighted_error(p, w, prior) == pytest.approx(vote_error(chance, w, np.log([1 - prior, prior])), abs=1e-12)
    assert weighted_error(p, w, prior, bias=0.0) == pytest.approx(vote_error(chance, w), abs=1e-12)


def alone(accuracy: np.ndarray, prior: np.ndarray) -> votes.ClassVotes:
    """One task's vote."""
    return votes.ClassVotes(np.array([0, accuracy.size]), accuracy, prior[None])


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(3, 5), st.integers(0, 5))
def test_errors_among_more_classes_are_those_of_enumeration(seed, classes, count):
    """Skills alike and mostly wrong, even priors or not; beliefs label by label leave nothing out."""
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(0.02, 0.98, count)
    if count and rng.random() < 0.5:
        accuracy = rng.choice(accuracy[:2], count)
    prior = np.full(classes, 1 / classes) if rng.random() < 0.5 else rng.dirichlet(np.full(classes, 2.0))
    wanted = least_error(joint(prior, coin(accuracy, classes)))
    error, exact = class_vote_errors(alone(accuracy, prior))
    assert exact[0] and error[0] == pytest.approx(wanted, abs=1e-12)
    assert votes._class_errors(alone(accuracy, prior), 512, True)[0][0] == pytest.approx(wanted, abs=1e-12)


def test_joined_and_spread_beliefs_hold_the_error_between_them():
    """A join forgets, so the error seems larger; a spread tells more, so it seems smaller; fewer cells do both more.

    Of 120 votes on 40 seeds the join was at most 1.4 % above the error, the finer spread 1.5 % below it.
    """
    rng = np.random.default_rng(0)
    for classes, count in ((3, 12), (4, 10), (6, 8)):
        one = alone(rng.uniform(0.3, 0.8, count), rng.dirichlet(np.full(classes, 3.0)))
        rough, near, exact = (votes._class_errors(one, cells, True)[0][0] for cells in (32, 2_048, 200_000))
        above, told = class_vote_errors(one, target=np.zeros(1))
        assert not told[0] and exact * (1 - 1e-12) <= above[0] < 1.05 * exact
        assert rough < near <= exact * (1 + 1e-12) and near > 0.95 * exact


@pytest.mark.parametrize("count", [26, 70])
def test_the_lattice_brackets_the_error(count):
    """Coarse lattices contain what finer ones say, and the width shrinks with the cells."""
    p = np.random.default_rng(count).uniform(0.5, 0.8, count)
    given = (np.array([0, count]), p, np.log(p / (1 - p)), np.array([0.5]), np.zeros(1))
    coarse, fine = (vote_errors(*given, cells=cells) for cells in (2**13, 2**17))
    assert coarse[0] - coarse[1] - 1e-12 <= fine[0] <= coarse[0] + 1e-12
    assert fine[1] <= coarse[1] and (count > 26 or coarse[1] == 0)
    assert fine[1] < 1e-3 * fine[0] + 1e-4


def test_the_lattice_says_the_same_of_both_classes():
    """Without a prior or a bias the two are mirror images: bound and width are those of either class alone."""
    p = np.random.default_rng(3).uniform(0.55, 0.9, 41)
    given = (np.array([0, 41]), p, np.log(p / (1 - p)))
    found = np.array([vote_errors(*given, np.array([prior]), np.zeros(1), 200) for prior in (0.5, 1.0, 0.0)])[..., 0]
    assert found[0, 1] > 0
    np.testing.assert_allclose(found, found[[0, 0, 0]], rtol=1e-6)


def test_many_tasks_at_once_are_each_alone():
    """Threads and neighbours change nothing, to the bit."""
    rng = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 12, 300))])
    p, prior = rng.uniform(0.3, 0.95, starts[-1]), rng.dirichlet(np.ones(3), 300)
    w = np.log(p / (1 - p))
    every, _ = vote_errors(starts, p, w, np.full(300, 0.5), np.zeros(300))
    among, _ = class_vote_errors(votes.ClassVotes(starts, p, prior))
    for i, (a, b) in enumerate(pairwise(starts.tolist())):
        assert every[i] == weighted_error(p[a:b], w[a:b])
        assert among[i] == class_vote_errors(alone(p[a:b], prior[i]))[0][0]


def test_a_worker_at_their_best_knows_all_that_they_do():
    """A worker who names any other class than the better one's is the worse one: their labels' law is a mixture."""
    other = (1 - np.eye(4)) / 3
    np.testing.assert_allclose(coin(votes.at_best(np.array(0.1), 4), 4) @ other, coin(0.1, 4))


@settings(max_examples=15)
@given(instances(rules=("exact-error", "hoeffding", "bhattacharyya")))
def test_each_task_errs_as_its_vote_does(instance):
    """Labels already in count; weights are the rule's."""
    able = np.ones((instance.n_tasks, instance.n_workers), bool)
    able[tuple(instance.barred.T)] = False
    above, width = exact_errors(instance, np.argwhere(able))
    able[tuple(instance.collected.T)] = True
    for kind, has, error in zip(instance.task_type, able, above, strict=True):
        chance = joint([0.5, 0.5], coin(instance.accuracy[kind, has]))
        assert error == pytest.approx(vote_error(chance, instance.weight[kind, has]), abs=1e-9)
    assert not width.any()


def fewest(instance: AssignmentInstance, task: int) -> int:
    """By trying all sets of workers, the smaller ones first."""
    barred = set(instance.barred[instance.barred[:, 0] == task, 1].tolist())
    free = [j for j in range(instance.n_workers) if j not in barred and instance.capacity[j] > 0]
    for some in chain.from_iterable(combinations(free, size) for size in range(len(free) + 1)):
        pairs = np.array([(task, j) for j in some], np.int64).reshape(-1, 2)
        if exact_errors(instance, pairs)[0][task] <= instance.epsilon[task] + CERTAIN:
            return len(some)
    return instance.n_workers + 1


THREE = {"classes": 3, "rule": "exact-error", "collected": [(0, 0)], "forbidden": [(1, 2)]}


@settings(max_examples=15)
@given(instances(rules=("exact-error",)), st.integers(0, 10**6))
def test_the_fewest_labels_by_trying_all_sets(instance, seed):
    """No set of fewer labels keeps the target, and some set of so many does: the best k workers do best among all k.

    Of more classes so it is where every worker is better than chance.
    """
    rng = np.random.default_rng(seed)
    for one, exactly in (
        (instance, True),
        (AssignmentInstance(rng.choice([0.4, 0.5, 0.7, 0.85], (1, 4)), [0, 0], [2] * 4, [0.3, 0.15], **THREE), True),
        (AssignmentInstance(rng.choice([0.05, 0.4, 0.6, 0.8], (1, 4)), [0, 0], [2] * 4, [0.3, 0.15], **THREE), False),
    ):
        for task, found in enumerate(votes.fewest_exact(one).tolist()):
            least = fewest(one, task)
            assert found == least or (found < least and not exactly)


@settings(max_examples=20)
@given(instances(most_pairs=8, rules=("probit", "exact-error")))
def test_every_checked_plan_keeps_the_relaxation(instance):
    """So its bound is one for the rule: whatever keeps the exact targets and the limits keeps the linear rows."""
    loose = votes.relaxation(instance)
    pairs = np.array(list(product(range(instance.n_tasks), range(instance.n_workers)))).reshape(-1, 2)
    for chosen in product([False, True], repeat=len(pairs)):
        some = pairs[np.array(chosen)]
        if not breaches(instance, some) and (exact_errors(instance, some)[0] <= instance.epsilon + CERTAIN).all():
            assert not breaches(loose, some)


def test_rough_errors_are_on_the_same_side_of_every_limit():
    """Errors that are held against limits, task + limit, need not be known beyond the side on which they are."""
    rng = np.random.default_rng(3)
    instance = AssignmentInstance(rng.uniform(0.55, 0.8, (1, 40)), np.zeros(4, int), np.full(40, 4), 0.1)
    tasks, limits = np.repeat(np.arange(4), 6), np.array([0.01, 0.02, 0.03, 0.05])
    sets = [rng.permutation(40)[: 26 + k % 6] for k in range(24)]
    pairs = np.column_stack([np.repeat(np.arange(24), [one.size for one in sets]), np.concatenate(sets)])
    exact = votes.errors_of_sets(instance, tasks, pairs)
    asked = np.sort((np.arange(4)[:, None] + np.append(limits, exact[:2])).ravel())
    rough = votes.errors_of_sets(instance, tasks, pairs, asked)
    assert (np.searchsorted(asked, tasks + rough) == np.searchsorted(asked, tasks + exact)).all()
    assert (rough != exact).any()
