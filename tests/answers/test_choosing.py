"""The method that is taken is the one that known answers, or labels held back, speak for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.answers.choosing import FEWEST, METHODS, _is_clear, chosen
from crowdopt.api.aggregate import vote
from crowdopt.crowd.labels import Labels
from tests.chance import rng


def crowd(tables: np.ndarray, tasks: int = 200, seed: int = 0) -> tuple[Labels, np.ndarray]:
    """Each worker labels each task by their table, (workers, classes, classes)."""
    chance = rng(seed)
    truth = chance.integers(0, tables.shape[1], tasks)
    task, worker = (index.ravel() for index in np.indices((tasks, len(tables))))
    label = (chance.random(task.size)[:, None] > tables[worker, truth[task]].cumsum(axis=1)).sum(axis=1)
    names = (tuple(map(str, range(size))) for size in (tasks, *tables.shape[:2]))
    return Labels(task, worker, label, *names), truth


LENIENT = np.array([[[0.98, 0.02], [0.55, 0.45]]] * 8)  # rarely say the second class, but mean it
COINS = np.array([[[p, 1 - p], [1 - p, p]] for p in (0.5, 0.5, 0.5, 0.5, 0.5, 0.9, 0.9, 0.9)])


def test_labels_held_back_tell_leniency_from_skill():
    """Workers with a table each are foretold by tables; coins of different skill better than by one coin for all."""
    assert chosen(crowd(LENIENT)[0]).method == "dawid-skene"
    coins = chosen(crowd(COINS)[0])
    assert coins.method in ("one-coin", "belief-propagation") and coins.score["majority"] > coins.score["one-coin"]
    assert list(coins.score) == list(METHODS)


def test_known_answers_have_the_last_word():
    """Six of seven copy one worker who guesses: labels speak for the six, known answers for the seventh."""
    labels, truth = crowd(np.array([[[0.5, 0.5], [0.5, 0.5]]] * 6 + [[[0.95, 0.05], [0.05, 0.95]]] * 5))
    copied = np.where(labels.worker < 6, labels.label[labels.worker == 0][labels.task], labels.label)
    labels = replace(labels, label=copied)
    known = np.where(np.arange(truth.size) < 60, truth, -1)
    choice = chosen(labels, known)
    errors = {name: (method(labels).answer[:60] != truth[:60]).mean() for name, method in METHODS.items()}
    assert choice.by_truth and choice.score == errors and errors[choice.method] == min(errors.values())


def test_another_method_has_to_foretell_clearly_better():
    """Log losses of labels, by tasks: a lead within two standard errors of none changes nothing, and it says so."""
    labels, _ = crowd(COINS, tasks=40)
    lead = np.tile([1.0, -0.5], 20)  # mean .25, standard error .75 / 40 ** .5 * (40 / 39) ** .5 = .12
    assert _is_clear(lead, labels) and not _is_clear(lead - 0.02, labels) and not _is_clear(-lead, labels)
    equals = crowd(np.array([[[0.7, 0.3], [0.3, 0.7]]] * 8))[0]
    choice = chosen(equals)
    assert choice.method == "belief-propagation" and min(choice.score.values()) < choice.score[choice.method]
    assert "clearly better" in str(choice)


def test_with_too_little_to_go_by_it_is_belief_propagation():
    """Fewer than twenty tasks with two labels, or a known answer; and it says so."""
    labels, truth = crowd(COINS, tasks=FEWEST - 1)
    choice = chosen(labels, truth)
    assert choice.method == "belief-propagation" and "too few" in str(choice)


def test_the_default_is_the_choice_and_says_why():
    """Arrays and tables alike; a setting belongs to a method that was named."""
    labels, truth = crowd(LENIENT)
    assert vote(labels).method == vote(labels, "dawid-skene").method
    table = {name: getattr(labels, name) for name in ("task", "worker", "label")}
    done = crowdopt.aggregate(table, truth={"task": np.arange(200), "label": truth})
    assert done.choice.method == done.answers.method and f"{done.choice} ".count(done.choice.method) == 1
    assert crowdopt.aggregate(table, "majority").choice is None
    with pytest.raises(InputError, match="name that method"):
        vote(labels, iterations=3)
