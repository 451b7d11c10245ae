"""Skills on a grid: what a label by each is worth, where they are expected before anybody is seen, and levels.

A task's *level* is ``ln((K - 1) P / (1 - P))``, P the posterior of its likeliest class among K: 0 where nothing is
known, and ``|log odds|`` where K = 2.

What difficulty that workers share does to a policy: tasks that are given up, what is said of a target.

What labels of known accuracies say of each task: votes for each class, if the task is easy and if it is hard.

The state of belief as arrays: votes on tasks, densities of skills, the messages between them.

Whether gold bears out what agreement says: a colluding clique, or difficulty that workers share, does not.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints, sealed
from crowdopt.crowd.gold import SCALES, EdgedLabels, fitted
from crowdopt.crowd.law import LARGEST, NONE, Difficulty
from crowdopt.crowd.rules import log_odds

CELLS = 40
ODD = 0.1  # how much rarer than good ones workers are expected to be who are wrong more often than right

GRID: Floats = (np.arange(CELLS) + 0.5) / CELLS  # g, the chance of a right label


def information(accuracy: Floats, classes: int = 2) -> Floats:
    """``(g - u) ln(g / u)``, u = (1 - g)/(K - 1): Kullback-Leibler divergence of a label's laws under two classes."""
    edge = (classes * accuracy - 1) / (classes - 1)
    return np.asarray(edge * log_odds(accuracy, classes))


def expected(classes: int = 2) -> Floats:
    """The prior's prior: ``w0 ~ (1 - g) / (1 - 1/K)`` above guessing, a little mass below; (cells,), sums to 1."""
    weight = np.where(classes * GRID > 1, (1 - GRID) / (1 - 1 / classes), ODD * (classes * GRID) ** 2)
    return weight / weight.sum()


def level_at_error(chance: Floats, classes: int = 2) -> Floats:
    """``ln((K - 1) (1 - e) / e)``, the level at which a task's posterior error is e in (0, 1); any shape."""
    return np.asarray(np.log((1 - chance) / chance) + np.log(classes - 1))


def error_at_level(level: Floats, classes: int = 2) -> Floats:
    """``(K - 1) / (K - 1 + e^l)``, the posterior error of a task at a level l >= 0; any shape."""
    with np.errstate(over="ignore"):
        return np.asarray((classes - 1) / (classes - 1 + np.exp(level)))


def edge_at_level(level: Floats, classes: int = 2) -> Floats:
    """``(e^l - 1) / (e^l + K - 1)``: chance of the likeliest class less that of another, others alike; any shape."""
    half = np.tanh(np.asarray(level) / 2)
    return half if classes == 2 else 2 * half / (2 * half + classes * (1 - half))


WORTH = 0.2  # of what a label on an easy task tells, below which a task is given up


def hopeless(difficulty: Difficulty, chance: Floats) -> Bools:
    """Tasks so surely hard, chance (tasks,), that a label tells less than WORTH of what it tells on an easy one."""
    return 1 - chance * (1 - difficulty.left**2) < WORTH


Ids: TypeAlias = NDArray[np.integer]


class VoteArrays(NamedTuple):
    """What labels say of tasks, for compiled loops.

    ``easy`` and ``hard`` are (tasks, classes): votes for each class, less those of the others, if the task is easy or
    hard. ``lean`` is (tasks,): what labels add to the log odds that it is easy. ``level``, ``answer`` and ``chance``
    are (tasks,) and follow from these. ``share`` is h, ``left`` is s.
    """

    easy: Floats
    hard: Floats
    lean: Floats
    level: Floats
    answer: Ints
    chance: Floats
    share: float
    left: float


