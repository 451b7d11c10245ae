"""Labels one by one, with hardly any gold: a worker who agrees with what is nearly sure is kept, others are let go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.labels import GOLD, REFUSED, WORK
from crowdopt.errors import InputError
from crowdopt.online.arrivals import (
    Arrival,
    Corrected,
    CorrectedGold,
    Decision,
    Entry,
    Known,
    Late,
    Out,
    Target,
    Verdict,
    Vouched,
)
from crowdopt.online.beliefs.state import GRID, Beliefs, disagreement, information
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
from crowdopt.online.checked_claims import CheckedAnswers, looks_allowed, with_looks
from crowdopt.online.policy import BasePolicy, Visit

STOPS = ("mean", "each")
SKILLS = ("agreement", "gold")
ALONE = 20  # gold tasks of each type of every worker, where skills come from gold alone
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
    skills: str = "agreement"  # what tells of them beside gold; ``gold``: it alone, of every worker
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
    # alone, and every worker answers ALONE gold tasks of each type first. 0: never
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

    def __post_init__(self) -> None:
        if self.stop not in STOPS:
            raise InputError(f"policy {self.name}: option stop is one of {', '.join(STOPS)}")
        if self.skills not in SKILLS:
            raise InputError(f"policy {self.name}: option skills is one of {', '.join(SKILLS)}")
        if self.skills == "gold" and self.gold < 1:
            raise InputError(f"policy {self.name} learns skills from gold, at least 1 task; see skills=agreement")
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
        self.beliefs = Beliefs(known.task_type, known.types, known.workers, known.classes)
        self.tasks = TaskLevels(known, self.beliefs, self.margin if self.stop == "each" else 0.0)
        self.over, lack = not self.tasks.wanted.any(), self.tasks.lack
        self.pace = np.array([lack, lack, lack])  # nats brought of late, promised of late, missing when last seen
        self.paid = np.zeros(2)  # labels asked and what they cost: the middling price
        self.weighed = 0  # labels and gold when all was weighed last
        self.fitted_at = 0  # labels when the difficulty of tasks was fitted last
        self.out = False  # whether any label is out
        self.serving = -1  # number of the arrival that is dealt with
        self.fallen = -1  # the one at which agreement and gold fell apart
        self.beliefs.heeded = self.skills == "agreement"

    @property
    def without_gold(self) -> str:  # type: ignore[override]
        """Agreement then."""
        return "sequential" if self.skills == "gold" else ""

    # -- one worker ------------------------------------------------------------------------------------------------

    def visit(self, arrival: Arrival) -> Stay:
        """They are noticed when they are asked for the first time, unless it is over by then."""
        return Stay(self, arrival)

    def session(self, arrival: Arrival) -> WorkerSession:
        """What a worker is asked, now that they are here."""
        self.beliefs.welcome(arrival.number)
        self._look()
        free, cost = self.tasks.wanted.copy(), self._relative(arrival.cost)
        free[arrival.barred] = False
        rules = SessionOptions(self.block, self.most_gold, self.testing, self.settled, self.audit)
        lack = self.tasks.lack
        brought = self.pace[0] + max(0.0, self.pace[2] - lack)
        rule = self._priced(arrival.capacity, brought, lack, cost)
        # both fade, so that the last workers' shortfall counts most; what this one promises counts when they leave
        self.pace = np.array([FADES * brought, self.pace[1], lack])
        tasks = OpenTasks(self.tasks.level, free, self.tasks.left)
        return WorkerSession(self.beliefs, rule, rules, arrival, tasks, cost)

    def renew(self, session: WorkerSession) -> None:
        """Others came while the worker is here: what they have to be worth follows from what is known now."""
        lack = self.tasks.lack
        brought = self.pace[0] + max(0.0, self.pace[2] - lack)
        session.rule = self._priced(session.capacity, brought, lack, session.cost)

    def exam(self, number: int) -> Ints:
        """Gold tasks that a worker is to have had before anything else, (types,)."""
        alone = self.skills == "gold" or number < self.bootstrap
        count = max(ALONE, self.gold) if self.fallen >= 0 else self.gold if alone else 0
        return np.full(self.known.types, count)

    def settle(self, worker: int) -> bool:
        """A worker's messages anew; -> whether others came since, so that all are weighed."""
        self.beliefs.settle(worker)
        due = worker < self.beliefs.came[0] - 1
        if due:
            self._weigh(TOGETHER)  # while several are here none may leave for long
        self._look()
        return bool(due)

    def leave(self, promised: float) -> None:
        """A worker goes, who was to bring so many nats; below 0: that was counted."""
        if promised >= 0:
            self.pace[1] = FADES * self.pace[1] + promised
        self._weigh(FRESH)

    def hear(self, entry: Entry) -> bool:
        """All of it is belief; whether it is over is asked again when a label comes."""
        match entry:
            case Out(tasks, workers):
                self.out = tasks.size > 0
                self.beliefs.expect(tasks, workers)
            case Corrected(worker, task, label):
                self.beliefs.amend(worker, task, label)
            case Late(worker, task, label):
                self.beliefs.hear(np.array([task]), np.array([label]), worker)
            case CorrectedGold(worker, right):
                self.beliefs.amend_gold(worker, right)
            case Vouched(task, truth, _):
                self.beliefs.vouch(task, truth)
            case Target(known):
                self.known = known
                self.tasks.retarget(known, self.margin if self.stop == "each" else 0.0)
                self.over = not self.tasks.wanted.any()
                self.tasks.survey()
        return False

    def wants(self, workers: Ints, room: Ints) -> bool:
        """Whether more is missing than is out, and than those bring who are at work, each in the type they do best."""
        if not self.over and self.out:
            more = self.tasks.will_be_open if self.stop == "each" else self.tasks.will_err(1 - self.margin)
            if not more:
                return False
        if not workers.size:
            return True
        useful = np.minimum(information(GRID, self.known.classes), self.tasks.most)
        told = np.maximum(0.0, (self.beliefs.density[workers] * useful).sum(axis=-1))
        best = np.argmax(told, axis=1)
        brought = np.bincount(best, told[np.arange(workers.size), best] * room, self.known.types)
        return bool((brought < self.tasks.lacks).any())

    def _priced(self, room: int, brought: float, lack: float, cost: Floats) -> DismissalRule:
        """What a worker has to be worth, by what is missing and by how much of the promised the last ones brought."""
        horizons = np.minimum(room, self.tasks.left)
        to_come = counted_on(self.known.workers - int(self.beliefs.came[0]) + 1, brought, self.pace[1])
        return dismissal_rule(self.beliefs, self.tasks.most, lack, to_come, horizons, cost)

    def _weigh(self, news: float) -> None:
        told = self.beliefs.labels + int(self.beliefs.asked.sum())
        if told - self.weighed < news * told:
            return
        self.weighed = told
        # messages and prior rest on each other: two rounds of both
        for _ in range(2):
            self.beliefs.propagate()
            self.beliefs.refit(*PSEUDO, ROUNDS)
            self.beliefs.propagate()
        self._gauge()
        if not self._falls():
            self._look()

    # -- all of them -----------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Is it over? Otherwise there is an open task, if need be by wanting to be surer."""
        if self.over:
            return
        if self._enough():
            # messages not yet weighed together may have made it look over: the end is decided on settled ones
            self.beliefs.propagate(CONFIRM)
            self._gauge(0.0)
            self.over = self._enough() and not self._falls()
        while not self.over and self.stop == "mean" and not self.tasks.left.any():
            self.over = self._is_stuck
            self.tasks.ask_more()

    def _gauge(self, news: float = NEWS) -> None:
        looks = self.difficulty and self.bootstrap > 0
        if looks and self.beliefs.labels > (1 + news) * self.fitted_at:
            self.fitted_at = self.beliefs.labels
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
        if not self.beliefs.heeded or self.alarm <= 0 or disagreement(self.beliefs) < -np.log(self.alarm):
            return False
        self.fallen = self.serving
        self.beliefs.doubt()
        self.tasks.survey()
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

    def answers(self, looks: CheckedAnswers | None = None) -> Verdict:
        """The likelier class of each task, and its posterior error with the margin, at most that of a guess.

        Skills are posterior means; a guess for those who were not needed.
        """
        beliefs, came = self.beliefs, int(self.beliefs.came[0])
        shape = (self.known.types, self.known.workers)
        skills, low, high = np.full(shape, 1 / self.known.classes), np.zeros(shape), np.ones(shape)
        skills[:, :came] = beliefs.mean(beliefs.shown).T
        for ends, mass in ((low, TAIL), (high, 1 - TAIL)):
            ends[:, :came] = beliefs.quantile(mass).T
        believed = np.minimum(1 - 1 / self.known.classes, beliefs.error() / (1 - self.margin))
        fell = f"gold contradicts agreement: from arrival {self.fallen} on skills are taken from gold"
        notes = [fell] * (self.fallen >= 0)
        own = Verdict("own", beliefs.answer, believed, skills, (low, high), notes=notes)
        return with_looks(own, looks, self.known, beliefs.difficulty, self._unmet)

    def _unmet(self, claims: Floats) -> list[str]:
        if self.fallen >= 0 or self.over or not claims.size:
            return []
        return [f"the target is not met: the mean claimed error is {float(claims.mean()):.3f}"]

    @property
    def on_average(self) -> bool:  # type: ignore[override]
        """As the option stop says."""
        return self.stop == "mean"


