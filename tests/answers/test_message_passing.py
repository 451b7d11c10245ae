"""KOS without messages is KOS with messages."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.answers import kos
from crowdopt.crowd.labels import Labels
from tests.answers.tables import drawn, rows


def with_messages(labels: Labels, rounds: int, start: np.ndarray) -> np.ndarray:
    """Every message written out, label vectors ``e_l - 1/L``; returns the tasks' sums."""
    count, table = len(labels.classes), rows(labels)
    vector = np.eye(count) - 1 / count
    y = {(task, worker): start[e] for e, (task, worker, _) in enumerate(table)}
    for _ in range(rounds):
        x = {
            (t, w): sum((vector[k] * y[i, j] for i, j, k in table if i == t and j != w), np.zeros(count))
            for t, w, _ in table
        }
        y = {(t, w): sum(vector[k] @ x[i, j] for i, j, k in table if j == w and i != t) for t, w, _ in table}
    score = np.zeros((len(labels.tasks), count))
    for task, worker, label in table:
        score[task] += vector[label] * y[task, worker]
    return score


@pytest.mark.parametrize("rounds", [0, 1, 6])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_messages_are_never_needed(classes: int, rounds: int) -> None:
    """They stay a worker's part and a task's part, because all labels have the same length: equal sums, up to scale."""
    labels, _ = drawn(rounds, tasks=8, workers=6, classes=classes)
    start = np.random.default_rng(1).normal(1, 1, labels.task.size)
    score, expected = kos(labels, rounds, start).score, with_messages(labels, rounds, start)
    assert score / np.abs(score).max() == pytest.approx(expected / np.abs(expected).max(), abs=1e-9)


def test_hundreds_of_rounds_do_not_overflow() -> None:
    """Messages grow geometrically; scaled back, they answer the same."""
    labels, _ = drawn(10, tasks=60, workers=20, classes=2, share=0.9)
    many = kos(labels, 1000)
    assert np.isfinite(many.score).all() and np.isfinite(many.confidence).all()
    assert (many.answer == kos(labels, 300).answer).all()


def test_bad_starts_get_their_sentence() -> None:
    """A first message per label, finite."""
    labels, _ = drawn(11)
    for start in (np.ones(3), np.full(labels.task.size, np.nan)):
        with pytest.raises(InputError, match="one finite number per label"):
            kos(labels, start=start)
    with pytest.raises(InputError, match="at least 0"):
        kos(labels, -1)
