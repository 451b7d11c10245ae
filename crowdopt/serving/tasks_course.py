"""Tasks arrive: a policy that learns whom to ask picks the workers for each, while labels of earlier ones are out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import REFUSED, REPEAT
from crowdopt.errors import InputError
from crowdopt.labelers.arrivals import Ask, KnownLabelers, TaskArrival
from crowdopt.labelers.asking import Chance, voted
from crowdopt.online.crowds import COIN
from crowdopt.online.limits import Least
from crowdopt.serving.live_rows import AnswerRow, LiveSettings, WorkerRow
from crowdopt.serving.workers_report import NO_CAPACITY


@dataclass(eq=False)
class TaskSlot:
    """A task that has arrived: whom it was given to, and what they said."""

    task: str
    number: int  # t
    kind: int
    arrival: TaskArrival | None = None
    ask: Ask | None = None
    got: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    out: dict[int, int] = field(default_factory=dict)  # lease -> place in the set
    queue: list[int] = field(default_factory=list)  # places of the set that are to be leased
    answer: int = -1
    done: bool = False
    rng: np.random.Generator | None = None  # of the arrival, once chance played


class TasksCourse:
    """A policy of asking, the tasks that have come, and who labels them.

    Each pair is asked once: a tester has one round of labels, as in a table of given labels.
    """

    may_mend = False
    looks = None

    def __init__(self, instance: AssignmentInstance, policy: Any, settings: LiveSettings) -> None:
        self.doors_shut = False
        self.instance, self.policy, self.settings = instance, policy, settings
        self.workers = instance.worker_ids
        self.place_of = {name: j for j, name in enumerate(self.workers)}
        self.types = [str(one) for one in instance.types] if instance.types is not None else []
        cost = instance.cost.mean(axis=0)
        nan = float("nan")
        policy.start(
            KnownLabelers(
                instance.n_workers,
                instance.classes,
                settings.horizon,
                instance.n_types,
                cost,
                False,
                nan,
                nan,
                tuple(self.workers),
            )
        )
        self.slots: list[TaskSlot] = []
        self.slot_of: dict[str, TaskSlot] = {}
        self.waiting: dict[str, list[str]] = {}  # worker -> tasks whose leases they hold, oldest first
        self.removed: list[str] = []
        self.load, self.spent = np.zeros(instance.n_workers, np.int64), 0.0
        self.first = 0 if policy.begins else 1

    # -- tasks -----------------------------------------------------------------------------------------------------

    def check_arrival(self, task: str, kind: str) -> None:
        """Raises InputError if the task cannot arrive."""
        if not task or task in self.slot_of:
            raise InputError(f"task {task!r} has arrived already; give each task an id of its own")
        if kind not in self.types and (kind or len(self.types) > 1):
            raise InputError(f"there is no type {kind!r}; the campaign's types are {', '.join(self.types)}")
        if len(self.slots) + self.first > self.settings.horizon:
            raise InputError(f"{self.settings.horizon} tasks have come; begin a campaign with a longer --horizon")

    def arrive(self, task: str, kind: str) -> None:
        """A task came."""
        place = self.types.index(kind) if kind in self.types else 0
        self.slots.append(TaskSlot(task, len(self.slots) + self.first, place))
        self.slot_of[task] = self.slots[-1]

    def decide_task(self, task: str) -> list[Any]:
        """Who is to label it; -> as plain JSON, for the history."""
        slot = self.slot_of[task]
        skill: Floats | None = self.instance.accuracy[slot.kind] if self.policy.shows_skill else None
        slot.arrival = TaskArrival(slot.number, slot.kind, skill)
        ask = self.policy.decide(slot.arrival, self._chance(slot))
        if ask.kind == REPEAT:
            raise InputError(f"policy {self.policy.name} asks the same workers about a task again; no campaign can")
        slot.ask = Ask(ask.kind, np.array([slot.number]), ask.workers, ask.weight, ask.tolerance)
        slot.got = np.full(ask.workers.size, REFUSED)
        slot.queue = [k for k, j in enumerate(ask.workers.tolist()) if self._may(j)]
        for k in slot.queue:
            self._count(slot, k, 1)
        self._settle(slot)
        return [ask.kind, *ask.workers.tolist()]

    def asked_about(self, task: str) -> list[str]:
        """The workers to whom the task is leased."""
        slot = self.slot_of[task]
        assert slot.ask is not None
        return [self.workers[slot.ask.workers[k]] for k in slot.queue]

    # -- workers ---------------------------------------------------------------------------------------------------

    def enrol(self, worker: str) -> None:
        """A worker is asked, or came, for the first time."""
        self.waiting[worker] = []

    def knows(self, worker: str) -> bool:
        """Whether the worker is the campaign's."""
        return worker in self.place_of

    def next_task(self, worker: str) -> str | None:
        """Workers are handed tasks when these arrive."""
        return None

    def is_over(self, worker: str) -> bool:
        """Whether nothing is left for them; tasks may always come."""
        return True

    def waits(self, worker: str, labels: int) -> bool:
        """Tasks come to workers, not workers to tasks."""
        return True

    def decide(self, worker: str, labels: int) -> list[Any]:
        """Nothing is decided when a worker comes."""
        raise InputError(f"policy {self.policy.name} asks workers when tasks arrive; let a task arrive")

    def mend(self) -> list[Any]:
        """Nothing is repaired."""
        raise InputError(f"policy {self.policy.name} has no repairs")

    def lease(self, worker: str, lease: int) -> None:
        """The worker was handed the next task that is theirs."""
        place = self.place_of[worker]
        slot = next(one for one in reversed(self.slots) if any(self._is(one, k, place) for k in one.queue))
        k = next(k for k in slot.queue if self._is(slot, k, place))
        slot.queue.remove(k)
        slot.out[lease] = k
        self.waiting[worker].append(slot.task)

    def _is(self, slot: TaskSlot, k: int, place: int) -> bool:
        return slot.ask is not None and int(slot.ask.workers[k]) == place

    def tell(self, worker: str, lease: int, label: int) -> tuple[float, bool]:
        """A label came; -> what it is paid, and that it is no gold."""
        slot = self._slot(worker, lease)
        slot.got[slot.out.pop(lease)] = label
        self.waiting[worker].remove(slot.task)
        self._settle(slot)
        return self._price(slot, worker), False

    def late(self, worker: str, task: str, label: int) -> tuple[float, bool]:
        """A label came whose lease was over."""
        price = self._price(self.slot_of[task], worker)
        self.spent += price
        self.load[self.place_of[worker]] += 1
        return price, False

    def hears(self, worker: str) -> bool:
        """Labelers are known from the beginning."""
        return worker in self.waiting

    def has(self, task: str) -> bool:
        """Whether it has arrived."""
        return task in self.slot_of

    def bring(self, worker: str, task: str, label: int) -> tuple[float, bool]:
        """A label of a worker who was not asked: it is kept and paid."""
        return self.late(worker, task, label)

    def check_correction(self, task: str) -> None:
        """Labels may be taken back."""

    def correct(self, worker: str, task: str, label: int, late: bool) -> None:
        """The task is voted on anew; what the policy learned of a task whose labels were all in stays."""
        slot, place = self.slot_of[task], self.place_of[worker]
        if slot.ask is None or late:
            return
        for k in np.flatnonzero((slot.ask.workers == place) & (slot.got != REFUSED)).tolist():
            slot.got[k] = label
        if slot.done:
            slot.answer = int(self._votes(slot)[0])

    def check_target(self, epsilon: float) -> None:
        """Raises InputError: policies that learn whom to ask have none."""
        raise InputError(f"policy {self.policy.name} learns whom to ask, and has no target")

    def retarget(self, epsilon: float) -> None:
        """No target is known."""
        self.check_target(epsilon)

    def give_back(self, worker: str, lease: int) -> None:
        """A label will not come."""
        slot = self._slot(worker, lease)
        self._count(slot, slot.out.pop(lease), -1)
        self.waiting[worker].remove(slot.task)
        self._settle(slot)

    def expire(self, worker: str, again: bool = False) -> None:
        """All that the worker holds is over."""
        for task in list(self.waiting[worker]):
            slot = self.slot_of[task]
            for lease, k in list(slot.out.items()):
                if self._is(slot, k, self.place_of[worker]):
                    self.give_back(worker, lease)

    def remove(self, worker: str) -> None:
        """The worker is asked no more."""
        self.expire(worker)
        self.removed.append(worker)

    def holds(self, worker: str) -> bool:
        """Whether they have a task."""
        return bool(self.waiting[worker])

    # -- what is known ---------------------------------------------------------------------------------------------

    def answer_rows(self, classes: Sequence[str]) -> list[AnswerRow]:
        """The vote on each task whose labels are in."""
        return [
            AnswerRow(
                slot.task, classes[slot.answer] if slot.answer >= 0 else "", None, int((slot.got != REFUSED).sum())
            )
            for slot in self.slots
        ]

    def worker_rows(self, state: Any) -> list[WorkerRow]:
        """All who were asked, and what is believed of their skill."""
        skills = self.policy.skills()
        told, paid = (state.labels.arrays()[name] for name in ("worker", "paid"))
        count, money = (np.bincount(told, weight, len(state.people)) for weight in (None, paid))
        return [
            WorkerRow(
                worker,
                int(count[k]),
                float(money[k]),
                len(self.waiting[worker]),
                "removed" if worker in self.removed else "here" if self.waiting[worker] else "away",
                None if skills is None else skills[:, self.place_of[worker]].tolist(),
            )
            for k, worker in enumerate(state.people)
        ]

    def remarks(self) -> list[str]:
        """Why no label can be asked, or labels in do not count, as the campaign is: sentences."""
        said = [] if self.instance.capacity.any() else [NO_CAPACITY]
        return said + ["tasks arrive: the labels in collected.csv do not count"] * bool(self.instance.collected.size)

    def progress(self) -> dict[str, Any]:
        """Tasks that came, and those whose labels are not all in."""
        unsure = sum(not slot.done for slot in self.slots)
        money = self.settings.money
        own = {"tasks": len(self.slots), "unsure": unsure, "claimed_error": None, "money": money}
        return own | {"reserved": max(0.0, self.spent), "notes": [*self.remarks(), *self.policy.notes()]}

    def possible(self) -> Callable[[], Least]:
        """No bound is known where tasks arrive."""
        raise InputError("no bound on policies is known where tasks arrive, as in this campaign")

    # -- inside ----------------------------------------------------------------------------------------------------

    def _slot(self, worker: str, lease: int) -> TaskSlot:
        return next(slot for task in self.waiting[worker] if lease in (slot := self.slot_of[task]).out)

    def _price(self, slot: TaskSlot, worker: str) -> float:
        return float(self.instance.cost[slot.kind, self.place_of[worker]])

    def _may(self, place: int) -> bool:
        able = self.load[place] < self.instance.capacity[place] and self.workers[place] not in self.removed
        dear = self.settings.money is not None and self.spent + self.instance.cost[:, place].max() > self.settings.money
        return bool(able and not dear)

    def _count(self, slot: TaskSlot, k: int, sign: int) -> None:
        assert slot.ask is not None
        place = int(slot.ask.workers[k])
        self.load[place] += sign
        self.spent += sign * float(self.instance.cost[slot.kind, place])

    def _settle(self, slot: TaskSlot) -> None:
        """Count the votes and tell the policy when all labels of a task are in."""
        if slot.out or slot.queue or slot.done or slot.ask is None:
            return
        slot.done = True
        votes = self._votes(slot)
        slot.answer = int(votes[0])
        assert slot.arrival is not None
        self.policy.learn(slot.arrival, slot.ask, slot.got[None, :], votes, self._chance(slot))
        slot.rng = None

    def _votes(self, slot: TaskSlot) -> Ints:
        assert slot.ask is not None
        coin = np.random.default_rng([self.settings.seed, COIN, slot.number]).random(1)
        return voted(slot.got[None, :], slot.ask.weight, slot.ask.tolerance, self.instance.classes, coin)

    def _chance(self, slot: TaskSlot) -> Chance:
        def chance() -> np.random.Generator:
            if slot.rng is None:
                slot.rng = np.random.default_rng([self.settings.seed, slot.number])
            return slot.rng

        return chance
