"""Labels of a task given its class: a finite mixture of laws under which workers are independent.

``P(x | k) = sum_m s_m prod_j P_m(x_j | k)``. Workers of one coin and confusion tables make one part; hard tasks two; a
law of pairs has a part for each way in which the workers can vote. A label is an outcome, which need not be a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.groups import floats
from crowdopt.errors import InputError

CLIP = 1e-6  # chance; no worker is surer than this where their labels are believed
TINY = 1e-300  # chance; in place of 0, where a logarithm is taken
LEAST = 1e-12  # probability; no class is ruled out entirely
LARGEST = 0.98  # edge of anybody on any task, where difficulty is fitted
RULE = "bhattacharyya"  # the rule that holds for confusion tables: pair by pair of classes
SUM = 1e-9  # how far a row may be from adding up to 1


@dataclass(frozen=True)
class Difficulty:
    """How hard tasks are, in units of the edge ``(K p - 1) / (K - 1)`` that is believed of each worker."""

    share: float = 0.0  # h, chance that a task is hard; 0: none is
    # the edge on a hard task and on any other one, over the edge believed; s is their ratio
    hard: float = 1.0
    easy: float = 1.0
    # 95 % interval of h by the profile likelihood
    low: float = 0.0
    high: float = 0.0
    # that of s
    least: float = 1.0
    most: float = 1.0
    gain: float = 0.0  # nats by which it explains the labels better than h = 0 does

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1 or self.easy <= 0 or abs(self.hard) > self.easy:
            raise InputError(
                f"a share of hard tasks lies in [0, 1) and the edge there within that on easy tasks, "
                f"not {self.share:g}, {self.hard:g} and {self.easy:g}"
            )

    @classmethod
    def of(cls, given: Difficulty | Sequence[float]) -> Difficulty:
        """A difficulty, or the pair of its share of hard tasks and what is left of a worker's edge there."""
        if isinstance(given, Difficulty):
            return given
        try:
            share, left = map(float, given)
        except (TypeError, ValueError):
            raise InputError(
                f"difficulty is the share of hard tasks and what is left of skill there, as in (.1, .5), not {given!r}"
            ) from None
        return cls(share, left)

    @property
    def left(self) -> float:
        """s, what is left of a worker's edge on a hard task."""
        return self.hard / self.easy

    @property
    def mean(self) -> float:
        """``1 - h + h s``, the mean edge over that on an easy task: what gold shows of a worker."""
        return 1 - self.share * (1 - self.left)

    def on_hard(self, accuracy: Floats, classes: int = 2) -> Floats:
        """``1/K + s (p - 1/K)``; accuracy: p, of any shape; -> the same shape."""
        return 1 / classes + self.left * (accuracy - 1 / classes)

    def mixed(self, easy: Floats, hard: Floats) -> Floats:
        """``(1 - h) easy + h hard``."""
        return (1 - self.share) * easy + self.share * hard

    def stated(self) -> str:
        """The difficulty that a plan assumes, in words."""
        share, left = 100 * self.share, 100 * self.left
        return f"{share:.3g} % of the tasks are hard, where workers keep {left:.3g} % of their edge over guessing"

    def __str__(self) -> str:
        """What is said of it wherever a claim rests on it."""
        if not self.share:
            return "no task is harder than others, as far as labels show"
        share, low, high, left, least, most = (
            round(100 * x) for x in (self.share, self.low, self.high, self.left, self.least, self.most)
        )
        some = f"keep {left} % ({least} to {most} %) of their edge over guessing"
        there = some if left > 0 else "are no better than guessing"
        return f"about {share} % of the tasks ({low} to {high} %) are hard: there workers {there}"


NONE = Difficulty()


class Given(NamedTuple):
    """Labels that are in: entry by entry, each (k,)."""

    task: Ints
    kind: Ints | int  # type of the task
    worker: Ints
    label: Ints  # outcome


