"""The state that follows from a history: leases, labels, and the course that a policy takes through them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from crowdopt.errors import InputError
from crowdopt.serving import stores
from crowdopt.serving.live_rows import Lease, LiveLooks, LiveSettings, ToldLabels, ToldRow
from crowdopt.serving.stores import EXPERT, Event
from crowdopt.serving.tasks_course import TasksCourse
from crowdopt.serving.workers_course import WorkersCourse


class LiveState:
    """What is so after the last event that was seen.

    course: the policy with all that it was told; classes: names of the labels.
    """

    def __init__(self, settings: LiveSettings, course: WorkersCourse | TasksCourse, classes: Sequence[str]) -> None:
        self.settings, self.course, self.classes = settings, course, tuple(classes)
        self.seen, self.at, self.paused = 0, 0.0, False
        self.enrolled: dict[str, int] = {}  # worker -> place in order of enrolment
        self.people: list[str] = []
        self.deadline: dict[str, float] = {}  # worker for whom anything is reserved -> until when
        self.moved: set[str] = set()  # workers whose deadline is another one since it was looked at last
        self.leases: dict[int, Lease] = {}  # live ones
        self.ended: dict[int, Lease] = {}  # over without a label so far
        self.labels = ToldLabels()
        self.last_of: dict[str, int] = {}  # worker -> the lease of their last label
        self.tasks: dict[str, int] = {}  # tasks that labels were told of
        self.task_names: list[str] = []

    # -- the history -----------------------------------------------------------------------------------------------

    def apply(self, event: Event, applied: bool = False) -> None:
        """Let an event happen; applied: whether the course has taken its step already."""
        if event.number != self.seen + 1:
            raise InputError(f"the history has no event {self.seen + 1}; restore the store from a backup")
        self.seen, self.at = event.number, event.at
        if not applied:
            _STEPS[event.kind](self, event)
        if event.kind == stores.DECIDED and not event.worker and not event.task:
            for worker in self.people:  # a repair means something for workers who are not here
                self._extend(worker)
        elif event.worker in self.enrolled:
            self._extend(event.worker)

    def _extend(self, worker: str) -> None:
        """Who does something has a lease's time for what is next."""
        self.moved.add(worker)
        if self.course.holds(worker):
            self.deadline[worker] = self.at + self.settings.lease
        else:
            self.deadline.pop(worker, None)

    def _began(self, event: Event) -> None:
        pass

    def _enrolled(self, event: Event) -> None:
        self.course.enrol(event.worker)
        self.enrolled[event.worker] = len(self.people)
        self.people.append(event.worker)

    def _decided(self, event: Event) -> None:
        if event.task:
            decision = self.course.decide_task(event.task)
        else:
            decision = self.course.decide(event.worker, self.told) if event.worker else self.course.mend()
        if decision != json.loads(event.value):
            raise Diverged(event, json.dumps(decision, separators=(",", ":")))

    def _drawn(self, event: Event) -> None:
        due = self.looks.due()
        if due != json.loads(event.value):
            raise Diverged(event, json.dumps(due, separators=(",", ":")))
        self.looks.draw(due)

    @property
    def looks(self) -> LiveLooks:
        """What an expert looks at; InputError where there is none."""
        if self.course.looks is None:
            raise InputError(f"policy {self.course.policy.name} has tasks arrive; no expert looks at their answers")
        return self.course.looks

    def _leased(self, event: Event) -> None:
        self.leases[event.number] = Lease(event.number, event.worker, event.task, float(event.value))
        if event.worker == EXPERT:
            self.looks.lease(event.number)
        else:
            self.course.lease(event.worker, event.number)

    def _told(self, event: Event) -> None:
        label, late = self.class_of(event.value), event.lease not in self.leases
        if event.worker == EXPERT:
            self.looks.tell(self.leases.pop(event.lease).id, label)
            self.last_of[EXPERT] = event.lease
            return
        lease = self.ended.pop(event.lease) if late else self.leases.pop(event.lease)
        if late:
            paid, gold = self.course.late(lease.worker, lease.task, label)
        else:
            paid, gold = self.course.tell(lease.worker, event.lease, label)
        self._add(event.lease, lease.worker, lease.task, (label, event.at, paid, late, gold))

    def _brought(self, event: Event) -> None:
        label = self.class_of(event.value)
        paid, gold = self.course.bring(event.worker, event.task, label)
        self._add(event.number, event.worker, event.task, (label, event.at, paid, False, gold))

    def _add(self, lease: int, worker: str, task: str, rest: tuple[int, float, float, bool, bool]) -> None:
        self.labels.add((lease, self.enrolled[worker], self._task(task), *rest))
        self.last_of[worker] = lease

    def _corrected(self, event: Event) -> None:
        label = self.class_of(event.value)
        if event.worker == EXPERT:
            return self.looks.tell(event.lease, label)
        _, _, task, _, _, _, late, _ = self.labels.rows[self.labels.of_lease[event.lease]]
        self.course.correct(event.worker, self.task_names[task], label, late)
        self.labels.correct(event.lease, label)

    def _skipped(self, event: Event) -> None:
        lease = self.leases.pop(event.lease)
        self.ended[event.lease] = lease
        if event.worker == EXPERT:
            self.looks.give_back(event.lease)
        else:
            self.course.give_back(lease.worker, event.lease)

    def _expired(self, event: Event) -> None:
        self._end_leases(event.worker)
        self.course.expire(event.worker, again=True)

    def _removed(self, event: Event) -> None:
        self._end_leases(event.worker)
        self.course.remove(event.worker)

    def _arrived(self, event: Event) -> None:
        self.course.arrive(event.task, event.value)

    def _doors_shut(self, event: Event) -> None:
        self.course.doors_shut = True

    def _paused(self, event: Event) -> None:
        self.paused = True

    def _resumed(self, event: Event) -> None:
        self.paused = False

    def _retargeted(self, event: Event) -> None:
        self.course.retarget(float(event.value))

    def _end_leases(self, worker: str) -> None:
        mine = [lease for lease in self.leases.values() if lease.worker == worker]
        for lease in mine:
            self.ended[lease.id] = self.leases.pop(lease.id)

    # -- what is known ---------------------------------------------------------------------------------------------

    @property
    def told(self) -> int:
        """Labels so far."""
        return len(self.labels.rows)

    @property
    def paid(self) -> float:
        """What labels and looks cost so far."""
        return self.labels.paid + (0.0 if self.course.looks is None else self.course.looks.paid)

    def lease_of(self, worker: str) -> Lease | None:
        """The oldest live lease of a worker."""
        return next((lease for lease in self.leases.values() if lease.worker == worker), None)

    def holder(self, lease: int) -> str | None:
        """Whose lease it is or was; None: there was none."""
        if (row := self.labels.of_lease.get(lease)) is not None:
            worker: int = self.labels.rows[row][1]
            return self.people[worker]
        if self._looked(lease) is not None:
            return EXPERT
        known = self.leases.get(lease) or self.ended.get(lease)
        return None if known is None else known.worker

    def lease_for(self, worker: str, task: str) -> int | None:
        """The lease of a task that the worker has, or that was over without a label so far."""
        both = (*self.leases.values(), *self.ended.values())
        return next((lease.id for lease in both if (lease.worker, lease.task) == (worker, task)), None)

    def label_for(self, worker: str, task: str) -> int | None:
        """The lease of the worker's label of a task; None: there is none."""
        return self.labels.of_pair.get((self.enrolled.get(worker, -1), self.tasks.get(task, -1)))

    def label_of(self, lease: int) -> tuple[str, bool] | None:
        """The label that was told for a lease, and whether it came late."""
        row = self.labels.of_lease.get(lease)
        if row is None and (told := self._looked(lease)) is not None:
            return self.classes[told], False
        return None if row is None else (self.classes[self.labels.rows[row][3]], self.labels.rows[row][6])

    def _looked(self, lease: int) -> int | None:
        """The class that the expert told for a lease."""
        looks = self.course.looks
        return looks.seen[looks.told[lease]] if looks is not None and lease in looks.told else None

    def class_of(self, label: str) -> int:
        """The class that a label names."""
        if label not in self.classes:
            names = ", ".join(self.classes[:20])
            raise InputError(f"{label[:40]!r} is no label of this campaign; its labels are {names}")
        return self.classes.index(label)

    def task_of(self, lease: int) -> str:
        """The task that a worker labelled for a lease."""
        task: int = self.labels.rows[self.labels.of_lease[lease]][2]
        return self.task_names[task]

    def label_rows(self) -> list[ToldRow]:
        """Every label in the order in which it came."""
        return [self.label_row(row[0]) for row in self.labels.rows]

    def label_row(self, lease: int) -> ToldRow:
        """The label of a lease as it stands."""
        _, worker, task, label, at, paid, late, gold = self.labels.rows[self.labels.of_lease[lease]]
        return ToldRow(self.people[worker], self.task_names[task], self.classes[label], at, paid, late, gold)

    def answer_rows(self) -> list[Any]:
        """See :meth:`crowdopt.serving.running.Live.answers`."""
        return self.course.answer_rows(self.classes)

    def worker_rows(self) -> list[Any]:
        """See :meth:`crowdopt.serving.running.Live.workers`."""
        return self.course.worker_rows(self)

    def progress(self) -> dict[str, Any]:
        """See :meth:`crowdopt.serving.running.Live.progress`."""
        columns = self.labels.arrays()
        own = {
            "labels": self.told,
            "gold": int(columns["gold"].sum()),
            "late": int(columns["late"].sum()),
            "paid": self.paid,
            "looks": 0 if self.course.looks is None else len(self.course.looks.seen),
            "workers": len(self.people),
            "out": len(self.leases),
            "paused": self.paused,
            "events": self.seen,
        }
        return own | self.course.progress()

    def _task(self, name: str) -> int:
        if name not in self.tasks:
            self.tasks[name] = len(self.task_names)
            self.task_names.append(name)
        return self.tasks[name]


class Diverged(InputError):
    """A history records another decision than the one that follows from it."""

    def __init__(self, event: Event, decision: str) -> None:
        self.event = event
        super().__init__(
            f"event {event.number} records the decision {event.value[:80]}, but {decision[:80]} follows from the "
            "history before it; the campaign's tables, the store or the version of crowdopt have changed"
        )


_STEPS = {
    stores.BEGAN: LiveState._began,
    stores.ENROLLED: LiveState._enrolled,
    stores.DECIDED: LiveState._decided,
    stores.DRAWN: LiveState._drawn,
    stores.LEASED: LiveState._leased,
    stores.TOLD: LiveState._told,
    stores.CORRECTED: LiveState._corrected,
    stores.BROUGHT: LiveState._brought,
    stores.SKIPPED: LiveState._skipped,
    stores.EXPIRED: LiveState._expired,
    stores.REMOVED: LiveState._removed,
    stores.ARRIVED: LiveState._arrived,
    stores.DOORS_SHUT: LiveState._doors_shut,
    stores.PAUSED: LiveState._paused,
    stores.RESUMED: LiveState._resumed,
    stores.RETARGETED: LiveState._retargeted,
}
