"""Labels by the cheapest adaptive plan from where tasks stand, solved again as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.resumable import Arrays
from crowdopt.core.solution import Solve
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.label_kinds import GOLD, REFUSED, WORK
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Known
from crowdopt.online.beliefs.cascade_values import CascadeValues, ComingWorkers, cascade_values, restored_values
from crowdopt.online.beliefs.grid import GRID, expected
from crowdopt.online.beliefs.state import Beliefs
from crowdopt.online.beliefs.told_skills import ToldSkills
from crowdopt.online.policy import BasePolicy

SKILLS = ("gold", "known")
FRESH = 0.005  # share of all labels that has to be new before all are weighed again
SETTLE = 5  # labels after which a worker's messages are worked out anew
PSEUDO, ROUNDS = (2.0, 4.0), 100  # of the prior's fit
EXPECTED = 5.0  # workers like the expected ones stand for those to come until so many have come
EVERY = 0.1  # share of arrivals that has to be new before the program is solved again where no labels came
DEARER = 40  # times that a wrong answer may be made dearer by a tenth until something is worth asking
STATE = ("over", "solved_at", "priced_for", "paid", "taken")
TOLD_SLACK = 0.02  # as the option slack, where skills are told: knots and levels round as much


@dataclass
class CascadePolicy(BasePolicy):
    """Each label goes where it saves most by ``V(b) - E V(b') - price``, V from the program of adaptive plans.

    V is the least expected cost of a task from its belief on, at the multipliers of the program that is solved for
    where all tasks stand and for the workers who may still come, who are taken to be like those seen. A worker is let
    go when no label of theirs saves anything: another one who comes later does more for the money. Two classes, errors
    independent; skills are told, or learned from gold and from agreement.
    """

    skills_from: str = "gold"  # ``gold``, or ``known``: arrivals tell it the true accuracies
    gold: int = 5  # gold tasks of each type that every worker does first
    block: int = 5  # labels that are asked at once
    # labels per task that have to be new before the program is solved again
    resolve: float = 0.25
    # what a label may cost beside one of the best to come, in units of its price, where skills are learned: those to
    # come are taken to be as different as what is known of those seen, so among them are some that are not as good
    slack: float = 0.6
    # a claimed error is the posterior's over 1 - margin, where skills are learned: the fitted prior makes it too sure
    margin: float = 0.1

    name: ClassVar[str] = "cascade"
    what: ClassVar[str] = "the cheapest adaptive plan from where tasks stand, solved again as it goes"

    def __post_init__(self) -> None:
        if self.skills_from not in SKILLS:
            raise InputError(f"policy {self.name}: option skills-from is one of {', '.join(SKILLS)}")
        if self.block < 1 or self.gold < 0 or self.resolve <= 0 or self.slack < 0:
            raise InputError(
                f"policy {self.name}: block must be at least 1, resolve above 0, gold and slack at least 0"
            )
        if not 0 <= self.margin < 1:
            raise InputError(f"policy {self.name}: margin must lie in [0, 1)")

    @property
    def shows_skill(self) -> bool:
        """Skills are told where no gold is to tell them."""
        return self.skills_from == "known"

    def start(self, known: Known, solve: Solve) -> None:
        """Nothing is known of any task or worker."""
        if known.classes != 2:
            raise InputError(f"policy {self.name} is for 2 classes, not {known.classes}: take sequential or adaptive")
        self.known, self.solve = known, solve
        self.wanted = known.need > COVERAGE
        parts = (known.task_type, known.types, known.workers)
        self.told = ToldSkills(*parts)
        self.beliefs = Beliefs(*parts)
        self.over = np.array([not self.wanted.any()])
        self.solved_at = np.full(1, -1, np.int64)  # labels when the program was solved last
        self.paid, self.taken = np.zeros((2, known.types)), np.zeros(2)  # arrivals and their prices; their capacities
        self.values: CascadeValues | None = None
        self.priced_for = np.full(1, -1, np.int64)  # the arrival for which it was
        self._number, self._left, self._since = -1, 0, 0

    # -- one worker ------------------------------------------------------------------------------------------------

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """Gold, then the tasks on which a label saves most, until none saves anything."""
        if self.over[0]:
            return None
        if self._number != arrival.number:
            self._welcome(arrival)
            if not self.shows_skill and self.gold and arrival.capacity:
                self._asked = Decision(GOLD, np.full(self.known.types, self.gold))
                return self._asked
        tasks = self._best(rng)
        if not tasks.size:
            self._leave()
            return None
        self._asked = Decision(WORK, tasks)
        return self._asked

    def learn(self, labels: Ints) -> None:
        """Gold tells of the worker; work tells of tasks, and of the worker too where skills are learned."""
        if self._asked.kind == GOLD:
            self.beliefs.check(*labels)
            return
        got = labels != REFUSED
        tasks, said = self._asked.tasks[got].astype(np.int64), labels[got]
        self._free[self._asked.tasks] = False
        self._left -= int(got.sum())
        if self.shows_skill:
            self.told.hear(tasks, said)
        else:
            self.beliefs.hear(tasks, said)
            self._since += tasks.size
            if self._since >= SETTLE:
                self._since = 0
                self.beliefs.settle(int(self.beliefs.came[0]) - 1)
        self._look()

    def lapsed(self, tasks: Ints) -> None:
        """They may be given again."""
        if self._asked.kind == WORK:
            self._free[tasks] = True

    def _welcome(self, arrival: Arrival) -> None:
        self._number, self._left, self._since = arrival.number, arrival.capacity, 0
        self._cost, self._free = arrival.cost, self.wanted.copy()
        self._free[arrival.barred] = False
        self.paid[0] += 1
        self.paid[1] += arrival.cost
        self.taken += (1, arrival.capacity)
        if self.shows_skill:
            assert arrival.accuracy is not None
            self.told.welcome(arrival.accuracy)
        else:
            self.beliefs.welcome()

    def _best(self, rng: np.random.Generator) -> NDArray[np.integer]:
        """The tasks on which a label of the worker who is here saves most, a block of them; none: they are let go."""
        self._price()
        assert self.values is not None
        saved, beside = self._saved(self.values)
        for _ in range(DEARER):
            if (saved > 0).any() or not self._free.any():
                break
            # the target is not met, so something is worth asking: wrong answers cost more than was thought
            self.values = self.values.dearer(1.1)
            saved, beside = self._saved(self.values)
        order = np.roll(np.arange(saved.size), -int(rng.integers(saved.size)))  # equals by turns
        order = order[np.argsort(-np.round(saved[order], 9), kind="stable")]
        order = order[(saved[order] > 0) & (beside[order] <= 0)]
        return order[: min(self.block, self._left)]

    def _saved(self, values: CascadeValues) -> tuple[Floats, Floats]:
        """What a label now saves beside answering now, and what it costs beside one of the best to come, (tasks,)."""
        skill, belief, slack = self._skill, 1 - self._error, TOLD_SLACK if self.shows_skill else self.slack
        saved, beside = np.full((2, belief.size), -np.inf)
        for kind in range(self.known.types):
            mine = np.flatnonzero(self._free & (self.known.task_type == kind))
            best = values.best_onward(kind, belief[mine])
            own = self._cost[kind] + values.onward(kind, belief[mine], float(skill[kind]))
            saved[mine] = values.stop(belief[mine]) - best
            beside[mine] = own - best - slack * self._cost[kind]
        return saved, beside

    def _leave(self) -> None:
        """The worker goes; where skills are learned, all labels are weighed again together."""
        if self.shows_skill:
            return
        for _ in range(2):
            self.beliefs.propagate()
            self.beliefs.refit(*PSEUDO, ROUNDS)
            self.beliefs.propagate()
        self._look()

    def _look(self) -> None:
        promised = float(self.known.epsilon[self.wanted].sum())
        self.over[0] = bool(self.claims()[self.wanted].sum() <= promised)

    @property
    def on_average(self) -> bool:
        """Errors count in the mean."""
        return True

    # -- the program -----------------------------------------------------------------------------------------------

    @property
    def _labels(self) -> int:
        return self.told.labels if self.shows_skill else self.beliefs.labels

    @property
    def _error(self) -> Floats:
        return self.told.error() if self.shows_skill else self.beliefs.error()

    @property
    def _seen(self) -> Floats:
        return self.told.skill() if self.shows_skill else self.beliefs.mean(GRID)

    @property
    def _skill(self) -> Floats:
        skill: Floats = self._seen[-1]
        return skill

    def _price(self) -> None:
        """Solve the program again where enough is new, or a worker has come."""
        news = self._labels - self.solved_at[0] >= self.resolve * self.wanted.sum()
        if self.values is not None and not news and self._number < (1 + EVERY) * self.priced_for[0] + 1:
            return
        self.priced_for[0] = self._number
        self.solved_at[0] = self._labels
        margin = 0.0 if self.shows_skill else self.margin
        errors = (1 - margin) * float(self.known.epsilon[self.wanted].sum())
        belief = 1 - self._error[self.wanted]
        self.values = cascade_values(self.known.task_type[self.wanted], belief, errors, self._market(), self.solve)

    def _market(self) -> ComingWorkers:
        """Those to come are like those seen, and a few like the expected ones; the worker here is one of them."""
        seen, capacity = self._seen, max(1.0, float(self.taken[1] / self.taken[0]))
        to_come = self.known.workers - self._number
        usual = np.repeat(GRID[:, None], self.known.types, axis=1)
        weight = np.concatenate([np.ones(len(seen)), max(0.0, EXPECTED - len(seen)) * expected()])
        skill, place = np.unique(np.round(np.concatenate([seen, usual]), 3), axis=0, return_inverse=True)
        size = np.bincount(place.reshape(-1), weights=weight)
        skill, size = skill[size > 0], size[size > 0]
        price = self.paid[1] / self.paid[0]
        finding = 0.0 if self.shows_skill else 2 * self.gold * float(price.sum()) / capacity
        return ComingWorkers(skill, size * to_come / size.sum(), capacity, np.maximum(price, 1e-9) + finding)

    # -- what came of it -------------------------------------------------------------------------------------------

    def skills(self) -> Floats:
        """Means, (types, workers); a guess for those who were not needed."""
        skills = np.full((self.known.types, self.known.workers), 0.5)
        seen = self._seen
        skills[:, : len(seen)] = seen.T
        return skills

    def answers(self) -> str:
        """Answers are the policy's own (:meth:`decided`)."""
        return "own"

    def decided(self) -> Ints:
        """The likelier class of each task; -1 where nothing is known."""
        return self.told.answer if self.shows_skill else self.beliefs.answer

    def claims(self) -> Floats:
        """Posterior error of each task, with the margin where skills are learned, at most that of a guess."""
        if self.shows_skill:
            return self.told.error()
        return np.minimum(0.5, self.beliefs.error() / (1 - self.margin))

    def notes(self) -> list[str]:
        """A target that was not met."""
        if self.over[0] or not self.wanted.any():
            return []
        mean = float(self.claims()[self.wanted].mean())
        return [f"the target is not met: the mean claimed error is {mean:.3f}"]

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Beliefs, prices met, and where the program was solved last."""
        own = {name: getattr(self, name).copy() for name in STATE}
        part = self.told.arrays() if self.shows_skill else self.beliefs.arrays()
        own |= {} if self.values is None else self.values.arrays()
        return own | {f"part.{name}": array for name, array in part.items()}

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot."""
        for name in STATE:
            setattr(self, name, np.array(arrays[name]))
        if "values.mu" in arrays:
            self.values = restored_values(arrays, self.known.types)
        part = self.told if self.shows_skill else self.beliefs
        part.restore({key[len("part.") :]: arrays[key] for key in arrays if key.startswith("part.")})


POLICY = CascadePolicy