@dataclass(frozen=True, eq=False)
class Coins:
    """One coin: right with chance p, else any other class alike. Part m has the edge ``scale[m]`` times p's.

    One float a pair of type and worker is kept, whatever the parts, unless parts have accuracies of their own.
    """

    accuracy: Floats  # (1 or parts, types, workers); one type stands for all
    classes: int = 2
    scale: tuple[float, ...] = (1.0,)  # (1 or parts,)
    within: tuple[float, float] = (CLIP, 1 - CLIP)  # of p, where labels are believed

    @property
    def shape(self) -> tuple[int, int, int]:
        """Workers, classes and outcomes."""
        return self.accuracy.shape[2], self.classes, self.classes

    def right(self, part: int, kind: Ints | int, worker: Ints) -> Floats:
        """Chance of a right label in a part, (k,)."""
        parts, types, _ = self.accuracy.shape
        p: Floats = self.accuracy[part % parts, kind if types > 1 else 0, worker]
        scale = self.scale[part % len(self.scale)]
        return p if scale == 1 else 1 / self.classes + scale * (p - 1 / self.classes)

    def logs(self, part: int, given: Given, tasks: int) -> Floats:
        """``ln P_m(labels | k)`` of each task, (tasks, classes)."""
        _, types, workers = self.accuracy.shape
        cells = (given.kind if types > 1 else 0), given.worker
        few = types * workers <= given.task.size  # logarithms of each cell once, not of each label
        of = (np.arange(types)[:, None], np.arange(workers)) if few else cells
        p = np.clip(self.right(part, *of), *self.within)
        miss = np.log(np.maximum(1 - p, TINY)) - np.log(self.classes - 1)
        gain = np.log(p) - miss
        if few:
            gain, miss = (np.broadcast_to(table, (types, workers))[cells] for table in (gain, miss))
        own = np.bincount(given.task * self.classes + given.label, gain, tasks * self.classes)
        every = np.bincount(given.task, miss, tasks)
        return np.asarray(own.reshape(tasks, self.classes) + every[:, None], np.float64)

    def rows(self, part: int, kind: Ints | int, worker: Ints, truth: Ints) -> Floats:
        """Chance of each outcome where a class is true, (k, outcomes)."""
        p = self.right(part, kind, worker)[:, None]
        return np.where(np.arange(self.classes) == truth[:, None], p, (1 - p) / (self.classes - 1))


@dataclass(frozen=True, eq=False)
class Tables:
    """Confusion tables: any chance of each outcome given the class."""

    chance: Floats  # (parts, types, workers, classes, outcomes)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Workers, classes and outcomes."""
        _, _, workers, classes, outcomes = self.chance.shape
        return workers, classes, outcomes

    def logs(self, part: int, given: Given, tasks: int) -> Floats:
        """``ln P_m(labels | k)`` of each task, (tasks, classes)."""
        chance = self.chance[part, given.kind, given.worker, :, given.label]
        each = np.log(np.maximum(chance, TINY))
        return np.stack([np.bincount(given.task, column, tasks) for column in each.T], axis=1)

    def rows(self, part: int, kind: Ints | int, worker: Ints, truth: Ints) -> Floats:
        """Chance of each outcome where a class is true, (k, outcomes)."""
        return self.chance[part, kind, worker, truth]


Speech: TypeAlias = Coins | Tables


