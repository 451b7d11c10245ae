"""What a campaign that runs shows of itself, row by row.

A worker's place in a campaign that runs: what they are asked now, and what came of it so far.

Tasks whose answer is known, fed in unseen among the others where a policy wants to know a worker's skill.

Every label that was told, in the order in which it came.

What is settled when a campaign begins and never changes: the first event of its history.

Answers that an expert looks at once the labels are in: which are wanted, which is out, and what was told.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Ints
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import CHECK
from crowdopt.errors import InputError
from crowdopt.online.arrivals import KINDS, Decision, Run, Vouched
from crowdopt.online.checked_claims import CheckedAnswers, looked_at, to_look_at
from crowdopt.online.crowds import GOLD_ORDER, LOOKS
from crowdopt.online.policy import Visit
from crowdopt.online.run_score import answers_of, claimed_error


class AnswerRow(NamedTuple):
    """The answer to a task; empty: there is none yet. claim: chance that it is wrong, as believed; None: not known.

    looked: whether an expert told it.
    """

    task: str
    answer: str
    claim: float | None
    labels: int
    looked: bool = False


class LookRow(NamedTuple):
    """An answer that an expert looks at; status: waiting, out, told, or passed, where the expert could not tell."""

    task: str
    status: str
    answer: str  # that the labels had led to
    label: str  # that the expert told; empty: none yet
    paid: float


class WorkerRow(NamedTuple):
    """A worker who came; skill: chance of a right label by type, as believed; None: not known."""

    worker: str
    labels: int
    paid: float
    out: int
    status: str  # here, away, done, removed
    skill: list[float] | None
    skill_range: list[tuple[float, float]] | None = None  # by type, what holds the skill with a chance of .9


@dataclass(frozen=True, slots=True)
class Lease:
    """What a worker was asked: one label of one task.

    Parameters
    ----------
    id : int
        Number of the event that leased it; what a label is told for.
    worker, task : str
    until : float
        Seconds since 1970; a label that comes later is kept and paid, and flagged as late.
    """

    id: int
    worker: str
    task: str
    until: float


@dataclass(frozen=True, slots=True)
class ToldLabel:
    """What became of a label that was told.

    Parameters
    ----------
    lease : int
    label : str
        The label that counts: of a lease that was told twice, the first.
    late : bool
        Whether the lease was over when the label came.
    repeated : bool
        Whether the lease had a label already: nothing has changed.
    """

    lease: int
    label: str
    late: bool = False
    repeated: bool = False


@dataclass(eq=False)
class Seat:
    """A worker who has come, by the column of the instance that is theirs."""

    worker: str
    place: int
    number: int = -1  # of the arrival; -1: they were not met yet
    preliminary: bool = False
    visit: Visit | None = None  # once they were met
    rng: np.random.Generator | None = None
    decision: Decision | None = None
    queue: list[int] = field(default_factory=list)  # places in ``asked`` that were not handed out yet
    asked: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # tasks of the decision, or gold tasks
    got: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # classes; REFUSED where none came
    out: dict[int, int] = field(default_factory=dict)  # lease -> place in ``asked``
    gold_done: list[Ints] = field(default_factory=list)  # gold tasks they had, by type
    over: bool = False  # nothing more will be asked of them
    refused_at: int = -1  # labels in the campaign when nothing was worth asking, though labels were out
    removed: bool = False
    repairs: list[int] = field(default_factory=list)  # places in the repair that wait for them

    @property
    def ready(self) -> bool:
        """Whether all that was asked is in."""
        return self.decision is not None and not self.queue and not self.out


@dataclass(frozen=True, eq=False)
class GoldTasks:
    """Gold tasks by type; index k stands for the task ``ids[k]``."""

    ids: tuple[str, ...]
    kind: Ints  # (gold,): type of each
    truth: Ints  # (gold,): its class

    def next_ones(self, counts: Ints, done: list[Ints], seed: tuple[int, ...]) -> Ints:
        """The worker's next gold tasks, (k,): so many of each type as ``counts``, or as many as are not yet done."""
        chosen = [np.zeros(0, np.int64)]
        for kind in np.flatnonzero(counts).tolist():
            there = np.flatnonzero(self.kind == kind)
            order = np.random.default_rng([*seed, GOLD_ORDER, kind]).permutation(there)
            rest = order[~np.isin(order, done[kind])]
            chosen.append(rest[: int(counts[kind])])
        return np.concatenate(chosen)


def gold_tasks(known: Mapping[str, tuple[int, int]]) -> GoldTasks:
    """From task -> (type, class)."""
    kind, truth = (np.array([pair[k] for pair in known.values()], np.int64) for k in (0, 1))
    return GoldTasks(tuple(known), kind, truth)


