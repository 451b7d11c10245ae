"""Tasks that are hard for everybody: how many there are, what is left of skill on them, and what labels say then.

A task is hard with chance h; there a worker of accuracy p is right with chance ``1/2 + s (p - 1/2)`` (s < 0: misled).
Workers who err independently on each task then err together over tasks: labels of a task agree more often, and more
often disagree, than their skills explain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.errors import InputError

SCALES: Floats = np.arange(21) / 10  # u, what an edge 2p - 1 may be multiplied by
SHARES: Floats = np.array([0.01, 0.02, 0.035, *np.arange(2, 21) / 40])  # h that are tried: hard tasks are not most
LARGEST = 0.98  # edge of anybody on any task
GAIN = 2.0  # nats by which difficulty has to explain labels better before it is believed: it is looked for often
BELIEVABLE = 0.5  # of the mean edge believed, that has to be left: where less is, it is the skills that are wrong
DROP = 1.92  # nats that a 95 % interval by the profile likelihood goes down: half of chi-square's quantile
MOST = 20_000  # tasks that a fit looks at, spread evenly
FEWEST = 20  # tasks with two labels, below which nothing is fitted


@dataclass(frozen=True)
class Difficulty:
    """How hard tasks are, in units of the edge ``2p - 1`` that is believed of each worker.

    Parameters
    ----------
    share : float
        h, chance that a task is hard; 0: none is.
    hard, easy : float
        The edge on a hard task and on any other one, over the edge believed; s is their ratio.
    low, high : float
        95 % interval of h by the profile likelihood.
    least, most : float
        That of s.
    gain : float
        Nats by which it explains the labels better than h = 0 does.
    """

    share: float = 0.0
    hard: float = 1.0
    easy: float = 1.0
    low: float = 0.0
    high: float = 0.0
    least: float = 1.0
    most: float = 1.0
    gain: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1 or self.easy <= 0 or abs(self.hard) > self.easy:
            raise InputError(
                f"a share of hard tasks lies in [0, 1) and the edge there within that on easy tasks, "
                f"not {self.share:g}, {self.hard:g} and {self.easy:g}"
            )

    @property
    def left(self) -> float:
        """s, what is left of a worker's edge on a hard task."""
        return self.hard / self.easy

    @property
    def mean(self) -> float:
        """``1 - h + h s``, the mean edge over that on an easy task: what gold shows of a worker."""
        return 1 - self.share * (1 - self.left)

    def array(self) -> Floats:
        """All numbers, for a snapshot."""
        return np.array([self.share, self.hard, self.easy, self.low, self.high, self.least, self.most, self.gain])

    def __str__(self) -> str:
        """What is said of it wherever a claim rests on it."""
        if not self.share:
            return "no task is harder than others, as far as labels show"
        share, low, high, left, least, most = (
            round(100 * x) for x in (self.share, self.low, self.high, self.left, self.least, self.most)
        )
        return (
            f"about {share} % of the tasks ({low} to {high} %) are hard: there {left} % ({least} to {most} %) of a "
            "worker's edge over guessing is left"
        )


NONE = Difficulty()


def fitted(
    task: Ints,
    edge: Floats,
    tasks: int,
    truth: Ints | None = None,
    anchor: Callable[[Floats], Any] | None = None,
    gain: float = GAIN,
) -> Difficulty:
    """The likeliest h and s, by each task's labels: ``sum_y 1/2 [(1-h) prod (1 + y e x)/2 + h prod (1 + y q x)/2]``.

    x is the signed edge of a label, e and q its scales on easy and hard tasks. Where a task's truth is known its sum
    has that y alone. What else is known of the mean edge, by gold, comes as ``anchor``. Without both, agreement cannot
    tell misled workers from right ones, and s is at least 0.

    Parameters
    ----------
    task : (k,) int
        Of each label.
    edge : (k,) float
        2p - 1 of the worker, negative where the label is class 0.
    tasks : int
        How many there are.
    truth : (tasks,) int, optional
        -1 where unknown.
    anchor : callable, optional
        Log-likelihood of gold at mean edges of so many times the believed ones, (any,) -> (any,).
    gain : float
        Nats by which it has to explain the labels better than h = 0 does.

    Returns
    -------
    Difficulty
        h = 0 where that explains the labels as well, to ``gain`` nats.
    """
    count = np.bincount(task, minlength=tasks)
    if np.count_nonzero(count >= 2) < FEWEST:
        return NONE
    return searched(*_tables(task, edge, tasks, truth, count), anchor, gain)


