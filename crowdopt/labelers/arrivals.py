"""What happens when tasks arrive one by one: what is known, a task that is here, who is asked, the stream itself.

Who can be asked when tasks arrive: how often each labeler is right on each kind of task, and what a label costs.

Where streams of tasks come from: labelers of given or drawn skills, or a table of labels that people once gave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.groups import chances
from crowdopt.crowd.labels import REPEAT, TESTER, WORK
from crowdopt.errors import InputError
from crowdopt.labelers.theorems import strict_majority
from crowdopt.memory import refuse_beyond_memory


@dataclass(frozen=True, eq=False)
class Labelers:
    """Who can be asked, and how often each is right."""

    accuracy: Floats  # (kinds, labelers): p of each kind of task; one row: it does not depend on the task
    cost: Floats  # (labelers,): c, what a label is paid
    classes: int = 2  # L; wrong labels fall evenly on the other classes
    # given, the context of a task is a number in [0, 1] and skills are linear between these, ascending
    at: Floats | None = None  # (kinds,)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        p, c = chances("accuracy", self.accuracy), np.asarray(self.cost, dtype=np.float64)
        if p.ndim != 2 or p.size == 0 or not ((p >= 0) & (p <= 1)).all():
            raise InputError("accuracies must be a table (kinds, labelers) of numbers in [0, 1]")
        if c.shape != p.shape[1:] or not (np.isfinite(c) & (c >= 0)).all():
            raise InputError("each labeler needs a cost, a number of at least 0")
        if self.classes < 2:
            raise InputError(f"a label chooses among at least 2 classes, not {self.classes}")
        if self.at is not None and (self.at.size != len(p) or not (np.diff(self.at) > 0).all()):
            raise InputError("contexts at which skills are given must ascend, one for each row of accuracies")
        object.__setattr__(self, "accuracy", p)
        object.__setattr__(self, "cost", c)
        if not self.names:
            object.__setattr__(self, "names", tuple(map(str, range(c.size))))

    @property
    def count(self) -> int:
        """Labelers, M."""
        return self.cost.size

    @property
    def kinds(self) -> int:
        """Kinds of task, W; 0 where the context is a number."""
        return len(self.accuracy) if self.at is None else 0

    def skill(self, context: NDArray[Any]) -> Floats:
        """Chance of a right label in each context, (contexts, labelers)."""
        if self.at is None:
            return self.accuracy[np.asarray(context, dtype=np.int64)]
        return np.column_stack([np.interp(context, self.at, column) for column in self.accuracy.T])

    def ordered(self, order: Ints) -> Labelers:
        """The same labelers in another order."""
        names = tuple(self.names[k] for k in order.tolist())
        return replace(self, accuracy=self.accuracy[:, order], cost=self.cost[order], names=names)


ORDER, CONTEXT, TRUTH, LABEL, COIN, AGAIN, SKILL = range(7)  # what chance is needed for; each has its own generator
ROUNDS = 64  # labels of a repeated task that are drawn at a time
KINDS = (WORK, TESTER, REPEAT)


@dataclass(frozen=True, eq=False)
class KnownLabelers:
    """What a policy knows beforehand: how many labelers at what cost, how many tasks. No labeler's skill."""

    labelers: int  # M
    classes: int  # L
    horizon: int  # T
    kinds: int  # W; 0 where a task's context is a number in [0, 1]
    cost: Floats  # (labelers,)
    repeats: bool = True  # whether a task asked again is labelled anew; a table of given labels holds one answer a pair
    # what the theorems presume known (:func:`crowdopt.labelers.theorems.presumed`); NaN where it is not
    epsilon: float = float("nan")
    a_min: float = float("nan")
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class TaskArrival:
    """A task that is here now."""

    number: int  # t; 0 is the initial tester, and 1 to T are judged
    context: float  # kind of the task, or a number in [0, 1]
    accuracy: Floats | None = None  # (labelers,): p, where the policy is one that is told skills


