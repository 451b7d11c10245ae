"""Confusion tables: evidence that bounds the vote's error, and votes that are Bayes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdopt.answers import wmv_confusion
from crowdopt.crowd.gold.confusion import _likelihood, confusion_evidence, confusions, one_coin_like
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.votes.evidence import BHATTACHARYYA, bhattacharyya_error
from crowdopt.errors import InputError
from tests.chance import fewest, rng, seeds


def coin(accuracy, classes):
    wrong = (1 - np.asarray(accuracy)[:, None, None]) / (classes - 1)
    return np.where(np.eye(classes, dtype=bool), np.asarray(accuracy)[:, None, None], wrong)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_a_one_coin_table_has_the_evidence_of_one_coin(classes):
    """Confusion tables generalise accuracies: the same number, and back."""
    accuracy = np.array([0.3, 0.6, 0.8, 0.95]) + 1 / classes - 0.2
    accuracy = np.clip(accuracy, 1 / classes, 0.98)
    evidence = confusion_evidence(coin(accuracy, classes))
    np.testing.assert_allclose(evidence, BHATTACHARYYA.evidence(accuracy, classes), atol=1e-9)
    np.testing.assert_allclose(one_coin_like(evidence, classes), accuracy, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_the_sum_of_evidence_bounds_the_error_of_the_likeliest_class(seed):
    """All tables of labels added up: the vote by log-likelihoods errs no more than the rule says of the minima's sum.

    And its posterior is Bayes' own, label by label.
    """
    rng = np.random.default_rng(seed)
    classes, workers = 3 + seed % 2, 4
    table = 0.7 * coin(rng.uniform(0.4, 0.95, workers), classes) + 0.3 * rng.dirichlet(
        np.ones(classes), (workers, classes)
    )
    wrong, names = 1.0, tuple(map(str, range(classes)))
    for said in product(range(classes), repeat=workers):
        chance = table[np.arange(workers)[:, None], np.arange(classes), np.array(said)[:, None]].prod(axis=0) / classes
        wrong -= chance.max()
        labels = Labels(np.zeros(workers, int), np.arange(workers), np.array(said), ("t",), tuple("abcd"), names)
        posterior = wmv_confusion(labels, table).posterior[0]
        np.testing.assert_allclose(posterior, chance / chance.sum(), atol=1e-12)
    total = confusion_evidence(table).sum()
    assert wrong <= bhattacharyya_error(np.array([total]), np.full(classes, 1 / classes))[0] + 1e-12


@pytest.mark.chance
def test_tables_from_gold_are_shares_drawn_to_the_crowds():
    """Gold counts as it is; the crowd's table as one number of labels, which is all that a worker without gold has."""
    draws = rng()
    true = draws.dirichlet(np.array([8.0, 1.0, 1.0]), (40, 3))
    true = np.stack([np.roll(true[:, k], k, axis=1) for k in range(3)], axis=1)
    tallies = draws.multinomial(2000, true)
    tallies[-1] = 0
    found = confusions(tallies)
    np.testing.assert_allclose(found[-1], tallies.sum(axis=0) / tallies.sum(axis=(0, 2))[:, None], atol=1e-3)
    np.testing.assert_allclose(found.sum(axis=2), 1)
    share = tallies[:-1] / 2000
    drawn = (found[:-1] - share)[share != found[-1]] / (found[-1] - share)[share != found[-1]]
    assert np.ptp(drawn) < 1e-6 and 0 < drawn[0] < 0.5


@pytest.mark.chance
def test_a_crowd_of_equals_is_one_table_for_all():
    """Five gold answers of each class and worker: in eight crowds of ten or more all are within .1 of their mean.

    Crowds are independent, of 300 it was nine of ten.
    """
    one, near = np.full((3, 3), 0.1) + 0.7 * np.eye(3), 0
    for seed in seeds(40):
        few = np.random.default_rng(seed).multinomial(5, np.broadcast_to(one, (40, 3, 3)))
        near += np.abs(confusions(few) - few.mean(axis=0) / 5).max() < 0.1
    assert near >= fewest(40, 0.8)


def test_tables_need_gold():
    """Without any there is no crowd either."""
    with pytest.raises(InputError, match="need gold"):
        confusions(np.zeros((2, 3, 3), int))


def test_the_likelihood_of_tallies_is_that_of_polyas_urns():
    """Each row's labels one by one: the weight of what is named, and what was named before, over all of the row's."""
    counts, weight = np.array([[[3.0, 1.0], [0.0, 2.0]], [[1.0, 0.0], [2.0, 2.0]]]), np.array([[2.5, 0.5], [1.0, 3.0]])
    chance = 1.0
    for table in counts:
        for row, urn in zip(table, weight, strict=True):
            drawn = [k for k, count in enumerate(row.astype(int)) for _ in range(count)]
            for place, label in enumerate(drawn):
                chance *= (urn[label] + drawn[:place].count(label)) / (urn.sum() + place)
    assert _likelihood(counts, weight) == pytest.approx(np.log(chance), rel=1e-12)