class TaskVotes:
    """Votes on each task, and what follows from them: the posterior over K classes, and over easy and hard.

    ``level`` is that of crowdopt.online.beliefs.state, ``answer`` the likeliest class, -1 where nothing is known, and
    ``chance`` that of being hard: each (tasks,). Wrong answers are uniform over the other classes.
    """

    def __init__(self, tasks: int, classes: int) -> None:
        self.classes = classes
        self.easy, self.hard, self.lean = np.zeros((tasks, classes)), np.zeros((tasks, classes)), np.zeros(tasks)
        self.level, self.answer, self.chance = np.zeros(tasks), np.full(tasks, -1), np.zeros(tasks)

    def arrays_for(self, difficulty: Difficulty) -> VoteArrays:
        """The arrays themselves, for compiled loops that write them, and how hard tasks are."""
        # no worker of skill 1 can be wrong more often than always, which bounds s from below
        left = max(difficulty.left, -LARGEST / (self.classes - 1))
        sums = self.easy, self.hard, self.lean
        return VoteArrays(*sums, self.level, self.answer, self.chance, float(difficulty.share), float(left))

    def add(self, tasks: Ids, labels: Ints, weight: Floats, difficulty: Difficulty) -> None:
        """Labels with the weights of their votes on easy tasks, each (k,); levels wait for :meth:`settle`."""
        from crowdopt.online.beliefs.belief_kernels import recount

        recount(tasks, labels, np.zeros(weight.size), weight, self.arrays_for(difficulty))

    def clear(self) -> None:
        """Forget all labels."""
        for sums in (self.easy, self.hard, self.lean):
            sums[:] = 0.0

    def settle(self, tasks: Ids, difficulty: Difficulty) -> None:
        """Level, answer and chance of being hard of some tasks, (k,), anew."""
        from crowdopt.online.beliefs.belief_kernels import settle

        settle(tasks, self.arrays_for(difficulty))


LEAST = 0.01  # chance of a right gold answer is kept this far from 0 and 1
ALIKE, DOUBT = 0.1, 4.0  # share of workers with one skill for all types, expected as firmly as if so many were seen
PER_LABEL = ("task", "label", "message")
CERTAIN = 40.0  # nats that one who knows the answer adds to its class


class LabelArrays(NamedTuple):
    """Labels in the order in which they came, for compiled loops.

    ``start`` is (workers + 1,): worker j's are those from start[j] to start[j + 1]. The others are (labels,): the task,
    the class that the label says, and the weight of its vote.
    """

    start: Ints
    task: Ints
    label: Ints
    message: Floats


class SkillArrays(NamedTuple):
    """What is known of workers, for compiled loops.

    ``gold``, ``agreement`` and ``density`` are (workers, types, cells): likelihoods by gold and by agreement,
    and P_j(g). ``asked`` and ``weight`` are (workers, types): gold tasks, and labels whose correctness is as good as
    known.
    """

    gold: Floats
    asked: Ints
    agreement: Floats
    density: Floats
    weight: Floats


class SkillPrior(NamedTuple):
    """Skills on the grid and their prior w, each (cells,), and the share of workers with one skill for all types.

    ``heeded`` is 1 where agreement tells of skills, and 0 where gold alone does.
    """

    grid: Floats
    weight: Floats
    alike: float
    heeded: float


