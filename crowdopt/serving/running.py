"""A campaign that runs: ask and tell over a durable history, from which its state follows byte for byte."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from crowdopt.errors import InputError
from crowdopt.online.limits import Least
from crowdopt.serving import stores
from crowdopt.serving.live_rows import MORE, Lease, LiveSettings, ToldLabel
from crowdopt.serving.live_state import LiveState
from crowdopt.serving.stores import EXPERT, Event, SQLLedgerbook


class Live:
    """Ask for the next task, tell the label; what was told and acknowledged is never lost.

    Every call holds the store alone: it takes in what other processes wrote, ends what is overdue, decides, and writes
    the events before it answers. The state is thrown away and made anew from the history where a call fails on the way.

    make: the state before the first event, given the settings; store: where the history is; settings: of a campaign
    that begins now; those of one that goes on must be the same; clock: seconds since 1970; steady: seconds of a clock
    that is never set, by which leases end while the process lives, whatever the other says.
    """

    def __init__(
        self,
        make: Callable[[LiveSettings], LiveState],
        store: SQLLedgerbook,
        settings: LiveSettings,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] | None = None,
    ) -> None:
        self.store, self.settings, self.clock, self._make = store, settings, clock, make
        self.steady = steady or (time.monotonic if clock is time.time else clock)
        self._passed, self._read = 0.0, self.steady()  # seconds so far, and the steady clock then
        self._ends: dict[str, float] = {}  # worker -> when their time is over, in seconds as passed
        self._state: LiveState | None = None
        with self.together() as turn:
            if turn.state.seen == 0:
                turn.note(stores.BEGAN, value=settings.text)

    @property
    def class_names(self) -> tuple[str, ...]:
        """What the labels call the classes."""
        with self.together() as turn:
            return turn.state.classes

    # -- workers ---------------------------------------------------------------------------------------------------

    def ask(self, worker: str) -> Lease | None:
        """The next task of a worker, or the one they have; None: nothing is worth asking now.

        A worker who never came before is enrolled. Raises InputError if the worker may not come.
        """
        check_name(worker)  # the empty one is the expert's
        with self.together() as turn:
            return turn.asked(worker)

    def tell(self, lease: Lease | int, label: object) -> ToldLabel:
        """A label for a lease; told again it changes nothing, and the answer is the same.

        lease: as :meth:`ask` gave it, or its id; label: the name of a class. Raises InputError if there was no such
        lease, or the label is no class of the campaign.
        """
        with self.together() as turn:
            return turn.told(lease if isinstance(lease, int) else lease.id, str(label))

    def correct(self, lease: Lease | int, label: object) -> ToldLabel:
        """Another label for a lease that has one: it takes the place of the first.

        Raises InputError if the lease has no label, the label is no class of the campaign, or the policy takes none
        back.
        """
        with self.together() as turn:
            return turn.corrected(lease if isinstance(lease, int) else lease.id, str(label))

    def skip(self, lease: Lease | int) -> None:
        """A worker gives a task back, and is not asked about it again."""
        with self.together() as turn:
            turn.skipped(lease if isinstance(lease, int) else lease.id)

    def look(self) -> Lease | None:
        """The next answer that an expert is to look at, or the one they have; None: there is none now.

        It is told, corrected and skipped like a worker's, and its time is never over. What the expert tells is the
        task's answer. Raises InputError where tasks arrive and not workers.
        """
        with self.together() as turn:
            return turn.asked(EXPERT)

    def arrive(self, task: str, type: str = "") -> list[Lease]:
        """A task arrives; -> a lease for each worker who is to label it.

        For policies that learn whom to ask. type: of the campaign's types. Raises InputError if the task came before.
        """
        with self.together() as turn:
            return turn.arrived(task, type)

    # -- the manager -----------------------------------------------------------------------------------------------

    def remove(self, worker: str) -> None:
        """A worker is asked no more; what they told stays."""
        with self.together() as turn:
            turn.known_worker(worker)
            turn.note(stores.REMOVED, worker=worker)

    def shut_doors(self) -> None:
        """No worker will come who has not come yet: policies that repair at the end may begin."""
        with self.together() as turn:
            turn.note(stores.DOORS_SHUT)

    def retarget(self, epsilon: float) -> None:
        """Every task may be wrong with that chance from now on; workers who were let go may be asked again.

        Raises InputError if the policy knows no other target on the way, or it is no chance.
        """
        with self.together() as turn:
            turn.retargeted(epsilon)

    def bring(self, worker: str, task: str, label: object) -> bool:
        """A label that was given elsewhere, asked for or not; False: the worker cannot be met yet: bring it again.

        A second one of the same pair corrects the first. Raises InputError if the worker, task or label is none of the
        campaign's.
        """
        with self.together() as turn:
            return turn.brought(worker, task, str(label))

    def pause(self) -> None:
        """No task is handed out until :meth:`resume`; labels are taken."""
        with self.together() as turn:
            turn.note(stores.PAUSED)

    def resume(self) -> None:
        """Tasks are handed out again."""
        with self.together() as turn:
            turn.note(stores.RESUMED)

    # -- what is known ---------------------------------------------------------------------------------------------

    def labels(self) -> list[Any]:
        """Every label in the order in which it came, as rows of worker, task, label, at, paid, late, gold."""
        with self.together() as turn:
            return turn.state.label_rows()

    def answers(self) -> list[Any]:
        """An answer for each task, as rows of task, answer, claim (chance that it is wrong, as believed), labels."""
        with self.together() as turn:
            return turn.state.answer_rows()

    def looks(self) -> list[Any]:
        """What an expert looks at, as rows of task, status, answer (of the labels), label (the expert's), paid."""
        with self.together() as turn:
            return turn.state.looks.rows(turn.state.classes)

    def progress(self) -> dict[str, Any]:
        """Labels, money, workers, leases, and tasks that are not as sure as they are to be."""
        with self.together() as turn:
            return turn.state.progress()

    def limits(self) -> Least:
        """What all labels would cost at least, whatever the policy, with those who came and skills as believed now.

        The least that no policy beats at the campaign's mean error target; labels that are in are not taken off.
        Raises InputError if no skills are believed yet, or tasks arrive and not workers.
        """
        with self.together() as turn:
            possible = turn.state.course.possible()
        return possible()

    def workers(self) -> list[Any]:
        """Who came, as rows of worker, labels, paid, leases, and what is believed of their skill."""
        with self.together() as turn:
            return turn.state.worker_rows()

    def events(self, after: int = 0) -> list[Event]:
        """The history after an event, in order."""
        with self.store.hold() as book:
            return book.after(after)

    @contextmanager
    def together(self) -> Iterator[LiveTurn]:
        """Several calls in one turn, kept together or not at all; the service flushes them to the disk at once."""
        with self._or_forgotten(), self.store.hold() as book:
            try:
                turn = LiveTurn(self._caught_up(book), book, self.clock())
                for worker in self._overdue(turn):
                    turn.note(stores.EXPIRED, worker=worker)
                yield turn
                turn.write()
                self._overdue(turn)
            except InputError:  # what was asked made no sense: nothing has changed, unless something was written
                raise
            except BaseException:
                self._state = None  # a decision may have been half made
                raise

    def close(self) -> None:
        """Let go of the store; a file of SQLite then holds the whole history by itself."""
        self.store.close()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _overdue(self, turn: LiveTurn) -> list[str]:
        """Workers whose time is over; a deadline that is new here is so far off as the history says, a lease at most.

        The time of day measures it where another process set it, or this one before it was started again.
        """
        read, state = self.steady(), turn.state
        self._passed, self._read = self._passed + max(0.0, read - self._read), read
        for worker in state.moved & state.deadline.keys():
            left = min(state.deadline[worker] - turn.now, self.settings.lease)
            self._ends[worker] = self._passed + left
        state.moved.clear()
        return [worker for worker in state.deadline if self._ends[worker] < self._passed]

    @contextmanager
    def _or_forgotten(self) -> Iterator[None]:
        """Forget the state where the store could not keep what led to it."""
        seen = -1 if self._state is None else self._state.seen
        try:
            yield
        except BaseException:
            if self._state is not None and self._state.seen != seen:
                self._state = None
            raise

    def _caught_up(self, book: SQLLedgerbook) -> LiveState:
        if self._state is None:
            self._state = self._made(book)
        for event in book.after(self._state.seen):
            self._state.apply(event)
        return self._state

    def _made(self, book: SQLLedgerbook) -> LiveState:
        first = book.after(0, 1)
        if first and LiveSettings.of(first[0].value) != self.settings:
            raise InputError(_differs(LiveSettings.of(first[0].value), self.settings))
        return self._make(self.settings)


class LiveTurn:
    """One hold of the store: the state, and the events of this turn, which are written when it ends well."""

    def __init__(self, state: LiveState, book: SQLLedgerbook, now: float) -> None:
        self.state, self.book = state, book
        self.now = max(now, state.at)  # a clock that was set back does not turn the history back
        self.fresh: list[Event] = []

    def note(self, kind: str, applied: bool = False, **what: Any) -> Event:
        """Write an event; applied: whether the state has changed by it already."""
        event = Event(self.state.seen + 1, self.now, kind, **what)
        self.state.apply(event, applied)
        self.fresh.append(event)
        return event

    def write(self) -> None:
        """Hand the events to the store."""
        if self.fresh:
            self.book.append(self.fresh)

    # -- what a worker does ----------------------------------------------------------------------------------------

    def asked(self, worker: str) -> Lease | None:
        """See :meth:`Live.ask`, and of the expert :meth:`Live.look`."""
        if worker == EXPERT:
            return self._look()
        self.may_come(worker)
        if self.state.paused and worker not in self.state.enrolled:
            return None
        self.admit(worker)
        if held := self.state.lease_of(worker):
            return held
        if self.state.paused:
            return None
        while (task := self.state.course.next_task(worker)) is None:
            if not self._decide(worker):
                return None
        until = self.now + self.state.settings.lease
        leased = self.note(stores.LEASED, worker=worker, task=task, value=repr(until))
        return self.state.leases[leased.number]

    def _look(self) -> Lease | None:
        looks, course = self.state.looks, self.state.course
        if held := self.state.lease_of(EXPERT):
            return held
        if self.state.paused:
            return None
        if course.may_mend:  # labels come first
            self._decided("", course.mend())
        if due := looks.due():
            looks.draw(due)
            self.note(stores.DRAWN, True, value=json.dumps(due, separators=(",", ":")))
        if (task := looks.next_task()) is None:
            return None
        leased = self.note(stores.LEASED, task=task, value=repr(self.now + self.state.settings.lease))
        return self.state.leases[leased.number]

    def may_come(self, worker: str) -> None:
        """Raises InputError if the worker may not come."""
        check_name(worker)
        if not self.state.course.knows(worker):
            raise InputError(f"worker {worker!r} is not in workers.csv, and no place for newcomers is left")

    def admit(self, worker: str) -> None:
        """A worker who may come has come."""
        self.may_come(worker)
        if worker not in self.state.enrolled:
            self.note(stores.ENROLLED, worker=worker)

    def _decide(self, worker: str) -> bool:
        """Have the policy decide; False: the worker has to wait, or nothing is left for them."""
        course = self.state.course
        if course.is_over(worker):
            if not course.may_mend:
                return False
            return bool(self._decided("", course.mend()))
        if course.waits(worker, self.state.told):
            return False
        return self._decided(worker, course.decide(worker, self.state.told))

    def _decided(self, worker: str, decision: list[Any]) -> bool:
        self.note(stores.DECIDED, True, worker=worker, value=json.dumps(decision, separators=(",", ":")))
        return len(decision) > 1 or bool(worker)

    def told(self, lease: int, label: str) -> ToldLabel:
        """See :meth:`Live.tell`."""
        known = self.state.label_of(lease)
        if known is not None:
            return ToldLabel(lease, known[0], known[1], repeated=True)
        self._known_lease(lease)
        self.state.class_of(label)
        late = lease not in self.state.leases
        if late and self.state.holder(lease) == EXPERT:
            raise InputError("the expert has given that task back")
        self.note(stores.TOLD, lease=lease, worker=self.state.holder(lease), value=label)
        return ToldLabel(lease, label, late)

    def corrected(self, lease: int, label: str) -> ToldLabel:
        """See :meth:`Live.correct`."""
        known = self.state.label_of(lease)
        if known is None:
            raise InputError(f"lease {lease} has no label yet; send its label first")
        self.state.class_of(label)
        if known[0] == label:
            return ToldLabel(lease, label, known[1], repeated=True)
        if (worker := self.state.holder(lease)) != EXPERT:
            self.state.course.check_correction(self.state.task_of(lease))
        self.note(stores.CORRECTED, lease=lease, worker=worker, value=label)
        return ToldLabel(lease, label, known[1])

    def retargeted(self, epsilon: float) -> None:
        """See :meth:`Live.retarget`."""
        self.state.course.check_target(epsilon)
        self.note(stores.RETARGETED, value=repr(float(epsilon)))

    def brought(self, worker: str, task: str, label: str) -> bool:
        """See :meth:`Live.bring`."""
        self.state.class_of(label)
        if not self.state.course.has(task):
            raise InputError(f"there is no task {task[:80]!r} in this campaign")
        if (told := self.state.label_for(worker, task)) is not None:
            self.corrected(told, label)
            return True
        self.admit(worker)
        if (lease := self.state.lease_for(worker, task)) is not None:
            self.told(lease, label)
        elif self._met(worker):
            self.note(stores.BROUGHT, worker=worker, task=task, value=label)
        else:
            return False
        return True

    def _met(self, worker: str) -> bool:
        """Whether the policy knows the worker; if not, let it meet them now. What it means for them is free again."""
        course = self.state.course
        if not course.hears(worker) and not course.waits(worker, self.state.told):
            self._decided(worker, course.decide(worker, self.state.told))
            if course.holds(worker):
                self.note(stores.EXPIRED, worker=worker)
        return course.hears(worker)

    def skipped(self, lease: int) -> None:
        """See :meth:`Live.skip`."""
        self._known_lease(lease)
        if lease in self.state.leases:
            self.note(stores.SKIPPED, lease=lease, worker=self.state.holder(lease))

    def arrived(self, task: str, type: str) -> list[Lease]:
        """See :meth:`Live.arrive`."""
        check_name(task)
        self.state.course.check_arrival(task, type)
        self.note(stores.ARRIVED, task=task, value=type)
        decision = self.state.course.decide_task(task)
        self.note(stores.DECIDED, True, task=task, value=json.dumps(decision, separators=(",", ":")))
        until = repr(self.now + self.state.settings.lease)
        workers = self.state.course.asked_about(task)
        for worker in workers:
            if worker not in self.state.enrolled:
                self.note(stores.ENROLLED, worker=worker)
        noted = [self.note(stores.LEASED, worker=worker, task=task, value=until) for worker in workers]
        return [self.state.leases[event.number] for event in noted]

    def known_worker(self, worker: str) -> None:
        """Raises InputError if the worker never came."""
        if worker not in self.state.enrolled:
            raise InputError(f"worker {worker!r} has not come yet")

    def _known_lease(self, lease: int) -> None:
        if self.state.holder(lease) is None:
            raise InputError(f"there is no lease {lease}; ask for a task first")


def check_name(name: str) -> None:
    """Raises InputError if a worker's or task's name is empty or blank, or is no text that a database keeps."""
    if not name.strip() or "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InputError(f"{name[:40]!r} is no name; take letters, digits and signs")


def _differs(kept: LiveSettings, given: LiveSettings) -> str:
    if kept.campaign != given.campaign:
        changed = "the store holds the history of another campaign, or its tables have changed since"
        return f"{changed}; choose another store; {MORE}"
    names = [name for name in kept.__dict__ if getattr(kept, name) != getattr(given, name)]
    said = ", ".join(f"{name} {getattr(kept, name)!r}" for name in names)
    return f"the campaign in the store began with {said}; go on with the same, or choose another store"
