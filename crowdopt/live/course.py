"""What a course is: a policy at work in a campaign that runs, whichever of workers and tasks arrive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from crowdopt.core.resumable import Arrays
from crowdopt.live.live_rows import AnswerRow, WorkerRow
from crowdopt.live.looks import LiveLooks
from crowdopt.online.limits.least_cost import Least


class Course(Protocol):
    """The steps that events take; a step changes nothing but the state, and follows from it alone.

    Decisions are plain JSON, as the history records them.
    """

    policy: Any
    doors_shut: bool  # whether no worker will come who has not come yet

    place_of: dict[str, int]  # workers whom the campaign names -> column of each

    looks: LiveLooks | None  # what an expert looks at; None: nothing ever

    @property
    def may_mend(self) -> bool:
        """Whether the policy may repair what is short."""
        ...

    def knows(self, worker: str) -> bool:
        """Whether the worker may come."""
        ...

    def enrol(self, worker: str) -> None:
        """A worker came for the first time."""
        ...

    def remove(self, worker: str) -> None:
        """A worker is asked no more."""
        ...

    def holds(self, worker: str) -> bool:
        """Whether anything is reserved for the worker."""
        ...

    def is_over(self, worker: str) -> bool:
        """Whether nothing more will be asked of the worker, repairs aside."""
        ...

    def waits(self, worker: str, labels: int) -> bool:
        """Whether the worker is to come again later; labels: told so far."""
        ...

    def next_task(self, worker: str) -> str | None:
        """The task that the worker is handed next; None: nothing is decided."""
        ...

    def decide(self, worker: str, labels: int) -> list[Any]:
        """What the policy asks of a worker."""
        ...

    def mend(self) -> list[Any]:
        """What the policy wants repaired."""
        ...

    def check_arrival(self, task: str, kind: str) -> None:
        """Raises InputError if the task cannot arrive."""
        ...

    def arrive(self, task: str, kind: str) -> None:
        """A task came."""
        ...

    def decide_task(self, task: str) -> list[Any]:
        """Who is asked about a task."""
        ...

    def asked_about(self, task: str) -> list[str]:
        """The workers to whom a task is leased."""
        ...

    def lease(self, worker: str, lease: int) -> None:
        """The worker was handed what was next."""
        ...

    def tell(self, worker: str, lease: int, label: int) -> tuple[float, bool]:
        """A label came; -> what it is paid, and whether it is gold."""
        ...

    def late(self, worker: str, task: str, label: int) -> tuple[float, bool]:
        """A label came whose lease was over; -> what it is paid, and whether it is gold."""
        ...

    def hears(self, worker: str) -> bool:
        """Whether the policy knows the worker, so that a label of theirs that was not asked for tells it something."""
        ...

    def bring(self, worker: str, task: str, label: int) -> tuple[float, bool]:
        """A label came that was not asked for; -> what it is paid, and whether it is gold."""
        ...

    def has(self, task: str) -> bool:
        """Whether there is such a task."""
        ...

    def check_correction(self, task: str) -> None:
        """Raises InputError if a label of the task cannot be taken back."""
        ...

    def correct(self, worker: str, task: str, label: int, late: bool) -> None:
        """A label is another one; late: whether its lease was over when it came."""
        ...

    def check_target(self, epsilon: float) -> None:
        """Raises InputError if the policy knows no other target, or it is none."""
        ...

    def retarget(self, epsilon: float) -> None:
        """Every task may be wrong with that chance from now on."""
        ...

    def give_back(self, worker: str, lease: int) -> None:
        """A label will not come."""
        ...

    def expire(self, worker: str, again: bool = False) -> None:
        """All that is reserved for the worker is free again; again: what they were never handed for them too."""
        ...

    def answer_rows(self, classes: Sequence[str]) -> list[AnswerRow]:
        """An answer for each task."""
        ...

    def worker_rows(self, state: Any) -> list[WorkerRow]:
        """Who came."""
        ...

    def remarks(self) -> list[str]:
        """What a manager should know before anything is asked: sentences."""
        ...

    def progress(self) -> dict[str, Any]:
        """Tasks, and how sure they are."""
        ...

    def possible(self) -> Callable[[], Least]:
        """What no policy can beat, were the skills of those who came as believed; InputError where none are."""
        ...

    def snapshot(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is its own, and the arrays of the policy."""
        ...

    def restore_policy(self, arrays: Arrays) -> None:
        """The policy as it was."""
        ...

    def restore(self, own: dict[str, Any]) -> None:
        """All else as it was."""
        ...