class Beliefs:
    """Belief propagation over tasks of K classes and workers who come one after the other, with a skill per type.

    Wrong answers are uniform over the other classes. A task's posterior is exact for labels of the accuracies that the
    messages say: all classes are heeded, and whether the task is hard.

    Labels are kept in the order in which they came, so that a worker's are neighbours; every array grows or is
    written in place, and ``arrays`` is all there is to keep.

    kind (tasks,): tau(i).
    """

    def __init__(self, kind: Ints, types: int, workers: int, classes: int = 2) -> None:
        self.kind, self.classes = kind, classes
        self.told = information(GRID, classes)  # nats that a label of each skill tells
        self.prior = expected(self.classes)  # w, of a skill of anybody in anything
        self.alike = np.array([ALIKE if types > 1 else 0.0])  # a, share of workers whose skill is one for all types
        self.came = np.zeros(1, np.int64)
        self.start = np.zeros(workers + 1, np.int64)  # where a worker's labels begin
        self.kind_count, shape = types, (workers, types)
        self.right, self.asked = np.zeros(shape, np.int64), np.zeros(shape, np.int64)  # gold
        self.weight = np.zeros(shape)  # n_eff, labels whose correctness is as good as known
        self.gold, self.agreement = np.ones((*shape, CELLS)), np.ones((*shape, CELLS))  # likelihoods
        self.density = np.full((*shape, CELLS), 1 / CELLS)  # P_j(g)
        self.difficulty = NONE  # of tasks; g is the accuracy on easy ones
        self.heeded = True  # whether agreement tells of skills, and not gold alone
        self.task, self.label, self.message = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        self.votes = TaskVotes(kind.size, classes)
        self.truth = np.full(kind.size, -1)  # classes that one who knows has told
        self.hoped = np.zeros(kind.size)  # nats that labels that are out are expected to add to levels

    @property
    def level(self) -> Floats:
        """How sure each task is (crowdopt.online.beliefs.state), (tasks,)."""
        return self.votes.level

    def expect(self, tasks: Ids, workers: Ints) -> None:
        """Labels that are out, each (k,): they are expected to tell what a label of their worker's skill tells."""
        worth = (
            np.maximum(0.0, (self.density[workers, self.kind[tasks]] * self.told).sum(axis=-1))
            if tasks.size
            else np.zeros(0)
        )
        self.hoped = np.bincount(tasks, worth, self.kind.size).astype(np.float64)

    @property
    def answer(self) -> Ints:
        """The likeliest class of each task; -1 where nothing is known."""
        return self.votes.answer

    @property
    def hard_chance(self) -> Floats:
        """Chance of each task that it is hard, (tasks,)."""
        return self.votes.chance

    @property
    def shown(self) -> Floats:
        """Accuracy on gold of a worker of accuracy g on easy tasks, (cells,)."""
        difficulty = self.difficulty
        guess = 1 / self.classes
        return GRID if not difficulty.share else np.asarray(guess + difficulty.mean * (GRID - guess))

    @property
    def labels(self) -> int:
        """How many labels came so far."""
        return int(self.start[self.came[0]])

    def welcome(self, number: int) -> None:
        """A worker is here; those before who were not noticed have given no label."""
        for worker in range(int(self.came[0]), number + 1):
            self.came += 1
            self.start[worker + 1] = self.start[worker]
            self.density[worker] = self.prior

    def hear(self, tasks: Ids, labels: Ints, worker: int) -> None:
        """Labels of a worker, a class each, each (k,)."""
        from crowdopt.online.beliefs.belief_kernels import hear

        count = self.labels
        self._make_room(count + tasks.size)
        end, last = int(self.start[worker + 1]), int(self.came[0]) + 1
        if end < count:  # others came since: a worker's labels stay neighbours
            for name in PER_LABEL:
                array = getattr(self, name)
                array[end + tasks.size : count + tasks.size] = array[end:count].copy()
        hear(worker, tasks, labels, *self._state, self._prior)
        self.start[worker + 1 : last] += tasks.size

    def check(self, right: Ints, asked: Ints, worker: int) -> None:
        """Gold answers of a worker, tallies per type, each (types,)."""
        self.right[worker] += right
        self.asked[worker] += asked
        self.weight[worker] += asked
        each = self.shown ** right[:, None] * (1 - self.shown) ** (asked - right)[:, None]
        self.gold[worker] *= each
        self.density[worker] *= each
        for rows in (self.gold, self.density):
            rows[worker] /= rows[worker].sum(axis=1, keepdims=True)

    def amend(self, worker: int, task: int, label: int) -> None:
        """A label of the worker is another one: votes anew, and the worker's messages."""
        first, end = self.start[worker : worker + 2].tolist()
        self.label[first + int(np.flatnonzero(self.task[first:end] == task)[-1])] = label
        self._recount()
        self.settle(worker)

    def vouch(self, task: int, truth: int) -> None:
        """A task's class is known: its labels tell of their workers what gold tells."""
        self.truth[task] = truth
        self._recount()
        came, (tasks, worker, _) = int(self.came[0]), self.table()
        for one in np.flatnonzero(np.bincount(worker[tasks == task], minlength=came)).tolist():
            self.settle(one)

    def amend_gold(self, worker: int, right: Ints) -> None:
        """So many more of the worker's gold answers are right, (types,), below 0: fewer."""
        self.right[worker] += right
        odds = self.shown / (1 - self.shown)
        each = odds ** right[:, None]
        for rows in (self.gold, self.density):
            rows[worker] *= each
            rows[worker] /= rows[worker].sum(axis=1, keepdims=True)

    def doubt(self) -> None:
        """From now on skills come from gold alone."""
        self.heeded = False
        self.propagate()

    def settle(self, worker: int) -> None:
        """The worker's messages anew, by what is known of their tasks now."""
        self._sweep(worker, worker + 1)

    def propagate(self, sweeps: int = 1) -> None:
        """All messages anew, so many times."""
        for _ in range(sweeps):
            self._sweep(0, int(self.came[0]))

    def gauge(self) -> None:
        """How hard tasks are, anew, by what each label would say if its worker's own were left out, and by gold."""
        came, guess = int(self.came[0]), 1 / self.classes
        asked, right = self.asked[:came], self.right[:came]
        density = self.prior * self.agreement[:came]
        density /= density.sum(axis=2, keepdims=True)
        gold = np.array([_gold(density, right, asked, u, guess) for u in SCALES])
        task, _, label = self.table()
        edge = edge_at_level(self.message[: self.labels], self.classes)  # what is believed of its worker without it
        told = EdgedLabels(task, label, edge, (self.kind.size, self.classes))
        found = fitted(told, anchor=lambda u: np.interp(u, SCALES, gold))
        if found.share or self.difficulty.share:
            self.suppose(found)

    def suppose(self, difficulty: Difficulty) -> None:
        """Take tasks to be so hard: the same messages, other posteriors; and what gold says of workers."""
        self.difficulty = difficulty
        self._recount()
        came, shown = int(self.came[0]), self.shown
        right, asked = self.right[:came, :, None], self.asked[:came, :, None]
        logs = right * np.log(shown) + (asked - right) * np.log1p(-shown)
        gold = np.exp(logs - logs.max(axis=2, keepdims=True))
        self.gold[:came] = gold / gold.sum(axis=2, keepdims=True)

    def refit(self, strength: float, fading: float, rounds: int) -> None:
        """The prior by EM over all heard and ``strength + fading / (1 + arrivals / 5)`` expected ones, all types."""
        from crowdopt.online.beliefs.belief_kernels import fit, same

        came = int(self.came[0])
        heard = self.weight[:came] > 0
        likelihood = (self.gold[:came] * self.agreement[:came])[heard]
        self.prior = fit(likelihood, expected(self.classes), strength + fading / (1 + 0.2 * came), rounds)
        if self.kind_count > 1:
            chance = np.zeros(came)
            same(self.prior, self.alike[0], self.gold[:came], self.agreement[:came], self.density[:came], chance)
            told = (self.weight[:came] > 0).sum(axis=1) > 1  # of others it says nothing
            self.alike[0] = (DOUBT * ALIKE + chance[told].sum()) / (DOUBT + np.count_nonzero(told))

    def mean(self, of: Floats) -> Floats:
        """E[f(g)] of all who came, (workers, types), for a function on the grid."""
        return (self.density[: self.came[0]] * of).sum(axis=-1)

    def quantile(self, mass: float) -> Floats:
        """Accuracy on gold below which each skill lies with that chance, (workers, types)."""
        below = np.cumsum(self.density[: self.came[0]], axis=2)
        place = np.minimum((below < mass * below[..., -1:]).sum(axis=2), CELLS - 1)
        return np.asarray(self.shown[place])

    def table(self) -> tuple[Ints, Ints, Ints]:
        """Task, worker and class of every label so far."""
        came, labels = int(self.came[0]), self.labels
        worker = np.repeat(np.arange(came), np.diff(self.start[: came + 1]))
        return self.task[:labels], worker, self.label[:labels]

    def error(self) -> Floats:
        """Posterior chance that the likelier class is wrong, (tasks,)."""
        return error_at_level(self.level, self.classes)

    def _recount(self) -> None:
        """Votes from all labels, by the messages as they are."""
        count, difficulty = self.labels, self.difficulty
        self.votes.clear()
        self.votes.add(self.task[:count], self.label[:count], self.message[:count], difficulty)
        told = np.flatnonzero(self.truth >= 0)
        for sums in (self.votes.easy, self.votes.hard):
            sums[told, self.truth[told]] += CERTAIN
        self.votes.settle(np.arange(self.kind.size), difficulty)

    def _sweep(self, first: int, last: int) -> None:
        from crowdopt.online.beliefs.belief_kernels import sweep

        sweep(first, last, *self._state, self._prior)

    @property
    def _prior(self) -> SkillPrior:
        return SkillPrior(GRID, self.prior, self.alike[0], 1.0 if self.heeded else 0.0)

    @property
    def _state(self) -> tuple[LabelArrays, SkillArrays, VoteArrays, Ints]:
        return (
            LabelArrays(self.start, self.task, self.label, self.message),
            SkillArrays(self.gold, self.asked, self.agreement, self.density, self.weight),
            self.votes.arrays_for(self.difficulty),
            sealed(self.kind),
        )

    def _make_room(self, labels: int) -> None:
        if labels > self.task.size:
            for name in PER_LABEL:
                old = getattr(self, name)
                grown = np.zeros(max(labels, 2 * old.size, 256), old.dtype)
                grown[: old.size] = old
                setattr(self, name, grown)