def searched(known: Floats, unknown: Floats, anchor: Callable[[Floats], Any] | None, gain: float) -> Difficulty:
    """The likeliest h and s by each task's log-likelihood at every scale, from -SCALES[-1] to SCALES[-1].

    Parameters
    ----------
    known : (scales, tasks) float
        Of tasks of known truth.
    unknown : (scales, tasks) float
        Of the others.
    anchor : callable, optional
        Log-likelihood of gold at mean edges of so many times the believed ones, (k,) -> (k,).
    gain : float
        Nats by which it has to explain the labels better than h = 0 does.

    Returns
    -------
    Difficulty
    """
    misled = anchor is not None or known.shape[1] > 0
    likelihood = _Likelihood(known, unknown, anchor)
    level = max(float(likelihood.of(e, e, np.zeros(1))[0]) for e in range(5, SCALES.size))
    pairs = [(e, q) for e in range(8, SCALES.size, 2) for q in range(-e if misled else 0, e, 2)]
    values = {pair: likelihood.of(*pair, SHARES) for pair in pairs}
    e, q = max(values, key=lambda pair: float(values[pair].max()))
    near = [(a, b) for a in (e - 1, e, e + 1) for b in (q - 1, q, q + 1) if (a, b) != (e, q)]
    near = [(a, b) for a, b in near if a < SCALES.size and (-a if misled else 0) <= b < a]
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
    """Log-likelihoods of a two-point law of scales, from tables as :func:`searched` takes them."""

    known: Floats
    unknown: Floats
    anchor: Callable[[Floats], Any] | None

    def of(self, easy: int, hard: int, share: Floats) -> Floats:
        """At scale indices of easy and hard tasks (a negative one: of the scale with the other sign), per share."""
        middle = SCALES.size - 1
        total = _mixed(self.unknown[middle + easy], self.unknown[middle + hard], share)
        total += _mixed(self.known[middle + easy], self.known[middle + hard], share)
        mean = (1 - share) * SCALES[easy] + share * np.sign(hard) * SCALES[abs(hard)]
        if self.anchor is not None:
            total = total + np.asarray(self.anchor(mean))
        return np.where(mean >= BELIEVABLE, total, -np.inf)


def _mixed(easy: Floats, hard: Floats, share: Floats) -> Floats:
    """``sum_i ln((1 - h) exp(a_i) + h exp(b_i))`` for each h."""
    top = np.maximum(easy, hard)
    a, b = np.exp(easy - top), np.exp(hard - top)
    total: Floats = np.log((1 - share)[:, None] * a + share[:, None] * b).sum(axis=1) + top.sum()
    return total


def _tables(task: Ints, edge: Floats, tasks: int, truth: Ints | None, count: Ints) -> tuple[Floats, Floats]:
    """Log-likelihood of each task's labels by scale, less that of fair guesses: of known truth, and of unknown."""
    true = np.full(tasks, -1) if truth is None else truth
    some = np.flatnonzero(count > 0)
    some = some[:: max(1, some.size // MOST)]
    row = np.full(tasks, -1)
    row[some] = np.arange(some.size)
    mine = row[task] >= 0
    place, x = row[task[mine]], edge[mine]
    yes, no = np.empty((2, SCALES.size, some.size))
    for k, scale in enumerate(SCALES):
        scaled = np.clip(scale * x, -LARGEST, LARGEST)
        yes[k] = np.bincount(place, np.log1p(scaled), some.size)
        no[k] = np.bincount(place, np.log1p(-scaled), some.size)
    sure = true[some] >= 0
    right = np.where(true[some] == 1, yes, no)[:, sure]
    wrong = np.where(true[some] == 1, no, yes)[:, sure]
    either = np.logaddexp(yes, no)[:, ~sure] - np.log(2)
    return np.concatenate([wrong[:0:-1], right]), np.concatenate([either[:0:-1], either])


def label_terms(edge: Floats, difficulty: Difficulty) -> tuple[Floats, Floats, Floats]:
    """What labels add to a task's log odds if it is easy, if it is hard, and to the log odds that it is easy.

    Parameters
    ----------
    edge : (k,) float
        2p - 1 of the worker, negative where the label is class 0.
    difficulty : Difficulty

    Returns
    -------
    easy, hard, lean : (k,) float
        ``lean`` is without what either class explains: ``1/2 ln((1 - a^2) / (1 - b^2))``, a and b the edges there.
    """
    a = np.clip(difficulty.easy * edge, -LARGEST, LARGEST)
    b = np.clip(difficulty.hard * edge, -LARGEST, LARGEST)
    return 2 * np.arctanh(a), 2 * np.arctanh(b), 0.5 * (np.log1p(-a * a) - np.log1p(-b * b))


def mixed_odds(sums: Floats, share: float) -> tuple[Floats, Floats]:
    """Log odds of class 1, and the chance that the task is hard, from the sums of :func:`label_terms`.

    ``P(y, labels) ~ (1 - h) exp(lean + y easy/2) + h exp(y hard/2)``, y = +-1.

    Parameters
    ----------
    sums : (3, tasks) float
        Of easy, hard and lean.
    share : float
        h, above 0.

    Returns
    -------
    odds, chance : (tasks,) float
    """
    easy, hard, lean = sums
    first, second = np.log1p(-share) + lean, np.log(share)
    up = np.logaddexp(first + easy / 2, second + hard / 2)
    down = np.logaddexp(first - easy / 2, second - hard / 2)
    chance = np.exp(second + np.logaddexp(hard / 2, -hard / 2) - np.logaddexp(up, down))
    return up - down, chance