class ToldRow(NamedTuple):
    """A label that was told; late: after its lease was over; gold: on a task whose answer was known."""

    worker: str
    task: str
    label: str
    at: float
    paid: float
    late: bool
    gold: bool


class ToldLabels:
    """Labels by number: lease, worker, task, class, time, pay; and which lease has which label."""

    COLUMNS = ("lease", "worker", "task", "label", "at", "paid", "late", "gold")

    def __init__(self) -> None:
        self.rows = NumberRows("qqqqdd??")
        self.of_lease: dict[int, int] = {}
        self.of_pair: dict[tuple[int, int], int] = {}  # worker, task -> lease
        self.tally: dict[int, tuple[int, float]] = {}  # worker -> labels, and what they are paid
        self.paid = 0.0

    def add(self, row: tuple[int, int, int, int, float, float, bool, bool]) -> None:
        """One more; row: as in COLUMNS."""
        self._count(len(self.rows), row)
        self.rows.append(row)

    def _count(self, place: int, row: tuple[int, int, int, int, float, float, bool, bool]) -> None:
        self.of_lease[row[0]] = place
        self.of_pair[row[1:3]] = row[0]
        count, paid = self.of_worker(row[1])
        self.tally[row[1]] = (count + 1, paid + row[5])
        self.paid += row[5]

    def of_worker(self, worker: int) -> tuple[int, float]:
        """How many labels a worker told, and what they are paid."""
        return self.tally.get(worker, (0, 0.0))

    def correct(self, lease: int, label: int) -> None:
        """The label of a lease is another one."""
        self.rows.correct(self.of_lease[lease], self.COLUMNS.index("label"), label)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All columns, each (labels,)."""
        return dict(zip(self.COLUMNS, self.rows.arrays(), strict=True))


CODES = {"q": np.int64, "d": np.float64, "?": np.bool_}


class NumberRows:
    """A list of tuples that grows, and whose columns are arrays when asked for.

    kinds: of the columns, a letter each: ``q`` whole, ``d`` real, ``?`` true or false.
    """

    def __init__(self, kinds: str) -> None:
        self.kinds = kinds
        self.columns = [array("b" if kind == "?" else kind) for kind in kinds]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, row: int) -> tuple[Any, ...]:
        return tuple(
            bool(column[row]) if kind == "?" else column[row]
            for kind, column in zip(self.kinds, self.columns, strict=True)
        )

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(column.tolist() for column in self.arrays()), strict=True)

    def append(self, row: Sequence[Any]) -> None:
        """One more."""
        for column, value in zip(self.columns, row, strict=True):
            column.append(value)

    def correct(self, row: int, column: int, value: Any) -> None:
        """A number is another one."""
        self.columns[column][row] = value

    def arrays(self) -> list[NDArray[Any]]:
        """A copy of each column, each (rows,)."""
        return [np.array(column).astype(CODES[kind]) for kind, column in zip(self.kinds, self.columns, strict=True)]


MORE = (
    "for more tasks or capacity run `crowdopt live export` with the tables as they were, edit the campaign that it "
    "writes, and serve that with a new --store; tokens and pay start anew"
)


@dataclass(frozen=True)
class LiveSettings:
    """Settings of a campaign that runs, as its first event has them."""

    policy: str  # name and options, as in ``sequential:stop=each``
    seed: int = 0
    lease: float = 600.0  # seconds a worker has for a task
    newcomers: int = 0  # workers who are not in the campaign's workers.csv and may come all the same
    money: float | None = None  # the most that labels may cost; None: no limit
    horizon: int = 10_000  # tasks that will arrive, for policies that learn whom to ask
    crew: int = 3  # workers at work from which on one who never came waits while these are expected to do all
    campaign: str = ""  # digest of the campaign's tables: another campaign's history is refused

    def __post_init__(self) -> None:
        if not 0 < self.lease < 1e9:
            raise InputError(f"a lease lasts a positive number of seconds, not {self.lease}")
        if min(self.newcomers, self.seed, self.crew) < 0 or self.horizon < 1:
            raise InputError("newcomers, seed and crew must be at least 0, and the horizon at least 1")
        if self.money is not None and not self.money >= 0:
            raise InputError(f"the money for labels must be at least 0, not {self.money}")

    @property
    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def of(text: str) -> LiveSettings:
        """From JSON."""
        return LiveSettings(**json.loads(text))


class LiveLooks:
    """First the answers that the policy draws, to hold its claims against, as ``compare`` has them looked at; then
    those that are not sure, one by one and the least sure first, until the target is met or the money is used up.

    A look costs what the policy says, in units of a middling label's price. Its answer is the task's; of the workers
    who labelled it, a policy that learns skills learns as from gold.
    """

    def __init__(self, course: Any) -> None:
        self.course = course
        self.drawn = False  # whether the policy has drawn
        self.wanted: list[int] = []  # tasks that were not handed out yet
        self.out: dict[int, int] = {}  # lease -> task
        self.told: dict[int, int] = {}  # lease -> task whose answer came
        self.seen: dict[int, int] = {}  # task -> its class
        self.passed: list[int] = []  # tasks of which the expert could not tell
        self.price: dict[int, float] = {}  # of each task that is or was wanted
        self.answer: dict[int, int] = {}  # that its labels had led to
        self.known: CheckedAnswers | None = None  # what claims are held against

    @property
    def paid(self) -> float:
        """What all looks cost so far."""
        return float(sum(self.price[task] for task in self.seen))

    def due(self) -> list[Any]:
        """What is to be looked at next, as plain JSON: the price of a look, and tasks; empty: nothing now."""
        if self.wanted or self.out or not self.course.at_rest:
            return []
        run = self.course.run()
        done = [kind for kind in KINDS if kind != CHECK]
        labels, spent = (np.array([of[kind] for kind in done]) for of in (run.labels, run.cost))
        price = float(self.course.policy.look) * float(spent.sum()) / max(1, int(labels.sum()))
        tasks = [] if self.drawn else self._drawn(int(labels.sum()))
        tasks = (tasks or self._unsure(run))[: self.course.limits.affords(price)]
        return [price, *tasks] if tasks else []

    def draw(self, due: list[Any]) -> None:
        """They are wanted, and their price is reserved."""
        price, *tasks = due
        answers = answers_of(self.course.run())
        self.drawn, self.wanted = True, tasks
        self.price |= dict.fromkeys(tasks, price)
        self.answer |= {task: int(answers[task]) for task in tasks}
        self.course.limits.spent += price * len(tasks)

    def next_task(self) -> str | None:
        """What the expert is handed next."""
        return self.course.instance.task_id(self.wanted[0]) if self.wanted else None

    def lease(self, lease: int) -> None:
        """The expert was handed it."""
        self.out[lease] = self.wanted.pop(0)

    def tell(self, lease: int, label: int) -> None:
        """The expert's answer, or another one in its place."""
        task = self.told[lease] if lease in self.told else self.out.pop(lease)
        before, self.seen[task], self.told[lease] = self.seen.get(task, -1), label, task
        self.course.limits.closed.add(task)
        self.known = looked_at(self.course.policy.answers(), self.known, np.array([task]), np.array([label]))
        self.course.policy.hear(Vouched(task, label, before))

    def give_back(self, lease: int) -> None:
        """The expert cannot tell, and is not asked again; the look costs nothing."""
        task = self.out.pop(lease)
        self.passed.append(task)
        self.course.limits.spent -= self.price[task]

    def rows(self, classes: tuple[str, ...]) -> list[LookRow]:
        """All that is or was wanted, in the order in which it was drawn."""
        status = dict.fromkeys(self.wanted, "waiting") | dict.fromkeys(self.out.values(), "out")
        status |= dict.fromkeys(self.seen, "told") | dict.fromkeys(self.passed, "passed")
        return [
            LookRow(
                self.course.instance.task_id(task),
                status[task],
                classes[self.answer[task]] if self.answer[task] >= 0 else "",
                classes[self.seen[task]] if task in self.seen else "",
                price if task in self.seen else 0.0,
            )
            for task, price in self.price.items()
        ]

    # -- inside ----------------------------------------------------------------------------------------------------

    def _drawn(self, labels: int) -> list[int]:
        """By the policy, with the generator of a replay."""
        rng = np.random.default_rng([self.course.settings.seed, LOOKS])
        policy, wanted = self.course.policy, self.course.instance.need > COVERAGE
        return to_look_at(policy.answers(), policy.checks, wanted, labels, rng).tolist()

    def _unsure(self, run: Run) -> list[int]:
        """The least sure task that is not as sure as it is to be, where the target is not met without it."""
        claim, instance = claimed_error(run), self.course.instance
        if claim is None:
            return []
        wanted, left = instance.need > COVERAGE, self._left()
        claim = np.where(np.isin(np.arange(claim.size), list(self.seen)), 0.0, claim)
        if self.course.policy.on_average and claim[wanted].sum() <= instance.epsilon[wanted].sum():
            return []
        short = np.flatnonzero(wanted & left & (claim > instance.epsilon + COVERAGE))
        return [int(short[np.argmax(claim[short])])] if short.size else []

    def _left(self) -> Bools:
        left = np.ones(self.course.instance.n_tasks, bool)
        left[list(self.price)] = False
        return left
