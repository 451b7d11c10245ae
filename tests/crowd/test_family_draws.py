"""A later round is of the same world: truth, families and hard tasks are drawn given the labels that are in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from crowdopt import AssignmentInstance, Group
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.posteriors import posteriors
from crowdopt.crowd.recipes.family_draws import KnownLabels, family_posteriors
from crowdopt.crowd.recipes.named_recipes import simulated_labels

SEEDS = 400
FALSE_ALARM = 1e-6  # of a whole test


def pattern(classes, workers):
    """One task for each way in which so many workers can label it, all labels in."""
    said = np.array(list(itertools.product(range(classes), repeat=workers)))
    pairs = np.array(list(itertools.product(range(len(said)), range(workers))))
    return pairs, said.reshape(-1)


def agree(chance, tally, draws):
    """Whether each tally lies where the binomial law of its chance puts all but FALSE_ALARM, shared by the tallies."""
    tail = FALSE_ALARM / chance.size / 2
    low, high = binom.ppf(tail, draws, chance), binom.isf(tail, draws, chance)
    return ((low <= tally) & (tally <= high)).all()


ONE_COIN = {"accuracy": [[0.9, 0.8, 0.6]], "capacity": 99, "epsilon": 0.1}


def family(members, n, classes):
    """Some of the three workers err together."""
    group = Group("f", members, max_per_task=2, dependent=True)
    return AssignmentInstance(**ONE_COIN | {"capacity": n}, task_type=[0] * n, classes=classes, groups=[group])


TABLES = np.array([[[[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.2, 0.1, 0.7]]] * 2 + [[[0.5, 0.3, 0.2]] * 3]])
CASES = {
    "two classes": AssignmentInstance(**ONE_COIN, task_type=[0] * 8),
    "a prior": AssignmentInstance(**ONE_COIN, task_type=[0] * 8, prior=[0.8, 0.2]),
    "three classes": AssignmentInstance(**ONE_COIN, task_type=[0] * 27, classes=3, prior=[0.5, 0.3, 0.2]),
    "confusion": AssignmentInstance(**ONE_COIN, task_type=[0] * 27, classes=3).with_confusion(TABLES),
    "hard tasks": AssignmentInstance(
        **ONE_COIN, task_type=[0] * 8, rule="exact-error", difficulty=Difficulty(0.3, hard=0.2)
    ),
    "a family": family([0, 1], 8, 2),
    "a family, three classes": family([0, 2], 27, 3),
}


@pytest.mark.parametrize("case", CASES)
def test_truth_is_drawn_from_the_posterior(case):
    """Over seeds 0..399 each class of each task is drawn as often as the labels that are in make it likely."""
    instance = CASES[case]
    pairs, label = pattern(instance.classes, 3)
    known, none = KnownLabels(pairs, label), pairs[:0]
    chance = family_posteriors(instance, known)
    tally = np.zeros_like(chance)
    for seed in range(SEEDS):
        truth, _ = simulated_labels(instance, none, np.random.default_rng(seed), None, known)
        tally[np.arange(truth.size), truth] += 1
    assert agree(chance, tally, SEEDS)
    if not instance.groups:
        assert chance == pytest.approx(posteriors(instance, pairs, label))


@pytest.mark.parametrize(("members", "classes"), [([0, 1], 2), ([0, 2], 3)])
def test_the_posterior_of_a_family_is_bayes_over_its_draws(members, classes):
    """20,000 draws of labels before any are in: among those alike the share of each truth is the posterior."""
    instance = family(members, 20_000, classes)
    pairs = np.array(list(itertools.product(range(20_000), range(3))))
    truth, label = simulated_labels(instance, pairs, np.random.default_rng(0))
    way = label.reshape(-1, 3) @ classes ** np.arange(3)[::-1]
    alike, said = pattern(classes, 3)
    chance = family_posteriors(family(members, classes**3, classes), KnownLabels(alike, said))
    drawn = np.bincount(way, minlength=len(chance))
    tally = np.array([np.bincount(truth[way == k], minlength=classes) for k in range(len(chance))])
    assert agree(chance[drawn > 0], tally[drawn > 0], drawn[drawn > 0, None])


def test_a_family_whose_labels_no_law_explains_counts_as_independent():
    """The better one errs where the worse is right, whatever the truth: the draw goes on by the workers' skills."""
    family = Group("f", [0, 1, 2], max_per_task=3, dependent=True)
    instance = AssignmentInstance([[0.9, 0.6, 0.6]], [0], 9, 0.1, classes=3, groups=[family])
    pairs, label = np.array([[0, 0], [0, 1], [0, 2]]), np.array([0, 1, 2])
    assert family_posteriors(instance, KnownLabels(pairs, label)) == pytest.approx(posteriors(instance, pairs, label))


def test_a_hard_task_stays_hard():
    """Where the good worker's labels contradict one another, the next labels err as often as on hard tasks."""
    hard = Difficulty(0.5, hard=0.0)
    instance = AssignmentInstance(
        [[0.999] * 4], np.zeros(5_000, np.int64), 5_000, 0.1, rule="exact-error", difficulty=hard
    )
    had = np.array(list(itertools.product(range(5_000), range(2))))
    known = KnownLabels(had, had[:, 1].copy())
    pairs = np.array(list(itertools.product(range(5_000), [2])))
    truth, label = simulated_labels(instance, pairs, np.random.default_rng(0), None, known)
    chance = 0.5 + 0.499 * (0.5 * 0.001998) / (0.5 * 0.001998 + 0.5 * 0.5)
    assert agree(np.array([chance]), np.array([(label == truth).sum()]), 5_000)
