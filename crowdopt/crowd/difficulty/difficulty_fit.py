"""How hard tasks are, from labels and gold: the likeliest share of hard tasks and what is left of skill on them.

One coin over K classes, wrong answers uniform: an edge x stands for a chance ``(1 + (K - 1) x) / K`` to be right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.difficult_classes import class_likelihoods
from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty

SCALES: Floats = np.arange(21) / 10  # u, what an edge may be multiplied by
SHARES: Floats = np.array([0.01, 0.02, 0.035, *np.arange(2, 21) / 40])  # h that are tried: hard tasks are not most
ALARM = 0.05  # chance at most that difficulty is seen, ever, where there is none
BELIEVABLE = 0.5  # of the mean edge believed, that has to be left: where less is, it is the skills that are wrong
DROP = 1.92  # nats that a 95 % interval by the profile likelihood goes down: half of chi-square's quantile
MOST = 20_000  # tasks that a fit looks at, spread evenly
TOGETHER = 64  # tasks whose factors are multiplied before a logarithm is taken: each is .01 or more
FEWEST = 20  # tasks with two labels, below which nothing is fitted


@dataclass(frozen=True, eq=False)
class EdgedLabels:
    """Labels with the edge that is believed of whoever gave each."""

    task: Ints  # (k,)
    label: Ints  # (k,)
    edge: Floats  # (k,): ``(K p - 1) / (K - 1)``
    shape: tuple[int, int]  # (tasks, classes)


def fitted(
    labels: EdgedLabels,
    truth: Ints | None = None,
    anchor: Callable[[Floats], Any] | None = None,
    alarm: float = ALARM,
) -> Difficulty:
    """The likeliest h and s: ``sum_i ln mean_k [(1-h) P(labels | k, e x) + h P(labels | k, q x)]``.

    x are the edges of a task's labels, e and q their scales on easy and hard tasks. Where a task's truth is known the
    mean has that class alone. What else is known of the mean edge, by gold, comes as ``anchor``. Without both,
    agreement cannot tell misled workers from right ones, and s is at least 0.

    truth (tasks,): -1 where unknown; anchor: log-likelihood of gold at mean edges of so many times the believed ones,
    (any,) -> (any,); alarm: chance at most that any is seen where there is none, however often one looks while labels
    come in: the likelihood's mean over h and hard tasks' scales has to be 1 / alarm times that of h = 0 (Ville's
    inequality, as if the edges and the scale of easy tasks were known); -> h = 0 where it is not.
    """
    count = np.bincount(labels.task, minlength=labels.shape[0])
    if np.count_nonzero(count >= 2) < FEWEST:
        return NONE
    true = np.full(count.size, -1) if truth is None else truth
    some = np.flatnonzero((count >= 2) | ((count > 0) & (true >= 0)))  # one label alone is as likely by any law
    some = some[:: max(1, some.size // MOST)]
    return _searched(_Likelihood(*_tables(labels, some, true[some]), anchor), -float(np.log(alarm)))


def _searched(likelihood: _Likelihood, nats: float) -> Difficulty:
    """The likeliest h and s, on a coarse grid of scales, then around all that is nearly as likely."""
    level = max(float(likelihood.of(e, e, np.zeros(1))[0]) for e in range(5, SCALES.size))
    pairs = [(e, q) for e in range(8, SCALES.size, 2) for q in range(likelihood.lowest(e), e, 2)]
    values = {pair: likelihood.of(*pair, SHARES) for pair in pairs}
    if _mean(values) - level < nats:
        return NONE
    asked = set[tuple[int, int]]()
    while True:
        best = max(float(table.max()) for table in values.values())
        near = [pair for pair, table in values.items() if table.max() >= best - DROP and pair not in asked]
        if not near:
            return _likeliest(values, level)
        asked.update(near)
        for e, q in near:
            around = set(product((e - 1, e, e + 1), (q - 1, q, q + 1))) - values.keys()
            values |= {pair: likelihood.of(*pair, SHARES) for pair in around if likelihood.has(*pair)}


def _mean(values: dict[tuple[int, int], Floats]) -> float:
    """Logarithm of the likelihood's mean over h and hard tasks' scales; easy ones' is the likeliest, as where h = 0."""
    scales = sorted({q for _, q in values})
    best = np.stack([np.maximum.reduce([table for (_, q), table in values.items() if q == one]) for one in scales])
    return float(np.logaddexp.reduce(best, axis=None) - np.log(best.size))


