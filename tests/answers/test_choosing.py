"""The method that is taken is the one that known answers, or labels held back, speak for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.answers.choosing import FEWEST, METHODS, chosen
from crowdopt.api.aggregate import vote
from tests.answers.tables import drawn
from tests.chance import BASE

LENIENT = np.array([[[0.98, 0.02], [0.55, 0.45]]] * 8)  # rarely say the second class, but mean it
COINS = [0.5, 0.5, 0.5, 0.5, 0.5, 0.9, 0.9, 0.9]


def lenient():
    return drawn(BASE, 200, 8, 2, share=1, confusion=LENIENT)


def coins(tasks=200, skill=COINS):
    return drawn(BASE, tasks, len(skill), 2, share=1, skill=skill)


def test_labels_held_back_tell_leniency_from_skill():
    """Workers with a table each are foretold by tables; coins of different skill better than by one coin for all."""
    assert chosen(lenient()[0]).method == "dawid-skene"
    choice = chosen(coins()[0])
    assert choice.method in ("one-coin", "belief-propagation") and choice.score["majority"] > choice.score["one-coin"]
    assert list(choice.score) == list(METHODS)


def test_known_answers_have_the_last_word():
    """Six of seven copy one worker who guesses: labels speak for the six, known answers for the seventh."""
    labels, truth = coins(skill=[0.5] * 6 + [0.95] * 5)
    first = np.zeros(truth.size, int)
    first[labels.task[labels.worker == 0]] = labels.label[labels.worker == 0]
    labels = replace(labels, label=np.where(labels.worker < 6, first[labels.task], labels.label))
    known = np.where(np.arange(truth.size) < 60, truth, -1)
    choice = chosen(labels, known)
    errors = {name: (method(labels).answer[:60] != truth[:60]).mean() for name, method in METHODS.items()}
    assert choice.by_truth and choice.score == errors and errors[choice.method] == min(errors.values())


def test_another_method_has_to_foretell_clearly_better():
    """A lead within two standard errors of none changes nothing, and it says so; nor do fewer than twenty tasks."""
    choice = chosen(coins(skill=[0.7] * 8)[0])
    assert choice.method == "belief-propagation" and min(choice.score.values()) < choice.score[choice.method]
    assert "clearly better" in str(choice)
    choice = chosen(*coins(FEWEST - 1))
    assert choice.method == "belief-propagation" and "too few" in str(choice)


def test_the_default_is_the_choice_and_says_why():
    """Arrays and tables alike; a setting belongs to a method that was named."""
    labels, truth = lenient()
    assert vote(labels).method == vote(labels, "dawid-skene").method
    table = {name: getattr(labels, name) for name in ("task", "worker", "label")}
    done = crowdopt.aggregate(table, truth={"task": np.arange(200), "label": truth})
    assert done.choice.method == done.answers.method and f"{done.choice} ".count(done.choice.method) == 1
    assert crowdopt.aggregate(table, "majority").choice is None
    with pytest.raises(InputError, match="name that method"):
        vote(labels, iterations=3)
