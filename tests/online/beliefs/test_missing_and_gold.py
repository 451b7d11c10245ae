"""What is missing, whom to count on, and whether gold bears agreement out: by hand."""

from __future__ import annotations

from math import exp, log
from types import SimpleNamespace

import numpy as np
import pytest

from crowdopt.online.beliefs.state import CELLS, GRID, SHRUNK, disagreement
from crowdopt.online.beliefs.worker_session import SHARE, USUAL, counted_on, missing


@pytest.mark.parametrize("classes", [2, 4])
def test_nats_are_missing_up_to_the_level_of_the_target(classes):
    """``(b_1 - b_k) l`` at the target less what it is now, task by task; a task beyond its target lacks nothing."""
    error, level = np.array([0.1, 0.1, 0.3]), np.array([0.0, 1.0, 9.0])
    sure = np.log((1 - error) / error) + log(classes - 1)
    total = 0.0
    for e, at, now in zip(error, sure, level, strict=True):
        best = exp(now) / (exp(now) + classes - 1)  # chance of the likeliest class; the others share the rest
        total += max(0.0, ((1 - e) - e / (classes - 1)) * at - (best - (1 - best) / (classes - 1)) * now)
    assert missing(level, sure, error, classes) == pytest.approx(total, rel=1e-12)


def test_those_to_come_are_counted_on_as_the_last_ones_kept_their_promise():
    """All of the share where they brought what is usual or more; in proportion where less."""
    assert counted_on(40, 10.0, 10.0) == SHARE * 40
    assert counted_on(40, USUAL * 5.0, 10.0) == pytest.approx(SHARE * 40 * 0.5)


@pytest.mark.parametrize("classes", [2, 3])
def test_gold_against_agreement_is_a_bayes_factor(classes):
    """Worker by worker and cell by cell: skill shrunk to a guess by each factor, their mean, against agreement."""
    generator = np.random.default_rng(classes)
    prior, agreement = generator.dirichlet(np.ones(CELLS)), generator.random((3, 1, CELLS))
    right, asked = np.array([[2], [5], [0]]), np.array([[6], [9], [0]])
    beliefs = SimpleNamespace(
        came=np.array([3]), asked=asked, right=right, weight=asked + 4.0, prior=prior, agreement=agreement, shown=GRID
    )
    beliefs.classes = classes

    def likelihood(left):
        product = 1.0
        for worker in range(2):  # the third did no gold
            density = prior * agreement[worker, 0]
            skill = 1 / classes + left * (GRID - 1 / classes)
            c, s = right[worker, 0], asked[worker, 0]
            product *= float((density / density.sum() * skill**c * (1 - skill) ** (s - c)).sum())
        return product

    mean = sum(likelihood(left) for left in SHRUNK) / len(SHRUNK)
    assert disagreement(beliefs) == pytest.approx(log(mean / likelihood(1.0)), rel=1e-10)
