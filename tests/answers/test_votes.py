"""Votes with known weights, against sums by hand, and votes that go on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.answers import FROM_ACCURACIES, FROM_LABELS, majority, wmv_linear, wmv_log
from crowdopt.crowd.labels import Labels
from tests.answers.tables import drawn, rows, table

SKILLS = np.array([0.5, 0.9, 0.2, 0.75, 0.6, 1.0, 0.0])


def every(labels: Labels) -> dict:
    """Every method's answers."""
    found = {name: method(labels) for name, method in FROM_LABELS.items()}
    return found | {name: method(labels, SKILLS) for name, method in FROM_ACCURACIES.items()}


def test_the_best_weights_give_the_posterior_itself() -> None:
    """With the true one-coin accuracies, exp of the score is the likelihood up to a factor: Bayes, by hand."""
    labels, _ = drawn(2, classes=3)
    skill = np.array([0.4, 0.9, 0.3, 0.75, 0.6, 0.8, 0.5])
    likelihood = np.ones((12, 3))
    for task, worker, label in rows(labels):
        for k in range(3):
            likelihood[task, k] *= skill[worker] if k == label else (1 - skill[worker]) / 2
    posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
    for found in (wmv_log(labels, skill), wmv_linear(labels, skill)):
        assert found.posterior == pytest.approx(posterior, abs=1e-12)
        chosen = np.maximum(found.answer, 0)
        assert found.confidence[1:] == pytest.approx(posterior[np.arange(12), chosen][1:], abs=1e-12)


def test_ties_go_to_the_first_class_and_no_label_is_no_answer() -> None:
    """One for each class is a tie, .3 + .3 against .6 too, though float64 disagrees; task 3 has no label."""
    task, worker, label = [0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 2, 2], [1, 0, 1, 1, 0, 1]
    labels = table(task, worker, label, 4, 3)
    assert majority(labels).answer.tolist() == [0, 1, 1, -1]
    assert wmv_linear(labels, [0.65, 0.65, 0.8]).answer.tolist() == [0, 0, 1, -1]
    for method in FROM_LABELS.values():
        found = method(labels)
        assert found.answer[3] == -1
        assert found.confidence[3] == 0.5


@pytest.mark.parametrize("name", [*FROM_LABELS, *FROM_ACCURACIES])
def test_new_labels_count_as_if_they_had_been_there(name: str) -> None:
    """Weights held fixed, votes are sums: adding the last 20 labels later changes nothing but the rounding."""
    labels, _ = drawn(3, tasks=20)
    fitted = every(labels)[name]
    again = every(replace(labels, task=labels.task[:-20], worker=labels.worker[:-20], label=labels.label[:-20]))[name]
    late = replace(again, weight=fitted.weight, speech=fitted.speech).with_labels(
        labels.task[-20:], labels.worker[-20:], labels.label[-20:]
    )
    gained = late.score - again.score
    expected = np.zeros_like(gained)
    for task, worker, label in rows(labels)[-20:]:
        if fitted.weight.ndim == 1:
            expected[task, label] += fitted.weight[worker]
        else:
            expected[task] += fitted.weight[worker, label]
    assert gained == pytest.approx(expected, abs=1e-12)
    assert late.count.tolist() == labels.per_task.tolist()
    assert again.count.sum() == labels.task.size - 20


def test_bad_accuracies_and_labels_get_their_sentence() -> None:
    """A worker without gold has no weight; an unknown worker no vote."""
    labels, _ = drawn(5)
    for accuracy, sentence in (
        (np.where(np.arange(7) == 3, np.nan, SKILLS), "worker w3 has no gold"),
        (SKILLS[:3], "accuracy has shape"),
        (SKILLS + 1, r"must lie in \[0, 1\]"),
    ):
        with pytest.raises(InputError, match=sentence):
            wmv_linear(labels, accuracy)
    with pytest.raises(InputError, match="truncation must lie strictly"):
        wmv_log(labels, SKILLS, truncation=0.5)
    with pytest.raises(InputError, match="worker 7 is unknown"):
        majority(labels).with_labels([0], [7], [0])
    with pytest.raises(InputError, match="there are 2 tasks, 1 workers"):
        majority(labels).with_labels([0, 1], [0], [0])
