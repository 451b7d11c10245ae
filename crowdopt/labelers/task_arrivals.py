"""What happens when tasks arrive one by one: labelers, a task that is here now, who is asked, the stream itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.errors import InputError
from crowdopt.online.arrivals import WORK, Decision

TESTER, REPEAT = "tester", "repeat"
KINDS = (WORK, TESTER, REPEAT)


@dataclass(frozen=True, eq=False)
class Labelers:
    """Who can be asked, and how often each is right.

    Parameters
    ----------
    accuracy : (kinds, labelers) float
        p of each kind of task; one row: it does not depend on the task.
    cost : (labelers,) float
        c, what a label is paid.
    classes : int
        L; wrong labels fall evenly on the other classes.
    at : (kinds,) float, optional
        Given, the context of a task is a number in [0, 1] and skills are linear between these, ascending.
    names : tuple of str
    """

    accuracy: Floats
    cost: Floats
    classes: int = 2
    at: Floats | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        p, c = np.asarray(self.accuracy, dtype=np.float64), np.asarray(self.cost, dtype=np.float64)
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
        """M."""
        return self.cost.size

    @property
    def kinds(self) -> int:
        """Kinds of task, W; 0 where the context is a number."""
        return len(self.accuracy) if self.at is None else 0

    def skill(self, context: NDArray[Any]) -> Floats:
        """P of each context, (contexts, labelers)."""
        if self.at is None:
            return self.accuracy[np.asarray(context, dtype=np.int64)]
        return np.column_stack([np.interp(context, self.at, column) for column in self.accuracy.T])

    def ordered(self, order: Ints) -> Labelers:
        """The same people in another order."""
        names = tuple(self.names[k] for k in order.tolist())
        return replace(self, accuracy=self.accuracy[:, order], cost=self.cost[order], names=names)


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
class Ask(Decision):
    """Whom to ask about which tasks, and how their labels are counted.

    ``work`` and ``tester`` name tasks from the one that is here on: the same set is asked about all of them. ``repeat``
    names one earlier task; the one that is here gets a random answer.

    Parameters
    ----------
    weight : (workers,) float, optional
        Votes; None: one each.
    tolerance : float
        Sums of weights this close are ties.
    """

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
        """T."""
        return self.truth.size - 1

    def arrival(self, number: int, shows_skill: bool = False) -> TaskArrival:
        """The task at a place of the stream."""
        context = self.context[number]
        return TaskArrival(number, context, self.labelers.skill(context[None])[0] if shows_skill else None)
