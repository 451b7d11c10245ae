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
from crowdopt.crowd.skills import holm

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
    task: Ints, worker: Ints, wrong: Bools, workers: int, kind: Ints | None = None
) -> ErrorCorrelation:
    """Correlations of errors, pair by pair, with intervals, warnings and suggested families.

    task, worker, wrong (labels,): of each label on a task whose truth is known; one label of each pair.
    kind (labels,): type of each label's task. A worker's share of errors in a type is taken off first: that a type is
    harder for all is no dependence.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.special import ndtri

    _, where, row = np.unique(task, return_index=True, return_inverse=True)
    types, of = np.unique(np.zeros(where.size) if kind is None else kind[where], return_inverse=True)
    there, error = np.zeros((2, where.size, workers))
    there[row, worker], error[row, worker] = 1.0, wrong
    first, second = np.nonzero(np.triu(there.T @ there >= FEWEST, 1))
    # of each type and pair: tasks that both answered and common errors on them; errors of either worker there, and the
    # share of errors that is usual of them
    n, common = np.zeros((2, types.size, first.size))
    errors, usual = np.zeros((2, 2, types.size, first.size))
    for k in range(types.size):
        seen, erred = there[of == k], error[of == k]
        n[k], common[k], one = (seen.T @ seen)[first, second], (erred.T @ erred)[first, second], erred.T @ seen
        errors[:, k] = one[first, second], one[second, first]
        if kind is not None:
            share = erred.sum(axis=0) / np.maximum(1, seen.sum(axis=0))
            usual[:, k] = share[first], share[second]
    shared = n.sum(axis=0)
    mean = (errors - usual * n).sum(axis=1) / shared
    square = (errors * (1 - 2 * usual) + usual**2 * n).sum(axis=1) / shared
    together = (common - (errors * usual[::-1]).sum(axis=0) + usual.prod(axis=0) * n).sum(axis=0) / shared
    spread = np.sqrt(np.maximum(0.0, square - mean**2).prod(axis=0))
    known = spread > NOISE
    rho = np.divide(together - mean.prod(axis=0), spread, out=np.zeros(first.size), where=known)
    middle = np.arctanh(np.clip(rho, -LARGEST, LARGEST))
    reach = np.where(known, ndtri((1 + CONFIDENCE) / 2) / np.sqrt(shared - 3), np.inf)
    warned = np.zeros(first.size, bool)
    warned[holm(chances_of_common(common.sum(axis=0), n, errors), RATE)] = True
    edges = coo_array((np.ones(warned.sum()), (first[warned], second[warned])), shape=(workers, workers))
    part = connected_components(edges, directed=False)[1]
    family = np.unique(part, return_index=True)[1][part]
    low, high = np.tanh(middle - reach), np.tanh(middle + reach)
    return ErrorCorrelation(first, second, shared.astype(np.int64), rho, low, high, warned, family)


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
    n, part, worths = right.shape[1], np.arange(len(right)) % PARTS, []
    for left_out in (-1, *np.unique(part).tolist()):
        item, worker = np.nonzero((right >= 0) & (part != left_out)[:, None])
        found = error_correlation(item, worker, right[item, worker] == 0, n)
        worths.append(found.effective_votes(np.arange(n)))
    whole, without = worths[0], np.array(worths[1:])
    reach = SPREAD * float(np.sqrt((without.size - 1) * without.var()))
    return EffectiveVotes(n, whole, max(1.0, whole - reach), min(float(n), whole + reach))


def chances_of_common(common: ArrayLike, shared: ArrayLike, errors: ArrayLike) -> Floats:
    """Chance of at least as many common errors, given the errors of each, if they are independent, (pairs,).

    Where common errors are no more than expected, which is no evidence and most pairs, 1 stands for it.

    common (pairs,): errors of both on one task, over all types; shared (types, pairs): tasks that both answered; errors
    (2, types, pairs): of the one and of the other on them.
    """
    from scipy.special import gammaln

    total, tallies = np.asarray(common), np.stack([shared, *np.asarray(errors)])[..., None]
    chance, usual = np.ones(total.size), tallies[1] * tallies[2] / np.maximum(1, tallies[0])
    more = np.flatnonzero(total > usual[..., 0].sum(axis=0))
    for some in np.split(more, range(CHUNK, more.size, CHUNK)):
        law = np.ones((some.size, 1))
        for n, a, b in tallies[:, :, some].swapaxes(0, 1):
            k = np.arange(int(np.minimum(a, b).max(initial=0)) + 1)
            parts = np.stack(np.broadcast_arrays(k, a - k, b - k, n - a - b + k))  # of both, of one, other, neither
            sides = gammaln(np.stack([a, n - a, b, n - b]) + 1).sum(axis=0) - gammaln(n + 1)
            ways = np.exp(sides - gammaln(np.maximum(0, parts) + 1).sum(axis=0))
            each = np.where((parts >= 0).all(axis=0), ways, 0.0)
            sums = np.zeros((some.size, law.shape[1] + k.size - 1))
            for both in k.tolist():
                sums[:, both : both + law.shape[1]] += law * each[:, both, None]
            law = sums
        at_least = np.arange(law.shape[1]) >= total[some, None]
        chance[some] = np.minimum(1.0, np.where(at_least, law, 0.0).sum(axis=1))
    return chance
