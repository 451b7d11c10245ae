"""Labels one by one, with hardly any gold: whoever agrees with what is nearly sure is kept, the others are let go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.core.solution import Solve
from crowdopt.crowd.errors import InputError
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.stream import GOLD, REFUSED, WORK, Arrival, Decision, Known
from crowdopt.online.beliefs.grid import GRID, log_odds
from crowdopt.online.beliefs.standard import missing, standard
from crowdopt.online.beliefs.state import Beliefs

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

STOPS = ("mean", "each")
SETTLE = 5  # labels after which a worker's messages are worked out anew
CONFIRM = 6  # sweeps over everybody before the end is believed
RAISE = 0.1  # nats by which every task is to be surer where none is open and the mean is not there yet
GAIN = (0.05, 3.0)  # limits of what a label is worth, in units of its price


@dataclass
class Sequential:
    """Belief propagation, a fitted prior of skills, optimal stopping of workers, sequential tests of tasks.

    A worker is tested on the tasks that are nearly finished, or on gold where none is, until her skill is known; then
    she takes the least certain ones, or is let go. It ends when the mean posterior error is small enough, or every
    task's. Two classes, independent errors.

    Parameters
    ----------
    stop : str
        ``mean``: at a mean claimed error of epsilon; ``each``: when every task's is at most its epsilon.
    block : int
        Labels that are asked at once.
    margin : float
        A claimed error is the posterior's over 1 - margin: the fitted prior makes the posterior too sure by so much.
    bootstrap, gold : int
        The first so many workers answer so many gold tasks of each type, against the flipped solution.
    most_gold : int
        Gold tasks per worker and type at most.
    testing : float
        What learning a new worker's skill is worth, in units of a label's price.
    settled : float
        Labels of known correctness after which there is nothing to learn any more.
    """

    stop: str = "mean"
    block: int = 1
    margin: float = 0.1
    bootstrap: int = 10
    gold: int = 10
    most_gold: int = 40
    testing: float = 2.0
    settled: float = 30.0
    strength: float = 2.0
    fading: float = 4.0
    rounds: int = 100

    name: ClassVar[str] = "sequential"
    what: ClassVar[str] = "labels one by one: skills from agreement and a little gold, early dismissal, stop when sure"
    over_capacity: ClassVar[bool] = False
    shows_skill: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.stop not in STOPS:
            raise InputError(f"policy {self.name}: option stop is one of {', '.join(STOPS)}")
        if self.block < 1 or self.bootstrap < 0 or self.gold < 0 or self.most_gold < 0:
            raise InputError(f"policy {self.name}: block must be at least 1, bootstrap and gold at least 0")
        if not 0 <= self.margin < 1:
            raise InputError(f"policy {self.name}: margin must lie in [0, 1), not {self.margin}")

    def preliminary(self, workers: int) -> int:
        """Nobody."""
        return 0

    def start(self, known: Known, solve: Solve) -> None:
        """Nothing is known of any task or worker."""
        if known.classes != 2:
            raise InputError(f"policy {self.name} is for two classes, not {known.classes}; re-solve takes any number")
        self.known = known
        self.wanted = known.need > COVERAGE
        self.error = np.where(self.wanted, known.epsilon, 0.5)
        self.sure = log_odds(self.error * (1 - self.margin) if self.stop == "each" else self.error)
        self.beliefs = Beliefs(known.task_type, known.types, known.workers)
        self.over = np.array([not self.wanted.any()])
        self.paid = np.zeros(2)  # labels asked and what they cost: the middling price
        self.left, self.gold_left = np.zeros(known.types, np.int64), np.zeros(known.types, np.int64)
        self._number, self.room, self.since, self.refusals = -1, 0, 0, 0

    # -- one worker ------------------------------------------------------------------------------------------------

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """A test, a task, or the end."""
        if self.over[0]:
            return None
        if self._number != arrival.number:
            self._welcome(arrival)
            if self.worker < self.bootstrap and self.gold:
                return self._ask(GOLD, np.full(self.known.types, self.gold))
        decision = self._next(rng)
        if decision is None:
            self._leave()
        return decision

    def learn(self, labels: Ints) -> None:
        """Gold and work both tell of the worker; work tells of the tasks too."""
        if self._kind == GOLD:
            self.beliefs.check(*labels)
            there = labels[1] == self._asked  # a table has what it has
            self.gold_left = np.where(there, np.maximum(0, self.gold_left - labels[1]), 0)
            return
        got = labels != REFUSED
        self.free[self._asked] = False
        self.beliefs.hear(self._asked[got], labels[got])
        self.room -= int(got.sum())
        self.since += int(got.sum())
        self.refusals = 0 if got.any() else self.refusals + labels.size
        if self.since >= SETTLE:
            self.since = 0
            self.beliefs.settle(self.worker)
            self._look()

    def _welcome(self, arrival: Arrival) -> None:
        self._number, self.worker = arrival.number, self.beliefs.welcome()
        self.room, self.since, self.refusals = arrival.capacity, 0, 0
        self.free = self.wanted.copy()
        self.free[arrival.barred] = False
        self.gold_left = np.full(self.known.types, self.most_gold)
        self.alive = np.ones(self.known.types, bool)
        self._look()
        lack = missing(self.beliefs.odds, self.sure, self.error)
        to_come = self.known.workers - arrival.number
        horizons = np.minimum(arrival.capacity, self.left)
        most = float(np.mean(log_odds(self.error[self.wanted])))
        self.standard = standard(self.beliefs, most, lack, to_come, horizons, self._relative(arrival.cost))

    def _next(self, rng: np.random.Generator) -> Decision | None:
        """The type she is best at, and there the task that tells most; a gold task if that tells more."""
        while not self.over[0] and self.room > 0:
            kind, value = self._best_type()
            if kind < 0:
                return None
            learning = self.testing * max(0.0, 1 - self.beliefs.weight[self.worker, kind] / self.settled)
            tasks = self._tasks(kind, learning > 0, rng)
            worth = 0.0
            if tasks.size:
                gain = min(max(value / max(self.standard.price, 1e-3), GAIN[0]), GAIN[1])
                worth = gain + learning * np.tanh(abs(self.beliefs.odds[tasks[0]]) / 2) ** 2
            if self.gold_left[kind] > 0 and learning > worth:
                counts = np.zeros(self.known.types, np.int64)
                counts[kind] = min(self.block, self.gold_left[kind])
                return self._ask(GOLD, counts)
            if tasks.size:
                return self._ask(WORK, tasks)
            self.alive[kind] = False
        return None

    def _best_type(self) -> tuple[int, float]:
        """The type with the largest E[r] among those she is kept for; -1 when she is to go."""
        value = self.beliefs.density[self.worker] @ self.standard.reward
        best = -1
        for kind in np.flatnonzero(self.alive).tolist():
            if not self.standard.keeps(kind, value[kind], self.beliefs.weight[self.worker, kind]):
                self.alive[kind] = False
            elif best < 0 or value[kind] > value[best]:
                best = kind
        return best, float(value[best])

    def _tasks(self, kind: int, nearly: bool, rng: np.random.Generator) -> Ints:
        """Open tasks of a type, as many as a block takes: the surest ones to test her, else the least sure."""
        from crowdopt.online.beliefs.kernels import pick

        found: list[int] = []
        begin = int(rng.integers(self.known.n_tasks))
        odds, own = self.beliefs.odds, self.known.task_type
        for _ in range(min(self.room, max(self.block, self.refusals))):
            task = pick(odds, self.sure, self.free, own, kind, nearly, begin)
            if task < 0:
                break
            self.free[task] = False
            found.append(task)
        return np.array(found, np.int64)

    def _ask(self, kind: str, asked: Ints) -> Decision:
        self._kind, self._asked = kind, asked
        return Decision(kind, asked)

    def _leave(self) -> None:
        """She goes; what she said is weighed again together with all the rest."""
        for _ in range(2):
            self.beliefs.propagate()
            self.beliefs.refit(self.strength, self.fading, self.rounds)
            self.beliefs.propagate()
        self._look()

    # -- all of them -----------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Is it over? Otherwise there is an open task, if need be by wanting to be surer."""
        if self.over[0]:
            return
        if self._enough():
            self.beliefs.propagate(CONFIRM)
            self.over[0] = self._enough()
        while not self.over[0] and self.stop == "mean" and not self.left.any():
            self.sure += RAISE
            self._survey()

    def _enough(self) -> bool:
        error = self._survey() / (1 - self.margin)
        if self.stop == "mean":
            return bool(error <= self.error[self.wanted].sum())
        return not self.left.any()

    def _survey(self) -> float:
        from crowdopt.online.beliefs.kernels import survey

        return float(survey(self.beliefs.odds, self.sure, self.wanted, self.known.task_type, self.left))

    def _relative(self, cost: Floats) -> Floats:
        """Cost of her labels in units of the mean over all who came."""
        self.paid += (cost.size, cost.sum())
        mean = self.paid[1] / self.paid[0]
        return cost / mean if mean > 0 else np.ones_like(cost)

    # -- what came of it -------------------------------------------------------------------------------------------

    def close(self, room: Ints) -> Decision | None:
        """Nothing to repair."""
        return None

    def mended(self, tasks: Ints, workers: Ints, labels: Ints) -> bool:
        """Nothing was repaired."""
        return False

    def skills(self) -> Floats:
        """Posterior means, (types, workers); 1/2 for those who were not needed."""
        found = np.full((self.known.types, self.known.workers), 0.5)
        found[:, : self.beliefs.came[0]] = self.beliefs.mean(GRID).T
        return found

    def prices(self) -> Floats | None:
        """None: it works with nats, not with evidence."""
        return None

    def answers(self) -> str:
        """Its own."""
        return "own"

    def decided(self) -> Ints:
        """The likelier class of each task; -1 where nothing is known."""
        odds = self.beliefs.odds
        return np.where(odds == 0, -1, (odds > 0).astype(np.int64))

    def claims(self) -> Floats:
        """Posterior error of each task with the margin, at most 1/2."""
        return np.minimum(0.5, self.beliefs.error() / (1 - self.margin))

    def notes(self) -> list[str]:
        """Tasks that are not sure."""
        unsure = int((self.claims() > self.known.epsilon)[self.wanted].sum())
        said = [f"{unsure} tasks are not as sure as their epsilon asks; each has its claimed error"] if unsure else []
        if self.wanted.any() and not self.over[0]:
            mean = float(self.claims()[self.wanted].mean())
            said.append(f"the workers were used up before the target was met: the mean claimed error is {mean:.3f}")
        return said

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Beliefs, and how sure is sure."""
        own = {"over": self.over.copy(), "sure": self.sure.copy(), "paid": self.paid.copy()}
        return own | {f"beliefs.{name}": array for name, array in self.beliefs.arrays().items()}

    def restore(self, arrays: Any) -> None:
        """Go on from a snapshot."""
        self.over, self.sure, self.paid = (np.array(arrays[name]) for name in ("over", "sure", "paid"))
        prefix = "beliefs."
        self.beliefs.restore({name[len(prefix) :]: arrays[name] for name in arrays if name.startswith(prefix)})


POLICY = Sequential
