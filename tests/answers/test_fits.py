"""EM, KOS and belief propagation against versions written label by label, and by enumeration where there is one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdopt.answers import belief_propagation, dawid_skene, kos, majority, one_coin, propagation
from crowdopt.answers.em import tallies
from tests.answers.tables import coins, drawn, likelihood, shares, table
from tests.chance import fewest, seeds


@pytest.mark.parametrize("fit", [one_coin, dawid_skene])
@pytest.mark.parametrize("prior", ["estimated", "uniform"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_three_rounds_of_em_are_those_written_out(fit, classes, smoothing, prior):
    """The sparse products are the sums over labels, for tasks and workers without any as well."""
    labels, _ = drawn(1, classes=classes)
    posterior = majority(labels).posterior
    for _ in range(3):
        said = np.zeros((7, classes, classes))  # worker, true, label
        np.add.at(said.swapaxes(1, 2), (labels.worker, labels.label), posterior[labels.task])
        assert tallies(labels, posterior[labels.task]) == pytest.approx(said)
        if fit is one_coin:
            right = np.trace(said, axis1=1, axis2=2) + smoothing
            right /= np.maximum(said.sum(axis=(1, 2)) + 2 * smoothing, 1e-10)
            chance = coins(np.clip(right, 1e-10, 1 - 1e-10), classes)
        else:
            said = np.maximum(said + smoothing / classes, 1e-10)
            chance = said / said.sum(axis=2, keepdims=True)
        posterior = shares(likelihood(labels, chance) * (posterior.mean(axis=0) if prior == "estimated" else 1.0))
    found = fit(labels, 3, prior, smoothing)
    assert found.posterior == pytest.approx(posterior, abs=1e-9) and found.iterations == 3 and not found.converged
    assert found.law.table(0, np.arange(7))[0] == pytest.approx(chance, abs=1e-9)


def test_known_answers_teach_em_and_propagation():
    """All known, a skill is its worker's smoothed share of right labels, or the mean by their tally under the prior."""
    labels, truth = drawn(6, tasks=30)
    right, asked = np.bincount(labels.worker, labels.label == truth[labels.task], 7), labels.counts
    assert one_coin(labels, truth=truth).accuracy == pytest.approx((right + 1) / (asked + 2))
    grid = (np.arange(32) + 0.5) / 32
    chance = shares(grid ** right[:, None] * ((1 - grid) / 2) ** (asked - right)[:, None])
    assert belief_propagation(labels, truth=truth, skills=np.ones(32)).accuracy == pytest.approx(chance @ grid)


@pytest.mark.parametrize("rounds", [0, 1, 6])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_messages_of_kos_are_never_needed(classes, rounds):
    """Every message written out, label vectors ``e_l - 1/L``: the tasks' sums are equal, up to scale."""
    labels, _ = drawn(rounds, tasks=8, workers=6, classes=classes)
    start = np.random.default_rng(1).normal(1, 1, labels.task.size)
    vector, y = (np.eye(classes) - 1 / classes)[labels.label], start
    same_task, same_worker = labels.task[:, None] == labels.task, labels.worker[:, None] == labels.worker
    for _ in range(rounds):
        x = (same_task & ~same_worker) @ (vector * y[:, None])
        y = (same_worker & ~same_task) @ (vector * x).sum(axis=1)
    expected, score = np.zeros((8, classes)), kos(labels, rounds, start).score
    np.add.at(expected, labels.task, vector * y[:, None])
    assert score / np.abs(score).max() == pytest.approx(expected / np.abs(expected).max(), abs=1e-9)
    assert np.isfinite(kos(labels, 1000).score).all(), "messages grow geometrically, and are scaled back"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_propagation_is_exact_without_cycles(seed, classes, monkeypatch):
    """A chain of workers, two tasks in common with nobody, rows in any order, workers looked at a few at a time.

    Messages say what enumeration says: every truth is tried, each worker's skill integrated out.
    """
    monkeypatch.setattr(propagation, "CONVERGED", 1e-12)
    monkeypatch.setattr(propagation, "TOGETHER", 4)
    rng = np.random.default_rng(seed)
    task, worker = rng.permutation([(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 4), (3, 0), (4, 4), (5, 5)]).T
    labels = table(task, worker, rng.integers(0, classes, 9), 7, 6, classes)
    skills = rng.dirichlet(np.ones(8)) * np.linspace(0.2, 1.8, 8)
    grid, chance = (np.arange(8) + 0.5) / 8, np.zeros((7, classes))
    for truth in itertools.product(range(classes), repeat=7):
        right = np.asarray(truth)[labels.task] == labels.label
        hits, misses = (np.bincount(labels.worker, part, 6)[:, None] for part in (right, ~right))
        chance[np.arange(7), truth] += ((grid**hits * ((1 - grid) / (classes - 1)) ** misses) @ skills).prod()
    answers = belief_propagation(labels, skills=skills, iterations=400)
    assert answers.converged and answers.posterior == pytest.approx(shares(chance), abs=1e-6)


@pytest.mark.chance
def test_what_propagation_claims_is_near_the_truth_where_em_claims_less_than_half():
    """Half spammers, half right in seven of ten, twelve labels a task, forty a worker: few enough to fool EM.

    Crowds are independent: in 95 of 100 or more the claims are within a third of the truth, EM claims less than half
    of its errors, and makes more of them.
    """
    seen, trials = np.zeros(3, int), 5
    for seed in seeds(trials):
        labels, truth = drawn(seed, 300, 90, 2, 12, coins(np.repeat([0.5, 0.7], 45), 2))
        answers, em = belief_propagation(labels), one_coin(labels)
        wrong, other = (answers.answer != truth).mean(), (em.answer != truth).mean()
        near = abs((1 - answers.confidence).mean() - wrong) < wrong / 3
        seen += [near, (1 - em.confidence).mean() < other / 2, wrong < other]
    assert (seen >= fewest(trials, 0.95)).all()
