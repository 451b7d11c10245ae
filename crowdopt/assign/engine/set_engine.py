"""The engine: prices by column generation over sets of labels, plans by diving, one way for every limit."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Floats, Ints, nth_alike
from crowdopt.assign.engine.alike import loosened, of_all
from crowdopt.assign.engine.first_prices import begin, first_bound
from crowdopt.assign.engine.given_sets import LARGE, Given, dive, repaired, serve, without_some
from crowdopt.assign.engine.prepared import (
    Levels,
    Prepared,
    finer,
    levelled,
    levels_of,
    problem_of,
)
from crowdopt.assign.engine.seating import Seating
from crowdopt.assign.engine.set_master import KnownBest, SetMaster
from crowdopt.assign.engine.set_prices import NEAR, ROUGH, Climb, sweep
from crowdopt.assign.linear.relaxation import has_whole_prices
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.certificate import next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options, Status
from crowdopt.crowd.alike import Classes
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import short_tasks
from crowdopt.programs.assignment import shares_of

PARTS = 0.08, 0.15, 0.3, 0.5  # of the tasks made anew, in turn
TRIES = 60  # plans begun without a better one
ROUGHLY = 0.01  # of the gap asked for: how near prices come to the best
IDLE, SEARCH, SEARCHED = 8, 0.4, 3_000_000  # plans without a better one, then a search: its time, and its entries
JITTER = 0.1  # of the order in which sets are fixed, after the first dive
PRICES = 0.3, 0.4, 0.3  # of the time left, for prices near the first ones, further off and free ones
NEARLY = 0.1  # of what bounds lose by levels: how near the best plan of these comes before they are made finer
FINER = 4  # times as many levels where those there are solved
WIDER = 3.0  # times as far off
DEAR = 1.05  # times the bound: what a plan costs that is a first one only
FIRST = 0.2  # of the time left, for the first sets
SOON, FIRST_PLAN = 0.2, 0.5  # of the time left, for a plan that is any good, and while there is none
SERVING = 0.35  # of the time left, for a first plan task by task
LAST = 0.9  # of the time left, for a dive
SLOW = 0.04  # of the time left, for a round of prices: more is long
PROOF = 0.3  # of the time left, for a bound at full resolution
FINE, FINE_KINDS = 60_000, 400  # steps of a search for the bound, and kinds up to which all have as many
MARGIN = 2e-7  # relative; what whoever recomputes a bound may find less
SMALL = 40_000  # pairs up to which tries are counted


@dataclass(eq=False)
class Engine:
    """A problem on its way to a plan."""

    problem: Prepared
    standing: Standing  # is offered plans and bounds
    soon: Clock  # when to give up without a plan
    seating: Seating | None  # where workers are told alike, or lack labels
    runs: Levels = field(default_factory=list)  # of needs that are told apart; without any, some of equal size
    levels: Prepared = field(init=False)
    master: SetMaster = field(init=False)
    best: Given | None = None
    solved: bool = False  # whether no plan of the levels costs less

    def __post_init__(self) -> None:
        self.runs = self.runs or levels_of(self.problem)
        self.levels = levelled(self.problem, self.runs)
        self.master = SetMaster(self.levels, self.standing.solvers.make_master)

    def run(self, first: Floats, reach: Floats) -> Floats:
        """Climb, dive, and make parts of the plan anew while there is time and a gap that these levels can close.

        first (rows,): multipliers of the coupling rows to begin with; reach (rows,): how far from 0 they may go at
        first, about; -> (rows,): the best multipliers.
        """
        clock = self.standing.clock
        near = max(NEAR, ROUGHLY * self.standing.options.gap)
        begin, most = self.levels.coupling.valid(first), self.standing.ceiling
        climb = Climb(self.levels, self.master, begin, near=near, ceiling=most)
        climb.begin(reach, self.soon)
        self._serve(climb)
        if self.standing.closed:
            return climb.duals
        climb.begin_beside(begin, clock.part(FIRST))
        self._prove(climb)
        if self.standing.closed or not self.master.has_sets:
            return climb.duals
        wider = WIDER * climb.box + float(self.problem.coupling.cost.mean())
        for part, room in zip(PRICES, (climb.box, wider, None), strict=True):
            large = self.master.size > LARGE
            if large and climb.rounds and climb.pace > SLOW * clock.left and not climb.paid:
                break  # an LP that takes long is solved a few times only: its sets are of more use in plans
            self.master.start(None if large else room)
            climb.run(clock.part(part))
            if climb.paid and self.master.size > LARGE:
                self.master.start()  # plans must keep the rows whatever that costs
            if climb.bound <= climb.ceiling:
                self._dive(climb)
            self._prove(climb)
            if not climb.paid or self.standing.closed or (self.standing.best is None and self.soon.over):
                break
        self._plans(climb)
        return climb.duals

    @property
    def is_coarse(self) -> bool:
        """Whether a level has several needs."""
        return self.levels.count.size < self.problem.count.size

    def _prove(self, climb: Climb) -> None:
        """Raise the bound by what the best multipliers prove, each kind of task with its own need."""
        clock, (loose, known) = self.standing.clock.part(PROOF), self._loose(climb.duals)
        steps = FINE if loose.count.size <= FINE_KINDS else ROUGH
        bound = sweep(loose, climb.duals, steps=steps, rich=False, known=known, until=clock).bound
        raise_bound(self.standing, self.problem, bound, climb.duals)

    def _loose(self, duals: Floats) -> tuple[Prepared, KnownBest]:
        """The problem with needs lowered and skills raised to levels, and what is known to cost no less there."""
        loose, known = levelled(self.problem, self.runs, hardest=False), self.master.known_at(duals)
        worth = np.full(loose.count.size, np.inf)
        np.minimum.at(worth, loose.kind_of, known.worth[self.levels.kind_of])
        which = np.zeros(worth.size, np.int64)
        which[loose.kind_of] = known.which[self.levels.kind_of]
        return loose, KnownBest(worth, which, known.labels)

    def finer(self, duals: Floats) -> Levels:
        """Levels cut where the hardest task's cheapest set may cost more than the easiest one's; if nowhere, all."""
        loose, known = self._loose(duals)
        clock = self.standing.clock.part(PROOF)
        low = sweep(loose, duals, rich=False, known=known, until=clock).least[loose.kind_of]
        high = self.master.known_at(duals).worth[self.levels.kind_of]
        apart = np.zeros(self.levels.count.size)
        np.maximum.at(apart, self.levels.kind_of, np.where(high > low, high - low, 0.0))
        coarse = apart > NEAR * np.abs(high).max()
        return finer(self.runs, coarse if coarse.any() else np.ones(coarse.size, bool), FINER)

    def _serve(self, climb: Climb) -> None:
        """A plan soon, task by task at the first prices."""
        if self.standing.best is None:
            clock, rng = self.standing.clock.part(SERVING), np.random.default_rng(self.standing.options.seed)
            served = serve(Given.nothing(self.levels), climb.duals, clock)
            served = repaired(served, climb.duals, rng, clock)
            self._offer(served)
            for kind, labels in served.sets:
                self.master.add(kind, labels)

    def _dive(self, climb: Climb) -> None:
        """A plan soon, if there is none yet that is any good, by the sets that the master wants."""
        standing = self.standing
        if standing.value > DEAR * standing.bound and not standing.done:
            rng = np.random.default_rng(standing.options.seed)
            part = SOON if standing.best is not None and self.master.size <= LARGE else FIRST_PLAN
            self._offer(dive(self.master, Given.nothing(self.levels), climb.duals, rng, standing.clock.part(part), 0.0))

    def _offer(self, found: Given) -> bool:
        """Whether it, or a plan that workers of its classes make of it, is better than the best one."""
        better = self.best is None or found.worth < self.best.worth
        if found.only_loads_lack:
            self._is_plan(found)  # with a label more for workers who lack some
        if found.holds and found.cost < self.standing.value and self._is_plan(found):
            better = True
        elif found.holds and self.best is not None:
            return False  # no workers of its classes can give its labels
        if not better:
            return False
        self.best = found
        return True

    def _is_plan(self, found: Given) -> bool:
        """Whether it keeps every limit of the instance, or can once workers of its classes have changed places."""
        clock = self.standing.clock
        if self.seating is None and not found.holds:
            self.seating = Seating(self.standing.instance, self.problem.classes)
        if clock.over or (self.seating is not None and clock.left < self.seating.seconds):
            return False
        pairs = self._labels_of(found, clock.part(SOON))
        if short_tasks(self.standing.instance, pairs).size:
            return False  # who changed places may have made a vote err more than it may
        return self.standing.offer(pairs)

    def _labels_of(self, found: Given, clock: Clock) -> Ints:
        """Task and worker of each label, (k, 2); tasks without a set have none."""
        pairs = plan_pairs(found)
        return pairs if self.seating is None else self.seating.seated(pairs, clock)

    def leave_partial(self) -> None:
        """Without a plan: labels of those tasks that have a set, to begin with for who goes on."""
        if self.standing.best is None and self.best is not None and self.best.sets:
            self.standing.partial = self._labels_of(self.best, Clock(0.0))

    def _plans(self, climb: Climb) -> None:
        standing, rng = self.standing, np.random.default_rng(self.standing.options.seed)
        limit = TRIES if standing.options.nodes is None else min(TRIES, standing.options.nodes)
        if standing.options.nodes is None and standing.pairs > SMALL:
            limit = sys.maxsize  # as long as there is time
        start, waited, searched = Given.nothing(self.levels), 0, False
        least = climb.value * (1 - NEAR) if climb.value < np.inf else -np.inf
        if has_whole_prices(self.problem.classes):
            least = next_integer(climb.bound)
        while not standing.done and waited < limit and not self.solved:
            clock = self.soon if standing.best is None else standing.clock
            if clock.over:
                break
            until = clock.part(LAST)  # what is found is made a plan in the rest
            found = dive(self.master, start, climb.duals, rng, until, 0.0 if self.best is None else JITTER)
            waited = 0 if self._offer(found) else waited + 1
            beyond = NEARLY * max(0.0, least - standing.bound)  # what levels cost is far more than plans may save
            self.solved = self.is_coarse and standing.best is not None and standing.value <= least + beyond
            if waited >= IDLE and not searched and not standing.done:
                searched = True
                self._search()
            assert self.best is not None
            start = without_some(self.best, climb.duals, PARTS[waited % len(PARTS)], rng)

    def _search(self) -> None:
        """The best choice of the sets known, where they are few."""
        if self.master.size <= SEARCHED:
            clock = self.standing.clock.part(SEARCH)
            options = replace(self.standing.options, time_limit=clock.left, gap=0.0)
            self._offer(Given.of(self.levels, self.master.in_whole(self.standing.solvers, options)))


def raise_bound(standing: Standing, problem: Prepared, bound: float, duals: Floats) -> None:
    """Take over what a sweep of a problem at these multipliers (rows,) has found, less what rounding may hide."""
    bound -= MARGIN * max(1.0, abs(bound)) if np.isfinite(bound) else 0.0
    if has_whole_prices(problem.classes):
        bound = next_integer(bound)
    instance = standing.instance
    full = of_all(instance, problem.classes.instance, _set_duals(problem, duals))
    beyond = float(instance.cost.max()) * instance.n_workers  # a set costs less, and time that is not there nothing
    worker = np.where(instance.capacity == 0, -beyond, full.worker)
    standing.raise_bound(bound, replace(full, worker=worker))


def pairs_of(classes: Classes, task: Ints, group: Ints) -> Ints:
    """Pairs from labels of tasks by worker classes: workers of a class take turns, so none gets a task twice.

    task, group (k,): task and worker class of each label; -> (k, 2): task and worker of each label, sorted.
    """
    members, many = np.argsort(classes.worker_class, kind="stable"), classes.worker_class.size
    if members.size == classes.workers_in.size:
        key = task * many + members[group]
    else:
        first = np.cumsum(classes.workers_in) - classes.workers_in
        order = np.lexsort((task, group))
        task, group = task[order], group[order]
        sums = np.bincount(group, minlength=first.size)
        turn = np.arange(task.size) - np.repeat(np.cumsum(sums) - sums, sums)
        key = task * many + members[first[group] + turn % classes.workers_in[group]]
    key.sort()
    pairs = np.empty((key.size, 2), np.int64)
    np.divmod(key, many, out=(pairs[:, 0], pairs[:, 1]))
    return pairs


def plan_pairs(given: Given) -> Ints:
    """Whole labels, (k, 2): tasks of a kind take its sets while there are some, workers of a class take turns."""
    problem = given.problem
    kind = problem.kind_of[problem.classes.task_class]
    tasks = np.argsort(kind, kind="stable")
    its = np.array([k for k, _ in given.sets], np.int64)
    order = np.argsort(its, kind="stable")
    its, sets = its[order], [given.sets[s][1] for s in order.tolist()]
    served = tasks[np.searchsorted(kind[tasks], its) + nth_alike(its)]
    size = np.array([one.size for one in sets], np.int64)
    return pairs_of(problem.classes, np.repeat(served, size), np.concatenate([*sets, np.zeros(0, np.int64)]))


def solve_by_sets(
    instance: AssignmentInstance,
    solvers: Solvers,
    options: Options,
    listener: Listener | None = None,
    patience: float = 1.0,
    alike: bool = False,
) -> Plan | None:
    """The plan of an instance; None where it has too many rows of tasks, or no workers are told alike.

    instance: one that :func:`crowdopt.assign.engine.prepared.accepts`; patience: of the time, after which it gives up
    without a plan; alike: whether workers are told alike whom limits that hardly bind tell apart.
    """
    clock = Clock(options.time_limit)
    standing = Standing(instance=instance, solvers=solvers, options=options, clock=clock, listener=listener)
    loose = loosened(instance) if alike else instance
    problem = None if loose is None else problem_of(loose, alike)
    if problem is None:
        return None
    solution = first_bound(standing, problem)
    if standing.done or (solution.dual is None and solution.status is not Status.UNDECIDED):
        return standing.plan()
    try:
        seating = Seating(instance, problem.classes) if alike else None
        first, reach = begin(problem, standing, solution.dual)
        engine = Engine(problem, standing, clock.part(patience), seating)
        first = engine.run(first, reach)
        while engine.is_coarse and standing.best is not None and not standing.done:
            engine = Engine(problem, standing, clock.part(patience), seating, engine.finer(first))
            first = engine.run(first, np.abs(first))
        engine.leave_partial()
    except KeyboardInterrupt:
        standing.interrupted = True
    return standing.plan()


def _set_duals(problem: Prepared, prices: Floats) -> Duals:
    """Multipliers of the coupling rows as those of the instance, each class's for each of its members."""
    classes, coupling = problem.classes, problem.coupling
    joint, start = {}, coupling.workers
    for name, _, bound in shares_of(classes.instance):
        joint[name] = prices[start : start + len(bound)].copy()
        start += len(bound)
    if len(coupling.own):
        joint["own"] = prices[start : start + len(coupling.own)].copy()
    nothing = np.zeros(classes.task_class.size)
    budget = float(prices[-1]) if coupling.has_budget else 0.0
    worker = prices[: coupling.workers][classes.worker_class]
    return Duals(
        nothing,
        worker,
        nothing,
        budget,
        form="sets",
        joint=joint,
    )
