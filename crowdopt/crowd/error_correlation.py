"""How dependent workers' errors are, from labels of several of them on tasks whose truth is known.

Given how often each of the two errs on what both answered, independent errors fall on any of those tasks alike: the
number of common errors is hypergeometric. That is so type by type where types differ, and the sum over types is the
convolution. No normal law, so ten shared tasks are as honest as a thousand.

Of many pairs some are bound to look dependent: by Holm's steps the chance that any of the independent ones is warned
about is at most the rate, however the tests of pairs that share a worker hang together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.errors import InputError

CHUNK = 4096  # pairs worked out together, which bounds memory
FEWEST = 10  # tasks that two workers share; with fewer nothing is said of the two
CONFIDENCE = 0.95  # of each interval
RATE = 0.05  # chance, at most, that any pair is warned about whose errors are independent given the type
NOISE = 1e-12  # of a variance
LARGEST = 0.999999  # of a correlation, where its transform is taken
PARTS = 20  # of the items; each is left out once
SPREAD = 1.96  # standard deviations on either side of a 95 % interval


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
    # pairs that err together: an exact one-sided test of each, and Holm over all (see above)
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


@dataclass(frozen=True)
class EffectiveVotes:
    """``n / (1 + (n - 1) rho)``, rho the mean correlation of two workers' errors."""

    workers: int
    votes: float
    low: float
    high: float

    def __str__(self) -> str:
        """In words."""
        interval = f"95 % interval {self.low:.3g} to {self.high:.3g}"
        return f"votes of all {self.workers} are worth {self.votes:.3g} independent ones ({interval})"


def effective_votes(right: Ints) -> EffectiveVotes:
    """Of all workers, by the jackknife over PARTS of items; right (items, workers): 1, 0, or -1: not asked."""
    whole, part = _worth(right), np.arange(len(right)) % min(PARTS, len(right))
    without = np.array([_worth(right[part != k]) for k in range(part.max() + 1)])
    count, n = without.size, right.shape[1]
    reach = SPREAD * float(np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum()))
    return EffectiveVotes(n, whole, max(1.0, whole - reach), min(float(n), whole + reach))


def _worth(right: Ints) -> float:
    item, worker = np.nonzero(right >= 0)
    n = right.shape[1]
    return error_correlation(item, worker, right[item, worker] == 0, n).effective_votes(np.arange(n))


def chances_of_common(common: Ints, shared: Ints, first: Ints, second: Ints) -> Floats:
    """Chance of at least as many common errors, given the errors of each, if they are independent, (pairs,).

    common (pairs,): errors of both on one task, over all types; shared, first, second (types, pairs): tasks that both
    answered, and errors of the one and of the other on them.
    """
    chance = np.ones(common.size)
    with np.errstate(invalid="ignore"):
        usual = np.nan_to_num(first * second / shared).sum(axis=0)
    open_pairs = np.flatnonzero(common > usual)  # the others are no evidence, and most
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, shared.max(initial=0) + 1)))])
    for start in range(0, open_pairs.size, CHUNK):
        some = open_pairs[start : start + CHUNK]
        law = np.ones((some.size, 1))
        for n, a, b in zip(shared[:, some], first[:, some], second[:, some], strict=True):
            law = _convolved(law, _hypergeometric(n, a, b, logs))
        at_least = np.arange(law.shape[1]) >= common[some, None]
        chance[some] = np.minimum(1.0, np.where(at_least, law, 0.0).sum(axis=1))
    return chance


def discoveries(chance: Floats, rate: float) -> Bools:
    """Holm's steps: p-values in order, each at most ``rate`` over how many are left, up to the first that is not."""
    order = np.argsort(chance, kind="stable")
    good = chance[order] <= rate / np.arange(chance.size, 0, -1)
    found = np.zeros(chance.size, bool)
    found[order[np.logical_and.accumulate(good)]] = True
    return found


def _hypergeometric(n: Ints, a: Ints, b: Ints, logs: Floats) -> Floats:
    """Law of how many of a marked tasks are among b drawn of n, (pairs, most + 1)."""
    k = np.arange(int(np.minimum(a, b).max(initial=0)) + 1)
    n, a, b = n[:, None], a[:, None], b[:, None]
    parts = (k, a - k, b - k, n - a - b + k)  # errors of both, of one, of the other, of neither
    possible = np.minimum.reduce(np.broadcast_arrays(*parts)) >= 0
    inside = sum(logs[np.clip(part, 0, logs.size - 1)] for part in parts)
    ways = logs[a] + logs[n - a] + logs[b] + logs[n - b] - logs[n] - inside
    return np.exp(np.where(possible, ways, -np.inf))


def _convolved(one: Floats, other: Floats) -> Floats:
    both = np.zeros((len(one), one.shape[1] + other.shape[1] - 1))
    for k in range(other.shape[1]):
        both[:, k : k + one.shape[1]] += one * other[:, k : k + 1]
    return both
