"""Votes among more than two classes: their exact errors, bounds on both sides, and what every such vote needs."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.crowd.exactness import CERTAIN, at_best, exact_errors, fewest_exact
from crowdopt.crowd.votes.class_votes import ClassVotes, class_vote_errors, least_class_errors
from crowdopt.crowd.votes.evidence import EXACT_ERROR, PROBIT
from crowdopt.crowd.votes.voting import plurality_error

CASES = [pytest.param(range(6), id="few"), pytest.param(range(6, 306), id="many", marks=pytest.mark.slow)]


def laws(p: float, classes: int) -> np.ndarray:
    """``P(label | class)`` of one coin, (classes, labels)."""
    return np.where(np.eye(classes, dtype=bool), p, (1 - p) / (classes - 1))


def by_all_labels(accuracy: np.ndarray, prior: np.ndarray) -> float:
    """The error of the likeliest class, summed over every way in which the labels can fall."""
    error = 0.0
    for said in product(range(prior.size), repeat=accuracy.size):
        chance = prior.copy()
        for p, label in zip(accuracy, said, strict=True):
            chance *= laws(p, prior.size)[:, label]
        error += chance.sum() - chance.max()
    return error


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Skills, some alike and some mostly wrong, and a prior, even or not."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(3, 6))
    count = int(rng.integers(0, {3: 8, 4: 6, 5: 6}[classes]))
    skills = rng.uniform(0.02, 0.98, count)
    accuracy = rng.choice(skills[:2], count) if count and rng.random() < 0.5 else skills
    even = np.full(classes, 1 / classes)
    return accuracy, even if rng.random() < 0.5 else rng.dirichlet(np.full(classes, 2.0))


def alone(accuracy: np.ndarray, prior: np.ndarray) -> ClassVotes:
    """One task's vote."""
    return ClassVotes(np.array([0, accuracy.size]), accuracy, prior[None])


@pytest.mark.parametrize("seeds", CASES)
def test_errors_are_those_of_all_labels(seeds):
    """Beliefs label by label leave nothing out: what cannot win is counted, equal beliefs are one."""
    for seed in seeds:
        accuracy, prior = drawn(seed)
        wanted = by_all_labels(accuracy, prior)
        error, exact = class_vote_errors(alone(accuracy, prior))
        assert exact[0] and error[0] == pytest.approx(wanted, abs=1e-12)
        assert least_class_errors(alone(accuracy, prior))[0] == pytest.approx(wanted, abs=1e-12)
        weights = EXACT_ERROR.weight(accuracy, prior.size)
        assert plurality_error(accuracy, weights, prior) == pytest.approx(wanted, abs=1e-9)


def test_joined_and_spread_beliefs_hold_the_error_between_them():
    """A join forgets, so the error seems larger; a spread tells more, so it seems smaller; fewer cells do both more.

    Of 120 votes on 40 seeds the join was at most 1.4 % above the error, the finer spread 1.5 % below it.
    """
    rng = np.random.default_rng(0)
    for classes, count in ((3, 12), (4, 10), (6, 8)):
        votes = alone(rng.uniform(0.3, 0.8, count), rng.dirichlet(np.full(classes, 3.0)))
        exact = least_class_errors(votes, 200_000)[0]
        above, told = class_vote_errors(votes, target=np.zeros(1))
        assert not told[0] and exact * (1 - 1e-12) <= above[0] < 1.05 * exact
        rough, near = least_class_errors(votes, 32)[0], least_class_errors(votes, 2_048)[0]
        assert rough < near <= exact * (1 + 1e-12) and near > 0.95 * exact


def test_every_vote_has_the_evidence_that_its_error_needs():
    """Cauchy and Schwarz, class against class; a single label has no more than that."""
    for seed in range(40):
        accuracy, prior = drawn(seed)
        error = by_all_labels(accuracy[:3], prior)
        evidence = EXACT_ERROR.evidence(accuracy[:3], prior.size).sum()
        assert EXACT_ERROR.error(evidence, prior.size, prior) <= error + 1e-12
        if error < 0.499:
            assert evidence >= EXACT_ERROR.need(error, prior.size, prior) - 1e-6
    for classes in (3, 5):
        one = EXACT_ERROR.evidence(np.array([0.7]), classes)[0]
        assert EXACT_ERROR.need(0.3, classes) == pytest.approx(one)
        assert EXACT_ERROR.error(one, classes) == pytest.approx(0.3)


def test_a_worker_at_their_best_knows_all_that_they_do():
    """A worker who names any other class than the better one's is the worse one: their labels' law is a mixture."""
    classes, p = 4, 0.1
    better = laws(float(at_best(np.array(p), classes)), classes)
    other = (1 - np.eye(classes)) / (classes - 1)
    np.testing.assert_allclose(better @ other, laws(p, classes))


def test_the_fewest_labels_by_trying_all_sets():
    """No set of fewer labels keeps the target; where every worker is better than chance, some set of so many does."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        mixed = bool(rng.random() < 0.5)
        skills = rng.choice([0.05, 0.4, 0.6, 0.8] if mixed else [0.4, 0.5, 0.7, 0.85], (1, 5))
        given = {"classes": 3, "rule": "exact-error", "collected": [(0, 0)], "forbidden": [(1, 2)]}
        instance = AssignmentInstance(skills, [0, 0], [2] * 5, [0.3, 0.15], **given)
        fewest = fewest_exact(instance)
        for task, free in enumerate(([1, 2, 3, 4], [0, 1, 3, 4])):
            sets = [some for size in range(5) for some in combinations(free, size)]
            good = [
                s for s in sets if exact_errors(instance, pairs(task, s))[0][task] <= instance.epsilon[task] + CERTAIN
            ]
            least = min(map(len, good), default=6)
            assert fewest[task] <= least and (mixed or fewest[task] == least)


def pairs(task: int, workers: tuple[int, ...]) -> np.ndarray:
    """One task's labels."""
    return np.array([(task, j) for j in workers], np.int64).reshape(-1, 2)


def test_probit_adds_up_the_pairs_of_classes():
    """Even classes: each other one has its share of epsilon; uneven ones: need and error are inverse."""
    assert PROBIT.need(0.1, 4) == pytest.approx(PROBIT.need(0.1 / 3, 2))
    prior = np.array([0.5, 0.3, 0.2])
    assert PROBIT.error(PROBIT.need(0.1, 3, prior), 3, prior) == pytest.approx(0.1)
    assert PROBIT.need(0.1, 3, np.array([0.92, 0.05, 0.03])) == 0
