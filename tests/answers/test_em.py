"""EM, against a version written label by label, and what EM promises: the likelihood never falls."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.answers import dawid_skene, majority, one_coin
from crowdopt.crowd.labels import Labels
from tests.answers.tables import drawn, rows
from tests.chance import BASE, binomial, fewest, most
from tests.majorities import majority_accuracy


def by_hand(labels: Labels, iterations: int, coin: bool, smoothing: float, estimated: bool) -> tuple:
    """Both models' EM, one label at a time: posterior, chances (worker, true, said)."""
    n, m, count = len(labels.tasks), len(labels.workers), len(labels.classes)
    posterior = majority(labels).posterior
    for _ in range(iterations):
        prior = posterior.mean(axis=0) if estimated else np.full(count, 1.0)
        chance = np.zeros((m, count, count))
        for worker in range(m):
            said = np.zeros((count, count))
            for task, who, label in rows(labels):
                if who == worker:
                    said[:, label] += posterior[task]
            if coin:
                right = (np.trace(said) + smoothing) / max(said.sum() + 2 * smoothing, 1e-10)
                right = np.clip(right, 1e-10, 1 - 1e-10)
                chance[worker] = (1 - right) / (count - 1)
                np.fill_diagonal(chance[worker], right)
            else:
                said = np.maximum(said + smoothing / count, 1e-10)
                chance[worker] = said / said.sum(axis=1, keepdims=True)
        likelihood = np.tile(prior, (n, 1))
        for task, worker, label in rows(labels):
            likelihood[task] *= chance[worker][:, label]
        posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
    return posterior, chance


@pytest.mark.parametrize("estimated", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_three_rounds_are_those_written_out(classes: int, smoothing: float, estimated: bool) -> None:
    """The sparse products are the sums over labels, for tasks and workers without any as well."""
    labels, _ = drawn(1, classes=classes)
    prior = "estimated" if estimated else "uniform"
    posterior, chance = by_hand(labels, 3, True, smoothing, estimated)
    found = one_coin(labels, 3, prior, smoothing)
    assert found.posterior == pytest.approx(posterior, abs=1e-9)
    assert found.accuracy == pytest.approx(chance[:, 0, 0], abs=1e-9)
    posterior, chance = by_hand(labels, 3, False, smoothing, estimated)
    found = dawid_skene(labels, 3, prior, smoothing)
    assert found.posterior == pytest.approx(posterior, abs=1e-9)
    assert found.confusion == pytest.approx(chance, abs=1e-9)


def log_likelihood(labels: Labels, chance: np.ndarray, prior: np.ndarray) -> float:
    likelihood = np.tile(prior, (len(labels.tasks), 1))
    for task, worker, label in rows(labels):
        likelihood[task] *= chance[worker][:, label]
    return float(np.log(likelihood.sum(axis=1)).sum())


@pytest.mark.parametrize("seed", range(2))
def test_the_likelihood_never_falls(seed: int) -> None:
    """EM's theorem (Dempster, Laird & Rubin 1977), without smoothing; the prior is the one of the round before."""
    labels, _ = drawn(seed, tasks=25, classes=3)
    seen = []
    for rounds in range(1, 12):
        before = majority(labels).posterior if rounds == 1 else dawid_skene(labels, rounds - 1, smoothing=0).posterior
        seen.append(log_likelihood(labels, dawid_skene(labels, rounds, smoothing=0).confusion, before.mean(axis=0)))
    assert (np.diff(seen) >= -1e-7).all()


@pytest.mark.chance
def test_it_finds_the_adversary_that_majority_believes() -> None:
    """Three good workers of .9 against four who agree on nothing: EM learns whom to believe.

    Tasks are independent: a majority is right with a chance that is known, EM with one of .95 at least, where a vote
    that knows all skills has .98. An estimated skill is off by no more than what EM believes of wrong classes.
    """
    skills = np.array([0.92, 0.92, 0.92, 0.5, 0.5, 0.5, 0.1])
    labels, truth = drawn(BASE, 1000, 7, 2, share=1, skill=skills)
    right = np.bincount(labels.worker, labels.label == truth[labels.task]) / 1000
    plain, found = majority(labels), one_coin(labels)
    assert binomial((plain.answer == truth).sum(), 1000, majority_accuracy(skills))
    assert (found.answer == truth).sum() >= fewest(1000, 0.95) > most(1000, majority_accuracy(skills))
    off = (1 - found.posterior[np.arange(1000), truth]).mean()
    assert found.accuracy == pytest.approx(right, abs=off + 1 / 1000)
    assert found.converged and one_coin(labels, 2).iterations == 2 and not one_coin(labels, 2).converged


@pytest.mark.parametrize("fit", [one_coin, dawid_skene])
def test_known_truth_stays_and_teaches(fit) -> None:
    """Tasks with truth answer it with certainty; all known, accuracies are smoothed shares of right labels."""
    labels, truth = drawn(6, tasks=30)
    known = np.where(np.arange(30) < 20, truth, -1)
    found = fit(labels, truth=known)
    there = labels.per_task > 0
    assert (found.answer[:20] == truth[:20])[there[:20]].all()
    assert found.confidence[:20][there[:20]] == pytest.approx(1.0)
    right = np.bincount(labels.worker, weights=truth[labels.task] == labels.label, minlength=7)
    given = labels.counts
    assert one_coin(labels, truth=truth).accuracy == pytest.approx((right + 1) / (given + 2))


def test_bad_settings_get_their_sentence() -> None:
    """No silent default takes the place of what was asked."""
    labels, _ = drawn(7)
    for settings, sentence in (
        ({"iterations": 0}, "at least one iteration"),
        ({"prior": "flat"}, "uniform, estimated"),
        ({"smoothing": -1}, "smoothing must be"),
        ({"truth": [0, 1]}, "one class per task"),
        ({"truth": np.full(12, 3)}, "one class per task"),
    ):
        with pytest.raises(InputError, match=sentence):
            one_coin(labels, **settings)
