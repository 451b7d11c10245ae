"""What happens when tasks arrive one by one: what is known, a task that is here, who is asked, the stream itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.label_kinds import REPEAT, TESTER, WORK
from crowdopt.crowd.labelers import Labelers

AGAIN = 5  # tells the generator of repeats from the others of a stream (crowdopt.labelers.task_streams)
ROUNDS = 64  # labels of a repeated task that are drawn at a time
KINDS = (WORK, TESTER, REPEAT)


@dataclass(frozen=True, eq=False)
class KnownLabelers:
    """What a policy knows beforehand: how many labelers at what cost, how many tasks. Nobody's skill.

    Parameters
    ----------
    labelers, classes, horizon : int
        M, L, T.
    kinds : int
        W; 0 where a task's context is a number in [0, 1].
    cost : (labelers,) float
    repeats : bool
        Whether a task asked again is labelled anew; a table of given labels holds one answer a pair.
    epsilon, a_min : float
        What the theorems presume known (:func:`crowdopt.labelers.theorems.presumed`); NaN where it is not.
    """

    labelers: int
    classes: int
    horizon: int
    kinds: int
    cost: Floats
    repeats: bool = True
    epsilon: float = float("nan")
    a_min: float = float("nan")
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class TaskArrival:
    """A task that is here now.

    Parameters
    ----------
    number : int
        t; 0 is the initial tester, and 1 to T are judged.
    context : float
        Kind of the task, or a number in [0, 1].
    accuracy : (labelers,) float, optional
        p, where the policy is one that is told skills.
    """

    number: int
    context: float
    accuracy: Floats | None = None


@dataclass(frozen=True, eq=False)
class Ask:
    """Whom to ask about which tasks, and how their labels are counted.

    Parameters
    ----------
    kind : str
        ``work`` and ``tester`` name tasks from the one that is here on: the same set is asked about all of them.
        ``repeat`` names one earlier task; the one that is here gets a random answer.
    tasks : (k,) int
        Numbers of the tasks, ascending.
    workers : (members,) int
        The set: each labeler once.
    weight : (members,) float, optional
        Of their votes; None: one each.
    tolerance : float
        Sums of weights this close are ties.
    """

    kind: str
    tasks: NDArray[np.integer]
    workers: Ints
    weight: Floats | None = None
    tolerance: float = 0.0


@dataclass(frozen=True, eq=False)
class TaskStream:
    """Tasks in their order of arrival, with everything that chance decides about them.

    Parameters
    ----------
    labelers : Labelers
        With their true skills, or those tallied from all known answers.
    context : (T + 1,) float
    label : (T + 1, labelers) int
        What each labeler says when first asked; -1 where a table has no label.
    coin : (T + 1,) float
        In [0, 1): decides ties, and stands in for an answer where nobody is asked.
    truth : (T + 1,) int
        -1 where unknown; judged by, never shown.
    seed : tuple of int
        Of the labels of repeats.
    recorded : bool
        Whether labels come from a table: there is then one of each pair.
    """

    labelers: Labelers
    context: NDArray[Any]
    label: Ints
    coin: Floats
    truth: Ints
    seed: tuple[int, ...]
    recorded: bool = False

    @property
    def horizon(self) -> int:
        """Tasks after the initial tester, T."""
        return self.truth.size - 1

    def arrival(self, number: int, shows_skill: bool = False) -> TaskArrival:
        """The task at a place of the stream."""
        context = self.context[number]
        return TaskArrival(number, context, self.labelers.skill(context[None])[0] if shows_skill else None)

    def repeated(self, task: int, number: int) -> tuple[Ints, float]:
        """Everybody's labels at a task's repeat 1, 2, ..., (labelers,), and a coin: the same whoever asks and whenever.

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

    Parameters
    ----------
    truth, draws, skill : (tasks, labelers) arrays, or what broadcasts to that
        True classes, uniform numbers in [0, 1), accuracies.
    classes : int
        L.

    Returns
    -------
    (tasks, labelers) int
        Class of each label.
    """
    if classes == 2:
        wrong: Ints = (truth ^ (draws >= skill)).astype(np.int64)
        return wrong
    beyond = (draws - skill) / np.maximum(1 - skill, 1e-300) * (classes - 1)
    shift = np.where(draws < skill, 0, 1 + np.clip(beyond, 0, classes - 2).astype(np.int64))
    label: Ints = ((truth + shift) % classes).astype(np.int64)
    return label
