"""Exact errors of plans, and what they imply for every plan."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, InputError
from crowdopt.crowd.exactness import CERTAIN, exact_errors, fewest_exact, relaxation
from crowdopt.crowd.votes.voting import weighted_error
from tests.small import instances

checked = ("probit", "exact-error")


@settings(max_examples=15)
@given(instances(rules=("exact-error", "hoeffding", "bhattacharyya")))
def test_each_task_errs_as_its_vote_does(instance):
    """Labels already in count; weights and prior are the rule's."""
    pairs = np.array(list(itertools.product(range(instance.n_tasks), range(instance.n_workers)))).reshape(-1, 2)
    barred = {tuple(pair) for pair in instance.barred.tolist()}
    new = np.array([pair for pair in pairs.tolist() if tuple(pair) not in barred], np.int64).reshape(-1, 2)
    above, width = exact_errors(instance, new)
    for task in range(instance.n_tasks):
        workers = [*instance.collected[instance.collected[:, 0] == task, 1], *new[new[:, 0] == task, 1]]
        kind = instance.task_type[task]
        p, w = instance.accuracy[kind, workers], instance.weight[kind, workers]
        assert above[task] == pytest.approx(weighted_error(p, w), abs=1e-9) and width[task] == 0


@settings(max_examples=15)
@given(instances(rules=("exact-error",)))
def test_the_fewest_labels_by_trying_all_sets(instance):
    """The best k workers do best among all k: no set of fewer labels keeps the target."""
    found = fewest_exact(instance)
    held = [set(instance.collected[instance.collected[:, 0] == i, 1].tolist()) for i in range(instance.n_tasks)]
    for task in range(instance.n_tasks):
        barred = set(instance.barred[instance.barred[:, 0] == task, 1].tolist())
        free = [j for j in range(instance.n_workers) if j not in barred and instance.capacity[j] > 0]
        sizes = []
        for size in range(len(free) + 1):
            for some in itertools.combinations(free, size):
                pairs = np.array([(task, j) for j in some], np.int64).reshape(-1, 2)
                if exact_errors(instance, pairs)[0][task] <= instance.epsilon[task] + CERTAIN:
                    sizes.append(size)
            if sizes:
                break
        assert found[task] == (sizes[0] if sizes else instance.n_workers + 1), (task, held)


@settings(max_examples=20)
@given(instances(most_pairs=8, rules=checked))
def test_every_checked_plan_keeps_the_relaxation(instance):
    """So its bound is one for the rule: whatever keeps the exact targets and the limits keeps the linear rows."""
    from crowdopt.assign.plan import breaches

    loose = relaxation(instance)
    pairs = np.array(list(itertools.product(range(instance.n_tasks), range(instance.n_workers)))).reshape(-1, 2)
    for chosen in itertools.product([False, True], repeat=len(pairs)):
        some = pairs[np.array(chosen)]
        if breaches(instance, some):
            continue
        if (exact_errors(instance, some)[0] <= instance.epsilon + CERTAIN).all():
            assert not breaches(loose, some)


def test_lemma_1_is_for_two_classes():
    """Hoeffding's rule is refused where there are more, with the reason; the others are not."""
    with pytest.raises(InputError, match="rule hoeffding is for 2 classes, not 3: its lemma is about labels"):
        AssignmentInstance([[0.9]], [0], [1], 0.1, classes=3, rule="hoeffding")
    for rule in checked:
        one = AssignmentInstance([[0.8]], [0], [1], 0.1, classes=3, rule=rule)
        np.testing.assert_allclose(exact_errors(one, np.array([[0, 0]])), [[0.2], [0.0]], atol=1e-12)


def test_priors_are_checked():
    """Positive, one per class, adding up to 1."""
    for prior in ([0.7, 0.4], [1.0, 0.0], [0.5, 0.3, 0.2]):
        with pytest.raises(InputError, match="prior"):
            AssignmentInstance([[0.9]], [0], [1], 0.1, prior=prior)
    with pytest.raises(InputError, match="takes no notice"):
        AssignmentInstance([[0.9]], [0], [1], 0.1, rule="hoeffding", observed=True)
