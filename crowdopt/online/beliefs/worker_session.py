"""One worker's session: what they are asked next, and when they are let go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import GOLD, WORK
from crowdopt.online.arrivals import Arrival, Decision
from crowdopt.online.beliefs.dismissal import EARLY, DismissalRule, learning
from crowdopt.online.beliefs.grid import edge_at_level
from crowdopt.online.beliefs.state import Beliefs

Ids: TypeAlias = NDArray[np.integer]

LEAST_PRICE = 1e-3
EQUAL = 1e-9  # relative; types whose labels are worth about the same are equals, of which the first is taken
GAIN = (0.05, 3.0)  # limits of what a label is worth, in units of its price
STAKE = 3.0  # how much of what learning is worth to the worker's own labels it is worth in all,
PATIENT = 0.7  # at this share of the price: finding the next worker costs labels too
AUDITED = 20  # labels of a type after which a worker's audit is due


@dataclass(frozen=True)
class SessionOptions:
    """How workers are tested; the options of the policy of the same names."""

    block: int
    most_gold: int
    testing: float
    settled: float
    audit: int


@dataclass(frozen=True, eq=False)
class OpenTasks:
    """Tasks that the worker who is here may work on."""

    sure: Floats  # (tasks,): level from which a task is closed
    free: NDArray[np.bool_]  # (tasks,): tasks that the worker may be given; written to
    left: Ints  # (types,): open tasks


class WorkerSession:
    """The worker who has just been welcomed, until they go.

    rule: what the worker has to be worth; cost (types,): of the worker's labels, in units of a middling one's.
    """

    def __init__(
        self,
        beliefs: Beliefs,
        rule: DismissalRule,
        options: SessionOptions,
        arrival: Arrival,
        tasks: OpenTasks,
        cost: Floats,
    ) -> None:
        self.beliefs, self.rule, self.options, self.cost = beliefs, rule, options, cost
        self.sure, self.free, self.left = tasks.sure, tasks.free, tasks.left
        self.worker, self.room, self.capacity = int(beliefs.came[0]) - 1, arrival.capacity, arrival.capacity
        self.refusals = 0  # labels that were refused in a row
        self.alive = np.ones(self.left.size, bool)
        self.given, self.audited = np.zeros(self.left.size, np.int64), np.zeros(self.left.size, bool)
        self.gold_left = np.full(self.left.size, options.most_gold)

    def next(self, rng: np.random.Generator) -> Decision | None:
        """What the worker does best, and of that the task that tells most; gold if that tells more; None: they go."""
        while self.room > 0:
            kind, value = self._best_type()
            if kind < 0:
                return None
            if self.given[kind] >= AUDITED and not self.audited[kind]:
                self.audited[kind] = True
                if self.options.audit:
                    return self._gold(kind, self.options.audit)
            new = 1 - self.beliefs.weight[self.worker, kind] / self.options.settled
            begin = int(rng.integers(self.free.size))
            task = self._pick(kind, new > 0, begin)
            if self.gold_left[kind] > 0 and new > 0 and self._gold_tells_more(kind, value, new, task):
                return self._gold(kind, min(self.options.block, int(self.gold_left[kind])))
            if task >= 0:
                return self._work(kind, new > 0, begin, task)
            if self.beliefs.hoped.any():
                return None  # what is open waits for labels that are out: the worker may yet be needed
            self.alive[kind] = False
        return None

    def checked(self, wanted: Ids, done: Ints) -> None:
        """Gold was answered; a table has what it has."""
        self.gold_left = np.where(done == wanted, np.maximum(0, self.gold_left - done), 0)

    def worked(self, tasks: Ids, got: NDArray[np.bool_]) -> None:
        """Labels came, but for those that were refused; no task is asked twice."""
        self.free[tasks] = False
        self.given += np.bincount(self.beliefs.kind[tasks[got]], minlength=self.given.size)
        self.room -= int(np.count_nonzero(got))
        self.refusals = 0 if got.any() else self.refusals + tasks.size

    def _best_type(self) -> tuple[int, float]:
        """The type with the largest E[r] for its price among those the worker is kept for, and E[r]; -1: they go."""
        value = (self.beliefs.density[self.worker] * self.rule.reward).sum(axis=-1)
        best = -1
        for kind in np.flatnonzero(self.alive).tolist():
            if not self.rule.keeps(kind, value[kind], self.beliefs.weight[self.worker, kind]):
                self.alive[kind] = False
            elif best < 0 or value[kind] * self.cost[best] > (1 + EQUAL) * value[best] * self.cost[kind]:
                best = kind
        return best, float(value[best])

    def _gold_tells_more(self, kind: int, value: float, new: float, task: int) -> bool:
        """Whether gold is worth more than a label, which tells less of the worker but something of a task."""
        # Both in units of a label's price. Gold tells all, a label the square of its task's edge as much.
        price = max(self.rule.price * self.cost[kind], LEAST_PRICE)
        worth = self.options.testing * new
        if self.worker >= EARLY:  # by now the prior is known well enough to tell what knowing more would change
            profit = self.rule.reward - PATIENT * price
            room = min(self.room, int(self.left[kind]))
            worth = min(
                worth, STAKE * self.left.size * learning(self.beliefs.density[self.worker, kind], profit, room) / price
            )
        if task < 0:
            return worth > 0
        told = edge_at_level(self.beliefs.level[task], self.beliefs.classes) ** 2
        return bool(worth * (1 - told) > min(max(value / price, GAIN[0]), GAIN[1]))

    def _work(self, kind: int, nearly: bool, begin: int, task: int) -> Decision:
        """As many tasks as a block takes, or more where many in a row were refused."""
        tasks: list[int] = []
        most = min(self.room, max(self.options.block, self.refusals))
        while task >= 0:
            tasks.append(task)
            self.free[task] = False
            task = self._pick(kind, nearly, begin) if len(tasks) < most else -1
        return Decision(WORK, np.array(tasks, np.int64))

    def _gold(self, kind: int, count: int) -> Decision:
        counts = np.zeros(self.left.size, np.int64)
        counts[kind] = count
        return Decision(GOLD, counts)

    def _pick(self, kind: int, nearly: bool, begin: int) -> int:
        """The open task that is surest, to test the worker, or least sure; -1 where none is left for them."""
        from crowdopt.online.beliefs.belief_kernels import pick

        level = self.beliefs.level + self.beliefs.hoped
        return int(pick(level, self.sure, self.free, self.beliefs.kind, kind, nearly, begin))