def _gold(density: Floats, right: Ints, asked: Ints, scale: float, guess: float) -> float:
    """Log-likelihood of gold if its edge is so many times what agreement says: ``sum ln E[Bin(c; b + u (g - b))]``."""
    # density (workers, types, cells): by agreement; right, asked (workers, types); scale: u; guess: b, the chance of a
    # guess.
    skill = np.clip(guess + scale * (GRID - guess), LEAST, 1 - LEAST)
    logs = right[..., None] * np.log(skill) + (asked - right)[..., None] * np.log1p(-skill)
    top = logs.max(axis=-1, keepdims=True)
    total: Floats = top[..., 0] + np.log((density * np.exp(logs - top)).sum(axis=-1))
    return float(total.sum())


SHRUNK = (0.0, 0.25, 0.5, 0.75)  # what may be left of the skill that agreement shows, 1/K + s (g - 1/K)
HEARD = 1.0  # labels of known correctness from which agreement says anything


def disagreement(beliefs: Beliefs) -> float:
    """``ln mean_s prod_j E[Bin(c_j; 1/K + s (g - 1/K))] / E[Bin(c_j; g)]``, over each worker's density by agreement.

    A Bayes factor, in favour of skills that agreement overstates. Were the beliefs exact its exponential would have
    mean 1 whatever was looked at before: beyond k it is seen with chance 1/k at most.
    """
    came = int(beliefs.came[0])
    asked, right = beliefs.asked[:came], beliefs.right[:came]
    told = (asked > 0) & (beliefs.weight[:came] - asked >= HEARD)
    if not told.any():
        return 0.0
    density = beliefs.prior * beliefs.agreement[:came][told]
    density /= density.sum(axis=1, keepdims=True)
    c, s = right[told][:, None].astype(np.float64), asked[told][:, None].astype(np.float64)
    shown, guess = beliefs.shown, 1 / beliefs.classes
    factors = [
        _gold_at(density, c, s, np.asarray(guess + left * (shown - guess))) - _gold_at(density, c, s, shown)
        for left in SHRUNK
    ]
    totals = np.array([factor.sum() for factor in factors])
    return float(np.logaddexp.reduce(totals) - np.log(len(SHRUNK)))


def _gold_at(density: Floats, right: Floats, asked: Floats, skill: Floats) -> Floats:
    logs = right * np.log(skill) + (asked - right) * np.log1p(-skill)
    top = logs.max(axis=1, keepdims=True)
    return top[:, 0] + np.log((density * np.exp(logs - top)).sum(axis=1))
