"""What a policy is, and how one is found by name: ``main-algorithm:gamma=.3:gold=20``."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Protocol

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.named import Kept, made
from crowdopt.core.registry import discover
from crowdopt.core.solution import Solve
from crowdopt.online.arrivals import Arrival, Decision, Known


class Policy(Kept, Protocol):
    """Decides who does what the moment somebody arrives; what is decided cannot be taken back.

    A policy is a dataclass whose fields are its options. It owns its arrays; between two arrivals all of its state
    is in ``snapshot``. Chance comes in as a generator that is derived from the seed and the arrival's number.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    over_capacity: ClassVar[bool]  # whether it may ask for more than a worker's capacity

    @property
    def shows_skill(self) -> bool:
        """Whether arrivals tell it their true accuracy."""
        ...

    def preliminary(self, workers: int) -> int:
        """How many workers to send for gold before the stream of so many others."""
        ...

    def start(self, known: Known, solve: Solve) -> None:
        """Take note of what is known before anybody arrives."""
        ...

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """The next thing to ask of the worker who is here; called until there is nothing more."""
        ...

    def learn(self, labels: Ints) -> None:
        """What the last decision brought: a label per task (REFUSED: none), or how much gold she had right."""
        ...

    def close(self, room: Ints) -> Decision | None:
        """Nobody comes any more; ``room[j]`` is what worker j could still do. What to repair, if anything."""
        ...

    def mended(self, tasks: Ints, workers: Ints, labels: Ints) -> bool:
        """What the repair brought; True to be asked once more what to repair."""
        ...

    def skills(self) -> Floats:
        """What is believed of the workers so far, (types, arrivals): votes are weighted by it."""
        ...

    def prices(self) -> Floats | None:
        """x_i, the price of a unit of evidence, (tasks,); None for a policy that has none."""
        ...

    def answers(self) -> str:
        """How labels become answers: ``weighted``, ``own``, or a method of crowdopt.answers."""
        ...

    def decided(self) -> Ints | None:
        """Where answers are its ``own``: a class per task, -1 where it knows none; None for any other policy."""
        ...

    def claims(self) -> Floats | None:
        """Chance that each task's answer is wrong, as the policy believes, (tasks,); None if it claims nothing."""
        ...


@cache
def policies() -> dict[str, type[Any]]:
    """Every policy there is, by name."""
    from crowdopt.online import policies as package

    return {policy.name: policy for policy in discover(package, "POLICY")}


def named(text: str) -> Any:
    """A policy from its name and options, ``name:option=value:flag``.

    Raises
    ------
    InputError
        If there is no such policy or option, or a value makes no sense; the sentence lists those there are.
    """
    return made(text, policies())
