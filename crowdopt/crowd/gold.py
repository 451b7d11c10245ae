"""Gold of a crowd: what it tells of skills, and of votes that depend on one another.

Which law labels follow, from gold that several workers answered, or from labels: the likeliest on held-out items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.law import LARGEST, LEAST, NONE, TINY, Coins, Difficulty, Given, Law, on_easy
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.skills import AVERAGED, TALLIED, Known, estimator, known_of, priors_of, with_crowd

INDEPENDENT, COMMON, PAIRWISE = "independent", "common discount", "pairwise"
COINS = (INDEPENDENT, COMMON)  # one accuracy of each worker and type, and difficulty
PANEL = 8  # workers up to which couplings are fitted
FOLDS = 5  # item i is held out in fold i mod 5: no chance is at work
MOST = 20_000  # items or tasks that tell how hard these are, spread evenly
DIGITS = 6  # of factors of a law of pairs that are kept

Fit: TypeAlias = Callable[["GoldVotes"], Law]


class LawParams(NamedTuple):
    """Grids and limits of the fits of laws to gold votes."""

    shares: Floats = np.arange(1, 26) / 50  # h that a common discount may be
    rests: Floats = np.arange(5) / 10  # s there
    rate: float = 5.0  # of the exponential prior of h: .2 in the mean
    kept: float = 0.99  # of all workers' edges together has to be possible where LARGEST is the most on an easy item
    sure: float = 20.0  # times as likely as a common discount has independence to be, or both are averaged
    penalties: tuple[float, ...] = (2.0, 10.0, 50.0, 250.0)  # of squared couplings, in nats
    folds: int = 4  # of the items, that choose the penalty
    soft: float = 0.1  # penalty of each b, so that a worker who never errs has a finite one
    steps: int = 60  # of Newton's method
    close: float = 1e-8  # rise of the likelihood, in nats, and part of a step, at which it ends
    partial: tuple[int, int] = (20, 2)  # rounds, and Newton's steps in each, where votes are missing
    draws: int = 128  # pairs of draws of the factors


PARAMS = LawParams()


class GoldVotes(NamedTuple):
    """Votes on gold items: who was right."""

    item: Ints  # (k,): of each vote
    worker: Ints  # (k,)
    right: Ints  # (k,): 1, or 0 where the vote was wrong
    kind: Ints  # (items,): type of each
    shape: tuple[int, int]  # types and workers
    classes: int = 2  # K: a guess is right with chance 1/K

    @classmethod
    def of(cls, table: Ints) -> GoldVotes:
        """Of one type, from :attr:`table`."""
        item, worker = np.nonzero(table >= 0)
        return cls(item, worker, table[item, worker], np.zeros(len(table), np.int64), (1, table.shape[1]))

    @property
    def table(self) -> Ints:
        """The same of few workers: 1 right, 0 wrong, -1 not asked, (items, workers)."""
        table = np.full((self.kind.size, self.shape[1]), -1)
        table[self.item, self.worker] = self.right
        return table

    @property
    def accuracy(self) -> Floats:
        """Means over the priors that each type's tallies leave open, as by :func:`crowdopt.crowd.skills.averaged`.

        -> (3, types, workers): by all votes; by all but one that was wrong; by all but one that was right.
        """
        cell, size = self.kind[self.item] * self.shape[1] + self.worker, self.shape[0] * self.shape[1]
        right, asked = np.bincount(cell, self.right, size), np.bincount(cell, minlength=size)
        told = known_of(right.reshape(self.shape), asked.reshape(self.shape), self.classes)
        less = [(p, [(c, s), (np.minimum(c, s - 1), s - 1), (c - 1, s - 1)]) for p, c, s in told]
        return np.stack([[p.means(*np.maximum(0, one)) for one in each] for p, each in less], axis=1)

    def of_items(self, some: Bools) -> GoldVotes:
        """The votes on some items, which are numbered anew."""
        mine = some[self.item]
        item = (np.cumsum(some) - 1)[self.item[mine]]
        return self._replace(item=item, worker=self.worker[mine], right=self.right[mine], kind=self.kind[some])


@dataclass(frozen=True, eq=False)
class LawChoice:
    """The chosen law, fitted to all items, and how well each law told held-out items."""

    law: Law
    by_coins: Law  # one coin's, which plans of fixed sets heed
    loss: dict[str, float]  # mean -ln P of a held-out item, by law

    def __str__(self) -> str:
        """What a campaign says of its skills."""
        losses = ", ".join(f"{name} {value:.4f}" for name, value in self.loss.items())
        return f"{self.law.name} from gold votes (held-out log loss: {losses})"


def log_chances(law: Law, votes: GoldVotes) -> Floats:
    """``ln P(votes)`` of each item, (items,): a wrong vote may be for any other class."""
    given = Given(votes.item, votes.kind[votes.item], votes.worker, 1 - votes.right)
    return law.likelihood(given, votes.kind.size)[:, 0]


def chosen_law(votes: GoldVotes, names: tuple[str, ...] = (*COINS, PAIRWISE)) -> LawChoice:
    """The law with the least held-out log loss, but independence only where it is far likelier than a common discount.

    Few items seldom show that workers err together, and answers by a law that denies it claim fewer errors than they
    make. Where no item has two votes it is independence. Couplings of pairs are fitted to the votes of PANEL workers at
    most, on FOLDS items at least, of one type and two classes.

    names: laws to choose from, with INDEPENDENT.
    """
    columns = tuple(np.ascontiguousarray(column, np.int64).tobytes() for column in votes[:4])
    return _chosen(columns, votes.shape, votes.classes, names)


@lru_cache(maxsize=4)
def _chosen(columns: tuple[bytes, ...], shape: tuple[int, int], classes: int, names: tuple[str, ...]) -> LawChoice:
    item, worker, right, kind = (np.frombuffer(column, np.int64) for column in columns)
    votes = GoldVotes(item, worker, right, kind, shape, classes)
    if np.bincount(votes.item).max(initial=0) < 2:  # one vote an item tells nothing of dependence
        names = (INDEPENDENT,)
    alone, common, nats, items = _coins(votes)
    coins = common if COMMON in names and nats[0] - nats[1] <= np.log(PARAMS.sure) else alone
    if PAIRWISE not in names or items < FOLDS or shape[0] > 1 or shape[1] > PANEL or classes > 2:
        # folds would be slow, and thin gold tells accuracies from too few votes
        return LawChoice(coins, coins, {name: -nats[k] / items for k, name in enumerate(COINS) if name in names})
    loss = {name: -_held_out(FITS[name], votes, FOLDS) / votes.kind.size for name in names}
    pairs = all(loss[PAIRWISE] < loss[name] for name in loss if name != PAIRWISE)
    return LawChoice(pairwise_law(votes) if pairs else coins, coins, loss)


def _held_out(fit: Fit, votes: GoldVotes, folds: int) -> float:
    """``sum ln P`` of each fold's items by the law that is fitted to the others."""
    fold = np.arange(votes.kind.size) % folds
    parts = [(fit(votes.of_items(fold != k)), votes.of_items(fold == k)) for k in range(folds)]
    return sum(float(log_chances(*part).sum()) for part in parts)


