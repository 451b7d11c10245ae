"""Running a policy over a stream: one arrival at a time.

How many more labels of each group a task may have, while workers come: what ``max_per_task`` leaves.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.alike import membership, task_limits
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.crowd.labels import GOLD, REFUSED, REPAIR
from crowdopt.online.arrivals import KINDS, Arrival, Decision, Ledger, Mended, Run, Stream, check
from crowdopt.online.checked_claims import CheckedAnswers, looked_at, to_look_at
from crowdopt.online.crowds import LOOKS
from crowdopt.online.policy import BasePolicy


class GroupRoom:
    """Labels of each group that tasks may still have.

    instance: its groups' ``max_per_task``; labels already in count.
    """

    def __init__(self, instance: AssignmentInstance) -> None:
        limited, _, most = task_limits(instance)
        self.member = membership(instance)[limited]
        self.left = most

    def full(self, worker: int) -> Bools:
        """Tasks that can have no more of the worker's groups; -> (tasks,)."""
        return np.any(self.left[self.member[:, worker]] <= 0, axis=0)

    def take(self, tasks: NDArray[np.integer], workers: Ints | int) -> None:
        """Labels that came; tasks (k,); workers int or (k,) int: who gave each."""
        if self.left.shape[0]:
            each = np.broadcast_to(workers, np.shape(tasks))
            for left, member in zip(self.left, self.member, strict=True):
                np.subtract.at(left, tasks[member[each]], 1)


UNLIMITED = np.iinfo(np.int64).max


class Replay:
    """A run in progress.

    A task that has as many labels of a group as ``max_per_task`` allows is barred to those of the group who come after;
    a repair that would go beyond is refused.

    seed: of the policy's own chance; each arrival's generator comes from (seed, arrival number).
    """

    def __init__(self, policy: BasePolicy, stream: Stream, seed: int, solve: Solve) -> None:
        self.policy, self.stream, self.seed = policy, stream, seed
        policy.start(stream.known, solve)
        self.sent = policy.preliminary(stream.instance.n_workers)
        self.next = 0  # place in the preliminary crowd and then the stream, one after the other
        self.ledger = Ledger(stream.instance.n_workers)
        self.group_room = GroupRoom(stream.instance)
        self.seconds = np.zeros(stream.instance.n_workers)
        self.looks: CheckedAnswers | None = None

    def advance(self, arrivals: int | None = None) -> Replay:
        """Play until so many workers of the stream have come; default: all."""
        last = self.sent + (self.stream.instance.n_workers if arrivals is None else arrivals)
        while self.next < last:
            self._serve(self.next)
            self.next += 1
        return self

    def finish(self) -> Run:
        """Play to the end, repair if the policy does, and sum up."""
        self.advance()
        while self._repaired():
            pass
        self._inspect()
        return self._run()

    def _serve(self, place: int) -> None:
        preliminary = place < self.sent
        number = place if preliminary else place - self.sent
        arrival = self.stream.arrival(number, self.policy.shows_skill, preliminary)
        if not preliminary and (full := self.group_room.full(number)).any():
            arrival = replace(arrival, barred=np.union1d(arrival.barred, np.flatnonzero(full)))
        rng = np.random.default_rng([self.seed, int(preliminary), number])
        gold, started = arrival.gold_done, perf_counter()
        visit = self.policy.visit(arrival)
        decision = visit.next(rng)
        spent = perf_counter() - started
        while decision is not None:
            labels = self._ask(arrival if gold is None else replace(arrival, gold_done=gold), decision)
            if decision.kind == GOLD:
                gold = labels[1] if gold is None else gold + labels[1]
            started = perf_counter()
            visit.learn(labels)
            decision = visit.next(rng)
            spent += perf_counter() - started
        if not preliminary:
            self.seconds[number] = spent

    def _ask(self, arrival: Arrival, decision: Decision) -> Ints:
        instance, crowd = self.stream.instance, self.stream.crowd
        room = UNLIMITED if self.policy.over_capacity else arrival.capacity - self._load(arrival)
        check(decision, arrival, instance.n_tasks, room, self.policy.name)
        if decision.kind == GOLD:
            right, asked = crowd.gold(arrival, decision.tasks.astype(np.int64))
            self.ledger.gold(arrival, asked)
            return np.stack([right, asked])
        labels = crowd.label(arrival.number, decision.tasks)
        self.group_room.take(decision.tasks[labels != REFUSED], arrival.number)
        price = arrival.cost[instance.task_type[decision.tasks]]
        self.ledger.work(decision.kind, decision.tasks, arrival.number, labels, price)
        return labels

    def _load(self, arrival: Arrival) -> int:
        return 0 if arrival.preliminary else int(self.ledger.load[arrival.number])

    def _repaired(self) -> bool:
        """Have repaired what the policy wants; whether it wants to be asked again."""
        room = np.maximum(0, self.stream.instance.capacity - self.ledger.load)
        decision = self.policy.close(room)
        if decision is None or decision.workers is None:
            return False
        if (np.bincount(decision.workers, minlength=room.size) > room).any():
            raise RuntimeError(f"policy {self.policy.name} repairs with workers who have no room")
        labels = np.empty(decision.tasks.size, np.int64)
        for worker in np.unique(decision.workers).tolist():
            labels[decision.workers == worker] = self._mend(decision.tasks[decision.workers == worker], worker)
        return self.policy.hear(Mended(decision.tasks.astype(np.int64), decision.workers, labels))

    def _inspect(self) -> None:
        """Have an expert look at the answers that are to be looked at; where no truth is known there is none."""
        wanted, rng = self.stream.instance.need > COVERAGE, np.random.default_rng([self.seed, LOOKS])
        told, policy = self.policy.answers(), self.policy
        tasks = to_look_at(told, policy.checks, wanted, int(self.ledger.count.sum()), rng)
        if not tasks.size:
            return
        truth = self.stream.truth[tasks]
        self.ledger.check(int(np.count_nonzero(truth >= 0)), policy.look)
        self.looks = looked_at(told, None, tasks[truth >= 0], truth[truth >= 0])

    def _mend(self, tasks: NDArray[Any], worker: int) -> Ints:
        instance = self.stream.instance
        open_, labels = ~self.group_room.full(worker)[tasks], np.full(tasks.size, REFUSED)
        labels[open_] = self.stream.crowd.label(worker, tasks[open_])
        self.group_room.take(tasks[labels != REFUSED], worker)
        self.ledger.work(REPAIR, tasks, worker, labels, instance.price(tasks, worker))
        return labels

    def _run(self) -> Run:
        arrays, verdict = self.ledger.arrays(), self.policy.answers(self.looks)
        over = np.maximum(0, self.ledger.load - self.stream.instance.capacity).sum()
        return Run.of(
            verdict,
            self.stream,
            policy=self.policy.name,
            task=arrays["task"],
            worker=arrays["worker"],
            label=arrays["label"],
            labels=dict(zip(KINDS, self.ledger.count.tolist(), strict=True)),
            cost=dict(zip(KINDS, self.ledger.cost.tolist(), strict=True)),
            refused=self.ledger.refused,
            over_capacity=int(over),
            seconds=self.seconds,
            seed=self.seed,
            iterations=getattr(self.policy, "iterations", None),
        )


def replay(policy: BasePolicy, stream: Stream, seed: int, solve: Solve) -> Run:
    """Run a fresh policy over the whole stream; ``seed`` is of its own chance, ``solve`` for policies that price."""
    return Replay(policy, stream, seed, solve).finish()
