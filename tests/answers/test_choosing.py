"""The method that is taken, and how far it is believed: as known answers, or labels held back, speak for it."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.answers import majority
from crowdopt.answers.choosing import FEWEST, METHODS, chosen
from crowdopt.api.aggregate import aggregate, vote
from tests.answers.tables import coins, drawn
from tests.chance import BASE, fewest, seeds

LENIENT = np.array([[[0.98, 0.02], [0.55, 0.45]]] * 8)  # rarely say the second class, but mean it
COINS = coins([0.5, 0.5, 0.5, 0.5, 0.5, 0.9, 0.9, 0.9], 2)


def all_by_all(chance, tasks=200):
    return drawn(BASE, tasks, len(chance), 2, len(chance), chance)


def test_labels_held_back_tell_leniency_from_skill():
    """Workers with a table each are foretold by tables, coins by coins; the default is the choice.

    A setting belongs to a method that was named.
    """
    labels, _ = all_by_all(LENIENT)
    assert chosen(all_by_all(COINS)[0]).method in ("one-coin", "belief-propagation")
    assert vote(labels).method == chosen(labels).method == "dawid-skene"
    with pytest.raises(InputError, match="name that method"):
        vote(labels, iterations=3)


def test_known_answers_have_the_last_word():
    """The method that errs least on them is taken, even if labels alone speak for another."""
    labels, _ = all_by_all(LENIENT)
    known = np.where(np.arange(200) < 60, majority(labels).answer, -1)
    choice, errs = chosen(labels, known), {name: fit(labels).answer != known for name, fit in METHODS.items()}
    assert choice.by_truth and choice.score == {name: wrong[:60].mean() for name, wrong in errs.items()}
    assert choice.score[choice.method] == 0 < choice.score["dawid-skene"]


def test_another_method_has_to_foretell_clearly_better():
    """A lead within two standard errors of none changes nothing, and it says so; nor do fewer than twenty tasks."""
    choice = chosen(all_by_all(coins([0.7] * 8, 2))[0])
    assert choice.method == "belief-propagation" and min(choice.score.values()) < choice.score[choice.method]
    assert "clearly better" in str(choice)
    choice = chosen(*all_by_all(COINS, FEWEST - 1))
    assert choice.method == "belief-propagation" and "too few" in str(choice)


def hard(seed, share, left=0.0, tasks=600):
    """Twelve labels a task of a crowd U(.5, 1) in the mean; on a share of the tasks only part of the edge is left."""
    edge = (np.random.default_rng([seed, 1]).uniform(0.5, 1, 40) - 0.5) / (1 - share * (1 - left))
    on_hard = coins(np.minimum(0.5 + left * edge, 1), 2)
    return drawn(seed, tasks, 40, 2, 12, coins(np.minimum(0.5 + edge, 1), 2), (share, on_hard))


@pytest.mark.slow
@pytest.mark.chance
@pytest.mark.parametrize(("left", "known"), [(0.0, 0), (-0.5, 200)])
def test_claimed_errors_are_near_the_true_ones(left, known):
    """Guessed tasks show by agreement; misled ones only where some answers are known.

    Crowds are independent: in nine of ten or more the claims are within a third of the truth (a tenth below it in the
    mean), and in 95 of 100 or more those that heed nothing are below half of it.
    """
    near, blind, trials = 0, 0, 7
    for seed in seeds(trials):
        labels, truth = hard(seed, 0.3, left)
        told = np.where(np.arange(truth.size) < known, truth, -1)
        method = chosen(labels, told).method  # asked once: it takes longer than both answers
        answers, rest = aggregate(labels, method, known=told), told < 0
        claimed, wrong = 1 - answers.confidence[rest].mean(), (answers.answer != truth)[rest].mean()
        near += abs(claimed - wrong) < wrong / 3
        blind += 1 - aggregate(labels, method, difficulty=False).confidence[rest].mean() < wrong / 2
    assert near >= fewest(trials, 0.9) and blind >= fewest(trials, 0.95)


def test_without_difficulty_nothing_changes():
    """Byte by byte."""
    labels, _ = hard(0, 0.0, tasks=200)
    heeded, bare = (aggregate(labels, "belief-propagation", difficulty=heed) for heed in (True, False))
    assert heeded.posterior.tobytes() == bare.posterior.tobytes()