def _likeliest(values: dict[tuple[int, int], Floats], level: float) -> Difficulty:
    """The best of log-likelihoods by scales of easy and hard tasks and by share, with intervals by the profile."""
    # They end at the first values that are not likely enough: between two of the grid's it may still be.
    pairs, table = np.array(list(values)), np.stack(list(values.values()))
    row, k = np.unravel_index(int(table.argmax()), table.shape)
    best = float(table[row, k])
    inside = table >= best - DROP
    shares = np.flatnonzero(inside.any(axis=0))
    wider = SHARES[max(0, shares[0] - 1)], SHARES[min(SHARES.size - 1, shares[-1] + 1)]
    low = 0.0 if shares[0] == 0 else float(wider[0])
    left = pairs[:, 1] / pairs[:, 0]
    likely = left[inside.any(axis=1)]
    step = 1 / pairs[inside.any(axis=1), 0].max()  # between two scales of hard tasks
    limits = low, float(wider[1]), max(-1.0, float(likely.min() - step)), min(1.0, float(likely.max() + step))
    easy, hard = float(SCALES[pairs[row, 0]]), float(np.sign(pairs[row, 1]) * SCALES[abs(pairs[row, 1])])
    return Difficulty(float(SHARES[k]), hard, easy, *limits, gain=best - level)


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """Log-likelihoods of a two-point law of scales.

    ``known`` and ``unknown`` are (scales, tasks): a task's log-likelihood at every scale from -SCALES[-1] to
    SCALES[-1], where its truth is known and where not.
    """

    known: Floats
    unknown: Floats
    anchor: Callable[[Floats], Any] | None

    @property
    def misled(self) -> bool:
        return self.anchor is not None or self.known.shape[1] > 0

    def lowest(self, easy: int) -> int:
        """The least scale of hard tasks beside that one of easy ones: below 0 where workers may be misled."""
        return -easy if self.misled else 0

    def has(self, easy: int, hard: int) -> bool:
        return easy < SCALES.size and self.lowest(easy) <= hard < easy

    def of(self, easy: int, hard: int, share: Floats) -> Floats:
        """At scale indices of easy and hard tasks (a negative one: of the scale with the other sign), per share."""
        middle = SCALES.size - 1
        total: Floats = np.zeros(share.size)
        for table in (self.unknown, self.known):
            if table.shape[1]:  # often no truth is known, and this is called a hundred times a fit
                total += _mixed(table[middle + easy], table[middle + hard], share)
        mean = (1 - share) * SCALES[easy] + share * np.sign(hard) * SCALES[abs(hard)]
        if self.anchor is not None:
            total = total + np.asarray(self.anchor(mean))
        return np.where(mean >= BELIEVABLE, total, -np.inf)


def _mixed(easy: Floats, hard: Floats, share: Floats) -> Floats:
    """``sum_i ln((1 - h) exp(a_i) + h exp(b_i))`` for each h, a logarithm for every TOGETHER tasks."""
    # h is one of SHARES, or a and b are alike: with the larger of the two taken out no factor is below .01, so that no
    # product vanishes.
    from crowdopt.crowd.difficulty.difficulty_kernels import log_products

    each = log_products(easy, hard, share, -(-easy.size // TOGETHER)).T.copy()
    return each.sum(axis=1) + np.maximum(easy, hard).sum()


def _tables(labels: EdgedLabels, some: Ints, true: Ints) -> tuple[Floats, Floats]:
    """Log-likelihood of each task's labels by scale, less that of fair guesses: of known truth, and of unknown."""
    row = np.full(labels.shape[0], -1)
    row[some] = np.arange(some.size)
    mine = row[labels.task] >= 0
    place, label, edge = row[labels.task[mine]], labels.label[mine], labels.edge[mine]
    classes, sure = labels.shape[1], true >= 0
    known, unknown = [], []
    for scale in np.concatenate([-SCALES[:0:-1], SCALES]):
        table = class_likelihoods(place, label, scale * edge, (some.size, classes))
        known.append(table[sure, true[sure]])
        unknown.append(np.logaddexp.reduce(table[~sure], axis=1) - np.log(classes))
    return np.stack(known), np.stack(unknown)
