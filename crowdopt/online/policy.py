"""What a policy is, and how one is found by name: ``main-algorithm:gamma=.3:gold=20``."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.resumable import Arrays
from crowdopt.core.solution import Solve
from crowdopt.online.arrivals import Arrival, Decision, Known

Ids: TypeAlias = NDArray[np.integer]


class BasePolicy:
    """Decides who does what the moment a worker arrives; what is decided cannot be taken back.

    Five methods: ``start``, ``decide``, ``learn``, ``snapshot`` and ``restore``; a default for everything else that a
    replay asks. A policy owns its arrays; between two arrivals all of its state is in ``snapshot``. A dataclass that
    inherits this has its fields as options. A class of a third party that does not inherit it gets the defaults all the
    same when it is found by name.
    """

    name: ClassVar[str]
    what: ClassVar[str] = ""  # a line for the list of policies
    over_capacity: ClassVar[bool] = False  # whether it may ask for more than a worker's capacity
    # attributes that are about the worker who is here and no other, and in no snapshot: a campaign that
    # runs takes them off and puts them back (crowdopt.live). None: not known, so one worker is served after another
    of_one_arrival: ClassVar[tuple[str, ...] | None] = None
    shared: ClassVar[tuple[str, ...]] = ()  # parts of the policy that those attributes refer to
    # what may change in a campaign that runs: whether a label may be taken back, and targets replaced
    amends: ClassVar[bool] = False
    retargets: ClassVar[bool] = False

    @property
    def shows_skill(self) -> bool:
        """Whether arrivals tell it the true accuracies: they do not."""
        return False

    @property
    def without_gold(self) -> str:
        """What to take where there are no gold tasks, of a policy that knows skills by them alone; empty: itself."""
        return ""

    def preliminary(self, workers: int) -> int:
        """How many workers to send for gold before the stream of so many others: none."""
        return 0

    def start(self, known: Known, solve: Solve) -> None:
        """Take note of what is known before the first arrival; ``solve`` is for policies that price by a program."""
        raise NotImplementedError

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """The next thing to ask of the worker here; called until it is None.

        ``rng`` is of this arrival alone, derived from the seed and the arrival's number.
        """
        raise NotImplementedError

    def learn(self, labels: Ints) -> None:
        """What the last decision brought.

        labels (k,) or (2, types) int: work: a class per task, REFUSED where there is no label. Gold: how many of each
        type were right, and how many were asked.
        """
        raise NotImplementedError

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Everything that differs from a freshly started one."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot, after ``start`` with the same knowledge."""
        raise NotImplementedError

    def expect(self, tasks: Ints, workers: Ints) -> bool:
        """Labels that are out now, each (k,), by number of arrival: they count by what each is expected to tell.

        They count for the decisions that follow, until the next call. False: with them all is done, and a worker who
        comes now waits.
        """
        return True

    def welcomes(self, workers: Ints, room: Ints) -> bool:
        """Whether a new worker begins now; workers, room (k,): arrivals at work and the labels each may still give."""
        return True

    @property
    def may_return(self) -> bool:
        """Whether the worker here, for whom there is nothing, may be needed when labels that are out have come."""
        return True

    def overhear(self, worker: int, task: int, label: int) -> None:
        """A label came that was given up and told as refused; worker: number of arrival."""

    def lapsed(self, tasks: Ints) -> None:
        """Time is over of the worker here; tasks, as in :class:`Decision`: what of the last one was never handed out.

        It was told before that these are refused: they may be asked again.
        """

    def amend(self, worker: int, task: int, label: int) -> None:
        """A label that was learned is another one, of a policy that ``amends``; worker: number of arrival."""

    def amend_gold(self, worker: int, right: Ints) -> None:
        """A gold answer that was learned is another one; right (types,): by how much the worker's tally changes."""

    def retarget(self, known: Known) -> None:
        """Needs and errors to reach are others from now on, of a policy that ``retargets``."""

    def recall(self, room: int) -> None:
        """The worker here, who had been let go, may be asked again, for so many labels."""

    def skill_ranges(self) -> tuple[Floats, Floats] | None:
        """Ends of an interval that holds each skill with a chance of .9, each (types, workers); None: not known."""
        return None

    def close(self, room: Ints) -> Decision | None:
        """What to repair after the last arrival, by the labels that workers could still give, (workers,): nothing."""
        return None

    def mended(self, tasks: Ints, workers: Ints, labels: Ints) -> bool:
        """What the repair brought, each (k,); True to be asked once more what to repair: a repair is planned once."""
        return False

    def inspect(self, labels: int, rng: np.random.Generator) -> Ids | None:
        """Tasks whose answers an expert is to look at in the end, after so many labels: none."""
        return None

    def inspected(self, tasks: Ids, truth: Ints) -> None:
        """True classes of those that the expert could tell, each (k,): noted by a policy that asks for them."""

    def vouched(self, task: int, truth: int, before: int) -> None:
        """The same in a campaign that runs: labels of the task count as gold; before: the class told before, or -1."""

    @property
    def on_average(self) -> bool:
        """Whether errors are to be small enough in the mean of all tasks, and not of each."""
        return False

    @property
    def look(self) -> float:
        """Price of such a look, in units of what a label cost on average."""
        return 1.0

    def skills(self) -> Floats | None:
        """What is believed of the workers so far, (types, workers), by which votes are weighted; None: nothing."""
        return None

    def prices(self) -> Floats | None:
        """x_i, the price of a unit of evidence, (tasks,); None: it has none."""
        return None

    def answers(self) -> str:
        """How labels become answers: ``majority``, ``weighted``, ``own``, or a method of crowdopt.answers."""
        return "majority"

    def decided(self) -> Ints | None:
        """Where answers are its ``own``: a class per task, (tasks,), -1 where it knows none; None for any other."""
        return None

    def claims(self) -> Floats | None:
        """Chance that each task's answer is wrong, as the policy believes, (tasks,); None: it claims nothing."""
        return None

    def notes(self) -> list[str]:
        """What a user should know about how it did: sentences."""
        return []