@dataclass(frozen=True, eq=False)
class Law:
    """``P(x | k) = sum_m s_m prod_j P_m(x_j | k)``: the law of a task's labels x given its class k.

    Parameters
    ----------
    share : (parts,) float
        s; adds up to 1.
    speech : Coins or Tables
        Chances of a label in each part.
    name : str
        What it is called where laws are compared.
    """

    share: Floats
    speech: Speech
    name: str = "independent"

    @classmethod
    def coins(cls, accuracy: Floats, classes: int = 2, difficulty: Difficulty = NONE) -> Law:
        """One coin a worker, on easy and hard tasks; accuracy (types, workers)."""
        if not difficulty.share:
            return cls(np.ones(1), Coins(accuracy[None], classes))
        share, scale = np.array([1 - difficulty.share, difficulty.share]), (difficulty.easy, difficulty.hard)
        return cls(share, Coins(accuracy[None], classes, scale), "hard tasks")

    @classmethod
    def tables(cls, chance: Floats) -> Law:
        """Confusion tables, (types, workers, classes, outcomes)."""
        return cls(np.ones(1), Tables(chance[None]))

    @classmethod
    def votes(cls, name: str, share: Floats, accuracy: Floats) -> Law:
        """Of two classes, with accuracies (parts, workers) that may be 0 or 1: a part may be one way to vote."""
        return cls(share, Coins(accuracy[:, None], within=(TINY, 1.0)), name)

    @property
    def difficulty(self) -> Difficulty:
        """Of which the parts are easy and hard tasks."""
        if not isinstance(self.speech, Coins) or len(self.speech.scale) < 2:
            return NONE
        easy, hard = self.speech.scale
        return Difficulty(float(self.share[1]), hard, easy)

    @cached_property
    def accuracy(self) -> Floats:
        """Of one coin, with a type for all: (parts, workers)."""
        assert isinstance(self.speech, Coins)
        workers = np.arange(self.speech.shape[0])
        return np.stack([self.speech.right(m, 0, workers) for m in range(self.share.size)])

    def likelihood(self, given: Given, tasks: int) -> Floats:
        """``ln P(labels | k)`` of each task, (tasks, classes)."""
        if self.share.size == 1:
            return self.speech.logs(0, given, tasks)
        logs, of = self._by_part(given, tasks)
        return np.asarray(np.logaddexp.reduce(logs)[of], np.float64)

    def by_part(self, given: Given, tasks: int) -> Floats:
        """``ln s_m P_m(labels | k)``, (parts, tasks, classes)."""
        logs, of = self._by_part(given, tasks)
        return logs[:, of]

    def _by_part(self, given: Given, tasks: int) -> tuple[Floats, Ints | slice]:
        """The same, (parts, rows, classes), and the row of each task."""
        of: Ints | slice = slice(None)
        if self.share.size > 2:  # each of many parts would pass over all tasks: those with the same labels are one row
            said = np.full((tasks, self.speech.shape[0] + 1), -1)
            said[given.task, given.worker], said[given.task, -1] = given.label, given.kind
            rows, place = np.unique(said, axis=0, return_inverse=True)
            of = place.reshape(-1)
            row, worker = np.nonzero(rows[:, :-1] >= 0)
            given, tasks = Given(row, rows[row, -1], worker, rows[row, worker]), len(rows)
        shares = np.log(np.maximum(self.share, TINY))
        return np.stack([share + self.speech.logs(m, given, tasks) for m, share in enumerate(shares)]), of

    def posterior(self, prior: Floats, given: Given, tasks: int) -> Floats:
        """``P(k | labels)``, (tasks, classes): rows add up to 1; prior (classes,) or (tasks, classes)."""
        return softmax(np.log(prior) + self.likelihood(given, tasks), LEAST)

    def table(self, kind: int, workers: Ints) -> Floats:
        """Chances of labels of some workers, (parts, workers, classes, outcomes)."""
        classes = self.speech.shape[1]
        worker, truth = np.repeat(workers, classes), np.tile(np.arange(classes), workers.size)
        rows = [self.speech.rows(m, kind, worker, truth) for m in range(self.share.size)]
        return np.stack(rows).reshape(self.share.size, workers.size, *self.speech.shape[1:])

    def evidence(self, kind: int = 0) -> Floats:
        """``min over classes k < l of -2 ln sum_y sqrt(P_m(y | k) P_m(y | l))`` of a label, (parts, workers).

        Within a part labels are independent: the sum A over a task's labels bounds the error of the likeliest class
        like one coin's, as ``sum_x min(P, Q) <= sum_x sqrt(P Q) <= exp(-A / 2)`` for each pair of classes. Of a mixture
        it is what those learn who know the part. Others learn no more of two classes: ``sqrt(P Q)`` is jointly concave,
        so that ``sum_x sqrt(P Q) >= sum_m s_m sum_x sqrt(P_m Q_m)``.
        """
        root = np.sqrt(self.table(kind, np.arange(self.speech.shape[0])))
        first, second = np.triu_indices(self.speech.shape[1], 1)
        worst = (root @ root.swapaxes(-1, -2))[..., first, second].max(axis=-1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(0.0, -2 * np.log(np.minimum(worst, 1.0))), np.float64)

    def ways(self, workers: Ints, kind: int = 0) -> Floats:
        """``P(x | k)`` of all labels x of a few workers, the last one's fastest, (classes, outcomes^workers)."""
        joint = np.repeat(self.share[:, None, None], self.speech.shape[1], axis=1)  # (parts, classes, ways)
        for chance in self.table(kind, workers).swapaxes(0, 1):
            joint = (joint[..., None] * chance[:, :, None]).reshape(*joint.shape[:2], -1)
        return joint.sum(axis=0)

    def error(self, workers: Ints, prior: Floats, kind: int = 0) -> float:
        """``sum_x (sum_k - max_k) prior_k P(x | k)``: of the likeliest class, by labels of a few workers."""
        told = prior[:, None] * self.ways(workers, kind)
        return float((told.sum(axis=0) - told.max(axis=0)).sum())

    def part_drawn(self, rng: np.random.Generator, truth: Ints, given: Given | None) -> Ints:
        """The part of each task's labels, given its truth and labels that are in, (tasks,)."""
        tasks = truth.size
        if self.share.size == 1:
            return np.zeros(tasks, np.int64)
        if given is None:
            heads = np.broadcast_to(np.cumsum(self.share)[:-1], (tasks, self.share.size - 1))
        else:
            logs, of = self._by_part(given, tasks)
            heads = np.cumsum(softmax(logs[:, of][:, np.arange(tasks), truth].T), axis=1)[:, :-1]
        return np.asarray((rng.random((tasks, 1)) > heads).sum(axis=1), np.int64)

    def drawn(self, cells: tuple[Ints, Ints, Ints, Ints], numbers: tuple[Floats, Floats]) -> Ints:
        """Labels by two numbers each: whether it is right, and which other outcome it is.

        cells: part, type, worker and truth of each label, (k,); numbers: in [0, 1), (k,) each; -> (k,).
        """
        part, kind, worker, truth = cells
        label = np.empty(part.size, np.int64)
        for m in np.unique(part).tolist():
            mine = np.flatnonzero(part == m)
            rows = self.speech.rows(m, kind[mine], worker[mine], truth[mine])
            at, first, second = np.arange(mine.size), numbers[0][mine], numbers[1][mine]
            right = rows[at, truth[mine]]
            rows[at, truth[mine]] = 0.0
            heads = np.cumsum(rows, axis=1)
            other = (second[:, None] * heads[:, -1:] >= heads).sum(axis=1)
            label[mine] = np.where(first < right, truth[mine], np.minimum(other, rows.shape[1] - 1))
        return label

    def of_workers(self, workers: Ints) -> Law:
        """The law of some workers' labels, in that order."""
        if isinstance(self.speech, Tables):
            return replace(self, speech=Tables(self.speech.chance[:, :, workers]))
        return replace(self, speech=replace(self.speech, accuracy=self.speech.accuracy[:, :, workers]))


