"""How a plan is made: what is tried, in which order, and when that is enough.

A linear program over lots gives prices. One sweep at prices is a bound. Long sets are dealt from amounts, short ones
are chosen among the sets that prices bring; both are improved. Prices are the proof. Tries decide what is done next; a
clock only ends it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.choose import Chooser, ImproveParams, improve, score
from crowdopt.assign.deal import Asked, aimed, rounded
from crowdopt.assign.master import NONE, Master, Pool
from crowdopt.assign.oracle import GREEDY, EffortParams, Oracle, Sets, Swept
from crowdopt.assign.plan import Plan
from crowdopt.assign.prices import Climb, Linear, PriceParams, linear, sampled
from crowdopt.assign.problem import Problem, problem_of
from crowdopt.assign.standing import Solvers, Standing, alarm
from crowdopt.assign.state import Holding
from crowdopt.core.certificate import Certificate, certify, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.alike import of_tasks
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import open_tasks


@dataclass(frozen=True)
class SearchParams:
    """What decides how a plan is made."""

    small: int = 600  # pairs up to which the whole program comes first
    nodes: int = 200  # of its search
    whole: int = 10_000  # pairs up to which it comes at last
    none: int = 40_000  # the same, where there is no plan yet
    long: float = 4.5  # labels a task from which sets are dealt
    alike: int = 8  # tasks of a type, on average, from which they are
    near: float = 5e-5  # relative gap at which no more is tried
    dealt: float = 1.5e-4  # the same, of plans that are dealt
    far: float = 2e-3  # relative gap beyond which sets are chosen where they are dealt as well
    wrong: float = 0.05  # relative gap of chosen sets beyond which they are bettered before prices are
    tries: int = 4  # times
    more_tries: int = 12  # the same without a plan
    first: float = 1e-4  # of the bound: money beyond it that is dealt first
    deals: int = 10  # sums of money that are dealt
    idle: int = 8  # rounds of deals without a better plan that end them
    rounds: int = 60  # of sharing out
    work: int = 2_000
    bought: int = 40  # labels that are bought for tasks of a type while they share out
    lack: float = 1e-3  # of what all tasks need: where more is missing, evidence is too coarse to be shared out
    failed: int = 7  # sums of money at which labels do not suffice, after which no more is dealt
    wide: int = 64  # labels of a task for which there is room at least
    sets: int = 30_000  # all there are, up to which all are looked at
    aims: int = 2  # times that evidence is aimed at where votes decide
    many: int = 10_000  # kinds, beyond which it is aimed at once
    halvings: int = 6  # of what may be enough
    aimed: int = 200  # kinds that are looked at
    nodes_of_votes: int = 100_000  # of the searches for sets of all kinds
    more: float = 1e-2  # of the bound: as ``first``, where evidence is about enough and no more
    dealt_alone: bool = False  # whether sets that are long are dealt, and nothing else is tried
    margin: float = 2e-7  # relative; what whoever recomputes a bound may find less


@dataclass(eq=False)
class Search:
    """One problem being planned."""

    problem: Problem
    standing: Standing
    params: SearchParams = SearchParams()
    short: Floats = field(init=False)
    aim: Problem = field(init=False)  # the same where evidence decides: what labels are dealt by
    least: float = -np.inf  # what plans cost about, at least
    tries: int = 0  # plans dealt
    most: int = -1  # tasks of the best part of a plan

    def __post_init__(self) -> None:
        options = self.standing.options
        self.oracle = Oracle(self.problem, options.threads)
        self.rng = np.random.default_rng(options.seed)
        self.pool = Pool(self.problem)
        self.aim = self.problem
        self.integral = self.standing.instance.has_whole_prices

    def run(self) -> None:
        """Bounds and plans until no more is tried."""
        long = self._priced()
        if long is None:
            return
        if long:
            self.deals(None)
        if (long and self.enough(self.params.dealt)) or self.params.dealt_alone:
            return
        near = self.params.dealt if long else self.params.near
        held = self._climbed(long, near)
        self._bettered(long, near, held)

    def _priced(self) -> bool | None:
        """First prices, and whether sets are long; None where that settles it."""
        standing, problem, params, effort = self.standing, self.problem, self.params, EffortParams()
        if problem.votes is not None:
            effort = replace(effort, nodes=int(np.clip(params.nodes_of_votes // problem.count.size, 25, effort.nodes)))
        swept = self.oracle.sweep(np.zeros(problem.coupling.lower.size), effort, standing.clock)
        if swept is None or self.hear(swept):
            return None
        self.short = self.shortage(swept)
        found = standing.clock, self.hear, self.pool, self.short
        self.climb = Climb(problem, self.oracle, *found, best=swept, effort=effort, first=effort.nodes)
        self.pool.add(swept.sets)
        master, options = Master(self.pool, self.short), replace(standing.options, gap=0.0)
        self.chooser = Chooser(master, self.oracle, standing.clock, self.rng, standing.solve, options)
        for _ in range(1 if problem.votes is None or problem.count.size > params.many else params.aims):
            self.take_aim(swept)
            point = self.begin()
            if standing.done:
                return None
            assert self.climb.best is not None
            swept = self.climb.best
        return point is not None and self.is_long(point)

    def _climbed(self, long: bool, near: float) -> tuple[Sets, Ints] | None:
        """Prices of master and oracle by turns, plans between; -> the sets that were chosen, where any were."""
        standing, problem, held, more = self.standing, self.problem, None, True
        if problem.votes is not None:
            if self.climb.first == EffortParams().nodes:
                self.climb.prove()
            self.climb.aim = Oracle(self.aim, standing.options.threads)
        assert self.climb.best is not None
        self.climb.seed(self.climb.best.duals, self.rng)
        # where kinds are few for so many tasks, rounds take less than dealing does
        few = long and problem.count.size * problem.room.size < problem.tasks
        for rounds in self.climb.params.soon if few else self.climb.params.rounds:
            if not more or self.enough(near):
                break
            more = self.climb.run(rounds)
            if long and rounds and not standing.done:
                self.deals(self.climb.duals)
            if not standing.done and not (long and self.enough(self.params.far)):
                held = self.chosen(held)
        if problem.votes is not None and not self.enough(near):
            self.climb.prove()
        return held

    def _bettered(self, long: bool, near: float, held: tuple[Sets, Ints] | None) -> None:
        """Labels dealt again while that helps; what was chosen improved."""
        standing = self.standing
        best, idle = standing.value, 0
        allowed = ImproveParams().tries if standing.options.nodes is None else standing.options.nodes
        while long and idle < min(self.params.idle, allowed) and not self.enough(near):
            self.deals(self.climb.duals)
            best, idle = standing.value, 0 if standing.value < best else idle + 1
        if held is not None and not self.enough(near) and self.goes_on:
            improve(self.chooser, *held, self.climb.duals, self._better, ImproveParams(tries=allowed))

    def shortage(self, swept: Swept) -> Floats:
        """The price of leaving a task of each kind short, (K,)."""
        problem, known = self.problem, np.isfinite(swept.cost)
        if problem.short is not None:
            return problem.short
        dearest = float(swept.cost[known].max()) if known.any() else self.params.wide * problem.unit
        return 6 * np.maximum(np.where(known, swept.cost, dearest), 1e-3 * problem.unit) + 3 * problem.unit

    @property
    def goes_on(self) -> bool:
        """Whether what was chosen is bettered at last; else the whole program is searched."""
        return self.standing.best is not None or self.standing.pairs > self.params.none

    def every_set(self) -> None:
        """Where they are few: all sets there are, of which branch and bound chooses, on the solver's word."""
        standing, problem = self.standing, self.problem
        every = problem.every_set(self.params.sets)
        if every is None or standing.done:
            return
        self.pool.add(Sets(*every[:3]))
        known, sets, of = self.chooser.best()
        if of.size:
            self.offer(of[sets.owner], sets.label, np.setdiff1d(np.arange(problem.tasks), of))
        if known.bound + problem.constant > standing.bound:
            standing.known = Certificate(None, known.bound + problem.constant, "solver", None, None)

    def is_long(self, point: Linear) -> bool:
        """Whether sets are long, and tasks of a type many enough to share labels out among them."""
        problem, params = self.problem, self.params
        many = problem.tasks >= params.alike * np.unique(problem.rows.type).size
        return bool(many and point.amounts.sum() >= params.long * problem.tasks)

    def enough(self, near: float) -> bool:
        """Whether no more is tried: so near are the best plan and the bound."""
        standing = self.standing
        met = standing.best is not None and standing.value - standing.bound <= near * abs(standing.value)
        return standing.done or met

    def take_aim(self, swept: Swept) -> None:
        """Where votes decide: about as much evidence for each kind as sets have at these prices that are enough.

        By halving, of a sample where kinds are many; the others of a type have as many times their need.
        """
        problem, standing, params = self.problem, self.standing, self.params
        if problem.votes is None:
            return
        self.aim = problem.by_evidence(problem.kinds.need)
        if not self.pool.cost.size:
            return
        place, low = self.pool.cheapest(self.pool.prices(swept.duals))[1], problem.kinds.need
        sets, kind = self.pool.sets.some(np.maximum(place, 0)), problem.rows.type[problem.row_of]
        worth = problem.rows.worth[problem.rows.type[sets.row[sets.owner]], sets.label]
        high = np.maximum(low, np.where(place >= 0, np.bincount(sets.owner, worth, place.size), 3 * low))
        some, first = np.zeros(low.size, bool), high.copy()
        some[self.rng.permutation(low.size)[: params.aimed]] = True
        for _ in range(params.halvings):
            middle = (low + high) / 2
            self.aim = problem.by_evidence(middle)
            oracle = Oracle(self.aim, standing.options.threads)
            found = oracle.sweep(swept.duals, GREEDY, standing.clock, some=some)
            if found is None:
                return
            sets, enough = found.sets, np.zeros(low.size, bool)
            power = problem.power(sets.row, sets.owner, sets.label)
            self.pool.add(sets, power)
            enough[found.kind] = power >= problem.target[found.kind]
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        times = high / np.maximum(first, 1e-9)
        part = np.full(int(kind.max(initial=0)) + 1, np.median(times[some]))
        for t in np.unique(kind[some]).tolist():
            part[t] = np.median(times[some & (kind == t)])
        high = np.where(some, high, part[kind] * first)
        self.aim = problem.by_evidence(high)

    def begin(self) -> Linear | None:
        """The linear program over lots, or over those of a sample, and what its prices prove; None of a sample."""
        standing, problem, limits = self.standing, self.problem, PriceParams()
        part = sampled(self.aim, self.rng, limits.cells)
        options = standing.clock.within(standing.options, None)
        point, found = linear(part, standing.solve, options)
        if point is not None:
            self.climb.visit(point.duals, through=0)
            if part is self.aim:
                self.least = point.value + problem.constant
        elif part is self.aim:
            if problem.votes is not None:  # what is aimed at proves nothing, what every vote needs does
                _, found = linear(problem.by_evidence(problem.kinds.need), standing.solve, options)
            if found is not None and (known := certify(found)).bound == np.inf:
                standing.known = known
        return point if part is self.aim else None

    def chosen(self, held: tuple[Sets, Ints] | None) -> tuple[Sets, Ints]:
        """Sets of the pool for all tasks, and the task of each; the better ones of those and ``held``."""
        every, duals, params = np.arange(self.problem.tasks), self.climb.duals, self.params
        new = self.chooser.dive(every, NONE, every[:0], duals)
        self.offer_sets(*new)
        if self.problem.votes is not None and self.chooser.top is not None and not self.standing.done:
            self.climb.step(self.chooser.top)
        new = new if held is None else min(new, held, key=lambda one: score(self.chooser, *one))
        worth = score(self.chooser, *new)[1] + self.problem.constant
        if self.standing.best is None:
            new = improve(self.chooser, *new, duals, self._is_plan, ImproveParams(tries=params.more_tries))
        elif worth > (1 + params.wrong) * self.standing.bound and (self.problem.votes is None or self.are_many):
            new = improve(self.chooser, *new, duals, self._better, ImproveParams(tries=params.tries))
        return new

    @property
    def are_many(self) -> bool:
        """Whether kinds are so many that bounds are good and sets few, where votes decide."""
        return self.problem.count.size > self.params.aimed

    def _is_plan(self, sets: Sets, of: Ints) -> bool:
        self.offer_sets(sets, of)
        return self.standing.best is not None

    def _better(self, sets: Sets, of: Ints) -> bool:
        self.offer_sets(sets, of)
        return self.enough(self.params.near)

    def deals(self, duals: Floats | None) -> None:
        """Plans dealt for one sum of money after another, from amounts or from what a vertex of the master leaves."""
        standing, params = self.standing, self.params
        sets, of, point = NONE, np.zeros(0, np.int64), None
        if duals is not None:
            sets, of, point = self.chooser.begin(duals)
        least = max(standing.bound, self.least)
        unit = 1.0 if self.integral else 1e-5 * least
        first = params.first if self.problem.votes is None else params.more
        more = step = max(1, int(first * least / unit))
        low, high, failed = -1, None, 0
        for _ in range(params.deals):
            if self.enough(params.dealt) or (self.problem.votes is not None and least + more * unit > standing.value):
                return
            whole = self.deal(least + more * unit, sets, of, point)
            if whole is None or (high is None and failed >= params.failed):
                return
            if whole:
                high = more
            else:
                low, failed = more, failed + 1
            if high is None:
                more += step
                step *= 2
            else:
                more = (low + high) // 2 if high - low > 1 else max(0, high - 1)

    def deal(self, money: float, sets: Sets, of: Ints, point: Floats | None) -> bool | None:
        """A plan for so much money; -> whether no label had to be bought beyond; None where there are no amounts."""
        standing, problem, params = self.standing, self.aim, self.params
        solve, options = standing.solve, standing.clock.within(standing.options, None)
        slack = 0.0
        left = money - problem.constant
        if point is None:
            found = aimed(problem, money, solve, options)
            if found is None:
                return None
            point, slack = found
        rest = np.setdiff1d(np.arange(problem.tasks), of)
        rows = problem.rows
        with alarm(standing.clock) as rung:
            left -= float(rows.cost[rows.type[sets.row[sets.owner]], sets.label].sum())
            room = problem.room - np.bincount(sets.label, minlength=problem.room.size)
            amounts = rounded(problem, Asked.of(problem, rest, room), point, slack, left, rung)
            served = max(1, int((problem.target[problem.kind_of[rest]] > 0).sum()))
            wide = int(2 * np.ceil(max(1.0, amounts.sum() / served))) + 8
            self.tries += 1
            held = Holding.of_sets(problem, sets, of, wide, standing.options.seed + self.tries, rung)
            held.deal(amounts, rest)
            held.share(params.rounds, params.work)
            whole = not held.short.size
            missing = held.lack > params.lack * float(problem.count @ problem.target)
            if not whole and missing and standing.best is not None:
                return None
            if not whole and not missing:
                held.escalate(rows.cost, params.rounds // 4, params.work // 2, params.bought)
            if self.problem.votes is not None:
                held = held.judged(self.problem)
                whole = not held.short.size
            if not whole:
                held.complete(rows.cost)
            held.thin(rows.cost)
            held.fill()
            held.thin(rows.cost)
            held.mend()
        self.offer(*held.labels(), held.short)
        return None if missing and not whole and standing.best is not None else whole

    def offer_sets(self, sets: Sets, of: Ints) -> None:
        """Offer what tasks have."""
        without, coupling = np.ones(self.problem.tasks, bool), self.problem.coupling
        without[of] = False
        if without.any() or coupling.ties or (coupling.lower[: coupling.loads] > 0).any():
            price = coupling.prices(coupling.valid(self.climb.duals))
            with alarm(self.standing.clock) as rung:
                held = Holding.of_sets(self.aim, sets, of, self.params.wide, self.standing.options.seed, rung)
                if self.problem.votes is not None:
                    held.complete(price, tasks=np.flatnonzero(without))
                    held = held.judged(self.problem)
                held.complete(price)
                held.fill()
                held.thin(self.problem.rows.cost)
                held.mend()
            self.offer(*held.labels(), held.short)
        else:
            self.offer(of[sets.owner], sets.label, np.flatnonzero(without))

    def offer(self, task: Ints, label: Ints, short: Ints) -> None:
        """Offer labels as a plan, or as the part of one that serves most tasks."""
        standing, problem = self.standing, self.problem
        with alarm(standing.clock) as rung:
            pairs, lost = problem.pairs(task, label, rung)
        short = np.union1d(short, lost)
        if not short.size:
            standing.offer(pairs)
        elif standing.best is None and problem.tasks - short.size > self.most and self._fits(task, label, short):
            standing.partial, self.most = pairs[~np.isin(pairs[:, 0], short)], problem.tasks - short.size

    def _fits(self, task: Ints, label: Ints, short: Ints) -> bool:
        """Whether the labels of all others leave the upper sides of what ties tasks whole."""
        problem, kept = self.problem, ~np.isin(task, short)
        kind, upper = problem.rows.type[problem.row_of[problem.kind_of[task[kept]]]], problem.coupling.upper
        use = problem.coupling.activity(kind, label[kept])
        return bool((use <= upper + 1e-9 * np.maximum(1.0, np.abs(upper))).all())

    def hear(self, swept: Swept) -> bool:
        """Claim what a sweep proves; whether that settles it."""
        standing, problem, bound = self.standing, self.problem, swept.bound
        if np.isfinite(bound):
            size = float(problem.count @ np.abs(swept.value)) + abs(problem.constant) + abs(bound)
            bound -= self.params.margin * size
        if self.integral:
            bound = next_integer(bound)
        if bound > standing.bound:
            by_evidence = problem.votes is None and problem.rows.free.all()
            standing.raise_bound(bound, problem.multipliers(swept.duals, swept.rate if by_evidence else None))
        return standing.closed


def solve_exact(
    instance: AssignmentInstance,
    solvers: Solvers,
    options: Options,
    listener: Listener | None = None,
    params: SearchParams = SearchParams(),
) -> Plan:
    """The plan of an instance whose rule promises something of each task, whatever its limits."""
    by_votes = instance.the_rule.checked
    standing = Standing(
        instance=instance, solvers=solvers, options=options, clock=Clock(options.time_limit), listener=listener
    )
    try:
        if standing.pairs <= params.small and not (by_votes or params.dealt_alone):
            standing.in_full(params.nodes)
        if not standing.done:
            search = Search(problem_of(instance), standing, params)
            search.run()
            if not params.dealt_alone:
                search.every_set()
        most = 0 if params.dealt_alone else params.none if standing.best is None else params.whole
        if not standing.done and standing.pairs <= most:
            standing.in_full(None)
    except KeyboardInterrupt:
        standing.interrupted = True
    return standing.plan()


def quick_plan(instance: AssignmentInstance, solvers: Solvers, seconds: float) -> Ints | None:
    """A plan that keeps every limit, under any rule for each task, (k, 2): the first one found; None proves nothing.

    seconds: a limit that only very large instances reach, so that the answer does not depend on the machine.
    """
    kept = open_tasks(instance)
    part = instance if kept.size == instance.n_tasks else of_tasks(instance, kept)
    plan = solve_exact(part, solvers, Options(time_limit=seconds, gap=1.0, nodes=SearchParams().nodes))
    if plan.interrupted:  # Ctrl-C ends whoever asked, too
        raise KeyboardInterrupt
    return None if plan.pairs is None else np.column_stack([kept[plan.pairs[:, 0]], plan.pairs[:, 1]])
