"""Labels one by one, with hardly any gold: a worker who agrees with what is nearly sure is kept, others are let go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.clock import Arrays
from crowdopt.core.solution import Solve
from crowdopt.crowd.labels import GOLD, REFUSED, WORK
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Known
from crowdopt.online.beliefs.checked_claims import CheckedAnswers, Ids, drawn, looks_allowed, looks_at, restored_looks
from crowdopt.online.beliefs.state import GRID, Beliefs, disagreement, information, told
from crowdopt.online.beliefs.worker_session import (
    FADES,
    DismissalRule,
    OpenTasks,
    SessionOptions,
    TaskLevels,
    WorkerSession,
    counted_on,
    dismissal_rule,
)
from crowdopt.online.covering import HERE
from crowdopt.online.policies.adaptive import Adaptive
from crowdopt.online.policy import BasePolicy

STOPS = ("mean", "each")
OWN = ("_number", "since", "_due", "_promise", "session", "_asked", "_of_reserve")
STATE, LEVELS = ("over", "paid", "pace", "weighed", "fallen", "fitted_at"), ("sure", "level")
SETTLE = 5  # labels after which a worker's messages are worked out anew
CONFIRM = 6  # sweeps over all workers before the end is believed
NEWS = 0.2  # share of all labels that has to be new before the difficulty of tasks is fitted again
REST = 0.1  # of the errors of tasks that are given up: where all others' are no more, being surer helps no more
FRESH = 0.005  # share of all labels that has to be new before all are weighed again when a worker leaves,
TOGETHER = 0.02  # and while several are here
TAIL = 0.05  # chance on either side of the interval that is shown of a skill
PSEUDO, ROUNDS = (2.0, 4.0), 100  # of the prior's fit


@dataclass
class Sequential(BasePolicy):
    """Belief propagation, a fitted prior of skills, optimal stopping of workers, sequential tests of tasks.

    A worker is tested on the tasks that are nearly finished, or on gold where none is, until their skill is known; then
    they take the least certain ones, or are let go. It ends when the mean posterior error is small enough, or every
    task's. Where labels and gold show that some tasks are hard, beliefs integrate over it, and tasks that are nearly
    surely hard are given up. Any number of classes, wrong answers uniform over them; errors that are independent,
    given how hard the task is.
    """

    # ``mean``: at a mean claimed error of epsilon; ``each``: when every task's is at most its epsilon
    stop: str = "mean"
    block: int = 1  # labels that are asked at once
    # a claimed error is the posterior's over 1 - margin: the fitted prior makes the posterior too sure by so much
    margin: float = 0.1
    # the first so many workers answer so many gold tasks of each type, against the flipped solution
    bootstrap: int = 10
    gold: int = 10
    most_gold: int = 40  # gold tasks per worker and type at most
    testing: float = 2.0  # what learning a new worker's skill is worth, in units of a label's price
    settled: float = 30.0  # labels of known correctness after which there is nothing to learn any more
    audit: int = 3  # gold tasks of every worker who is kept, whatever is believed of them, against what agreement says
    # chance at most, in an honest crowd, of finding that gold contradicts agreement: from then on skills come from gold
    # alone, as in ``adaptive``. 0: never
    alarm: float = 0.001
    # whether difficulty that workers share is looked for; without gold to begin with it never is, for agreement alone
    # cannot tell it from a clique
    difficulty: bool = True
    # looks of an expert at finished answers, which claims are held against: this share of all labels, within limits; 0:
    # none. And the price of a look, in units of what a label cost on average
    checks: float = 0.1
    look: float = 1.0

    name: ClassVar[str] = "sequential"
    what: ClassVar[str] = "labels one by one: skills from agreement and a little gold, early dismissal, stop when sure"
    amends: ClassVar[bool] = True
    retargets: ClassVar[bool] = True
    shared: ClassVar[tuple[str, ...]] = ("beliefs", "tasks.level", "tasks.left")
    of_one_arrival: ClassVar[tuple[str, ...] | None] = (*OWN, *(f"reserve.{name}" for name in HERE))

    def __post_init__(self) -> None:
        if self.stop not in STOPS:
            raise InputError(f"policy {self.name}: option stop is one of {', '.join(STOPS)}")
        if self.block < 1 or self.bootstrap < 0 or self.gold < 0 or self.most_gold < 0:
            raise InputError(f"policy {self.name}: block must be at least 1, bootstrap and gold at least 0")
        if min(self.audit, self.testing) < 0 or self.settled <= 0:
            raise InputError(f"policy {self.name}: audit and testing must be at least 0, settled above 0")
        if not (0 <= self.margin < 1 and 0 <= self.alarm < 1):
            raise InputError(f"policy {self.name}: margin and alarm must lie in [0, 1)")
        looks_allowed(self.name, self.checks, self.look)

    def start(self, known: Known, solve: Solve) -> None:
        """Nothing is known of any task or worker."""
        self.known = known
        self.session: WorkerSession | None = None
        self.beliefs = Beliefs(known.task_type, known.types, known.workers, known.classes)
        self.tasks = TaskLevels(known, self.beliefs, self.margin if self.stop == "each" else 0.0)
        self.over, lack = np.array([not self.tasks.wanted.any()]), self.tasks.lack
        self.pace = np.array([lack, lack, lack])  # nats brought of late, promised of late, missing when last seen
        self.paid = np.zeros(2)  # labels asked and what they cost: the middling price
        self.weighed = np.zeros(1, np.int64)  # labels and gold when all was weighed last
        self.fitted_at = np.zeros(1, np.int64)  # labels when the difficulty of tasks was fitted last
        self.reserve = Adaptive(until=self.stop, repair=False, difficulty=self.difficulty, checks=0.0)
        self.reserve.start(known, solve)
        self.looks: CheckedAnswers | None = None
        self.fallen = np.full(1, -1, np.int64)  # number of the arrival at which agreement and gold fell apart
        self._number, self.since, self._due, self._of_reserve = -1, 0, False, False
        self._promise = -1.0  # what the worker who is here is to bring; below 0: that was counted

    # -- one worker ------------------------------------------------------------------------------------------------

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """A test, a task, or the end."""
        if self.fallen[0] >= 0:
            return self._by_reserve(arrival, rng)
        if self.over[0]:
            return None
        if self._number != arrival.number:
            self._welcome(arrival)
            if arrival.number < self.bootstrap and self.gold and arrival.capacity and not self._ended:
                self._asked = Decision(GOLD, np.full(self.known.types, self.gold))
                return self._asked
        if self._due and self.session is not None and not self._ended:
            self._renew(self.session)
        decision = None if self._ended or self.session is None else self.session.next(rng)
        if decision is not None:
            self._asked = decision
        elif not self._ended and not self.may_return:
            self._leave()
        return decision

    def _by_reserve(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """From the next worker on, once agreement and gold fell apart."""
        if not self._of_reserve:
            self.reserve.take_over()
        self._of_reserve = True
        return None if arrival.number == self.fallen[0] else self.reserve.decide(arrival, rng)

    def learn(self, labels: Ints) -> None:
        """Gold and work both tell of the worker; work tells of the tasks too."""
        if self._of_reserve:
            return self.reserve.learn(labels)
        if self.fallen[0] >= 0:
            return self.reserve.heed(self._number, self._asked, labels)
        assert self.session is not None
        if self._asked.kind == GOLD:
            self.beliefs.check(labels[0], labels[1], self.session.worker)
            return self.session.checked(self._asked.tasks, labels[1])
        got = labels != REFUSED
        self.session.worked(self._asked.tasks, got)
        self.beliefs.hear(self._asked.tasks[got], labels[got], self.session.worker)
        self.since += int(np.count_nonzero(got))
        # between two settlings each label is heard by what was known when it came; settling weighs them anew
        if self.since >= SETTLE:
            self.since = 0
            self.beliefs.settle(self.session.worker)
            self._due = self.session.worker < self.beliefs.came[0] - 1
            if self._due:
                self._weigh(TOGETHER)  # while several are here none may leave for long
            self._look()

    def expect(self, tasks: Ints, workers: Ints) -> bool:
        """Each label that is out is expected to tell what a label of its worker's skill tells."""
        if self.fallen[0] >= 0:
            return self.reserve.expect(tasks, workers)
        self.beliefs.expect(tasks, workers)
        if self.over[0] or not tasks.size:
            return True
        if self.stop == "each":
            return self.tasks.will_be_open
        return self.tasks.will_err(1 - self.margin)

    def overhear(self, worker: int, task: int, label: int) -> None:
        """It tells of the worker and of the task."""
        if self.fallen[0] >= 0:
            return self.reserve.overhear(worker, task, label)
        self.beliefs.hear(np.array([task]), np.array([label]), worker)

    def lapsed(self, tasks: Ints) -> None:
        """They may be given again."""
        if self._of_reserve:
            return self.reserve.lapsed(tasks)
        if self.session is not None and self._asked.kind == WORK:
            self.session.free[tasks] = True

    def amend(self, worker: int, task: int, label: int) -> None:
        """Votes anew; what they say of workers is settled as labels come."""
        if self.fallen[0] >= 0:
            return self.reserve.amend(worker, task, label)
        self.beliefs.amend(worker, task, label)

    def amend_gold(self, worker: int, right: Ints) -> None:
        """Gold tells something else of the worker."""
        if self.fallen[0] >= 0:
            return self.reserve.amend_gold(worker, right)
        self.beliefs.amend_gold(worker, right)

    def retarget(self, known: Known) -> None:
        """Tasks close at other levels; whether it is over is asked again when a label comes."""
        self.known = known
        self.tasks.retarget(known, self.margin if self.stop == "each" else 0.0)
        self.reserve.retarget(known)
        self.over[0] = not self.tasks.wanted.any()
        self.tasks.survey()

    def recall(self, room: int) -> None:
        """Types of which nothing was open may be open again."""
        if self._of_reserve:
            self.reserve.recall(room)
        if self.session is not None:
            self.session.room = room
            self.session.alive[:] = True

    def welcomes(self, workers: Ints, room: Ints) -> bool:
        """Whether of some type more is missing than those bring who are at work, each in the type they do best."""
        if self.fallen[0] >= 0 or not workers.size:
            return True
        useful = np.minimum(information(GRID, self.known.classes), self.tasks.most)
        told = np.maximum(0.0, (self.beliefs.density[workers] * useful).sum(axis=-1))
        best = np.argmax(told, axis=1)
        brought = np.bincount(best, told[np.arange(workers.size), best] * room, self.known.types)
        return bool((brought < self.tasks.lacks).any())

    @property
    def may_return(self) -> bool:
        """Whether the worker who is here waits for labels that are out, and was not let go."""
        if self.fallen[0] >= 0 or self.over[0] or self.session is None:
            return bool(self.fallen[0] >= 0)
        return bool(self.session.alive.any() and self.beliefs.hoped.any())

    def _welcome(self, arrival: Arrival) -> None:
        self._number, self.since, self._due = arrival.number, 0, False
        self.reserve.watch(arrival)
        self.beliefs.welcome()
        self._look()
        free, cost = self.tasks.wanted.copy(), self._relative(arrival.cost)
        free[arrival.barred] = False
        rules = SessionOptions(self.block, self.most_gold, self.testing, self.settled, self.audit)
        rule = self._rule(arrival, cost)
        tasks = OpenTasks(self.tasks.level, free, self.tasks.left)
        self.session = WorkerSession(self.beliefs, rule, rules, arrival, tasks, cost)

    def _rule(self, arrival: Arrival, cost: Floats) -> DismissalRule:
        """What the worker has to be worth, by what is missing and by how much of the promised the last ones brought."""
        lack = self.tasks.lack
        brought = self.pace[0] + max(0.0, self.pace[2] - lack)
        rule = self._priced(arrival.capacity, brought, lack, cost)
        # both fade, so that the last workers' shortfall counts most; what this one promises counts when they leave
        self.pace = np.array([FADES * brought, self.pace[1], lack])
        self._promise = rule.promised
        return rule

    def _priced(self, room: int, brought: float, lack: float, cost: Floats) -> DismissalRule:
        horizons = np.minimum(room, self.tasks.left)
        to_come = counted_on(self.known.workers - int(self.beliefs.came[0]) + 1, brought, self.pace[1])
        return dismissal_rule(self.beliefs, self.tasks.most, lack, to_come, horizons, cost)

    def _renew(self, session: WorkerSession) -> None:
        """Others came while the worker is here: what they have to be worth follows from what is known now."""
        self._due, lack = False, self.tasks.lack
        brought = self.pace[0] + max(0.0, self.pace[2] - lack)
        session.rule = self._priced(session.capacity, brought, lack, session.cost)

    def _leave(self) -> None:
        if self._promise >= 0:
            self.pace[1] = FADES * self.pace[1] + self._promise
            self._promise = -1.0
        self._weigh(FRESH)

    def _weigh(self, news: float) -> None:
        told = self.beliefs.labels + int(self.beliefs.asked.sum())
        if told - self.weighed[0] < news * told:
            return
        self.weighed[0] = told
        # messages and prior rest on each other: two rounds of both
        for _ in range(2):
            self.beliefs.propagate()
            self.beliefs.refit(*PSEUDO, ROUNDS)
            self.beliefs.propagate()
        self._gauge()
        if not self._falls():
            self._look()

    # -- all of them -----------------------------------------------------------------------------------------------

    @property
    def _ended(self) -> bool:
        return bool(self.over[0] or self.fallen[0] >= 0)

    def _look(self) -> None:
        """Is it over? Otherwise there is an open task, if need be by wanting to be surer."""
        if self._ended:
            return
        if self._enough():
            # messages not yet weighed together may have made it look over: the end is decided on settled ones
            self.beliefs.propagate(CONFIRM)
            self._gauge(0.0)
            self.over[0] = self._enough() and not self._falls()
        while not self._ended and self.stop == "mean" and not self.tasks.left.any():
            self.over[0] = self._is_stuck
            self.tasks.ask_more()

    def _gauge(self, news: float = NEWS) -> None:
        looks = self.difficulty and self.bootstrap > 0
        if looks and self.beliefs.labels > (1 + news) * self.fitted_at[0]:
            self.fitted_at[0] = self.beliefs.labels
            before = self.beliefs.difficulty.share
            self.beliefs.gauge()
            if before or self.beliefs.difficulty.share:
                self.beliefs.propagate(CONFIRM)

    @property
    def _is_stuck(self) -> bool:
        """Whether the target is out of reach: all tasks are sure but those given up, which alone err too often."""
        hard, others = self.tasks.hard_and_other
        return hard > (1 - self.margin) * self.tasks.promised or others < REST * hard

    def _falls(self) -> bool:
        """Where gold contradicts agreement, skills come from gold alone from now on."""
        beliefs = self.beliefs
        if self.alarm <= 0 or disagreement(beliefs) < -np.log(self.alarm):
            return False
        self.fallen[0] = self._number
        self.reserve.adopt(beliefs.right.T, beliefs.asked.T, *beliefs.table())
        return True

    def _enough(self) -> bool:
        error = self.tasks.survey() / (1 - self.margin)
        return error <= self.tasks.promised if self.stop == "mean" else not self.tasks.left.any()

    def _relative(self, cost: Floats) -> Floats:
        """Cost of the worker's labels in units of the mean over all who came."""
        self.paid += (cost.size, cost.sum())
        mean = self.paid[1] / self.paid[0]
        return cost / mean if mean > 0 else np.ones_like(cost)

    # -- what came of it -------------------------------------------------------------------------------------------

    def skills(self) -> Floats:
        """Posterior means, (types, workers); a guess for those who were not needed."""
        if self.fallen[0] >= 0:
            return self.reserve.skills()
        skills = np.full((self.known.types, self.known.workers), 1 / self.known.classes)
        skills[:, : self.beliefs.came[0]] = self.beliefs.mean(self.beliefs.shown).T
        return skills

    def skill_ranges(self) -> tuple[Floats, Floats] | None:
        """By the posterior of each skill; by gold alone once that is all that is believed."""
        if self.fallen[0] >= 0:
            return self.reserve.skill_ranges()
        low, high = np.zeros((2, self.known.types, self.known.workers))
        high += 1.0
        came = int(self.beliefs.came[0])
        for ends, mass in ((low, TAIL), (high, 1 - TAIL)):
            ends[:, :came] = self.beliefs.quantile(mass).T
        return low, high

    def answers(self) -> str:
        """Answers are the policy's own (:meth:`decided`)."""
        return "own"

    def inspect(self, labels: int, rng: np.random.Generator) -> Ids | None:
        """Answers of all degrees of certainty."""
        wanted = self.tasks.wanted & (self.decided() >= 0)
        return drawn(self._believed, wanted, looks_at(labels, self.checks, int(wanted.sum())), rng)

    def inspected(self, tasks: Ids, truth: Ints) -> None:
        """Claims go by what the expert saw, and the answers looked at are right."""
        fresh = CheckedAnswers(tasks, truth, self.decided()[tasks], self._believed[tasks])
        self.looks = fresh.after(self.looks)

    def vouched(self, task: int, truth: int, before: int) -> None:
        """What labels of it say of their workers is certain from now on."""
        if self.fallen[0] >= 0:
            return self.reserve.vouched(task, truth, before)
        self.beliefs.vouch(task, truth)

    @property
    def on_average(self) -> bool:
        """As the option stop says."""
        return self.stop == "mean"

    def decided(self) -> Ints:
        """The likelier class of each task; -1 where nothing is known."""
        answers = self.beliefs.answer if self.fallen[0] < 0 else self.reserve.decided()
        return answers if self.looks is None else self.looks.corrected(answers)

    def claims(self) -> Floats:
        """Posterior error of each task with the margin, at most that of a guess, held against what an expert saw."""
        believed = self._believed
        return believed if self.looks is None else self.looks.claims(believed, self.known.classes)

    @property
    def _believed(self) -> Floats:
        if self.fallen[0] >= 0:
            return self.reserve.claims()
        return np.minimum(1 - 1 / self.known.classes, self.beliefs.error() / (1 - self.margin))

    def notes(self) -> list[str]:
        """Tasks that are not sure enough, gold against agreement, and a target that was not met."""
        claims, wanted = self.claims(), self.tasks.wanted
        unsure = int((claims > self.known.epsilon)[wanted].sum())
        sentences = [f"{unsure} tasks are not as sure as their epsilon asks; each has its claimed error"]
        sentences = sentences if unsure else []
        if self.fallen[0] >= 0:
            sentences.insert(
                0, f"gold contradicts agreement: from arrival {self.fallen[0]} on skills are taken from gold"
            )
        elif wanted.any() and not self.over[0]:
            mean = float(claims[wanted].mean())
            sentences.append(f"the target is not met: the mean claimed error is {mean:.3f}")
        difficulty = self.beliefs.difficulty if self.fallen[0] < 0 else self.reserve.known_difficulty
        sentences += [] if self.looks is None else [self.looks.sentence(self._believed, wanted)]
        return sentences + told(difficulty, claims[wanted], self.tasks.error[wanted])

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Beliefs, levels at which tasks are sure, and the policy held in reserve."""
        own = {name: getattr(self, name).copy() for name in STATE}
        own |= {f"tasks.{name}": getattr(self.tasks, name).copy() for name in LEVELS}
        parts = {"beliefs": self.beliefs.arrays(), "reserve": self.reserve.snapshot()}
        own |= {} if self.looks is None else self.looks.arrays()
        return own | {f"{part}.{name}": array for part, arrays in parts.items() for name, array in arrays.items()}

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot."""
        for name in STATE:
            setattr(self, name, np.array(arrays[name]))
        self.looks = restored_looks(arrays)
        for name in LEVELS:
            getattr(self.tasks, name)[:] = arrays[f"tasks.{name}"]
        for name, part in (("beliefs.", self.beliefs), ("reserve.", self.reserve)):
            part.restore({key[len(name) :]: arrays[key] for key in arrays if key.startswith(name)})


POLICY = Sequential
