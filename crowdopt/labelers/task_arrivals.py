"""What happens when tasks arrive one by one: what is known, a task that is here, who is asked, the stream itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import REPEAT, TESTER, WORK
from crowdopt.labelers.labelers import Labelers

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