@dataclass(frozen=True, eq=False)
class Ask:
    """Whom to ask about which tasks, and how their labels are counted."""

    # ``work`` and ``tester`` name tasks from the one that is here on: the same set is asked about all of them.
    # ``repeat`` names one earlier task; the one that is here gets a random answer
    kind: str
    tasks: NDArray[np.integer]  # (k,): numbers of the tasks, ascending
    workers: Ints  # (members,): the set: each labeler once
    weight: Floats | None = None  # (members,): of their votes; None: one each
    tolerance: float = 0.0  # sums of weights this close are ties


@dataclass(frozen=True, eq=False)
class TaskStream:
    """Tasks in their order of arrival, with everything that chance decides about them."""

    labelers: Labelers  # with their true skills, or those tallied from all known answers
    context: NDArray[Any]  # (T + 1,)
    label: Ints  # (T + 1, labelers): what each labeler says when first asked; -1 where a table has no label
    coin: Floats  # (T + 1,): in [0, 1): decides ties, and stands in for an answer where no labeler is asked
    truth: Ints  # (T + 1,): -1 where unknown; judged by, never shown
    seed: tuple[int, ...]  # of the labels of repeats
    recorded: bool = False  # whether labels come from a table: there is then one of each pair

    @property
    def horizon(self) -> int:
        """Tasks after the initial tester, T."""
        return self.truth.size - 1

    def arrival(self, number: int, shows_skill: bool = False) -> TaskArrival:
        """The task at a place of the stream."""
        context = self.context[number]
        return TaskArrival(number, context, self.labelers.skill(context[None])[0] if shows_skill else None)

    def repeated(self, task: int, number: int) -> tuple[Ints, float]:
        """All labels at a task's repeat 1, 2, ..., (labelers,), and a coin: the same for every policy and step.

        A table holds one label of each pair: its repeats are the first labels once more.
        """
        if self.recorded:
            return self.label[task], float(self.coin[task])
        block, row = divmod(number - 1, ROUNDS)
        if (task, block) not in self._repeats:
            self._repeats[task, block] = self._drawn_again(task, block)
        labels, coin = self._repeats[task, block]
        return labels[row], float(coin[row])

    @cached_property
    def _repeats(self) -> dict[tuple[int, int], tuple[Ints, Floats]]:
        """Rounds drawn so far, ROUNDS at a time, by task and block."""
        return {}

    def _drawn_again(self, task: int, block: int) -> tuple[Ints, Floats]:
        rng = np.random.default_rng([*self.seed, AGAIN, task, block])
        skill = self.labelers.skill(self.context[task : task + 1])
        draws = rng.random((ROUNDS, self.labelers.count + 1))
        return drawn_labels(self.truth[task : task + 1, None], draws[:, 1:], skill, self.labelers.classes), draws[:, 0]


def drawn_labels(truth: NDArray[np.integer], draws: Floats, skill: Floats, classes: int) -> Ints:
    """The label that a uniform draw means: the truth below p, and the other classes evenly above.

    truth, draws, skill (tasks, labelers) arrays, or what broadcasts to that: true classes, uniform numbers in [0, 1),
    accuracies; classes: L; -> (tasks, labelers): class of each label.
    """
    if classes == 2:
        return (truth ^ (draws >= skill)).astype(np.int64)
    beyond = (draws - skill) / np.maximum(1 - skill, 1e-300) * (classes - 1)
    shift = np.where(draws < skill, 0, 1 + np.clip(beyond, 0, classes - 2).astype(np.int64))
    return ((truth + shift) % classes).astype(np.int64)


TRIES = 10_000  # draws of a crowd until its majority is better than a guess


