"""Errors of the likeliest answers to fixed sets of labels, under a law of votes."""

from __future__ import annotations

from itertools import product

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.laws.coin_laws import CoinLaw

LARGEST = 14  # workers of a set: all ways in which they can vote are listed


def set_error(law: CoinLaw, workers: Ints, prior: Floats) -> float:
    """``sum_v min_k prior_k P(v | k)`` over all votes v of these workers, of two classes; prior (2,)."""
    right, other = every_vote(workers, law.accuracy.shape[1])
    wrong = np.minimum(prior[0] * np.exp(law.log_chance(right)), prior[1] * np.exp(law.log_chance(other)))
    return float(wrong.sum())


def every_vote(workers: Ints, among: int) -> tuple[Ints, Ints]:
    """All ways in which some of the workers can vote, as laws read them, if one class is true or if the other is.

    -> twice (2^k, among): 1 right, 0 wrong, -1 not asked.
    """
    right = np.full((2 ** len(workers), among), -1)
    right[:, workers] = list(product((0, 1), repeat=len(workers)))
    return right, np.where(right < 0, -1, 1 - right)


def law_errors(instance: AssignmentInstance, pairs: Ints) -> Floats | None:
    """Error of each task by the instance's law before any label is seen, (tasks,); None where a set is too large.

    instance: with a ``vote_law``.
    """
    assert instance.vote_law is not None
    table = np.zeros((instance.n_tasks, instance.n_workers), bool)
    table[tuple(pairs.T)] = True
    if table.sum(axis=1).max(initial=0) > LARGEST:
        return None
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, 2))
    alike, row_of = np.unique(np.hstack([prior, table]), axis=0, return_inverse=True)
    errors = [set_error(instance.vote_law, np.flatnonzero(row[2:]), row[:2]) for row in alike]
    return np.array(errors)[row_of.reshape(-1)]
