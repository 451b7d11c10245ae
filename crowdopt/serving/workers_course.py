"""Workers arrive: an online policy serves all who are here at once, label by label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.labels import GOLD, REFUSED, REPAIR
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Late, Out, Run, Stream, Target
from crowdopt.online.crowds import Simulated
from crowdopt.online.policy import Visit
from crowdopt.serving.label_limits import (
    LabelLimits,
    Repairs,
    check_unlearning,
    correct_gold,
    correct_work,
    with_newcomers,
)
from crowdopt.serving.live_rows import MORE, AnswerRow, GoldTasks, LiveLooks, LiveSettings, NumberRows, Seat
from crowdopt.serving.workers_report import (
    possible_of,
    progress_of,
    remarks_of,
    rows_of_answers,
    rows_of_workers,
    run_of,
)

NONE = "none"  # nothing is worth asking
EMPTY = np.zeros(0, np.int64)


class WorkersCourse:
    """An online policy, the workers who have come, and what each was asked.

    Its methods change nothing but the state; which of them are called, and in what order, is the history.
    """

    def __init__(
        self,
        instance: AssignmentInstance,
        policy: Any,
        settings: LiveSettings,
        solve: Solve,
        gold: GoldTasks,
        collected: Ints | None = None,
    ) -> None:
        if instance.difficulty.share:
            raise InputError("live campaigns look for hard tasks themselves; take difficulty out of the campaign")
        self.whole = with_newcomers(instance, settings.newcomers)
        self.settings, self.policy, self.gold, self.solve, self.collected = settings, policy, gold, solve, collected
        money = settings.money if instance.budget is None else instance.budget
        self.limits = LabelLimits(self.whole, money, not policy.over_capacity)
        served = replace(self.whole, budget=None, max_labels=np.full(self.whole.n_tasks, UNLIMITED))
        if gold.ids:
            known = np.isin(instance.task_ids, gold.ids)
            served = replace(served, demand=np.where(known, 0.0, served.demand))
        truth = np.full(served.n_tasks, -1)
        hard = np.zeros(served.n_tasks, bool)  # no label is simulated
        self.stream = Stream(served, Simulated(served, None, truth, (settings.seed,), hard), truth)
        self.instance, self.served = self.stream.instance, served
        policy.start(self.stream.known, solve)
        self.sent = int(policy.preliminary(self.instance.n_workers))
        self.seats: list[Seat] = []
        self.seat_of: dict[str, Seat] = {}
        names = self.whole.worker_ids
        self.place_of = {name: j for j, name in enumerate(names) if not name.startswith("\0")}
        self.free_places = [j for j, name in enumerate(names) if name.startswith("\0")]
        # arrivals so far: preliminary workers, those of them who are done, workers of the stream
        self.came, self.sent_done, self.arrived = 0, 0, 0
        self.doors_shut = False
        self.repairs, self.looks = Repairs(), LiveLooks(self)
        self.work = NumberRows("?qqq")  # whether it is a repair, task, place, class
        self.gold_labels, self.gold_cost, self.refused = 0, 0.0, 0
        self.gold_said: dict[tuple[int, int], int] = {}  # place of a worker, gold task -> class
        self._barred = self._barred_tasks()

    # -- who is here -----------------------------------------------------------------------------------------------

    def enrol(self, worker: str) -> None:
        """A worker came for the first time."""
        place = self.place_of.get(worker)
        if place is None:
            if not self.free_places:
                raise InputError(
                    f"worker {worker!r} is not in workers.csv and no place for newcomers is left; add them there, "
                    "or begin the campaign with --newcomers"
                )
            place = self.free_places.pop(0)
        seat = Seat(worker, place, gold_done=[EMPTY] * self.instance.n_types)
        self.seats.append(seat)
        self.seat_of[worker] = seat

    def knows(self, worker: str) -> bool:
        """Whether the worker may come."""
        return worker in self.seat_of or worker in self.place_of or bool(self.free_places)

    def remove(self, worker: str) -> None:
        """The worker is asked no more."""
        self.expire(worker)
        seat = self.seat_of[worker]
        seat.over, seat.removed = True, True

    # -- what they are asked ---------------------------------------------------------------------------------------

    def waits(self, worker: str, labels: int) -> bool:
        """Whether the worker is to come again later; labels: told so far. Changes nothing that is kept."""
        seat = self.seat_of[worker]
        if seat.number < 0 and not self._may_arrive():
            return True
        out, busy = self._out(), self._at_work()
        if seat.refused_at == labels and out[0].size:
            return True
        self.policy.hear(Out(*out))
        if seat.number >= 0 or busy[0].size < self.settings.crew:
            busy = EMPTY, EMPTY
        return not self.policy.wants(*busy)

    def is_over(self, worker: str) -> bool:
        """Whether nothing more will be asked of the worker, repairs aside."""
        return self.seat_of[worker].over

    def decide(self, worker: str, labels: int) -> list[Any]:
        """What the policy asks of the worker now; -> as plain JSON, for the history."""
        seat = self.seat_of[worker]
        out = self._out()
        self.policy.hear(Out(*out))
        if seat.visit is None:
            seat.visit = self._arrival(seat)
        assert seat.rng is not None
        decision = seat.visit.next(seat.rng)
        if decision is None:
            self._leave(seat, bool(out[0].size), labels)
            return [NONE]
        self._take(seat, decision)
        return [decision.kind, *decision.tasks.tolist()]

    def _leave(self, seat: Seat, out: bool, labels: int) -> None:
        """Nothing is worth asking: for good, unless labels that are out may change that."""
        assert seat.visit is not None
        if seat.preliminary:
            seat.preliminary, seat.number, seat.visit = False, -1, None
            self.sent_done += 1
        elif out and seat.visit.may_return:
            seat.refused_at = labels
        else:
            seat.over = True

    def _take(self, seat: Seat, decision: Decision) -> None:
        seat.decision = decision
        if decision.kind == GOLD:
            key = (self.settings.seed, int(seat.preliminary), seat.place)
            seat.asked = self.gold.next_ones(decision.tasks.astype(np.int64), seat.gold_done, key)
            if seat.asked.size:
                prices = self._gold_price(seat.asked, seat)
                able = self.limits.spent + np.cumsum(prices) <= self.limits.money
                seat.asked = seat.asked[able]
                self.limits.spent += float(prices[able].sum())
            seat.queue = list(range(seat.asked.size))
        else:
            seat.asked = decision.tasks.astype(np.int64)
            seat.queue = self.limits.kept(seat.asked, seat.place).tolist()
            self.limits.reserve(seat.asked[seat.queue], seat.place)
        seat.got = np.full(seat.asked.size, REFUSED)
        self._settle(seat)

    def check_arrival(self, task: str, kind: str) -> None:
        """Raises InputError: tasks are the campaign's, from the beginning."""
        serves = f"policy {self.policy.name} serves workers who arrive"
        raise InputError(f"{serves}; for tasks that arrive take one of learn's, as ls-ol; {MORE}")

    def arrive(self, task: str, kind: str) -> None:
        """No task arrives."""
        self.check_arrival(task, kind)

    def decide_task(self, task: str) -> list[Any]:
        """No task arrives."""
        self.check_arrival(task, "")
        return []

    def asked_about(self, task: str) -> list[str]:
        """No task arrives."""
        return []

    def next_task(self, worker: str) -> str | None:
        """The task that the worker is to be handed next of what was decided; None: all of it is out or in."""
        seat = self.seat_of[worker]
        if seat.queue:
            return self._name(seat, seat.queue[0])
        if seat.repairs:
            return self.instance.task_id(int(self.repairs.tasks[seat.repairs[0]]))
        return None

    def lease(self, worker: str, lease: int) -> None:
        """The worker was handed that task."""
        seat = self.seat_of[worker]
        if seat.queue:
            seat.out[lease] = seat.queue.pop(0)
        else:
            self.repairs.out[lease] = seat.repairs.pop(0)

    # -- what came of it -------------------------------------------------------------------------------------------

    def tell(self, worker: str, lease: int, label: int) -> tuple[float, bool]:
        """A label came for a lease that is live; -> what it is paid, and whether it is gold."""
        seat = self.seat_of[worker]
        if lease in self.repairs.out:
            return self._mended(seat, self.repairs.out.pop(lease), label), False
        assert seat.decision is not None
        k, gold = seat.out.pop(lease), seat.decision.kind == GOLD
        seat.got[k] = label
        if gold:
            price = float(self._gold_price(seat.asked[k], seat))
            self.gold_said[seat.place, int(seat.asked[k])] = label
            self.gold_labels += 1
            self.gold_cost += price
        else:
            price = self.limits.price(int(seat.asked[k]), seat.place)
            self.work.append((False, int(seat.asked[k]), seat.place, label))
        self._settle(seat)
        return price, gold

    def give_back(self, worker: str, lease: int) -> None:
        """A label will not come."""
        seat = self.seat_of[worker]
        if lease in self.repairs.out:
            self._mended(seat, self.repairs.out.pop(lease), REFUSED)
            return
        k = seat.out.pop(lease)
        self._release(seat, k)
        self._settle(seat)

    def late(self, worker: str, task: str, label: int) -> tuple[float, bool]:
        """A label came whose lease was over: evidence all the same; -> what it is paid, and whether it is gold."""
        seat = self.seat_of[worker]
        if task in self.gold.ids:
            price = float(self._gold_price(self.gold.ids.index(task), seat))
            self.limits.spent += price
            return price, True
        place = self.task_of[task]
        self.limits.again(place, seat.place)
        self.work.append((False, place, seat.place, label))
        self.policy.hear(Late(seat.number, place, label))
        return self.limits.price(place, seat.place), False

    def hears(self, worker: str) -> bool:
        """Whether the worker was met, and not only for gold."""
        seat = self.seat_of[worker]
        return seat.number >= 0 and not seat.preliminary

    def has(self, task: str) -> bool:
        """Whether it is one of the campaign's, or gold."""
        return task in self.task_of or task in self.gold.ids

    def bring(self, worker: str, task: str, label: int) -> tuple[float, bool]:
        """A label that was not asked for: if it was meant for the worker it is that one, else as one that came late."""
        seat, place = self.seat_of[worker], self.task_of.get(task, -1)
        meant = [k for k in seat.queue if seat.decision is not None and seat.decision.kind != GOLD]
        k = next((k for k in meant if int(seat.asked[k]) == place), None)
        if k is None:
            self.limits.take(place, seat.place)
            return self.late(worker, task, label)
        seat.queue.remove(k)
        seat.got[k] = label
        self.work.append((False, place, seat.place, label))
        self._settle(seat)
        return self.limits.price(place, seat.place), False

    def check_correction(self, task: str) -> None:
        """Raises InputError if the policy cannot unlearn a label, or an expert has judged by it."""
        check_unlearning(self.policy, self.task_of.get(task, -1) in self.looks.seen)

    def correct(self, worker: str, task: str, label: int, late: bool) -> None:
        """A label that the policy was not told yet is exchanged; one that it was told it learns anew."""
        if task in self.gold.ids:
            correct_gold(self, self.seat_of[worker], self.gold.ids.index(task), label, late)
        else:
            correct_work(self, self.seat_of[worker], self.task_of[task], label)

    def check_target(self, epsilon: float) -> None:
        """Raises InputError if the policy knows no other target, or the campaign cannot have it."""
        if not self.policy.retargets:
            raise InputError(f"policy {self.policy.name} keeps its target; sequential and adaptive take another")
        replace(self.served, epsilon=self._everywhere(epsilon))

    def retarget(self, epsilon: float) -> None:
        """Who was let go may be asked again, as far as they have room."""
        self._aim(self._everywhere(epsilon))
        self.repairs.over = False
        for seat in self.seats:
            if seat.number >= 0 and not (seat.preliminary or seat.removed):
                seat.over, seat.refused_at = False, -1
                meant = 0 if seat.decision is None or seat.decision.kind == GOLD else len(seat.out) + len(seat.queue)
                room = int(self.instance.capacity[seat.place] - self.limits.load[seat.place]) + meant
                assert seat.visit is not None
                seat.visit.recall(max(0, room))

    def _everywhere(self, epsilon: float) -> Floats:
        return np.full(self.served.n_tasks, float(epsilon))

    def _aim(self, epsilon: Floats) -> None:
        self.whole, self.served = (replace(one, epsilon=epsilon) for one in (self.whole, self.served))
        self.stream = Stream(self.served, self.stream.crowd, self.stream.truth)
        self.instance = self.stream.instance
        self.policy.hear(Target(self.stream.known))

    def expire(self, worker: str, again: bool = False) -> None:
        """What the worker has or was meant to have is free again; again: what they never had for them too."""
        seat = self.seat_of[worker]
        for k in [*seat.out.values(), *seat.queue]:
            self._release(seat, k)
        theirs = [lease for lease, k in self.repairs.out.items() if self.repairs.workers[k] == seat.number]
        lapsed = [*map(self.repairs.out.pop, theirs), *seat.repairs]
        for k in lapsed:
            self._mended(seat, k, REFUSED)
        self.repairs.over &= not (again and lapsed)
        seat.repairs, unseen, seat.queue = [], seat.queue, []
        seat.out.clear()
        if seat.decision is not None and again:
            self._lapse(seat, seat.decision, unseen)
        elif seat.decision is not None:
            self._settle(seat)

    def _lapse(self, seat: Seat, decision: Decision, unseen: list[int]) -> None:
        tasks = seat.asked[unseen]
        if decision.kind == GOLD:
            seat.asked, seat.got = (np.delete(column, unseen) for column in (seat.asked, seat.got))
            tasks = np.bincount(self.gold.kind[tasks], minlength=self.instance.n_types)
        else:
            self.limits.reopen(tasks, seat.place)
        self._settle(seat)
        assert seat.visit is not None
        seat.visit.lapsed(tasks)

    def holds(self, worker: str) -> bool:
        """Whether anything is reserved for the worker."""
        seat = self.seat_of[worker]
        return bool(seat.decision is not None or seat.repairs)

    def _release(self, seat: Seat, k: int) -> None:
        assert seat.decision is not None
        if seat.decision.kind == GOLD:
            self.limits.spent -= float(self._gold_price(seat.asked[k], seat))
        else:
            self.limits.release(int(seat.asked[k]), seat.place)

    def _settle(self, seat: Seat) -> None:
        """Tell the policy when all that it asked is in."""
        if not seat.ready:
            return
        decision, seat.decision = seat.decision, None
        assert decision is not None and seat.visit is not None
        if decision.kind == GOLD:
            seat.visit.learn(self._tally(seat))
        else:
            self.refused += int(np.count_nonzero(seat.got == REFUSED))
            seat.visit.learn(seat.got)

    def _tally(self, seat: Seat) -> Ints:
        """Gold that is in: right and asked, (2, types); what was handed out is not asked again."""
        types, kind = self.instance.n_types, self.gold.kind[seat.asked]
        done = seat.got != REFUSED
        right = done & (seat.got == self.gold.truth[seat.asked])
        for t in range(types):
            seat.gold_done[t] = np.concatenate([seat.gold_done[t], seat.asked[kind == t]])
        return np.stack([np.bincount(kind[which], minlength=types) for which in (right, done)])

    # -- at the end ------------------------------------------------------------------------------------------------

    @property
    def may_mend(self) -> bool:
        """Whether all who will come have been served, and the policy may repair what is short."""
        if self.repairs.over or self.repairs.wanted is not None or self.sent_done < self.sent:
            return False
        return self._all_came and all(seat.over for seat in self.seats) and not self._out()[0].size

    @property
    def at_rest(self) -> bool:
        """Whether no label is out or wanted and no worker will come, so that answers may be looked at."""
        done = self.doors_shut or all(seat.over for seat in self.seats)
        idle = not any(seat.decision is not None for seat in self.seats)
        return self._all_came and done and idle and self.repairs.wanted is None

    @property
    def _all_came(self) -> bool:
        return self.doors_shut or self.arrived == self.instance.n_workers

    def mend(self) -> list[Any]:
        """What the policy wants repaired, and by whom; -> as plain JSON, for the history."""
        seated = np.zeros(self.instance.n_workers, np.int64)
        numbers = {seat.number: seat for seat in self.seats if seat.number >= 0 and not seat.removed}
        for number, seat in numbers.items():
            seated[number] = max(0, int(self.instance.capacity[seat.place] - self.limits.load[seat.place]))
        decision = self.policy.close(seated)
        if decision is None or decision.workers is None or not decision.tasks.size:
            self.repairs.over = True
            return [NONE]
        self.repairs.begin(decision)
        for number in np.unique(decision.workers).tolist():
            seat, mine = numbers[number], np.flatnonzero(decision.workers == number)
            tasks = self.repairs.tasks[mine]
            kept = self.limits.kept(tasks, seat.place)
            self.limits.reserve(tasks[kept], seat.place)
            seat.repairs = mine[kept].tolist()
            self.repairs.withdraw(np.setdiff1d(mine, mine[kept]))
        pairs = np.column_stack([decision.tasks, decision.workers]).ravel().tolist()
        self.repairs.ended(self.policy)
        return [REPAIR, *pairs]

    def _mended(self, seat: Seat, k: int, label: int) -> float:
        task = int(self.repairs.tasks[k])
        self.repairs.came(k, label)
        if label == REFUSED:
            self.limits.release(task, seat.place)
        else:
            self.work.append((True, task, seat.place, label))
        self.repairs.ended(self.policy)
        return self.limits.price(task, seat.place)

    # -- what is known ---------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """All of it as a run of the policy, workers by number of arrival; those who have not come stand behind."""
        return run_of(self)

    def answer_rows(self, classes: Sequence[str]) -> list[AnswerRow]:
        """An answer for each task, by the policy's own combining."""
        return rows_of_answers(self, self.run(), classes)

    worker_rows, remarks, possible = rows_of_workers, remarks_of, possible_of

    def progress(self) -> dict[str, Any]:
        """Tasks, and how many are not as sure as they are to be; the money there is."""
        return progress_of(self, self.run())

    @property
    def task_of(self) -> dict[str, int]:
        """Index of each task."""
        if not hasattr(self, "_task_of"):
            self._task_of = self.instance.task_places
        return self._task_of

    # -- inside ----------------------------------------------------------------------------------------------------

    def _name(self, seat: Seat, k: int) -> str:
        assert seat.decision is not None
        task = int(seat.asked[k])
        return self.gold.ids[task] if seat.decision.kind == GOLD else self.instance.task_id(task)

    def _gold_price(self, gold: Any, seat: Seat) -> Floats:
        return self.instance.cost[self.gold.kind[gold], seat.place]

    def _out(self) -> tuple[Ints, Ints]:
        """Tasks whose labels are out or meant for a worker, and the number of arrival of each, (k,) and (k,)."""
        busy = [seat for seat in self.seats if seat.decision is not None and seat.decision.kind != GOLD]
        tasks = [seat.asked[[*seat.out.values(), *seat.queue]] for seat in busy]
        numbers = np.array([seat.number for seat in busy], np.int64)
        return np.concatenate([EMPTY, *tasks]), np.repeat(numbers, [each.size for each in tasks])

    def _at_work(self) -> tuple[Ints, Ints]:
        """Who has something to do, by number of arrival, and the labels that each could still give, (k,) and (k,)."""
        busy = [seat for seat in self.seats if seat.decision is not None and not seat.preliminary]
        place = np.array([seat.place for seat in busy], np.int64)
        room = self.instance.capacity[place] - self.limits.load[place]
        return np.array([seat.number for seat in busy], np.int64), np.maximum(0, room)

    def _may_arrive(self) -> bool:
        return self.came < self.sent or self.sent_done >= self.sent

    def _arrival(self, seat: Seat) -> Visit:
        seat.preliminary = self.came < self.sent
        if seat.preliminary:
            seat.number, self.came = self.came, self.came + 1
        else:
            seat.number, self.arrived = self.arrived, self.arrived + 1
        skill: Floats | None = self.instance.accuracy[:, seat.place] if self.policy.shows_skill else None
        barred = EMPTY if seat.preliminary else self._barred[seat.place]
        if not seat.preliminary and (full := self.limits.full(seat.place)).any():
            barred = np.union1d(barred, np.flatnonzero(full))
        room = int(self.instance.capacity[seat.place])
        cost = self.instance.cost[:, seat.place]
        seat.rng = np.random.default_rng([self.settings.seed, int(seat.preliminary), seat.number])
        visit: Visit = self.policy.visit(Arrival(seat.number, room, cost, skill, barred, seat.preliminary))
        return visit

    def _barred_tasks(self) -> list[Ints]:
        pairs = self.instance.barred[np.argsort(self.instance.barred[:, 1], kind="stable")]
        cuts = np.searchsorted(pairs[:, 1], np.arange(1, self.instance.n_workers))
        return np.split(pairs[:, 0], cuts)