def simulated_tasks(labelers: Labelers, horizon: int, seed: tuple[int, ...], shuffle: bool = True) -> TaskStream:
    """Tasks of random truth and context, one-coin labels; everything follows from the seed.

    Whether a labeler gets a task right does not depend on who else is asked or when: trials of policies are paired.

    labelers: who can be asked, with true skills; horizon: tasks that arrive after the initial tester; shuffle: whether
    labelers come in a random order, so that ties between them are broken fairly.
    """
    if horizon < 1:
        raise InputError(f"the horizon must be at least 1 task, not {horizon}")
    refuse_beyond_memory(3.0 * horizon * labelers.count, f"a run of {horizon} tasks among {labelers.count} labelers")

    def chance(what: int) -> np.random.Generator:
        return np.random.default_rng([*seed, what])

    if shuffle:
        labelers = labelers.ordered(chance(ORDER).permutation(labelers.count))
    count = horizon + 1
    if labelers.at is None:
        context: NDArray[Any] = chance(CONTEXT).integers(0, labelers.kinds, count)
    else:
        context = chance(CONTEXT).uniform(labelers.at[0], labelers.at[-1], count)
    truth = chance(TRUTH).integers(0, labelers.classes, count)
    draws = chance(LABEL).random((count, labelers.count))
    label = drawn_labels(truth[:, None], draws, labelers.skill(context), labelers.classes)
    return TaskStream(labelers, context, label, chance(COIN).random(count), truth, seed)


def drawn_labelers(
    count: int,
    seed: tuple[int, ...],
    low: float = 0.0,
    high: float = 1.0,
    cost: float = 0.0,
) -> Labelers:
    """M skills uniform on [low, high], drawn again until the majority of all is better than a guess (a_min > 1/2).

    count: M; cost: of every label. Raises InputError if there is nothing to draw from, or no draw has such a majority.
    """
    if not 0 <= low < high <= 1 or count < 1:
        raise InputError(f"cannot draw {count} labelers with skills from {low} to {high}: 0 <= low < high <= 1")
    if high <= 0.5:
        raise InputError(f"no majority of labelers with skills up to {high} is better than a guess: draw beyond 1/2")
    refuse_beyond_memory(3.0 * count, f"a draw of {count} labelers")
    rng = np.random.default_rng([*seed, SKILL])
    for _ in range(TRIES):
        p = rng.uniform(low, high, count)
        if strict_majority(p) > 0.5:
            return Labelers(p[None], np.full(count, cost), 2)
    raise InputError(f"in {TRIES} draws no majority of {count} labelers from {low} to {high} is better than a guess")


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels that people once gave: one of each pair, or none."""

    label: Ints  # (tasks, labelers): -1 where there is none
    truth: Ints  # (tasks,): -1 where unknown
    context: NDArray[np.integer]  # (tasks,): kind of each task
    cost: Floats  # (labelers,): of a label
    classes: int
    names: tuple[str, ...]  # of the labelers


def recorded_tasks(table: LabelTable, horizon: int, seed: tuple[int, ...]) -> TaskStream:
    """A table's tasks in a random order; the first is the initial tester, so T is at most their number less one.

    Skills are the labelers' shares of right labels on each kind of task.
    """
    rng = np.random.default_rng([*seed, ORDER])
    order = rng.permutation(table.label.shape[1])
    chosen = rng.permutation(len(table.label))[: horizon + 1]
    share = tallied(table.label, table.truth, table.context, table.classes)
    people = Labelers(share, table.cost, table.classes, None, table.names).ordered(order)
    coin = np.random.default_rng([*seed, COIN]).random(chosen.size)
    label = table.label[np.ix_(chosen, order)]
    return TaskStream(people, table.context[chosen], label, coin, table.truth[chosen], seed, recorded=True)


def tallied(label: Ints, truth: Ints, context: NDArray[np.integer], classes: int) -> Floats:
    """Each labeler's share of right labels by kind of task; 1/L where there are none.

    label (tasks, labelers): -1 where there is none; truth, context (tasks,): true classes, -1 where unknown, and kinds
    of task; -> (kinds, labelers).
    """
    known = (label >= 0) & (truth >= 0)[:, None]
    right = known & (label == truth[:, None])
    share = np.full((int(context.max()) + 1, label.shape[1]), 1 / classes)
    for kind in range(len(share)):
        asked = known[context == kind].sum(axis=0)
        share[kind] = np.where(asked > 0, right[context == kind].sum(axis=0) / np.maximum(asked, 1), share[kind])
    return share
