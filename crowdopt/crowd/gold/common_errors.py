"""An exact test, for all pairs at once, of whether two workers err on the same tasks more often than by chance.

Given how often each of the two errs on what both answered, independent errors fall on any of those tasks alike: the
number of common errors is hypergeometric. That is so type by type where types differ, and the sum over types is the
convolution. No normal law, so ten shared tasks are as honest as a thousand.

Of many pairs some are bound to look dependent: by Holm's steps the chance that any of the independent ones is warned
about is at most the rate, however the tests of pairs that share a worker hang together.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints

CHUNK = 4096  # pairs worked out together, which bounds memory


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
