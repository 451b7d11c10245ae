"""Belief propagation: exact where there is no cycle; where there are many, no surer of its answers than it may be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdopt.answers import belief_propagation, majority, one_coin, propagation
from crowdopt.answers.propagation import LEVELS
from crowdopt.crowd.labels import Labels
from crowdopt.errors import InputError
from tests.answers.tables import drawn, table
from tests.chance import fewest, seeds


def by_enumeration(labels: Labels, skills: np.ndarray) -> np.ndarray:
    """Chance of each class of each task: every truth is tried, each worker's skill integrated out."""
    grid, count = (np.arange(skills.size) + 0.5) / skills.size, len(labels.classes)
    chance = np.zeros((len(labels.tasks), count))
    for truth in itertools.product(range(count), repeat=len(labels.tasks)):
        right = np.asarray(truth)[labels.task] == labels.label
        likely = 1.0
        for worker in range(len(labels.workers)):
            mine = right[labels.worker == worker]
            likely *= skills @ (grid ** mine.sum() * ((1 - grid) / (count - 1)) ** (~mine).sum())
        chance[np.arange(len(truth)), truth] += likely
    return chance / chance.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_exact_without_cycles(seed: int, classes: int) -> None:
    """A chain of workers, two tasks in common with nobody: messages say what enumeration of all truths says."""
    rng = np.random.default_rng(seed)
    task, worker = [0, 0, 1, 1, 2, 2, 3, 4, 4], [0, 1, 1, 2, 2, 3, 0, 3, 4]
    labels = table(task, worker, rng.integers(0, classes, 9), 5, 5, classes)
    skills = rng.dirichlet(np.ones(8)) * np.linspace(0.2, 1.8, 8)
    answers = belief_propagation(labels, skills=skills, tolerance=1e-12, iterations=400)
    assert answers.converged
    assert answers.posterior == pytest.approx(by_enumeration(labels, skills / skills.sum()), abs=1e-6)


@pytest.mark.chance
def test_what_it_claims_is_near_the_truth_where_em_claims_less_than_half() -> None:
    """Half spammers, half right in seven of ten, twelve labels a task, forty a worker: few enough to fool EM.

    Crowds are independent: in 95 of 100 or more the claims are within a third of the truth, EM claims less than half
    of its errors, and makes more of them.
    """
    seen, trials = np.zeros(3, int), 5
    for seed in seeds(trials):
        labels, truth = drawn(seed, 500, 150, 2, each=12, skill=np.repeat([0.5, 0.7], 75))
        answers, em = belief_propagation(labels), one_coin(labels)
        wrong, other = (answers.answer != truth).mean(), (em.answer != truth).mean()
        near = abs((1 - answers.confidence).mean() - wrong) < wrong / 3
        seen += [near, (1 - em.confidence).mean() < other / 2, wrong < other]
    assert (seen >= fewest(trials, 0.95)).all()


def test_a_worker_s_own_label_does_not_vouch_for_them() -> None:
    """With one label each nothing is known of anybody but the prior: votes are equal, and so is the majority."""
    labels, _ = drawn(0, 40, 200, 2, each=5, skill=np.full(200, 0.8))
    alone = table(labels.task, np.arange(200), labels.label, 40, 200)
    answers = belief_propagation(alone)
    assert (answers.answer == majority(alone).answer).all()
    votes = answers.score[answers.score > 0]
    assert votes / votes.min() == pytest.approx(np.rint(votes / votes.min()), abs=1e-6)


def test_known_tasks_stay_and_tell_of_workers() -> None:
    """What is known is certain; with all known, a skill is its worker's tally under the prior."""
    labels, truth = drawn(1, 60, 10, 3, each=4, skill=np.linspace(0.5, 0.95, 10))
    answers = belief_propagation(labels, truth=truth)
    assert (answers.answer == truth).all() and answers.confidence.min() > 1 - 1e-12
    right = np.bincount(labels.worker, labels.label == truth[labels.task], 10)
    grid, given = (np.arange(LEVELS) + 0.5) / LEVELS, labels.counts
    chance = grid ** right[:, None] * ((1 - grid) / 2) ** (given - right)[:, None]
    even = belief_propagation(labels, truth=truth, skills=np.ones(grid.size))
    assert even.accuracy == pytest.approx((chance @ grid) / chance.sum(axis=1))


def test_the_order_of_rows_and_the_names_of_classes_do_not_matter(monkeypatch) -> None:
    """Rows shuffled, classes renamed, workers looked at a few at a time: the same posterior."""
    labels, _ = drawn(2, 50, 20, 3, each=4, skill=np.linspace(0.4, 0.9, 20))
    first = belief_propagation(labels)
    order, turn = np.random.default_rng(0).permutation(labels.task.size), np.array([2, 0, 1])
    again = table(labels.task[order], labels.worker[order], turn[labels.label[order]], 50, 20, 3)
    monkeypatch.setattr(propagation, "TOGETHER", 17)
    assert belief_propagation(again).posterior[:, turn] == pytest.approx(first.posterior, abs=1e-9)


def test_workers_and_tasks_without_labels_have_the_prior() -> None:
    """No table is refused for them, nor for a class that is the only one."""
    assert belief_propagation(table([0, 1], [0, 0], [0, 0], 2, 1, 1)).answer.tolist() == [0, 0]
    labels = table([1, 1, 3], [1, 2, 2], [0, 0, 1], 5, 4)
    answers = belief_propagation(labels)
    assert answers.answer.tolist() == [-1, 0, -1, 1, -1]
    assert answers.accuracy is not None and answers.accuracy[0] == pytest.approx(answers.accuracy[3])
    assert answers.posterior[0] == pytest.approx([0.5, 0.5])


def test_bad_settings_are_sentences() -> None:
    """What, and what it should be."""
    labels = table([0, 1, 2], [0, 1, 0], [0, 1, 1], 3, 2)
    for settings, said in (
        ({"iterations": 0}, "at least one iteration"),
        ({"truth": [0, 1]}, "one class per task"),
        ({"skills": [0.5, -1.0]}, "none below 0"),
    ):
        with pytest.raises(InputError, match=said):
            belief_propagation(labels, **settings)
