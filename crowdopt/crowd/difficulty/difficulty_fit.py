"""How hard tasks are, from labels and gold: the likeliest share of hard tasks and what is left of skill on them.

One coin over K classes, wrong answers uniform: an edge x stands for a chance ``(1 + (K - 1) x) / K`` to be right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.difficult_classes import class_likelihoods
from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty
from crowdopt.elementary import exp, log, logsumexp

SCALES: Floats = np.arange(21) / 10  # u, what an edge may be multiplied by
SHARES: Floats = np.array([0.01, 0.02, 0.035, *np.arange(2, 21) / 40])  # h that are tried: hard tasks are not most
GAIN = 2.0  # nats by which difficulty has to explain labels better before it is believed: it is looked for often
BELIEVABLE = 0.5  # of the mean edge believed, that has to be left: where less is, it is the skills that are wrong
DROP = 1.92  # nats that a 95 % interval by the profile likelihood goes down: half of chi-square's quantile
MOST = 20_000  # tasks that a fit looks at, spread evenly
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
    gain: float = GAIN,
) -> Difficulty:
    """The likeliest h and s: ``sum_i ln mean_k [(1-h) P(labels | k, e x) + h P(labels | k, q x)]``.

    x are the edges of a task's labels, e and q their scales on easy and hard tasks. Where a task's truth is known the
    mean has that class alone. What else is known of the mean edge, by gold, comes as ``anchor``. Without both,
    agreement cannot tell misled workers from right ones, and s is at least 0.

    truth (tasks,): -1 where unknown; anchor: log-likelihood of gold at mean edges of so many times the believed ones,
    (any,) -> (any,); gain: nats by which it has to explain the labels better than h = 0 does; -> h = 0 where that
    explains the labels as well, to ``gain`` nats.
    """
    count = np.bincount(labels.task, minlength=labels.shape[0])
    if np.count_nonzero(count >= 2) < FEWEST:
        return NONE
    some = np.flatnonzero(count > 0)
    some = some[:: max(1, some.size // MOST)]
    true = np.full(some.size, -1) if truth is None else truth[some]
    return _searched(_Likelihood(*_tables(labels, some, true), anchor), gain)


def _searched(likelihood: _Likelihood, gain: float) -> Difficulty:
    """The likeliest h and s, first on a coarse grid of scales, then around its best point."""
    level = max(float(likelihood.of(e, e, np.zeros(1))[0]) for e in range(5, SCALES.size))
    pairs = [(e, q) for e in range(8, SCALES.size, 2) for q in range(-e if likelihood.misled else 0, e, 2)]
    values = {pair: likelihood.of(*pair, SHARES) for pair in pairs}
    e, q = max(values, key=lambda pair: float(values[pair].max()))
    near = [(a, b) for a in (e - 1, e, e + 1) for b in (q - 1, q, q + 1) if (a, b) != (e, q)]
    near = [(a, b) for a, b in near if a < SCALES.size and (-a if likelihood.misled else 0) <= b < a]
    values |= {pair: likelihood.of(*pair, SHARES) for pair in near}
    return _likeliest(values, level, gain)


def _likeliest(values: dict[tuple[int, int], Floats], level: float, gain: float) -> Difficulty:
    """The best of log-likelihoods by scales of easy and hard tasks and by share, with intervals by the profile."""
    pairs, table = np.array(list(values)), np.stack(list(values.values()))
    row, k = np.unravel_index(int(table.argmax()), table.shape)
    best = float(table[row, k])
    if best - level < gain:
        return NONE
    inside = table >= best - DROP
    shares, left = SHARES[inside.any(axis=0)], (pairs[:, 1] / pairs[:, 0])[inside.any(axis=1)]
    easy, hard = float(SCALES[pairs[row, 0]]), float(np.sign(pairs[row, 1]) * SCALES[abs(pairs[row, 1])])
    limits = float(shares[0]), float(shares[-1]), float(left.min()), float(left.max())
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
        """Whether workers who are misled together could be told from right ones."""
        return self.anchor is not None or self.known.shape[1] > 0

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
    """``sum_i ln((1 - h) exp(a_i) + h exp(b_i))`` for each h."""
    top = np.maximum(easy, hard)
    a, b = exp(easy - top), exp(hard - top)
    total: Floats = log((1 - share)[:, None] * a + share[:, None] * b).sum(axis=1) + top.sum()
    return total


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
        unknown.append(logsumexp(table[~sure], axis=1) - log(classes))
    return np.stack(known), np.stack(unknown)
