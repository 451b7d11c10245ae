"""Pairs of workers who err together: ``ln P(x) = sum_j b_j v_j + sum_{j<k} J_jk v_j v_k - ln Z``, v_j = 2 x_j - 1.

The likelihood is exact, over all ways in which the workers can vote, less ``penalty / 2 sum J^2``: couplings that the
items do not show are near 0. Votes that were not asked are summed out, by expectation and maximisation.

The law is not the likeliest one but the mean of all, ``P(x | items)``: the cheapest plan by the likeliest law leans on
those votes that the items flatter, and errs more often than it says.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.laws.coin_laws import PAIRWISE, CoinLaw, independent_law

PENALTIES = (2.0, 10.0, 50.0, 250.0)  # of squared couplings, in nats
FOLDS = 4  # of the items, that choose the penalty
STEPS, CLOSE = 60, 1e-8  # of Newton's method; rise of the likelihood, in nats
ROUNDS, PARTIAL = 20, 2  # of expectation and maximisation, where votes are missing; Newton's steps in each
LEAST = 1e-6  # part of a step
DRAWS = 128  # pairs of draws of the factors
SOFT = 0.1  # penalty of each b, so that a worker who never errs has a finite one
DIGITS = 6  # of b and J that are kept


def pairwise_law(right: Ints) -> CoinLaw:
    """The mean law with the penalty by which it tells held-out items best; right as in coin_laws."""
    fold = np.arange(len(right)) % FOLDS
    told = [
        sum(float(_law(right[fold != k], penalty).log_chance(right[fold == k]).sum()) for k in range(FOLDS))
        for penalty in PENALTIES
    ]
    return _law(right, PENALTIES[int(np.argmax(told))])


def _law(right: Ints, penalty: float) -> CoinLaw:
    """The mean law at one penalty: each way to vote is a part of its own."""
    fit = _fitted(right, penalty)
    return CoinLaw(PAIRWISE, _foretold(fit), (fit.told.terms[:, : right.shape[1]] + 1) / 2)


class _Fit(NamedTuple):
    """The likeliest factors, and the items that they were fitted to."""

    told: _Told
    top: Floats  # (factors,)
    asked: float  # share of votes that are there


def _fitted(right: Ints, penalty: float) -> _Fit:
    """The likeliest factors at one penalty."""
    workers = right.shape[1]
    votes = 2.0 * ((np.arange(2**workers)[:, None] >> np.arange(workers)) & 1) - 1
    first, second = np.array(list(combinations(range(workers), 2)), np.int64).reshape(-1, 2).T
    terms = np.hstack([votes, votes[:, first] * votes[:, second]])
    weight = np.append(np.full(workers, SOFT), np.full(first.size, penalty))
    patterns, count = np.unique(right, axis=0, return_counts=True)
    fits = ((patterns[:, None] < 0) | (2 * patterns[:, None] - 1 == votes)).all(axis=2)
    alone = independent_law(right).accuracy[0]
    factor = np.append((np.log(alone) - np.log(1 - alone)) / 2, np.zeros(first.size))
    rounds, steps = (ROUNDS, PARTIAL) if (right < 0).any() else (1, STEPS)
    for _ in range(rounds):
        given = np.where(fits, terms @ factor, -np.inf)
        share = np.exp(given - np.logaddexp.reduce(given, axis=1)[:, None])
        told = _Told(terms, terms.T @ (share.T @ count), int(count.sum()), weight)
        before, factor = factor, _climbed(told, factor, steps)
        if np.abs(factor - before).max() < 10.0**-DIGITS:
            break
    return _Fit(told, np.round(factor, DIGITS), float((right >= 0).mean()))


def _foretold(fit: _Fit) -> Floats:
    """``P(x | items)`` of each way to vote on the next item, (ways,): the mean of P(x | f) over factors f."""
    # The factors are normal about the top, with the curvature there. So they are, as items grow, under Jeffreys' prior
    # times that of the penalties; of one worker alone it adds half a vote on either side (Krichevsky and Trofimov
    # 1981).
    told, terms = fit.told, fit.told.terms
    score = terms @ fit.top
    # an item tells as much as its share of votes: exact where all are there, and positive definite anyhow
    curvature = told.items * fit.asked * told.bend(np.exp(score - np.logaddexp.reduce(score))) + np.diag(told.weight)
    normal = np.round(np.random.default_rng(0).standard_normal((fit.top.size, DRAWS)), DIGITS)
    lean = terms @ np.linalg.solve(np.linalg.cholesky(curvature).T, normal)  # (ways, draws)
    every = score[:, None] + np.hstack([lean, -lean])
    total = np.exp(every - np.logaddexp.reduce(every, axis=0)).sum(axis=1)
    return total / total.sum()


class _Told(NamedTuple):
    """``total . f - items ln Z(f) - sum weight f^2 / 2``, which is to be as large as can be."""

    terms: Floats  # (ways to vote, factors)
    total: Floats  # (factors,): of the items' terms
    items: int
    weight: Floats  # (factors,)

    def height(self, factor: Floats) -> float:
        prior = self.weight @ (factor * factor) / 2
        return float(self.total @ factor - self.items * np.logaddexp.reduce(self.terms @ factor) - prior)

    def step(self, factor: Floats) -> Floats:
        score = self.terms @ factor
        chance = np.exp(score - np.logaddexp.reduce(score))
        mean = self.terms.T @ chance
        slope = self.total - self.items * mean - self.weight * factor
        return np.linalg.solve(self.items * self.bend(chance) + np.diag(self.weight), slope)

    def bend(self, chance: Floats) -> Floats:
        """Covariance of the terms of an item whose votes have these chances, (factors, factors)."""
        mean = self.terms.T @ chance
        return (self.terms.T * chance) @ self.terms - np.outer(mean, mean)


def _climbed(told: _Told, factor: Floats, steps: int) -> Floats:
    """So many of Newton's steps at most, halved where one does not climb."""
    here = told.height(factor)
    for _ in range(steps):
        step, scale = told.step(factor), 1.0
        while scale > LEAST and told.height(factor + scale * step) < here:
            scale /= 2
        after = told.height(factor + scale * step)
        if after <= here + CLOSE:
            break
        factor, here = factor + scale * step, after
    return factor
