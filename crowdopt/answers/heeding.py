"""Confidences that heed difficulty: found from the labels and from known answers, where they show any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.answers.hard_votes import HardVotes
from crowdopt.answers.voted import Answers
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.law_fits import EdgedLabels, fitted

ROUNDS = 5  # of accuracies and difficulty in turn, where accuracies are the method's own


def heeding(answers: Answers, labels: Labels, truth: Ints | None = None) -> Answers:
    """The same answers with confidences that integrate over the difficulty of tasks, where labels show any.

    For methods that know each worker's accuracy; others' answers come back as they are.

    answers: of a method whose votes are sums of weights; truth (tasks,): known classes, -1 where unknown: where several
    labelled such a task their common errors show most.
    """
    speech = answers.speech
    if answers.accuracy is None or answers.evidence is None or speech is None or speech.ndim > 1:
        return answers
    if len(labels.classes) < 2:
        return answers
    votes = np.zeros_like(answers.evidence)
    np.add.at(votes, (labels.task, labels.label), speech[labels.worker])
    accuracy, hard = answers.accuracy, None
    for _ in range(ROUNDS if answers.iterations else 1):
        hard = _hard(accuracy, labels, truth, answers.evidence - votes)
        if hard is None:
            return answers
        accuracy = _accuracy(hard.posterior, labels)
    return replace(answers, hard=hard)


def _hard(accuracy: Floats, labels: Labels, truth: Ints | None, beside: Floats) -> HardVotes | None:
    """Votes by these accuracies, with the difficulty that is likeliest then; None where there is none."""
    count = len(labels.classes)
    edge = (count * accuracy - 1) / (count - 1)
    difficulty = fitted(EdgedLabels(labels.task, labels.label, edge[labels.worker], beside.shape), truth)
    if not difficulty.share:
        return None
    return HardVotes.of(difficulty, accuracy, beside).with_labels(labels.task, labels.worker, labels.label)


def _accuracy(posterior: Floats, labels: Labels) -> Floats:
    """Each worker's share of right labels, as EM finds it, with a right and a wrong one added."""
    right = np.bincount(labels.worker, posterior[labels.task, labels.label], len(labels.workers))
    return np.asarray((right + 1) / (labels.counts + 2))
