"""One worker's session: what they are asked next, and when they are let go.

When to let a worker go: optimal stopping over what their labels have shown, and the price at which to stop.

What a worker has to be worth to be kept: the stopping program's price and thresholds for what is missing.

How sure tasks are to be, which of them are open, and which are given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import GOLD, WORK
from crowdopt.online.arrivals import Arrival, Decision, Known
from crowdopt.online.beliefs.state import GRID, Beliefs, edge_at_level, hopeless, information, level_at_error

LONGEST = 200  # labels after which a worker is known well enough: the rest of them are taken or left as one
HALVINGS = 30  # of the interval in which a price is sought
LEAST = 0.02  # of the top price, below which no price is worth computing
NEVER = np.inf  # threshold where nothing that may still come makes a worker worth it


@dataclass(frozen=True, eq=False)
class StoppingProgram:
    """``max over stopping times of E sum (r(g) - price)``, with each label's correctness told (labels, correct).

    The relaxation behind the lower bound for unknown skills, with the fitted prior in place of the true one. A worker
    is kept while ``U(k, c) > 0``.
    """

    prior: Floats  # (cells,): w over the grid of skills
    reward: Floats  # (cells,): r(g), nats per label
    horizon: int  # labels that a worker can give at most
    # K: a share of 1/K right is a guess. Labels and right ones are the whole state for any K, as long as wrong answers
    # are uniform
    classes: int = 2

    @cached_property
    def last(self) -> int:
        """The last tally that is told apart."""
        return max(0, min(self.horizon, LONGEST) - 1)

    @cached_property
    def tables(self) -> tuple[Floats, Floats]:
        """Chance A of a sequence of k labels with c right, and E[r; that sequence] R: each (k, c)."""
        from crowdopt.online.beliefs.belief_kernels import tables

        made: tuple[Floats, Floats] = tables(self.last, GRID, self.prior, self.prior * self.reward)
        return made

    @cached_property
    def top(self) -> float:
        """The largest price at which it pays to begin with a worker."""
        from crowdopt.online.beliefs.belief_kernels import dearest

        return float(dearest(*self.tables, self._rest, float(self.reward.max()), HALVINGS))

    def price(self, wanted: float, least: float = LEAST) -> float:
        """The largest price from ``least * top`` to ``top`` at which the mean arrival brings the nats wanted."""
        from crowdopt.online.beliefs.belief_kernels import bringing

        high = self.top * (1 - 1e-3)  # at the top itself no worker is begun with
        found = float(bringing(*self.tables, self._rest, wanted, high, HALVINGS // 2))
        return found if found == high else max(found, max(LEAST, least) * self.top)

    def brings(self, price: float) -> float:
        """I(price): nats that an arrival is expected to bring before being let go."""
        from crowdopt.online.beliefs.belief_kernels import collected

        return float(collected(self.tables[1], self._values(price), self._rest))

    def thresholds(self, price: float) -> Floats:
        """After k labels, the least E[r] with which a worker is kept: midway between the last tally kept and the next.

        Shape (last + 1,); -inf where even a guesser's tally is kept. Tallies with more right than that decide.
        """
        mass, reward = self.tables
        keeps = self._values(price) > 0
        k = np.arange(self.last + 1)
        upper = np.tri(k.size, dtype=bool) & (self.classes * k[None, :] >= k[:, None])
        some = (keeps & upper).any(axis=1)
        first = np.argmax(keeps & upper, axis=1)
        least = -(-k // self.classes)
        below = np.maximum(first - 1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = reward / mass
        midway = 0.5 * (mean[k, first] + mean[k, below])
        return np.where(~some, NEVER, np.where(first <= least, -NEVER, midway))

    @property
    def _rest(self) -> int:
        return max(1, self.horizon - self.last)

    def _values(self, price: float) -> Floats:
        from crowdopt.online.beliefs.belief_kernels import values

        mass, reward = self.tables
        value = np.empty_like(mass)  # all of it that counts is written: no more are right than were asked
        values(mass, reward, price, self._rest, value)
        return value


KNOWN = 10.0  # labels of known correctness from which a posterior mean is a fact rather than a hope
SEEN = 3  # workers who came before the best of them says anything
SHARE = 0.5  # of the workers to come who are counted on for what is missing,
USUAL = 0.6  # while the last ones brought this share of what was promised; fewer where they brought less
FADES = 0.95  # what is left of a worker in that account when the next one comes
EARLY = 20  # workers during whom patience is bounded,
PATIENCE = 0.8  # by this share of the top price: what is missing is not known to be much yet


@dataclass(frozen=True, eq=False)
class DismissalRule:
    """What the worker who is here has to be worth to be kept."""

    # r(g), nats a label is worth; no more than a task needs, or than the best seen so far gives
    reward: Floats  # (cells,)
    price: float  # nats per label (at a middling price of labels) that the worker has to bring
    # nats that an arrival is expected to bring at that price; what is brought falls short of it, because skills are not
    # told
    promised: float
    # least E[r] after so many labels, per type; empty where nothing is open
    thresholds: list[Floats]  # list of (labels,) float

    def keeps(self, kind: int, value: float, known: float) -> bool:
        """Whether the worker goes on with a type, at E[r] ``value`` after ``known`` labels."""
        least = self.thresholds[kind]
        return bool(least.size and value >= least[min(least.size - 1, int(known))])


def _outlooks() -> tuple[tuple[slice, int], ...]:
    """Rows of LIKELIHOOD for each number of further answers."""
    ends = np.cumsum([0, *(m + 1 for m in AHEAD)])
    return tuple((slice(a, b), m) for a, b, m in zip(ends[:-1].tolist(), ends[1:].tolist(), AHEAD, strict=True))


AHEAD = (1, 2, 4, 8, 16)  # further answers, what is learnt from so many
OUTLOOKS = _outlooks()
LIKELIHOOD: Floats = np.vstack(
    [comb(m, c) * GRID**c * (1 - GRID) ** (m - c) for m in AHEAD for c in range(m + 1)]
)  # of c right of m


def learning(density: Floats, profit: Floats, room: int) -> float:
    """What knowing whether one more answer is right is worth: the best of several numbers of answers ahead.

    density, profit (cells,): of the worker's skill, and what a label brings beyond its price; room: labels that the
    worker could still give; -> in nats.
    """
    branches = (LIKELIHOOD * (density * profit)).sum(axis=-1)
    now = max(0.0, float((density * profit).sum()))
    return room * max((float(np.maximum(0.0, branches[rows]).sum()) - now) / m for rows, m in OUTLOOKS)


def missing(level: Floats, sure: Floats, error: Floats, classes: int = 2) -> float:
    """``sum_i max(0, (1 - eps - eps/(K - 1)) l(eps) - l b(l))``: nats until every task is sure.

    ``sum over pairs of classes (b_k - b_l) ln(b_k/b_l) / (K - 1)`` grows by a label's information whatever is
    believed; with the other classes alike it is ``l b(l)`` at level l, b the likeliest class's chance less another's.

    level, sure, error (tasks,): l, the level at which the error is eps, and eps; -> in nats.
    """
    return float(missing_each(level, sure, error, classes).sum())


def missing_each(level: Floats, sure: Floats, error: Floats, classes: int = 2) -> Floats:
    """What each task adds to that, (tasks,)."""
    from crowdopt.online.beliefs.belief_kernels import lacking

    lack = np.empty_like(level)
    lacking(level, (1 - classes / (classes - 1) * error) * sure, classes - 1.0, lack)
    return lack


def dismissal_rule(
    beliefs: Beliefs, most: float, lack: float, to_come: float, horizons: Ints, cost: Floats
) -> DismissalRule:
    """The price at which those who come bring what is missing, and whom it keeps.

    beliefs: of the workers seen so far, the one who is here included; most: the level that is promised, beyond which
    evidence on a task is worth nothing; lack: nats that are missing in all; to_come: workers who can be counted on, the
    one who is here included; horizons (types,): labels that the worker could give; cost (types,): of the worker's
    labels, in units of a middling label's.
    """
    came = int(beliefs.came[0])
    useful = np.minimum(information(GRID, beliefs.classes), most)
    reward = np.minimum(useful, _best(beliefs, useful))
    wanted = lack / max(1.0, to_come) / horizons.size
    programs = {h: StoppingProgram(beliefs.prior, reward, h, beliefs.classes) for h in set(horizons.tolist()) if h}
    patience = PATIENCE if came <= EARLY else 0.0
    prices = {h: program.price(wanted, patience) for h, program in programs.items()}
    limits = {
        key: programs[key[0]].thresholds(prices[key[0]] * key[1])
        for key in {(h, c) for h, c in zip(horizons.tolist(), cost.tolist(), strict=True) if h}
    }
    each = [limits.get(key, np.zeros(0)) for key in zip(horizons.tolist(), cost.tolist(), strict=True)]
    promised = sum(programs[h].brings(prices[h]) for h in horizons.tolist() if h)
    return DismissalRule(reward, max(prices.values(), default=0.0), promised, each)


def counted_on(to_come: int, brought: float, promised: float) -> float:
    """Workers to come in whom to trust: fewer, where the last ones brought less than was expected of them."""
    return SHARE * to_come * min(1.0, brought / (USUAL * promised))


def _best(beliefs: Beliefs, reward: Floats) -> float:
    """The best posterior mean of those who are known; without it, imaginary experts are waited for."""
    before = int(beliefs.came[0]) - 1
    means = beliefs.mean(reward)[:before]
    known = beliefs.weight[:before] >= KNOWN
    return float(means[known].max()) if before >= SEEN and known.any() else np.inf


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
        self.worker, self.room, self.capacity = arrival.number, arrival.capacity, arrival.capacity
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
                if self.options.audit and self.beliefs.heeded:
                    return self._gold(kind, self.options.audit)
            # nothing but gold tells of them where agreement is not heeded, and they had theirs
            new = 1 - self.beliefs.weight[self.worker, kind] / self.options.settled if self.beliefs.heeded else 0.0
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


RAISE = 0.1  # nats by which every task is to be surer where none is open and the mean is not there yet


class TaskLevels:
    """Levels (crowdopt.online.beliefs.state) at which tasks are closed, and what is open by the beliefs as they are.

    ``sure`` and ``level`` are (tasks,): the level from which a task is closed, without and with those that are given
    up. ``left`` is (types,): open tasks. All three are written in place.

    caution: a task is closed at an error of 1 - caution times its target.
    """

    def __init__(self, known: Known, beliefs: Beliefs, caution: float) -> None:
        self.beliefs = beliefs
        self.sure, self.level = np.zeros((2, known.n_tasks))
        self.left = np.zeros(known.types, np.int64)
        self.retarget(known, caution)

    def retarget(self, known: Known, caution: float) -> None:
        """Close tasks at these targets from now on."""
        self.known = known
        self.wanted = known.need > COVERAGE
        self.error = np.where(self.wanted, known.epsilon, 1 - 1 / known.classes)  # promised
        self.sure[:] = level_at_error(self.error * (1 - caution), known.classes)
        self.level[:] = self.sure

    @property
    def promised(self) -> float:
        """Errors that all tasks together may have."""
        return float(self.error[self.wanted].sum())

    @property
    def most(self) -> float:
        """The middling level that is promised."""
        return float(np.mean(level_at_error(self.error[self.wanted], self.known.classes)))

    @property
    def lack(self) -> float:
        """Nats until every task is sure."""
        return missing(self.beliefs.level, self.level, self.error, self.known.classes)

    @property
    def lacks(self) -> Floats:
        """The same for tasks of each type, (types,)."""
        each = missing_each(self.beliefs.level, self.level, self.error, self.known.classes)
        return np.bincount(self.known.task_type, each, self.known.types).astype(np.float64)

    @property
    def given_up(self) -> Bools:
        """Tasks that are so surely hard that labels tell next to nothing of them."""
        difficulty = self.beliefs.difficulty
        if not difficulty.share:
            return np.zeros(self.wanted.size, bool)
        return self.wanted & hopeless(difficulty, self.beliefs.hard_chance)

    @property
    def hard_and_other(self) -> tuple[float, float]:
        """Posterior errors of the tasks that are given up, and of the others, added up."""
        error, given_up = self.beliefs.error(), self.given_up
        return float(error[given_up].sum()), float(error[self.wanted & ~given_up].sum())

    def survey(self) -> float:
        """Count what is open; returns the posterior errors of the wanted tasks, added up."""
        from crowdopt.online.beliefs.belief_kernels import survey

        self.level[:] = np.where(self.given_up, -1.0, self.sure)
        others, kind = self.known.classes - 1.0, self.known.task_type
        return float(survey(self.beliefs.level, others, self.level, self.wanted, kind, self.left))

    def will_err(self, scale: float) -> bool:
        """Whether these errors over ``scale`` are above what is promised once what is out has told what is hoped."""
        from crowdopt.online.beliefs.belief_kernels import errs_more

        others = self.known.classes - 1.0
        return bool(errs_more(self.beliefs.level, self.beliefs.hoped, others, self.wanted, scale, self.promised))

    @property
    def will_be_open(self) -> bool:
        """Whether any task is open then."""
        from crowdopt.online.beliefs.belief_kernels import any_open

        return bool(any_open(self.beliefs.level, self.beliefs.hoped, self.level, self.wanted))

    def ask_more(self) -> None:
        """Every task is to be surer."""
        self.sure += RAISE
        self.survey()
