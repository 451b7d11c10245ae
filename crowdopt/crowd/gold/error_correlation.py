"""How dependent workers' errors are, from labels of several of them on tasks whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.gold.common_errors import chances_of_common, discoveries
from crowdopt.errors import InputError

FEWEST = 10  # tasks that two workers share; with fewer nothing is said of the two
CONFIDENCE = 0.95  # of each interval
RATE = 0.05  # chance, at most, that any pair is warned about whose errors are independent given the type
NOISE = 1e-12  # of a variance
LARGEST = 0.999999  # of a correlation, where its transform is taken


@dataclass(frozen=True, eq=False)
class ErrorCorrelation:
    """Pairs of workers and how their errors correlate, given the truth."""

    # workers who share at least FEWEST tasks
    first: Ints  # (pairs,)
    second: Ints  # (pairs,)
    shared: Ints  # (pairs,): tasks that both answered
    # of their errors, with an interval by Fisher's transform; 0 with an open interval where one of them never, or
    # always, errs on what they share
    correlation: Floats  # (pairs,)
    low: Floats  # (pairs,)
    high: Floats  # (pairs,)
    # pairs that err together: an exact one-sided test of each, and Holm over all (crowdopt.crowd.gold.common_errors)
    warned: Bools  # (pairs,)
    family: Ints  # (workers,): suggested families: workers tied by warned pairs, by single linkage; others are alone

    def effective_votes(self, members: ArrayLike) -> float:
        """``n / (1 + (n - 1) rho)`` independent votes, rho the members' mean correlation; n where none is known."""
        some = np.asarray(members)
        inside = np.isin(self.first, some) & np.isin(self.second, some)
        rho = float(np.clip(self.correlation[inside].mean(), 0.0, 1.0)) if inside.any() else 0.0
        return float(some.size / (1 + (some.size - 1) * rho))


def error_correlation(
    task: ArrayLike,
    worker: ArrayLike,
    wrong: ArrayLike,
    workers: int,
    *,
    kind: ArrayLike | None = None,
) -> ErrorCorrelation:
    """Correlations of errors, pair by pair, with intervals, warnings and suggested families.

    task, worker (labels,) array of int: of each label on a task whose truth is known; a pair once.
    wrong (labels,) array of bool.
    kind (labels,) array of int: type of each label's task. A worker's share of errors in a type is taken off first:
    that a type is harder for all is no dependence.
    Raises InputError if the arrays do not fit, or a worker labelled a task twice.
    """
    from scipy.special import ndtri

    i, j, x = np.asarray(task), np.asarray(worker), np.asarray(wrong, dtype=np.float64)
    if not i.shape == j.shape == x.shape or i.ndim != 1:
        raise InputError("task, worker and wrong need one entry per label")
    _, row = np.unique(i, return_inverse=True)
    there, error = np.zeros((2, int(row.max(initial=-1)) + 1, workers))
    np.add.at(there, (row, j), 1.0)
    if (there > 1).any():
        raise InputError("a worker labelled a task twice; keep one label of each pair")
    error[row, j] = x if kind is None else x - _usual(np.asarray(kind), j, x)
    shared, both = there.T @ there, error.T @ error
    mine, square = error.T @ there, (error**2).T @ there  # [a, b]: of a's errors on what both answered
    first, second = np.nonzero(np.triu(shared >= FEWEST, 1))
    n, p, q = shared[first, second], mine[first, second], mine[second, first]
    p, q, together = p / n, q / n, both[first, second] / n
    spread = np.sqrt(
        np.maximum(0.0, square[first, second] / n - p**2) * np.maximum(0.0, square[second, first] / n - q**2)
    )
    known = spread > NOISE
    rho = np.where(known, (together - p * q) / np.where(known, spread, 1.0), 0.0)
    middle = np.arctanh(np.clip(rho, -LARGEST, LARGEST))
    reach = np.where(known, ndtri((1 + CONFIDENCE) / 2) / np.sqrt(n - 3), np.inf)
    types = np.zeros(row.size, np.int64) if kind is None else np.unique(np.asarray(kind), return_inverse=True)[1]
    warned = discoveries(_chances(row, j, x, types, workers, first, second), RATE)
    return ErrorCorrelation(
        first,
        second,
        n.astype(np.int64),
        rho,
        np.tanh(middle - reach),
        np.tanh(middle + reach),
        warned,
        _linked(first[warned], second[warned], workers),
    )


def _usual(kind: Ints, worker: Ints, error: Floats) -> Floats:
    """The worker's share of errors in the type of each label, (labels,)."""
    cell = np.unique(np.column_stack([kind, worker]), axis=0, return_inverse=True)[1].reshape(-1)
    return (np.bincount(cell, error) / np.bincount(cell))[cell]


def _chances(row: Ints, worker: Ints, wrong: Floats, types: Ints, workers: int, first: Ints, second: Ints) -> Floats:
    common = np.zeros(first.size)
    shared, one, other = np.zeros((3, int(types.max(initial=-1)) + 1, first.size), np.int64)
    for k in range(len(shared)):
        inside = types == k
        tasks = np.unique(row[inside], return_inverse=True)[1]
        there, error = np.zeros((2, int(tasks.max(initial=-1)) + 1, workers))
        there[tasks, worker[inside]], error[tasks, worker[inside]] = 1.0, wrong[inside]
        common += (error.T @ error)[first, second]
        errors = error.T @ there  # [a, b]: of a's errors on what both answered
        shared[k] = np.rint((there.T @ there)[first, second])
        one[k], other[k] = np.rint(errors[first, second]), np.rint(errors[second, first])
    return chances_of_common(np.rint(common).astype(np.int64), shared, one, other)


def _linked(first: Ints, second: Ints, workers: int) -> Ints:
    """Connected workers share a number: the smallest of them."""
    home = np.arange(workers)
    while True:
        before = home.copy()
        low = np.minimum(home[first], home[second])
        np.minimum.at(home, first, low)
        np.minimum.at(home, second, low)
        if np.array_equal(home, before):
            return home