def checked_tables(confusion: object, accuracy: Floats, classes: int, rule: str) -> Floats | None:
    """Confusion tables of each type and worker whose evidence is at least that of the accuracies; None without any.

    confusion (types, workers, classes, classes) array_like; accuracy (types, workers): of one-coin workers who tell no
    more (:func:`coins_like`); -> (types, workers, classes, classes) float, or None. Raises InputError if they are no
    chances, tell less than the accuracies, or the rule is about one coin only.
    """
    if confusion is None:
        return None
    if rule != RULE:
        raise InputError(f"rule {rule} is about one accuracy per worker; with confusion tables choose rule {RULE}")
    tables = floats("confusion", confusion)
    if tables.shape != (*accuracy.shape, classes, classes):
        raise InputError(
            f"confusion has shape {tables.shape}; it needs types, workers and two classes, "
            f"{(*accuracy.shape, classes, classes)}"
        )
    if not (tables > 0).all() or (np.abs(tables.sum(axis=-1) - 1) > SUM).any():
        raise InputError("rows of confusion tables must be chances above 0 that add up to 1")
    if ((accuracy > coins_like(tables) + SUM) | (accuracy * classes < 1 - SUM)).any():
        raise InputError("accuracies beside confusion tables must tell no more than these; set them by with_confusion")
    return tables


def class_votes(confusion: Floats) -> Floats:
    """``ln P(y | k)``, what a label y adds to the score of each class k, (..., labels, classes)."""
    return np.ascontiguousarray(np.log(confusion).swapaxes(-1, -2))


def coins_like(tables: Floats) -> Floats:
    """Accuracies above a guess of one-coin workers whose labels have the evidence of these tables (``bhattacharyya``).

    ``2 sqrt(p u) + (K - 2) u = e^{-A/2}`` with A = :meth:`Law.evidence` and u = (1 - p)/(K - 1), by bisection: it falls
    as p grows. tables (types, workers, classes, outcomes) -> (types, workers); never more than the evidence says.
    """
    classes, law = tables.shape[2], Law.tables(tables)
    affinity = np.exp(-np.concatenate([law.evidence(kind) for kind in range(len(tables))]) / 2)
    low, high = np.full(affinity.shape, 1 / classes), np.ones(affinity.shape)
    for _ in range(60):
        middle = (low + high) / 2
        wrong = (1 - middle) / (classes - 1)
        more = 2 * np.sqrt(middle * wrong) + (classes - 2) * wrong > affinity
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return low


def on_easy(accuracy: Floats, difficulty: Difficulty) -> Floats:
    """Skills on easy tasks of workers who are as often right over all: the edge over ``1 - h + h s``, but below 1."""
    if not difficulty.share:
        return accuracy
    edge = 2 * accuracy - 1
    most = np.maximum(LARGEST, np.abs(edge))
    return np.asarray(0.5 + np.clip(edge / difficulty.mean, -most, most) / 2, np.float64)


def clipped(accuracy: ArrayLike, least: ArrayLike = CLIP) -> Floats:
    """Accuracies as they are believed: kept CLIP, or as far as is said, from 0 and 1: logarithms are finite."""
    return np.clip(np.asarray(accuracy, np.float64), least, 1 - np.asarray(least))


def softmax(logs: Floats, least: float = 0.0) -> Floats:
    """Rows of logarithms as chances that add up to 1, none below ``least`` times the largest."""
    chances = np.maximum(np.exp(logs - logs.max(axis=1, keepdims=True)), least)
    return chances / chances.sum(axis=1, keepdims=True)
