"""Gold first, then labels until each task is sure: the loop that needs no more than independent errors and gold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.clock import Arrays
from crowdopt.core.solution import Solve
from crowdopt.crowd.gold import ALARM, EdgedLabels, fitted
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import GOLD, REFUSED
from crowdopt.crowd.law import NONE, Difficulty, clipped
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Known
from crowdopt.online.beliefs.checked_claims import CheckedAnswers, drawn, looks_allowed, looks_at, restored_looks
from crowdopt.online.beliefs.state import (
    TaskVotes,
    anchored,
    error_at_level,
    hopeless,
    information,
    level_at_error,
    told,
    vote_weight,
)
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
    state: ClassVar[tuple[str, ...]] = (
        *ReSolve.state,
        *("task", "worker", "label", "rounds_done", "hardness", "fitted_at"),
    )

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
        self.rounds_done = np.zeros(1, np.int64)
        self.looks: CheckedAnswers | None = None
        self.hardness, self.fitted_at = NONE.array(), np.zeros(1, np.int64)  # of tasks; labels when that was fitted

    # -- while workers come ----------------------------------------------------------------------------------------

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """No worker is asked anything, gold included, once all is sure."""
        return super().decide(arrival, rng) if self._goes_on else None

    def meet(self, arrival: Arrival) -> None:
        """Skills and log odds anew when it is time, then prices."""
        if arrival.number % self.refit == 0:
            self._weigh()
            self._gauge()
        super().meet(arrival)

    def learn(self, labels: Ints) -> None:
        """Bayes, for the tasks that the worker was given."""
        worked = self._met
        if worked:
            got = labels != REFUSED
            self._take(self._given[got], np.full(int(got.sum()), self._arrival.number), labels[got])
        super().learn(labels)
        if worked:
            self._offered.append(self._given)

    @property
    def stint(self) -> int:
        """A block of the capacity that is left."""
        return min(self._left, self.block)

    def adopt(self, right: Ints, asked: Ints, task: Ints, worker: Ints, label: Ints) -> None:
        """Go on from what another policy has seen: gold tallies (types, workers), and labels (k,)."""
        self.seen.right[:, self.seen.first :], self.seen.asked[:, self.seen.first :] = right, asked
        self._take(task, worker, label)
        self._weigh()
        self.done = [(int(j), task[worker == j]) for j in np.unique(worker)]

    def heed(self, number: int, asked: Decision, labels: Ints) -> None:
        """What a worker brings whom another policy asked, as in :meth:`learn`; number: of the arrival."""
        if asked.kind == GOLD:
            column = self.seen.column(number, False)
            self.seen.right[:, column] += labels[0]
            self.seen.asked[:, column] += labels[1]
            return
        got = labels != REFUSED
        self._take(asked.tasks[got], np.full(int(got.sum()), number), labels[got])
        self.done.append((number, asked.tasks))

    def watch(self, arrival: Arrival) -> None:
        """A worker has come whom another policy serves."""
        self._welcome(arrival)
        self._met = True

    def take_over(self) -> None:
        """The worker who was watched is served by this policy from now on: what they are worth is to be found out."""
        self._met = False

    def overhear(self, worker: int, task: int, label: int) -> None:
        """Bayes, as for a label that came in time."""
        self._take(np.array([task]), np.array([worker]), np.array([label]))
        self.done.append((worker, np.array([task])))

    def amend(self, worker: int, task: int, label: int) -> None:
        """All labels are weighed anew, this one as what it is now."""
        self.label[np.flatnonzero((self.task == task) & (self.worker == worker))[-1]] = label
        self._weigh()

    def retarget(self, known: Known) -> None:
        """Tasks need other levels."""
        super().retarget(self._levelled(known))
        self._cover(np.arange(known.n_tasks))

    # -- at the end ------------------------------------------------------------------------------------------------

    def close(self, room: Ints) -> Decision | None:
        """Cheapest labels for what is not sure, a round at a time."""
        self._gauge(0.0)
        if not self._goes_on or self.rounds_done[0] >= ROUNDS:
            return None
        self._weigh()
        return super().close(room)

    def mended(self, tasks: Ints, workers: Ints, labels: Ints) -> bool:
        """Ask again while anything comes."""
        self.rounds_done += 1
        got = labels != REFUSED
        self._take(tasks[got], workers[got], labels[got])
        self.done += [(int(j), tasks[workers == j]) for j in np.unique(workers)]
        return bool(got.any())

    def answers(self) -> str:
        """Answers are the policy's own (:meth:`decided`)."""
        return "own"

    def inspect(self, labels: int, rng: np.random.Generator) -> Ids | None:
        """Answers of all degrees of certainty."""
        wanted = (self.need > COVERAGE) & (self.decided() >= 0)
        return drawn(self._believed, wanted, looks_at(labels, self.checks, int(wanted.sum())), rng)

    def inspected(self, tasks: Ids, truth: Ints) -> None:
        """Claims go by what the expert saw, and the answers looked at are right."""
        fresh = CheckedAnswers(tasks, truth, self.decided()[tasks], self._believed[tasks])
        self.looks = fresh.after(self.looks)

    def vouched(self, task: int, truth: int, before: int) -> None:
        """Gold of each worker who labelled it."""
        for k in np.flatnonzero(self.task == task).tolist():
            place = self.known.task_type[task], self.seen.column(int(self.worker[k]), False)
            self.seen.asked[place] += before < 0
            self.seen.right[place] += int(self.label[k] == truth) - int(self.label[k] == before)
        self.seen.forget()
        self._weigh()

    @property
    def on_average(self) -> bool:
        """As the option until says."""
        return self.until == "mean"

    def decided(self) -> Ints:
        """The likelier class; -1 where nothing is known."""
        return self.votes.answer if self.looks is None else self.looks.corrected(self.votes.answer)

    def claims(self) -> Floats:
        """Posterior error of each task with the caution, at most that of a guess, held against what an expert saw."""
        believed = self._believed
        return believed if self.looks is None else self.looks.claims(believed, self.known.classes)

    @property
    def _believed(self) -> Floats:
        error = error_at_level(self.votes.level, self.known.classes)
        return np.minimum(1 - 1 / self.known.classes, error / (1 - self.caution))

    def notes(self) -> list[str]:
        """How many tasks are not as sure as their target asks."""
        wanted = self.need > COVERAGE
        unsure = int((wanted & (self.claims() > self.known.epsilon + COVERAGE)).sum())
        sentences = [f"{unsure} tasks are not as sure as their epsilon asks; each has its claimed error"]
        hard = told(self.known_difficulty, self.claims()[wanted], self.known.epsilon[wanted])
        looked = [] if self.looks is None else [self.looks.sentence(self._believed, wanted)]
        return (sentences if unsure else []) + looked + hard

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """As of any policy that covers, and what labels say of tasks."""
        looks = {} if self.looks is None else self.looks.arrays()
        return super().snapshot() | looks | {f"votes.{name}": array for name, array in self.votes.arrays().items()}

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot."""
        super().restore(arrays)
        self.looks = restored_looks(arrays)
        self.votes.restore({name[6:]: arrays[name] for name in arrays if name.startswith("votes.")})

    # -- inside ----------------------------------------------------------------------------------------------------

    def _levelled(self, known: Known) -> Known:
        sure = level_at_error(known.epsilon * (1 - self.caution), known.classes)
        return replace(known, need=np.where(known.need > COVERAGE, sure, 0.0))

    @property
    def _goes_on(self) -> bool:
        if self.until == "each":
            return bool(self.open.any())
        wanted = self.need > COVERAGE
        return bool(self.claims()[wanted].sum() > self.known.epsilon[wanted].sum())

    def _worth(self, accuracy: Floats) -> Floats:
        return information(clipped(accuracy), self.known.classes)

    def _take(self, tasks: Ids, workers: Ints, labels: Ints) -> None:
        self._count(tasks, workers, labels)
        self.task, self.worker = np.append(self.task, tasks), np.append(self.worker, workers)
        self.label = np.append(self.label, labels)
        self._cover(tasks)

    def _weigh(self) -> None:
        """What labels say anew, by the skills as they are known now."""
        self.votes.clear()
        self._count(self.task, self.worker, self.label)
        self._cover(np.arange(self.known.n_tasks))

    def _count(self, tasks: Ids, workers: Ids, labels: Ints) -> None:
        accuracy, difficulty = self.skills()[self.known.task_type[tasks], workers], self.known_difficulty
        self.votes.add(tasks, labels, vote_weight(accuracy, self.known.classes, difficulty), difficulty)

    def _gauge(self, news: float = NEWS) -> None:
        """The difficulty of tasks anew, where enough labels are."""
        if not self.difficulty or self.task.size <= (1 + news) * self.fitted_at[0]:
            return
        self.fitted_at[0] = self.task.size
        classes = self.known.classes
        edge = (classes * self.skills()[self.known.task_type[self.task], self.worker] - 1) / (classes - 1)
        asked, right = self.seen.asked, self.seen.right
        anchor = anchored(right, asked, classes) if asked.any() else anchored(np.zeros(1), np.zeros(1), classes)
        labels = EdgedLabels(self.task, self.label, edge, (self.known.n_tasks, classes))
        found = fitted(labels, anchor=anchor, alarm=ALARM if classes == 2 else ROUGH)
        if found.share or self.known_difficulty.share:
            self.hardness = found.array()
            self._weigh()

    @property
    def known_difficulty(self) -> Difficulty:
        """How hard tasks are, as far as labels and gold show."""
        return Difficulty(*self.hardness.tolist())

    def _cover(self, tasks: Ids) -> None:
        self.votes.settle(tasks, self.known_difficulty)
        level = self.votes.level[tasks]
        given_up = hopeless(self.known_difficulty, self.votes.chance[tasks])
        if self.looks is not None:
            given_up |= np.isin(tasks, self.looks.tasks)
        self.covered[tasks] = np.where(given_up, np.maximum(level, self.need[tasks]), level)
        self.open[tasks] = self.covered[tasks] < self.need[tasks] - COVERAGE


POLICY = Adaptive
