"""Gold first, then labels until each task is sure: the loop that needs no more than independent errors and gold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.difficulty import NONE, Difficulty, fitted
from crowdopt.crowd.evidence import CLIP
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.label_kinds import REFUSED
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Known
from crowdopt.online.beliefs.grid import odds_at_error
from crowdopt.online.beliefs.shared_difficulty import TaskOdds, anchored, hopeless, told
from crowdopt.online.policies.re_solve import ReSolve

Ids: TypeAlias = NDArray[np.integer]

UNTIL = ("each", "mean")
ROUNDS = 20  # of repair at most: each is planned by what the last one brought
GAIN = 4.0  # nats by which difficulty has to explain the labels better: skills from little gold are rough
NEWS = 0.1  # share of labels that has to be new before the difficulty of tasks is fitted again


@dataclass
class Adaptive(ReSolve):
    """A task has had enough at ``|LLR| >= ln((1 - e)/e)``, e = (1 - caution) eps; others' lack is priced anew.

    Every worker does gold; skills are empirical-Bayes means, fitted anew every few arrivals, which changes the log
    odds of all tasks. A label's evidence is ``(2p - 1) logit p``, the nats by which it moves them on average, a task
    lacks ``ln((1 - e)/e) - |LLR|``, and the least finished ones come first. Where labels agree and disagree more than
    skills explain, some tasks are hard: log odds then integrate over it, and what is nearly surely hard is given up.
    Two classes; errors that are independent, given how hard the task is.

    Parameters
    ----------
    gold : int
        Gold tasks of each type that every worker does first.
    block : int
        Labels that are asked at once; between blocks the tasks that are sure by now drop out.
    refit : int
        Arrivals between two fits of everybody's skill; who is here is fitted in any case.
    until : str
        ``each``: until every task's posterior error is at most its epsilon; ``mean``: until their mean is.
    caution : float
        A claimed error is the posterior's over 1 - caution: the fitted prior makes the posterior too sure by so much.
    repair : bool
        Whether to go on, at the end, with those who have capacity left, where they can be called back.
    difficulty : bool
        Whether difficulty that workers share is looked for.
    """

    gold: int = 20
    block: int = 20
    refit: int = 5
    until: str = "each"
    caution: float = 0.1
    repair: bool = True
    difficulty: bool = True

    name: ClassVar[str] = "adaptive"
    what: ClassVar[str] = "gold first, then labels until each task is sure; prices from the workers seen"
    state: ClassVar[tuple[str, ...]] = (
        *ReSolve.state,
        *("odds", "task", "worker", "sign", "rounds_done", "hardness", "sums", "fitted_at"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.block < 1 or self.refit < 1:
            raise InputError(f"policy {self.name}: block and refit must be at least 1")
        if not 0 <= self.caution < 1:
            raise InputError(f"policy {self.name}: caution must lie in [0, 1), not {self.caution}")
        if self.until not in UNTIL:
            raise InputError(f"policy {self.name}: option until is one of {', '.join(UNTIL)}")

    def start(self, known: Known, solve: Solve) -> None:
        """What tasks need is nats of log odds now."""
        if known.classes != 2:
            raise InputError(f"policy {self.name} is for two classes, not {known.classes}; re-solve takes any number")
        sure = odds_at_error(known.epsilon * (1 - self.caution))
        super().start(replace(known, need=np.where(known.need > COVERAGE, sure, 0.0)), solve)
        self.odds: Floats = np.zeros(known.n_tasks)
        self.task, self.worker, self.sign = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        self.rounds_done = np.zeros(1, np.int64)
        self.hardness, self.fitted_at = NONE.array(), np.zeros(1, np.int64)  # of tasks; labels when that was fitted
        self.sums = np.zeros((3, known.n_tasks))  # of label_terms, where tasks are hard

    # -- while workers come ----------------------------------------------------------------------------------------

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """Nobody is asked anything, gold included, once all is sure."""
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
        """Go on from what another policy has seen: gold tallies (types, workers), and labels.

        Parameters
        ----------
        right, asked : (types, workers) int
            Gold.
        task, worker, label : (k,) int
        """
        self.seen.right[:, self.seen.first :], self.seen.asked[:, self.seen.first :] = right, asked
        self._take(task, worker, label)
        self._weigh()
        self.done = [(int(j), task[worker == j]) for j in np.unique(worker)]

    def watch(self, arrival: Arrival) -> None:
        """Somebody has come whom another policy serves."""
        self._welcome(arrival)
        self._met = True

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

    def decided(self) -> Ints:
        """The likelier class; -1 where nothing is known."""
        return np.where(self.odds == 0, -1, (self.odds > 0).astype(np.int64))

    def claims(self) -> Floats:
        """Posterior error of each task with the caution, at most 1/2."""
        return np.minimum(0.5, 1 / (1 + np.exp(np.abs(self.odds))) / (1 - self.caution))

    def notes(self) -> list[str]:
        """How many tasks are not as sure as their target asks."""
        wanted = self.need > COVERAGE
        unsure = int((wanted & (self.claims() > self.known.epsilon + COVERAGE)).sum())
        sentences = [f"{unsure} tasks are not as sure as their epsilon asks; each has its claimed error"]
        hard = told(self.known_difficulty, self.claims()[wanted], self.known.epsilon[wanted])
        return (sentences if unsure else []) + hard

    # -- inside ----------------------------------------------------------------------------------------------------

    @property
    def _goes_on(self) -> bool:
        if self.until == "each":
            return bool(self.open.any())
        wanted = self.need > COVERAGE
        return bool(self.claims()[wanted].sum() > self.known.epsilon[wanted].sum())

    def _worth(self, accuracy: Floats) -> Floats:
        right = np.clip(accuracy, CLIP, 1 - CLIP)
        nats: Floats = (2 * right - 1) * np.log(right / (1 - right))
        return nats

    def _logits(self) -> Floats:
        right = np.clip(self.skills(), CLIP, 1 - CLIP)
        return np.asarray(np.log(right / (1 - right)))

    def _take(self, tasks: Ids, workers: Ints, labels: Ints) -> None:
        signs = 2.0 * labels - 1
        logits: Floats = self._logits()[self.known.task_type[tasks], workers]
        np.add.at(self.odds, tasks, logits * signs)
        if self.known_difficulty.share:
            TaskOdds(self.known_difficulty, self.sums).add(tasks, np.asarray(signs * np.tanh(logits / 2), np.float64))
        self.task, self.worker = np.append(self.task, tasks), np.append(self.worker, workers)
        self.sign = np.append(self.sign, signs)
        self._cover(tasks)

    def _weigh(self) -> None:
        """Log odds anew, by the skills as they are known now."""
        logits = self._logits()[self.known.task_type[self.task], self.worker]
        self.odds = np.asarray(np.bincount(self.task, logits * self.sign, self.known.n_tasks), dtype=np.float64)
        if self.known_difficulty.share:
            self.sums = np.zeros_like(self.sums)
            TaskOdds(self.known_difficulty, self.sums).add(self.task, self.sign * np.tanh(logits / 2))
        self._cover(np.arange(self.known.n_tasks))

    def _gauge(self, news: float = NEWS) -> None:
        """The difficulty of tasks anew, where enough labels are."""
        if not self.difficulty or self.task.size <= (1 + news) * self.fitted_at[0]:
            return
        self.fitted_at[0] = self.task.size
        edge = 2 * self.skills()[self.known.task_type[self.task], self.worker] - 1
        asked, right = self.seen.asked, self.seen.right
        anchor = anchored(right, asked) if asked.any() else anchored(np.array([0]), np.array([0]))
        found = fitted(self.task, self.sign * edge, self.known.n_tasks, anchor=anchor, gain=GAIN)
        if found.share or self.known_difficulty.share:
            self.hardness = found.array()
            self._weigh()

    @property
    def known_difficulty(self) -> Difficulty:
        """How hard tasks are, as far as labels and gold show."""
        return Difficulty(*self.hardness.tolist())

    def _cover(self, tasks: Ids) -> None:
        level, given_up = np.abs(self.odds[tasks]), np.zeros(tasks.size, bool)
        if self.known_difficulty.share:
            self.odds[tasks], chance = TaskOdds(self.known_difficulty, self.sums).of(tasks)
            level, given_up = np.abs(self.odds[tasks]), hopeless(self.known_difficulty, chance)
        self.covered[tasks] = np.where(given_up, np.maximum(level, self.need[tasks]), level)
        self.open[tasks] = self.covered[tasks] < self.need[tasks] - COVERAGE


POLICY = Adaptive
