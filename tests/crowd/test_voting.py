"""Weighted votes and answers from labels."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.crowd.aggregation import majority, one_coin
from crowdopt.crowd.labels import Labels, tally
from crowdopt.crowd.voting import weighted_vote


def drawn(tasks: int, workers: int, accuracy: np.ndarray, classes: int, seed: int) -> tuple[Labels, np.ndarray]:
    """A dense table of labels by one-coin workers, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, tasks)
    right = rng.random((tasks, workers)) < accuracy
    said = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, classes, (tasks, workers))) % classes)
    task, worker = (part.reshape(-1) for part in np.indices((tasks, workers)))
    names = [tuple(str(k) for k in range(count)) for count in (tasks, workers, classes)]
    return Labels(task, worker, said.reshape(-1), *names), truth


def test_a_weighted_vote_is_the_sign_of_the_weighted_sum():
    """Two classes: sign(sum w l), ties to the smaller class, a task without labels answers -1."""
    task = np.array([0, 0, 0, 1, 1])
    label = np.array([1, 0, 0, 0, 1])
    weight = np.array([3.0, 1.0, 1.0, 2.0, 2.0])
    assert weighted_vote(task, label, weight, 3).tolist() == [1, 0, -1]


def test_a_negative_weight_speaks_against():
    """Someone usually wrong who says 1 makes 0 more likely."""
    assert weighted_vote(np.array([0]), np.array([1]), np.array([-1.0]), 1).tolist() == [0]


@pytest.mark.parametrize("classes", [2, 4])
def test_one_coin_em_finds_truth_and_skills(classes):
    """On labels drawn from its own model EM beats the majority and recovers who is good."""
    accuracy = np.linspace(0.5 if classes == 2 else 0.3, 0.95, 9)
    labels, truth = drawn(600, 9, accuracy, classes, seed=4)
    found = one_coin(labels)
    assert (found.answer == truth).mean() >= (majority(labels).answer == truth).mean()
    assert np.abs(found.accuracy - accuracy).max() < 0.06
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(600))


def test_em_ignores_the_order_of_the_rows():
    """The table is a set of labels; the answer does not depend on how it is written down."""
    labels, _ = drawn(50, 5, np.linspace(0.6, 0.9, 5), 2, seed=1)
    order = np.random.default_rng(0).permutation(labels.task.size)
    shuffled = Labels(
        labels.task[order], labels.worker[order], labels.label[order], labels.tasks, labels.workers, labels.classes
    )
    assert one_coin(shuffled).posterior == pytest.approx(one_coin(labels).posterior, abs=1e-9)


def test_tallies_count_only_known_truth():
    """A task whose truth is unknown asks nobody anything."""
    labels = Labels.from_columns(["a", "a", "b", "b"], ["u", "v", "u", "v"], ["x", "y", "x", "x"])
    correct, asked = tally(labels, np.array([0, -1]), np.array([0, 0]), 1)
    assert correct.tolist() == [[1, 0]] and asked.tolist() == [[1, 1]]


def test_repeated_labels_are_refused():
    """One worker, one task, one label: which of two would count is not ours to guess."""
    with pytest.raises(InputError, match="worker u labelled task a more than once"):
        Labels.from_columns(["a", "a"], ["u", "u"], ["x", "y"])
    with pytest.raises(InputError, match="there is no label"):
        Labels.from_columns([], [], [])
