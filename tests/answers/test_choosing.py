"""The method that is taken, and how far it is believed: as known answers, or labels held back, speak for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.answers import majority
from crowdopt.answers.choosing import METHODS, PARAMS, chosen
from crowdopt.verbs.aggregate import aggregate, vote
from tests.answers.tables import coins, drawn
from tests.chance import BASE, fewest, seeds

LENIENT = np.array([[[0.98, 0.02], [0.55, 0.45]]] * 8)  # rarely say the second class, but mean it
COINS = coins([0.5, 0.5, 0.5, 0.5, 0.5, 0.9, 0.9, 0.9] * 2, 2)


def all_by_all(chance, tasks=120):
    return drawn(BASE, tasks, len(chance), 2, len(chance), chance)


def test_labels_held_back_tell_leniency_from_skill():
    """Workers with a table each are foretold by tables, unequal coins by no majority; the default is the choice.

    A setting belongs to a method that was named. Fewer than twenty tasks do not speak.
    """
    few = chosen(*all_by_all(COINS, PARAMS.fewest - 1))
    assert few.method == "majority" and "too few" in str(few)
    labels, _ = all_by_all(LENIENT)
    assert chosen(all_by_all(COINS)[0]).method != "majority"
    assert vote(labels).method == chosen(labels).method == "dawid-skene"
    with pytest.raises(InputError, match="name that method"):
        vote(labels, iterations=3)


def test_known_answers_have_the_last_word():
    """The method that errs clearly less on them is taken, even if labels alone speak for another."""
    labels, _ = all_by_all(LENIENT)
    known = np.where(np.arange(120) < 60, majority(labels).answer, -1)
    choice, errs = chosen(labels, known), {name: fit(labels).answer != known for name, fit in METHODS.items()}
    assert choice.by_truth and choice.score == {name: wrong[:60].mean() for name, wrong in errs.items()}
    assert choice.score[choice.method] == 0 < choice.score["dawid-skene"]


def test_two_who_copy_each_other_do_not_outvote_five():
    """They foretell each other, nobody else: k equal leads of n have Student's t ``sqrt(k (n - 1) / (n - k))``, 1.6.

    That is below its quantile at any level of .91 or more. The other methods trust the pair, foretell better and err
    more; known answers show it.
    """
    labels, truth = all_by_all(coins([0.7] * 5, 2), 400)
    table = np.empty((400, 5), np.int64)
    table[labels.task, labels.worker] = labels.label
    table[:, 1] = np.where(np.random.default_rng(BASE).random(400) < 0.95, table[:, 0], 1 - table[:, 0])
    labels = replace(labels, label=table[labels.task, labels.worker])
    choice, wrong = chosen(labels), {name: (fit(labels).answer != truth).mean() for name, fit in METHODS.items()}
    assert choice.method == "majority" and choice.score["majority"] == max(choice.score.values())
    assert "speak for no other" in str(choice)
    assert wrong["majority"] < min(wrong[name] for name in METHODS if name != "majority")
    assert chosen(labels, truth).method == "majority"


@pytest.mark.parametrize("classes", [2, 3])
def test_tables_that_are_coins_heed_difficulty_as_coins(classes):
    """The hard part draws a table towards what its worker says whatever is true: of a coin that is another coin."""
    skills = np.random.default_rng(BASE).uniform(0.6, 0.9, 12)
    labels, truth = drawn(BASE, 300, 12, classes, 12, coins(skills, classes), (0.3, coins([0.2] * 12, classes)))
    told = np.where(np.arange(300) < 150, truth, -1)
    coin = vote(labels, "wmv-log", accuracy=skills, known=told)
    tables = vote(labels, "wmv-confusion", confusion=coins(skills, classes), known=told)
    assert coin.difficulty == tables.difficulty and coin.difficulty.share > 0
    assert tables.posterior == pytest.approx(coin.posterior, abs=1e-9)


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
    both = [aggregate(hard(0, 0.0, tasks=200)[0], "belief-propagation", difficulty=heed) for heed in (True, False)]
    assert both[0].posterior.tobytes() == both[1].posterior.tobytes()