def independent_law(votes: GoldVotes) -> Law:
    """Accuracies by their tallies."""
    return Law.coins(votes.accuracy[0], votes.classes)


def common_law(votes: GoldVotes) -> Law:
    """A share h of the items is hard for all: there a part s of each worker's edge is left. The mean over both.

    Nothing else is fitted beside the tallies: edges on easy items are those by which a worker is as often right as they
    say, ``x / (1 - h + h s)``, but LARGEST at most, by which hardly anything may be lost of the crowd's: where many
    items are hard for all, no worker is right on nearly all. h and h s are means given the votes; before these h is 0
    with chance 1/2, else it follows an exponential law. All types have the same h and s.
    """
    return _coins(votes)[1]


def _coins(votes: GoldVotes) -> tuple[Law, Law, tuple[float, float], int]:
    """Independence; the mean over it and common discounts; ``ln P`` of the items by it, and by discounts; how many.

    A vote's accuracy is by its worker's other votes. Accuracies that count the vote itself follow its chance errors,
    and workers who err independently seem to err together.
    """
    (accuracy, *without), guess = votes.accuracy, 1 / votes.classes
    few = votes.of_items(np.arange(votes.kind.size) % -(-votes.kind.size // MOST) == 0)
    told = np.stack(without)[few.right, few.kind[few.item], few.worker]
    level, cell = np.unique(np.where(few.right == 1, told, -told), return_inverse=True)
    place, count = np.unique(few.item * level.size + cell, return_counts=True)  # votes of an item that are alike
    item, cell = np.divmod(place, level.size)

    def easy(of: Floats, hard: float, left: float) -> Floats:
        edge = (of - guess) / ((1 - guess) * (1 - hard + hard * left))
        return guess + (1 - guess) * np.clip(edge, -LARGEST / (votes.classes - 1), LARGEST)

    def height(hard: float, left: float) -> float:
        parts, on_easy = [], easy(np.abs(level), hard, left)
        for share, accuracies in ((1 - hard, on_easy), (hard, guess + left * (on_easy - guess))):
            logs = np.log(np.where(level > 0, accuracies, 1 - accuracies))[cell] * count
            parts.append(np.log(max(share, TINY)) + np.bincount(item, logs, few.kind.size))
        return float(np.logaddexp(*parts).sum())

    hard, left = (axis.ravel() for axis in np.meshgrid(PARAMS.shares, PARAMS.rests))
    edge, mean = np.abs(accuracy - guess) / (1 - guess), 1 - hard + hard * left
    possible = [np.minimum(edge, LARGEST * m).sum() >= PARAMS.kept * edge.sum() for m in mean.tolist()]
    prior = np.exp(-PARAMS.rate * hard) * np.where(possible, 1.0, TINY)
    logs = [height(*part) for part in zip(hard.tolist(), left.tolist(), strict=True)] + np.log(prior / prior.sum())
    nats = height(0.0, 1.0), float(np.logaddexp.reduce(logs))
    chance = np.exp(logs - np.logaddexp(*nats))
    share, rest = float(chance @ hard), float(chance @ (hard * left))
    rest = rest / share if share > 0 else 1.0  # so much gold that no share of hard items has a chance left
    common = Law.coins(easy(accuracy, share, rest), votes.classes, Difficulty(share, rest))
    return Law.coins(accuracy, votes.classes), replace(common, name=COMMON), nats, few.kind.size


def pairwise_law(gold: GoldVotes) -> Law:
    """Pairs who err together, with the penalty of couplings by which held-out items are told best.

    Workers are as often right as the means over priors say, so that the best-looking is not overrated.
    """
    fits = [partial(coupled_law, penalty=penalty) for penalty in PARAMS.penalties]
    best = fits[int(np.argmax([_held_out(fit, gold, PARAMS.folds) for fit in fits]))]
    return best(gold, accuracy=gold.accuracy[0, 0])


def coupled_law(gold: GoldVotes, penalty: float, accuracy: Floats | None = None) -> Law:
    """``ln P(x) = sum_j b_j v_j + sum_{j<k} J_jk v_j v_k - ln Z``, v_j = 2 x_j - 1: each way to vote is a part.

    The likelihood is exact, over all ways in which the workers can vote, less ``penalty / 2 sum J^2``: couplings that
    the items do not show are near 0. Votes that were not asked are summed out, by expectation and maximisation.
    accuracy (workers,): how often each is right, where it is not the items that say so.

    The law is not the likeliest one but the mean of all, ``P(x | items)``: the cheapest plan by the likeliest law leans
    on those votes that the items flatter, and errs more often than it says.
    """
    right, workers = gold.table, gold.shape[1]
    votes = 2.0 * ((np.arange(2**workers)[:, None] >> np.arange(workers)) & 1) - 1
    first, second = np.array(list(combinations(range(workers), 2)), np.int64).reshape(-1, 2).T
    terms = np.hstack([votes, votes[:, first] * votes[:, second]])
    weight = np.append(np.full(workers, PARAMS.soft), np.full(first.size, penalty))
    patterns, count = np.unique(right, axis=0, return_counts=True)
    fits = ((patterns[:, None] < 0) | (2 * patterns[:, None] - 1 == votes)).all(axis=2)
    alone = ((right == 1).sum(axis=0) + 1) / ((right >= 0).sum(axis=0) + 2)
    factor = np.append((np.log(alone) - np.log(1 - alone)) / 2, np.zeros(first.size))
    rounds, steps = PARAMS.partial if (right < 0).any() else (1, PARAMS.steps)
    for _ in range(rounds):
        given = np.where(fits, terms @ factor, -np.inf)
        share = np.exp(given - np.logaddexp.reduce(given, axis=1)[:, None])
        total = terms.T @ (share.T @ count)
        if accuracy is not None:
            total[:workers] = count.sum() * (2 * accuracy - 1)
        target = _Pairs(terms, total, int(count.sum()), weight)
        before, factor = factor, target.climbed(factor, steps)
        if np.abs(factor - before).max() < 10.0**-DIGITS:
            break
    foretold = target.foretold(np.round(factor, DIGITS), float((right >= 0).mean()))
    return Law.votes(PAIRWISE, foretold, (votes + 1) / 2)


class _Pairs(NamedTuple):
    """``total . f - items ln Z(f) - sum weight f^2 / 2``, which is to be as large as can be."""

    terms: Floats  # (ways to vote, factors)
    total: Floats  # (factors,): of the items' terms
    items: int
    weight: Floats  # (factors,)

    def height(self, factor: Floats) -> float:
        prior = self.weight @ (factor * factor) / 2
        return float(self.total @ factor - self.items * np.logaddexp.reduce(self.terms @ factor) - prior)

    def chance(self, factor: Floats) -> Floats:
        score = self.terms @ factor
        return np.exp(score - np.logaddexp.reduce(score))

    def bend(self, chance: Floats) -> Floats:
        """Covariance of the terms of an item whose votes have these chances, (factors, factors)."""
        mean = self.terms.T @ chance
        return (self.terms.T * chance) @ self.terms - np.outer(mean, mean)

    def climbed(self, factor: Floats, steps: int) -> Floats:
        """So many of Newton's steps at most, halved where one does not climb."""
        here = self.height(factor)
        for _ in range(steps):
            chance, scale = self.chance(factor), 1.0
            slope = self.total - self.items * (self.terms.T @ chance) - self.weight * factor
            step = np.linalg.solve(self.items * self.bend(chance) + np.diag(self.weight), slope)
            while scale > PARAMS.close and self.height(factor + scale * step) < here:
                scale /= 2
            after = self.height(factor + scale * step)
            if after <= here + PARAMS.close:
                break
            factor, here = factor + scale * step, after
        return factor

    def foretold(self, top: Floats, asked: float) -> Floats:
        """``P(x | items)`` of each way to vote on the next item: the mean of P(x | f) over factors f; asked: share."""
        # The factors are normal about the top, with the curvature there. So they are, as items grow, under Jeffreys'
        # prior times that of the penalties; of one worker alone it adds half a vote on either side (Krichevsky and
        # Trofimov 1981). An item tells as much as its share of votes: exact where all are there, and positive definite.
        score = self.terms @ top
        curvature = self.items * asked * self.bend(self.chance(top)) + np.diag(self.weight)
        normal = np.round(np.random.default_rng(0).standard_normal((top.size, PARAMS.draws)), DIGITS)
        lean = self.terms @ np.linalg.solve(np.linalg.cholesky(curvature).T, normal)  # (ways, draws)
        every = score[:, None] + np.hstack([lean, -lean])
        total = np.exp(every - np.logaddexp.reduce(every, axis=0)).sum(axis=1)
        return total / total.sum()


FITS: dict[str, Fit] = {INDEPENDENT: independent_law, COMMON: common_law, PAIRWISE: pairwise_law}


# Difficulty from labels whose truth is mostly not known.

SCALES: Floats = np.arange(21) / 10  # u, what an edge may be multiplied by
TOP = SCALES.size - 1
SHARES: Floats = np.array([0.01, 0.02, 0.035, *np.arange(2, 21) / 40])  # h that are tried: hard tasks are not most
ALARM = 0.05  # chance at most that difficulty is seen, ever, where there is none
BELIEVABLE = 0.5  # of the mean edge believed, that has to be left: where less is, it is the skills that are wrong
DROP = 1.92  # nats that a 95 % interval by the profile likelihood goes down: half of chi-square's quantile
FEWEST = 20  # tasks with two labels, below which nothing is fitted
TOGETHER = 64  # tasks whose factors are multiplied before a logarithm is taken: each is .01 or more


class EdgedLabels(NamedTuple):
    """Labels with the edge that is believed of whoever gave each."""

    task: Ints  # (k,)
    label: Ints  # (k,)
    edge: Floats  # (k,): ``(K p - 1) / (K - 1)``
    shape: tuple[int, int]  # (tasks, classes)


def fitted(
    labels: EdgedLabels,
    truth: Ints | None = None,
    anchor: Callable[[Floats], Any] | None = None,
) -> Difficulty:
    """The likeliest h and s: ``sum_i ln mean_k [(1-h) P(labels | k, e x) + h P(labels | k, q x)]``.

    x are the edges of a task's labels, e and q their scales on easy and hard tasks. Where a task's truth is known the
    mean has that class alone. What else is known of the mean edge, by gold, comes as ``anchor``. Without both,
    agreement cannot tell misled workers from right ones, and s is at least 0.

    truth (tasks,): -1 where unknown; anchor: log-likelihood of gold at mean edges of so many times the believed ones,
    (any,) -> (any,). ALARM is the chance at most that any is seen where there is none, however often one looks while
    labels come in: the likelihood's mean over h and hard tasks' scales has to be 1 / ALARM times that of h = 0 (Ville's
    inequality, as if the edges and the scale of easy tasks were known); -> h = 0 where it is not.
    """
    count = np.bincount(labels.task, minlength=labels.shape[0])
    if np.count_nonzero(count >= 2) < FEWEST:
        return NONE
    true = np.full(count.size, -1) if truth is None else truth
    some = np.flatnonzero((count >= 2) | ((count > 0) & (true >= 0)))  # one label alone is as likely by any law
    some = some[:: max(1, some.size // MOST)]
    mine, true, (tasks, classes) = np.isin(labels.task, some), true[some], (some.size, labels.shape[1])
    task, label, edge = np.searchsorted(some, labels.task[mine]), labels.label[mine], labels.edge[mine]
    logs = []  # ``ln(K^labels P(labels))`` of each task, by scale
    for scale in np.concatenate([-SCALES[:0:-1], SCALES]).tolist():
        x = np.clip(scale * edge, -LARGEST / (classes - 1), LARGEST)
        miss = np.log1p(-x)
        own = np.bincount(task * classes + label, np.log1p((classes - 1) * x) - miss, tasks * classes)
        table = own.reshape(tasks, classes) + np.bincount(task, miss, tasks)[:, None]
        unknown = np.logaddexp.reduce(table, axis=1) - np.log(classes)
        logs.append(np.where(true < 0, unknown, table[np.arange(tasks), true]))
    misled = anchor is not None or bool((true >= 0).any())
    return _likeliest(np.stack(logs), anchor, misled, -float(np.log(ALARM)))


def _likeliest(logs: Floats, anchor: Callable[[Floats], Any] | None, misled: bool, nats: float) -> Difficulty:
    """The likeliest h and s, on a coarse grid of scales, then around all that is nearly as likely.

    logs (scales, tasks): log-likelihoods at scales from -SCALES[-1] to SCALES[-1]; misled: whether the scale of hard
    tasks may be below 0; nats: by which h = 0 has to lose.
    """

    def height(easy: int, hard: int, share: Floats) -> Floats:
        """At scales of so many tenths, per share."""
        total = _log_mixed(logs[TOP + easy], logs[TOP + hard], share)
        mean = (1 - share) * (easy / 10) + share * (hard / 10)
        total = total if anchor is None else total + np.asarray(anchor(mean))
        return np.where(mean >= BELIEVABLE, total, -np.inf)

    level = max(float(height(e, e, np.zeros(1))[0]) for e in range(5, TOP + 1))
    lowest = -1 if misled else 0  # scale of hard tasks over that of easy ones
    pairs = [(e, q) for e in range(8, TOP + 1, 2) for q in range(lowest * e, e, 2)]
    values = {pair: height(*pair, SHARES) for pair in pairs}
    # the mean over h and hard tasks' scales; easy ones' is the likeliest, as where h = 0
    best = [np.maximum.reduce([values[e, q] for e, q in pairs if q == one]) for one in sorted({q for _, q in pairs})]
    if float(np.logaddexp.reduce(best, axis=None) - np.log(np.size(best))) - level < nats:
        return NONE
    asked = set[tuple[int, int]]()
    while True:
        top = max(float(table.max()) for table in values.values())
        near = [pair for pair, table in values.items() if table.max() >= top - DROP and pair not in asked]
        if not near:
            return _with_intervals(values, level)
        asked.update(near)
        for e, q in near:
            around = set(product((e - 1, e, e + 1), (q - 1, q, q + 1))) - values.keys()
            inside = [(a, b) for a, b in around if a <= TOP and lowest * a <= b < a]
            values |= {pair: height(*pair, SHARES) for pair in inside}


def _with_intervals(values: dict[tuple[int, int], Floats], level: float) -> Difficulty:
    """The best of log-likelihoods by scales of easy and hard tasks and by share, with intervals by the profile."""
    # They end at the first values that are not likely enough: between two of the grid's it may still be.
    pairs, table = np.array(list(values)), np.stack(list(values.values()))
    row, k = np.unravel_index(int(table.argmax()), table.shape)
    inside = table >= table[row, k] - DROP
    shares, near = np.flatnonzero(inside.any(axis=0)), pairs[inside.any(axis=1)]
    low, high = np.concatenate([[0.0], SHARES, SHARES[-1:]])[[shares[0], shares[-1] + 2]].tolist()
    left, step = near[:, 1] / near[:, 0], 1 / near[:, 0].max()  # step: between two scales of hard tasks
    limits = low, high, max(-1.0, float(left.min() - step)), min(1.0, float(left.max() + step))
    easy, hard = (pairs[row] / 10).tolist()
    return Difficulty(float(SHARES[k]), hard, easy, *limits, gain=float(table[row, k]) - level)


def _log_mixed(easy: Floats, hard: Floats, share: Floats) -> Floats:
    """``sum_i ln((1 - h) exp(a_i) + h exp(b_i))`` for each h, a logarithm for every TOGETHER tasks."""
    # h is one of SHARES, or a and b are alike: with the larger of the two taken out no factor is below .01, so that no
    # product vanishes.
    rows = -(-easy.size // TOGETHER)
    gap = np.append(easy - hard, np.zeros(-easy.size % rows)).reshape(-1, rows, 1)
    larger, rest = gap >= 0, np.exp(-np.abs(gap))
    factor = np.where(larger, 1.0, rest) + share * (np.where(larger, rest, 1.0) - np.where(larger, 1.0, rest))
    return np.log(factor.prod(axis=0)).sum(axis=0) + np.maximum(easy, hard).sum()


def heeded(classes: int, several: bool) -> tuple[str, ...]:
    """Laws of votes that plans can heed by exact errors; several: whether a family may have several labels a task."""
    laws = tuple(FITS) if classes == 2 else ()
    return tuple(name for name in laws if not (several and name == COMMON))  # no exact errors of those on hard tasks


class Told(NamedTuple):
    """Skills as gold tells them: with a law of votes where one is heeded, else of each worker by themselves."""

    accuracy: Floats  # (types, workers): on easy tasks, where some are hard
    difficulty: Difficulty
    vote_law: Law | None
    source: str  # in words


@dataclass(frozen=True, eq=False)
class Gold:
    """Tallies of a crowd's gold, and what they are read by."""

    # c and s, (1 or types, workers): one row where gold does not tell types apart
    correct: Ints
    asked: Ints
    source: str  # where it stands, for sentences
    classes: int = 2
    method: str = AVERAGED  # how tallies become accuracies (crowd.skills)
    told_by: str = "gold"  # what the campaign calls it
    tables: Ints | None = None  # (types, workers, classes, classes): answers by true class, where gold tells them
    rows: GoldVotes | None = None  # answers one by one, where several workers answered an item
    heeds: tuple[str, ...] = ()  # laws of votes that plans of this campaign can heed by exact errors
    stated: Difficulty = NONE  # of the campaign, whatever rows say

    @cached_property
    def known(self) -> list[tuple[Known, Floats, Floats]]:
        """Priors of each type, and the tallies that its workers count with."""
        return known_of(self.correct, self.asked, self.classes, priors_of(self.method))

    @cached_property
    def counts(self) -> Floats:
        """Answers by true class, with those shared with the crowd, (types, workers, classes, classes)."""
        assert self.tables is not None
        return np.stack([with_crowd(one) for one in self.tables])

    @cached_property
    def choice(self) -> LawChoice | None:
        """The law of votes that tells held-out gold best; None without answers of several to an item."""
        if self.rows is None:
            return None
        return chosen_law(self.rows, self.heeds or tuple(FITS))

    @property
    def law(self) -> Law | None:
        """The law of votes, where gold tells that workers do not err independently."""
        return None if self.choice is None or self.choice.law.share.size == 1 else self.choice.law

    @property
    def is_heeded(self) -> bool:
        """Whether gold tells such a law, and plans by exact errors heed it."""
        return bool(self.heeds) and self.method == AVERAGED and self.law is not None

    def told(self, types: int, rule: str) -> Told:
        """What plans by a rule count with; types: of tasks."""
        if self.method in TALLIED:
            accuracy = _filled(estimator(self.method)(self.correct, self.asked))
        else:
            accuracy = np.stack([known.means(*tally) for known, *tally in self.known])
        difficulty, law, words = self.stated, None, f"{self.method} from {self.told_by}"
        if self.is_heeded and rule == EXACT_ERROR.name:
            assert self.choice is not None
            coins, words = self.choice.by_coins, str(self.choice)
            accuracy, difficulty = _accuracy(coins), coins.difficulty
            law = None if self.law is coins else self.law
        elif difficulty.share:
            accuracy = on_easy(accuracy, difficulty)
        return Told(np.broadcast_to(accuracy, (types, accuracy.shape[1])).copy(), difficulty, law, words)

    def drawn(self, rng: np.random.Generator, workers: Ints, difficulty: Difficulty) -> Floats:
        """Skills on easy tasks as gold leaves them open: one draw of all these workers', (1 or types, workers)."""
        own = np.stack([known.draw(rng, c[workers], s[workers]) for known, c, s in self.known])
        return on_easy(own, difficulty)

    def drawn_tables(self, rng: np.random.Generator, workers: Ints) -> Floats:
        """Tables as gold leaves them open, rows by their Dirichlet laws, (types, those workers, classes, classes)."""
        drawn = rng.standard_gamma(self.counts[:, workers]) + LEAST
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True), np.float64)


def _accuracy(law: Law) -> Floats:
    """Of a law of one coin, (1 or types, workers)."""
    assert isinstance(law.speech, Coins)
    return law.speech.accuracy[0]


def _filled(estimate: Floats) -> Floats:
    """Accuracies with their type's mean, or that of all, where there is none."""
    there = ~np.isnan(estimate)
    overall = estimate[there].mean() if there.any() else 0.5
    means = [row[known].mean() if known.any() else overall for row, known in zip(estimate, there, strict=True)]
    return np.where(there, estimate, np.array(means)[:, None])
