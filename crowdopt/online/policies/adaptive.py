"""Gold first, then labels until each task is sure: the loop that needs no more than independent errors and gold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.gold import ALARM, EdgedLabels, fitted
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import REFUSED
from crowdopt.crowd.law import NONE, clipped
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Corrected, Decision, Entry, Known, Late, Mended, Verdict, Vouched
from crowdopt.online.beliefs.checked_claims import CheckedAnswers, looks_allowed, with_looks
from crowdopt.online.beliefs.state import (
    TaskVotes,
    anchored,
    error_at_level,
    hopeless,
    information,
    level_at_error,
    vote_weight,
)
from crowdopt.online.covering import Here
from crowdopt.online.policies.re_solve import ReSolve

Ids: TypeAlias = NDArray[np.integer]

UNTIL = ("each", "mean")
ROUNDS = 20  # of repair at most: each is planned by what the last one brought
ROUGH = 0.001  # of more than two classes, the chance at most of seeing difficulty where none is, were skills known:
# from little gold they are rough, which shows the more where labels tell more
NEWS = 0.1  # share of labels that has to be new before the difficulty of tasks is fitted again


@dataclass
class Adaptive(ReSolve):
    """A task has had enough at a posterior error of e = (1 - caution) eps; others' lack is priced anew.

    Every worker does gold; skills are means over the priors it makes likely, anew every few arrivals, which changes the
    posteriors of all tasks: labels count ``ln((K - 1) p / (1 - p))`` for their class. A label's evidence is
    ``(p - u) ln(p / u)``, u = (1 - p)/(K - 1), the nats by which it moves the odds of the true class on average; a task
    lacks those from its level (crowdopt.online.beliefs.state) to that of e, and the least finished ones come first.
    Where labels agree and disagree more than skills explain, some tasks are hard: posteriors then integrate over it,
    and what is nearly surely hard is given up. Any number of classes, wrong answers uniform over them; errors that are
    independent, given how hard the task is.
    """

    gold: int = 20  # gold tasks of each type that every worker does first
    block: int = 20  # labels that are asked at once; between blocks the tasks that are sure by now drop out
    refit: int = 5  # arrivals between two fits of all skills; the worker who is here is fitted in any case
    # ``each``: until every task's posterior error is at most its epsilon; ``mean``: until their mean is
    until: str = "each"
    # a claimed error is the posterior's over 1 - caution: the fitted prior makes the posterior too sure by so much
    caution: float = 0.1
    # whether to go on, at the end, with those who have capacity left, where they can be called back
    repair: bool = True
    difficulty: bool = True  # whether difficulty that workers share is looked for
    # looks of an expert at finished answers, which claims are held against: this share of all labels, within limits; 0:
    # none. And the price of a look, in units of what a label cost on average
    checks: float = 0.1
    look: float = 1.0

    name: ClassVar[str] = "adaptive"
    what: ClassVar[str] = "gold first, then labels until each task is sure; prices from the workers seen"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.block < 1 or self.refit < 1:
            raise InputError(f"policy {self.name}: block and refit must be at least 1")
        if not 0 <= self.caution < 1:
            raise InputError(f"policy {self.name}: caution must lie in [0, 1), not {self.caution}")
        if self.until not in UNTIL:
            raise InputError(f"policy {self.name}: option until is one of {', '.join(UNTIL)}")
        looks_allowed(self.name, self.checks, self.look)

    def start(self, known: Known, solve: Solve) -> None:
        """What tasks need is a level now."""
        super().start(self._levelled(known), solve)
        self.votes = TaskVotes(known.n_tasks, known.classes)
        self.task, self.worker, self.label = np.zeros((3, 0), np.int64)
        self.rounds_done = 0
        self.vouched = np.zeros(known.n_tasks, bool)  # tasks whose class one who knows has told
        self.difficulty_found, self.fitted_at = NONE, 0  # how hard tasks are; labels when that was fitted

    # -- while workers come ----------------------------------------------------------------------------------------

    def visit(self, arrival: Arrival) -> Here:
        """No worker is asked anything, gold included, once all is sure."""
        return UntilSure(self, arrival, arrival.capacity, np.full(self.known.types, self.gold))

    def meet(self, here: Here) -> None:
        """Skills and log odds anew when it is time, then prices."""
        if here.arrival.number % self.refit == 0:
            self._weigh()
            self._gauge()
        super().meet(here)

    def came(self, here: Here, tasks: Ids, labels: Ints) -> None:
        """Bayes, for the tasks that the worker was given."""
        self._take(tasks, np.full(tasks.size, here.arrival.number), labels)
        self.keep(here.arrival.number, tasks)
        here.offered.append(here.given)

    def stint(self, here: Here) -> int:
        """A block of the capacity that is left."""
        return min(here.left, self.block)

    def hear(self, entry: Entry) -> bool:
        """Labels are weighed anew where one of them, or what is known of a task, is another."""
        match entry:
            case Corrected(worker, task, label):
                self.label[np.flatnonzero((self.task == task) & (self.worker == worker))[-1]] = label
                self._weigh()
            case Late(worker, task, label):
                self._take(np.array([task]), np.array([worker]), np.array([label]))
                self.done.append((worker, np.array([task])))
            case Vouched(task, truth, before):
                self.vouched[task] = True
                for k in np.flatnonzero(self.task == task).tolist():
                    place = self.known.task_type[task], self.seen.column(int(self.worker[k]), False)
                    self.seen.asked[place] += before < 0
                    self.seen.right[place] += int(self.label[k] == truth) - int(self.label[k] == before)
                self.seen.forget()
                self._weigh()
            case Mended(tasks, workers, labels):
                self.rounds_done += 1
                got = labels != REFUSED
                self._take(tasks[got], workers[got], labels[got])
                self.done += [(int(j), tasks[workers == j]) for j in np.unique(workers)]
                return bool(got.any())
            case _:
                return super().hear(entry)
        return False

    def retarget(self, known: Known) -> None:
        """Tasks need other levels."""
        super().retarget(self._levelled(known))
        self._settle(np.arange(known.n_tasks))

    # -- at the end ------------------------------------------------------------------------------------------------

    def close(self, room: Ints) -> Decision | None:
        """Cheapest labels for what is not sure, a round at a time."""
        self._gauge(0.0)
        if not self.goes_on or self.rounds_done >= ROUNDS:
            return None
        self._weigh()
        return super().close(room)

    def answers(self, looks: CheckedAnswers | None = None) -> Verdict:
        """The likelier class, -1 where nothing is known, and its posterior error with the caution."""
        verdict = replace(super().answers(), how="own", decided=self.votes.answer, claims=self._believed)
        return with_looks(verdict, looks, self.known, self.difficulty_found)

    @property
    def on_average(self) -> bool:  # type: ignore[override]
        """As the option until says."""
        return self.until == "mean"

    @property
    def _believed(self) -> Floats:
        error = error_at_level(self.votes.level, self.known.classes)
        return np.minimum(1 - 1 / self.known.classes, error / (1 - self.caution))

    # -- inside ----------------------------------------------------------------------------------------------------

    def worth(self, accuracy: Floats) -> Floats:
        """Nats that a label tells."""
        return information(clipped(accuracy), self.known.classes)

    @property
    def goes_on(self) -> bool:
        """Whether it is not all sure yet."""
        if self.until == "each":
            return bool(self.open.any())
        wanted = self.need > COVERAGE
        claims = np.where(self.vouched, 0.0, self._believed)
        return bool(claims[wanted].sum() > self.known.epsilon[wanted].sum())

    def _levelled(self, known: Known) -> Known:
        sure = level_at_error(known.epsilon * (1 - self.caution), known.classes)
        return replace(known, need=np.where(known.need > COVERAGE, sure, 0.0))

    def _take(self, tasks: Ids, workers: Ints, labels: Ints) -> None:
        self._count(tasks, workers, labels)
        self.task, self.worker = np.append(self.task, tasks), np.append(self.worker, workers)
        self.label = np.append(self.label, labels)
        self._settle(tasks)

    def _weigh(self) -> None:
        """What labels say anew, by the skills as they are known now."""
        self.votes.clear()
        self._count(self.task, self.worker, self.label)
        self._settle(np.arange(self.known.n_tasks))

    def _count(self, tasks: Ids, workers: Ids, labels: Ints) -> None:
        accuracy, difficulty = self.skills()[self.known.task_type[tasks], workers], self.difficulty_found
        self.votes.add(tasks, labels, vote_weight(accuracy, self.known.classes, difficulty), difficulty)

    def _gauge(self, news: float = NEWS) -> None:
        """The difficulty of tasks anew, where enough labels are."""
        if not self.difficulty or self.task.size <= (1 + news) * self.fitted_at:
            return
        self.fitted_at = self.task.size
        classes = self.known.classes
        edge = (classes * self.skills()[self.known.task_type[self.task], self.worker] - 1) / (classes - 1)
        asked, right = self.seen.asked, self.seen.right
        anchor = anchored(right, asked, classes) if asked.any() else anchored(np.zeros(1), np.zeros(1), classes)
        labels = EdgedLabels(self.task, self.label, edge, (self.known.n_tasks, classes))
        found = fitted(labels, anchor=anchor, alarm=ALARM if classes == 2 else ROUGH)
        if found.share or self.difficulty_found.share:
            self.difficulty_found = found
            self._weigh()

    def _settle(self, tasks: Ids) -> None:
        """How sure tasks are, and whether they are open."""
        self.votes.settle(tasks, self.difficulty_found)
        level = self.votes.level[tasks]
        given_up = hopeless(self.difficulty_found, self.votes.chance[tasks]) | self.vouched[tasks]
        self.covered[tasks] = np.where(given_up, np.maximum(level, self.need[tasks]), level)
        self.open[tasks] = self.covered[tasks] < self.need[tasks] - COVERAGE


class UntilSure(Here):
    """A worker of whom nothing is asked once all is sure, and who is not noticed before."""

    policy: Adaptive
    noticed = False

    def next(self, rng: np.random.Generator) -> Decision | None:
        """Gold, or a block of tasks."""
        if not self.policy.goes_on:
            return None
        if not self.noticed:
            self.noticed = True
            self.policy.seen.welcome(self.arrival)
        return super().next(rng)


POLICY = Adaptive
