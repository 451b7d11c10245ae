"""What a policy of asking is, and how one is found by name: ``ls-ol:g1=10:g2=.1``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.resumable import Arrays
from crowdopt.labelers.task_arrivals import Ask, KnownLabelers, TaskArrival

Chance: TypeAlias = Callable[[], np.random.Generator]


class BaseLabelerPolicy:
    """Decides whom to ask the moment a task arrives; it sees labels, never the truth.

    Five methods, like the policies of crowdopt.online.policy, and a default for everything else that a replay or a
    score asks; between two arrivals all of its state is in ``snapshot``. A dataclass that inherits this has its fields
    as options. A class of a third party that does not inherit it gets the defaults all the same when it is found by
    name.
    """

    name: ClassVar[str]
    what: ClassVar[str] = ""  # a line for the list of policies
    shows_skill: ClassVar[bool] = False  # whether arrivals tell it the true accuracies
    begins: ClassVar[bool] = False  # whether it takes the initial tester, number 0
    # attributes that are about the task that is here and no other, and in no snapshot: a campaign that runs takes them
    # off and puts them back (crowdopt.live). None: not known, so a task waits for the labels of the one before it
    of_one_arrival: ClassVar[tuple[str, ...] | None] = None

    def start(self, known: KnownLabelers) -> None:
        """Take note of what is known before anything arrives."""
        raise NotImplementedError

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """Whom to ask, and for how many arrivals if nothing is learnt; chance is the same at every call."""
        raise NotImplementedError

    def learn(self, ask: Ask, labels: Ints, votes: Ints, chance: Chance) -> None:
        """What the last question brought.

        ask: as decided; fewer tasks may have been asked about; labels (tasks, workers): -1: none; votes (tasks,): what
        each vote says.
        """
        raise NotImplementedError

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Everything that differs from a freshly started one."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot, after ``start`` with the same knowledge."""
        raise NotImplementedError

    def chosen(self, arrival: TaskArrival) -> Ask | None:
        """Whom it would ask now to answer such a task as well as it can; None: whom it asked last."""
        return None

    def skills(self) -> Floats | None:
        """What is believed of the labelers, (cells, labelers); None: nothing."""
        return None

    def notes(self) -> list[str]:
        """What a user should know about how it did, or will do: sentences."""
        return []


@dataclass
class Fixed(BaseLabelerPolicy):
    """What comparators share: no state, no exploration."""

    of_one_arrival: ClassVar[tuple[str, ...] | None] = ()

    def start(self, known: KnownLabelers) -> None:
        """Take note of the labelers."""
        self.known = known

    def rest(self, arrival: TaskArrival) -> Ints:
        """The task and all after it where every task is of one kind, else the task alone."""
        last = self.known.horizon + 1 if self.known.kinds == 1 else arrival.number + 1
        return np.arange(arrival.number, last)

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """Ask the chosen set; never explore."""
        return self.chosen(arrival)

    def chosen(self, arrival: TaskArrival) -> Ask:
        """The set to ask about a task."""
        raise NotImplementedError

    def learn(self, ask: Ask, labels: Ints, votes: Ints, chance: Chance) -> None:
        """Nothing is learnt."""

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """No state."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """No state."""