@dataclass(eq=False)
class Stay(Visit):
    """A worker who is tested, labels, and is let go."""

    policy: Sequential
    arrival: Arrival
    session: WorkerSession | None = None  # from the first time on that they are asked
    examined: Ints | int = 0  # (types,): gold tasks that they were asked before anything else
    exam: bool = False  # whether that is what was asked last
    since: int = 0  # labels since their messages were settled
    due: bool = False  # whether what they have to be worth is out of date
    promise: float = -1.0  # what they are to bring; below 0: that was counted
    asked: Decision | None = None

    def next(self, rng: np.random.Generator) -> Decision | None:
        """An exam on gold, a test, a task, or the end."""
        policy, number = self.policy, self.arrival.number
        policy.serving = number
        if policy.over:
            return None
        if self.session is None:
            self.session = policy.session(self.arrival)
            self.promise = self.session.rule.promised
        owed = np.maximum(0, policy.exam(number) - self.examined)
        self.exam = bool(owed.any() and self.arrival.capacity and not policy.over)
        if self.exam:
            self.examined = self.examined + owed
            self.asked = Decision(GOLD, owed)
            return self.asked
        if self.due and not policy.over:
            self.due = False
            policy.renew(self.session)
        decision = None if policy.over else self.session.next(rng)
        if decision is not None:
            self.asked = decision
        elif not policy.over and not self.may_return:
            policy.leave(self.promise)
            self.promise = -1.0
        return decision

    def learn(self, labels: Ints) -> None:
        """Gold and work both tell of the worker; work tells of the tasks too."""
        policy, asked, session = self.policy, self.asked, self.session
        assert asked is not None and session is not None
        policy.serving = self.arrival.number
        if asked.kind == GOLD:
            policy.beliefs.check(labels[0], labels[1], session.worker)
            return session.checked(asked.tasks, labels[1])
        got = labels != REFUSED
        session.worked(asked.tasks, got)
        policy.beliefs.hear(asked.tasks[got], labels[got], session.worker)
        self.since += int(np.count_nonzero(got))
        # between two settlings each label is heard by what was known when it came; settling weighs them anew
        if self.since >= SETTLE:
            self.since = 0
            self.due = policy.settle(session.worker)

    @property
    def may_return(self) -> bool:
        """Whether they wait for labels that are out, and were not let go."""
        session = self.session
        waits = session is not None and session.alive.any() and self.policy.beliefs.hoped.any()
        return bool(waits and not self.policy.over)

    def lapsed(self, tasks: Ints) -> None:
        """They may be given again; what was left of an exam is owed."""
        if self.exam:
            self.examined = self.examined - tasks
        elif self.session is not None and self.asked is not None and self.asked.kind == WORK:
            self.session.free[tasks] = True

    def recall(self, room: int) -> None:
        """Types of which nothing was open may be open again."""
        if self.session is not None:
            self.session.room = room
            self.session.alive[:] = True


@dataclass
class Adaptive(Sequential):
    """Every worker does gold, which alone tells of skills: it assumes no more than that errors are independent."""

    stop: str = "each"
    skills: str = "gold"
    gold: int = 20

    name: ClassVar[str] = "adaptive"
    what: ClassVar[str] = "gold first, then labels until each task is sure: sequential:skills=gold:stop=each:gold=20"


POLICY = (Sequential, Adaptive)
