"""What a policy of asking is, and how one is found by name: ``ls-ol:g1=10:g2=.1``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.named import Kept, made
from crowdopt.core.registry import discover
from crowdopt.labelers.task_arrivals import Ask, KnownLabelers, TaskArrival

Chance: TypeAlias = Callable[[], np.random.Generator]


class LabelerPolicy(Kept, Protocol):
    """Decides whom to ask the moment a task arrives; it sees labels, never the truth.

    A dataclass whose fields are its options, like the policies of crowdopt.online.policy; between two arrivals all of
    its state is in ``snapshot``. Chance comes in as a callable that makes the arrival's generator, derived from the
    seed and the arrival's number.
    """

    name: ClassVar[str]
    what: ClassVar[str]

    @property
    def shows_skill(self) -> bool:
        """Whether arrivals tell it the true accuracies."""
        ...

    @property
    def begins(self) -> bool:
        """Whether it takes the initial tester, number 0."""
        ...

    def start(self, known: KnownLabelers) -> None:
        """Take note of what is known before anything arrives."""
        ...

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """Whom to ask; for how many arrivals the same set is right as long as nothing is learnt, is up to it."""
        ...

    def learn(self, ask: Ask, labels: Ints, votes: Ints, chance: Chance) -> None:
        """What the last question brought: labels (tasks, workers), -1: none, and what each vote says, (tasks,)."""
        ...

    def chosen(self, arrival: TaskArrival) -> Ask:
        """Whom it would ask now about such a task to answer it as well as it can."""
        ...

    def skills(self) -> Floats:
        """What is believed of the labelers, (cells, labelers)."""
        ...


@cache
def policies() -> dict[str, type[Any]]:
    """Every policy there is, by name."""
    from crowdopt.labelers import policies as package

    return {policy.name: policy for policy in discover(package, "POLICY")}


def named(text: str) -> Any:
    """A policy from its name and options, ``name:option=value:flag``.

    Raises
    ------
    InputError
        If there is no such policy or option, or a value makes no sense; the sentence lists those there are.
    """
    return made(text, policies())
