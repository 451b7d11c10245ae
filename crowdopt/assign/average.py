"""A promise for the average of all tasks, and a sum of money spent best: an error has a price in place of a limit.

``min sum_i c(S_i)  s.t.  sum_i e_i(S_i) <= E``, or ``min sum_i e_i(S_i)  s.t.  sum_i c(S_i) <= B``, loads in both. At
prices w of labels and r of errors a task costs ``min_S sum_S (c - w) + r e(S)`` at least. The oracle of sets that keep
a target finds that: sets that err by more than a and at most t cost at least what the cheapest set for t does, and r a.
The interval of errors where this is least is cut in two until that is what a set costs. All else is the engine's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.choose import Chooser, improve
from crowdopt.assign.master import NONE, Master, Pool
from crowdopt.assign.oracle import EffortParams, Oracle, Sets, Swept
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.prices import Climb, linear, sampled
from crowdopt.assign.problem import ANY, SCALE, Kinds, Problem, ProblemParams, problem_of, up_to
from crowdopt.assign.standing import NEVER, Solvers, Standing
from crowdopt.assign.votes import LEAST, SPARE, hardness
from crowdopt.core.certificate import BOUND, Certificate, lowered, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options, Solve
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.vote_errors import CERTAIN, breaches, most_errors
from crowdopt.errors import InputError


@dataclass(frozen=True)
class AverageParams:
    """How an average is planned."""

    cuts: int = 60  # of a task's errors, at most, in one sweep
    climbing: float = 0.5  # of the time, at most, until sets are chosen
    halvings: int = 40  # of the price of an error, at first
    targets: tuple[float, ...] = (0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003)  # of a task, for first prices of loads
    cells: int = 10_000  # lots x classes of workers of their linear programs
    near: float = 0.02  # relative to all errors that are allowed: so near that price is looked for
    rows: int = 400  # of tasks, up to which branch and bound chooses for all
    sets: int = 4_000  # for all rows together, of the least regret, that it chooses from
    every: int = 20_000  # all sets there are, up to which all are looked at
    rounds: int = 4  # of branch and bound: with more sets, or a row of errors that was missed by a hair
    tighter: float = 1e-7  # wrong answers
    noise: float = 1e-6  # of what a solver says, in money
    margin: float = 1e-9  # relative; what whoever recomputes a bound may find less


PARAMS = AverageParams()


def refuse(instance: AssignmentInstance) -> None:
    """InputError: what an average cannot heed."""
    if instance.difficulty.share:
        raise InputError(
            "a promise for the average knows no difficulty: more labels may err more there; choose rule exact-error"
        )
    if instance.min_load.any():
        raise InputError("a promise for the average knows no minimum loads; choose rule exact-error")


@dataclass(frozen=True, eq=False)
class PricedOracle(Oracle):
    """The pricing problem where errors have a price; a kind is a row of tasks."""

    floor: Floats  # (R,): no set errs less
    known: Floats  # (R,): evidence of labels that are in or fixed
    aim: float  # an error, where intervals are first cut

    def sweep(
        self,
        duals: Floats,
        effort: EffortParams,
        clock: Clock,
        known: Floats | None = None,
        room: Ints | None = None,
        some: Bools | None = None,
    ) -> Swept | None:
        """Price all rows, interval of errors by interval; as :meth:`Oracle.sweep`."""
        problem, rows = self.problem, self.floor.size
        duals = problem.coupling.valid(duals)
        rate = -float(problem.coupling.pulls(duals)[2][-1]) * SCALE  # of an error
        best, met = np.full(rows, np.inf) if known is None else known.copy(), np.full(rows, np.inf)
        found, kinds, kept, first = [NONE], [np.zeros(0, np.int64)], self.floor.copy(), replace(effort, through=0)
        # ends of intervals of errors, and what the cheapest set for each costs at least
        target, least = np.ones((rows, 1)), np.zeros((rows, 1))
        spare = np.minimum(problem.coupling.prices(duals), 0.0) * problem.rows.size
        value: Floats = spare.sum(axis=1)[problem.rows.type]
        active = np.ones(rows, bool) if some is None else some.copy()
        asked = np.ones(rows)
        if clock.over:
            return None
        for number in range(PARAMS.cuts + 1):
            which = np.flatnonzero(active)
            last = not which.size or number == PARAMS.cuts or clock.over
            if last and not effort.through:
                break
            which = np.flatnonzero(some if some is not None else np.isfinite(met)) if last else which
            swept = self._cheapest(
                which, (kept if last else asked)[which], duals, effort if last else first, clock, best, room
            )
            if swept is None:  # what is known holds
                break
            row, error, paid = which[swept.kind], self._errors(swept.sets), self._prices(swept.sets, duals)
            price = paid + rate * error
            for k in np.flatnonzero(price < met[row]).tolist():
                if price[k] < met[row[k]]:
                    met[row[k]], kept[row[k]] = price[k], error[k]
            np.minimum.at(best, row, price)
            found.append(swept.sets)
            kinds.append(row)
            if last:
                break
            lowest = asked.copy()
            least_paid = swept.value[swept.kind]
            cheapest = paid <= least_paid + 1e-5 * np.abs(least_paid) + 1e-9 * rate
            np.minimum.at(lowest, row[cheapest], error[cheapest])  # none within what was asked that errs more is less
            new, cost = np.full((rows, 2), np.nan), np.full((rows, 2), np.inf)
            new[which], cost[which] = np.column_stack([asked, lowest])[which], swept.value[:, None]
            target, least = np.column_stack([target, new]), np.column_stack([least, cost])
            asked, value, open_ = self._next(target, least, rate, best, effort.close)
            active &= open_
            if number == 0:
                asked = np.where(self.floor < self.aim, self.aim, asked)
        worth = np.minimum(value, best)
        bound = float(problem.count @ worth) + problem.coupling.pull(duals) + problem.constant
        return Swept(duals, bound, worth, best, np.zeros(rows), Sets.joined(found), np.concatenate(kinds))

    def _next(
        self, target: Floats, least: Floats, rate: float, best: Floats, close: float
    ) -> tuple[Floats, Floats, Bools]:
        """Where each row's errors are cut next, what its sets cost at least, and whether that is open."""
        order = np.lexsort((-least, np.where(np.isnan(target), np.inf, -target)), axis=1)
        target, least = (np.take_along_axis(one, order, axis=1) for one in (target, least))
        here, floor = ~np.isnan(target), self.floor[:, None]
        least = np.maximum.accumulate(np.where(here, least, -np.inf), axis=1)  # less error costs no less
        lower = np.column_stack([target[:, 1:], np.full(len(target), np.nan)])
        lower = np.where(np.isnan(lower), floor, np.maximum(lower, floor))
        possible = here & (target >= floor * (1 - 1e-12))
        bound = np.where(possible, np.where(possible, least, 0.0) + rate * np.where(possible, lower, 0.0), np.inf)
        place = bound.argmin(axis=1)[:, None]
        value, low, high = (np.take_along_axis(one, place, axis=1)[:, 0] for one in (bound, lower, target))
        worth = np.where(np.isinf(best), 0.0, close * np.abs(best)) / max(rate, 1e-300)  # to tell less apart is idle
        asked = np.sqrt(np.maximum(low, np.minimum(np.maximum(worth, 1e-14), high)) * high)
        asked = np.where(low > 0.95 * high, high * (1 - 1e-9), asked)
        near = np.where(np.isinf(best), best, best - close * np.abs(np.where(np.isinf(best), 0.0, best)))
        done = (value >= near) | (high <= low * (1 + 1e-9)) | np.isinf(value)
        return np.where(low >= high * (1 - 1e-9), high * (1 - 1e-9), asked), value, ~done

    def _cheapest(
        self, rows: Ints, target: Floats, duals: Floats, effort: EffortParams, clock: Clock, best: Floats,
        room: Ints | None,
    ) -> Swept | None:  # fmt: skip
        """The cheapest sets of rows that keep a target each."""
        problem, votes = self.problem, self.problem.votes
        assert votes is not None
        at = np.zeros(self.floor.size + 1, np.int64)
        at[rows + 1] = 1
        first, classes = votes.task[rows], int(votes.instance.classes)
        prior = np.broadcast_to(votes.instance.prior, (votes.instance.n_tasks, classes))[first]
        need = np.maximum(0.0, EXACT_ERROR.need(np.minimum(target, 0.5), classes, prior) - self.known[rows] - SPARE)
        need = np.where(target >= 1 - prior.max(axis=1), 0.0, need)
        none = np.zeros(rows.size + 1, np.int64)
        kinds = problem.kinds._replace(at=np.cumsum(at), need=need, bar_at=none)
        part = replace(
            problem,
            kinds=kinds,
            count=np.ones(rows.size, np.int64),
            row_of=rows,
            target=hardness(target + CERTAIN),
            votes=replace(votes, law=votes.law._replace(target=target + CERTAIN), need=need),
            coupling=replace(problem.coupling, rows=problem.rows),
        )
        return Oracle(part, self.threads).sweep(duals, effort, clock, best[rows], room)

    def _errors(self, sets: Sets) -> Floats:
        error = self.problem.errors(sets.row, sets.owner, sets.label)
        assert error is not None
        return error

    def _prices(self, sets: Sets, duals: Floats) -> Floats:
        """What the labels of sets cost at multipliers, errors apart."""
        table = self.problem.coupling.prices(duals)
        kind = self.problem.rows.type[sets.row[sets.owner]]
        return np.bincount(sets.owner, table[kind, sets.label], sets.row.size).astype(np.float64)


def _priced_problem(instance: AssignmentInstance, allowed: float, goal: tuple[float, float]) -> Problem:
    """The problem whose kinds are rows of tasks, any set serves, and errors have a row.

    allowed: E; goal: what money and an error count in what is minimised.
    """
    every = ProblemParams(few=ANY)  # tasks that bar others are other rows
    problem = problem_of(replace(instance, rule=EXACT_ERROR.name, epsilon=np.asarray(0.4)), every)
    rows, coupling, votes = problem.rows.type.size, problem.coupling, problem.votes
    assert votes is not None
    place, row_of = coupling.last_own + 1, problem.row_of[problem.kind_of]
    lower, upper = np.insert(coupling.lower, place, -np.inf), np.insert(coupling.upper, place, SCALE * allowed)
    own = replace(coupling, owns=coupling.owns + 1, lower=lower, upper=upper, averages=True)
    none, nothing = np.zeros(0, np.int64), np.zeros(rows)
    law = votes.law._replace(target=np.ones(rows))
    return replace(
        problem,
        kinds=Kinds(np.arange(rows + 1), nothing, np.zeros(rows + 1, np.int64), none, none),
        count=np.bincount(row_of, minlength=rows),
        row_of=np.arange(rows),
        kind_of=row_of,
        target=np.full(rows, -np.inf),
        votes=replace(votes, law=law, need=nothing, implied=np.ones(rows, bool)),
        coupling=replace(own, goal=goal[0], wrong=goal[1]),
        constant=goal[0] * problem.constant,
    )


def _oracle(problem: Problem, threads: int, aim: float) -> PricedOracle:
    votes, instance, rows = problem.votes, problem.instance, problem.rows
    assert votes is not None
    owner, classes = np.repeat(np.arange(votes.task.size), np.diff(votes.held_at)), int(instance.classes)
    worth = instance.evidence[instance.task_type[votes.task[owner]], votes.held]
    known = np.bincount(owner, worth, votes.task.size).astype(np.float64)
    every = known + (rows.worth @ np.where(problem.room > 0, rows.size, 0))[rows.type] + SPARE
    prior = np.broadcast_to(instance.prior, (instance.n_tasks, classes))[votes.task]
    least = EXACT_ERROR.error(every, classes, prior)
    return PricedOracle(problem, threads, np.maximum(least * (1 - 1e-9) - CERTAIN, LEAST), known, aim)


@dataclass(eq=False)
class Averaging:
    """One instance being planned."""

    instance: AssignmentInstance  # with its budget
    allowed: float  # E; infinite where errors are what is minimised
    solve: Solve
    options: Options
    clock: Clock
    offer: Callable[[Ints], object]  # is told of each better plan
    bound: float = -np.inf
    duals: Floats | None = None  # of the best bound
    claimed: float = -np.inf  # what plans cost at least on the solver's word
    is_complete: bool = False  # whether no set beyond the pool's can be of use

    def __post_init__(self) -> None:
        goal = (1.0, 0.0) if np.isfinite(self.allowed) else (0.0, 1.0)
        self.problem = _priced_problem(self.instance, self.allowed, goal)
        aim = min(0.4, self.allowed / self.problem.tasks) if np.isfinite(self.allowed) else PARAMS.targets[2]
        self.oracle = _oracle(self.problem, self.options.threads, aim)
        self.rng = np.random.default_rng(self.options.seed)
        self.pool = Pool(self.problem)

    @property
    def is_few(self) -> bool:
        """Whether branch and bound chooses for all tasks."""
        return self.problem.count.size <= PARAMS.rows

    def hear(self, swept: Swept) -> bool:
        """Keep what a sweep proves."""
        if swept.bound > self.bound:
            self.bound, self.duals = swept.bound, swept.duals
        return False

    def climbed(self) -> Climb | None:
        """Prices, and the sets that they bring; None where time ended before the first."""
        problem, duals = self.problem, np.zeros(self.problem.coupling.lower.size)
        clock = self.clock.part(PARAMS.climbing)
        effort = EffortParams(nodes=50, close=PARAMS.near)
        unit, every = float(problem.rows.cost.mean()), float(problem.rows.cost.max(axis=0) @ problem.room)
        low, high, swept = 0.0, None, None
        loads = self._loads_priced()
        # of errors in money, or of money in errors: where all tasks together err, or spend, about as much as they may
        price = 20.0 * unit / SCALE if np.isfinite(self.allowed) else 0.05 * SCALE / unit
        where = problem.coupling.last_own if np.isfinite(self.allowed) else -1
        for _ in range(PARAMS.halvings):
            duals[where], duals[: loads.size] = -price, loads if problem.coupling.goal else price * loads
            found = self.oracle.sweep(duals, effort, clock)
            if found is None:
                break
            self.pool.add(found.sets)
            self.hear(found)
            if not self.pool.cost.size:  # time ended before the first set
                break
            swept = found
            if np.isinf(found.bound):  # a task has no set at all
                return None
            if np.isfinite(self.allowed) and found.bound > 2 * every + 1:
                break
            spent = self._spent(duals)
            over = spent - problem.coupling.upper[where]
            if abs(over) <= PARAMS.near * abs(problem.coupling.upper[where]) or (over <= 0 and price < 1e-9):
                break
            low, high = (price, high) if over > 0 else (low, price)
            if high is not None and high - low <= PARAMS.near * high:
                break
            price = 4 * price if high is None else (low + high) / 2 if low > 0 else high / 4
        if swept is None:
            return None
        whole = problem.every_set(PARAMS.every)
        if whole is not None:
            self.pool.add(Sets(*whole[:3]))
            self.is_complete = True
        price_of = np.abs(self.pool.prices(swept.duals))
        short = np.full(problem.count.size, 50 * float(price_of.max(initial=1.0)) + 50 * unit)
        climb = Climb(problem, self.oracle, clock, self.hear, self.pool, short, best=swept)
        climb.seed(self.duals if self.duals is not None else swept.duals, self.rng)
        climb.visit(climb.duals)
        climb.run(climb.params.rounds[-1])
        return climb

    def _loads_priced(self) -> Floats:
        """Multipliers of loads in money, (G,): of the linear program for as much evidence as the average asks of all.

        Where money is given, for as much as there is a point for.
        """
        problem, votes, best = self.problem, self.problem.votes, np.zeros(self.problem.coupling.loads)
        assert votes is not None
        prior = np.broadcast_to(votes.instance.prior, (problem.tasks, int(votes.instance.classes)))[votes.task]
        for target in PARAMS.targets if np.isinf(self.allowed) else (self.oracle.aim,):
            need = EXACT_ERROR.need(np.full(votes.task.size, target), prior.shape[1], prior) - self.oracle.known
            options = self.clock.part(PARAMS.climbing).within(self.options, None)
            part = sampled(problem.by_evidence(np.maximum(0.0, need)), self.rng, PARAMS.cells)
            point, _ = linear(part, self.solve, options)
            if point is None:
                break
            best = point.duals[: best.size]
        return best

    def _spent(self, duals: Floats) -> float:
        """What all tasks take, with their cheapest sets, of errors or of money."""
        place = self.pool.cheapest(self.pool.prices(duals))[1]
        if np.isfinite(self.allowed):
            assert self.pool.error is not None
            return float(SCALE * self.problem.count @ self.pool.error[place])
        return float(self.problem.count @ self.pool.cost[place])

    def chosen(self, climb: Climb) -> Ints | None:
        """The best plan that was found, (k, 2)."""
        options = replace(self.options, gap=0.0)
        chooser = Chooser(Master(self.pool, climb.short), self.oracle, self.clock, self.rng, self.solve, options)
        best, tight, slack = None, 0.0, np.inf
        for _ in range(PARAMS.rounds):
            if best is not None and self.clock.over:
                break
            known, pairs = self._over_pool(chooser, climb, slack, tight)
            if self.is_complete:
                self.claimed = max(self.claimed, known + self.problem.constant)
            if pairs is None:
                break
            excess = float(most_errors(self.instance, pairs).sum()) - self.allowed
            if excess > CERTAIN * self.problem.tasks:
                tight += excess + PARAMS.tighter
                continue
            if best is None or self._worth(pairs) < self._worth(best):
                best = pairs
                self.offer(pairs)
            before, slack = slack, self._worth(best) - self.bound
            if np.isfinite(self.claimed) or slack <= 1e-6 * abs(self.bound) or (self.is_few and slack == before):
                break
            self.is_complete = self.is_complete or self._adds_below(slack)
        return best

    def _over_pool(self, chooser: Chooser, climb: Climb, slack: float, tight: float) -> tuple[float, Ints | None]:
        """What branch and bound says that any choice of the pool's sets costs at least, and the best one, (k, 2)."""
        problem, known = self.problem, -np.inf
        if self.is_few:
            certificate, sets, of = chooser.best(PARAMS.sets, self.duals, slack, SCALE * tight)
            known = certificate.bound
        else:
            every = np.arange(problem.tasks)
            sets, of = chooser.dive(every, NONE, every[:0], climb.duals)
            sets, of = improve(chooser, sets, of, climb.duals, lambda *_: False)
        if of.size < problem.tasks:
            return known, None
        pairs, lost = problem.pairs(of[sets.owner], sets.label, NEVER)
        return known, None if lost.size or breaches(self.instance, pairs) else pairs

    def _adds_below(self, slack: float) -> bool:
        """Add every set that a plan cheaper than bound + slack could have; whether these are all."""
        problem, rows = self.problem, self.problem.rows
        assert self.duals is not None
        table = problem.coupling.prices(self.duals)
        least = self.pool.cheapest(self.pool.prices(self.duals))[0] + slack
        if not rows.free.all() or rows.shut.size or not self.is_few or (table <= 0).any():
            return False
        for r in range(problem.count.size):
            price = table[rows.type[r]]
            most = np.minimum(rows.size, np.floor(np.minimum(least[r] / price, 1e6))).astype(np.int64)
            most[problem.room <= 0] = 0
            if np.log(most + 1.0).sum() > np.log(PARAMS.every):
                return False
            times = up_to(most)
            times = times[times @ price <= least[r]]
            label = np.tile(np.arange(most.size), len(times)).repeat(times.reshape(-1))
            self.pool.add(Sets(np.full(len(times), r), np.append(0, np.cumsum(times.sum(axis=1))), label))
        return True

    def _worth(self, pairs: Ints) -> float:
        if np.isfinite(self.allowed):
            return float(self.instance.prices(pairs).sum())
        return SCALE * float(most_errors(self.instance, pairs).sum())

    def proven(self) -> tuple[float, Duals | None]:
        """What the best prices prove, by one more sweep to the end, and these as multipliers of the instance."""
        problem, duals, bound = self.problem, self.duals, self.bound
        if duals is None:
            return bound, None
        if not problem.coupling.goal and duals[-1] > -PARAMS.noise * SCALE:  # else nothing can be said in money
            duals, bound = np.append(duals[:-1], -PARAMS.noise * SCALE), -np.inf
        clock = self.clock.part(PARAMS.climbing)
        swept = self.oracle.sweep(duals, EffortParams(nodes=20_000, close=1e-9), clock)
        bound = bound if swept is None else max(bound, swept.bound)
        size = 2 * abs(problem.coupling.pull(duals)) + 2 * abs(problem.constant) + abs(bound)
        bound = bound if np.isinf(bound) else lowered(bound - PARAMS.margin * size, size)
        self.bound = max(self.bound, bound)
        return bound, problem.multipliers(duals)


def solve_average(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None = None
) -> Plan:
    """Plan for the rule mean-error: ``min sum c  s.t.  the mean of exact errors keeps its target``."""
    refuse(instance)
    clock = Clock(options.time_limit)
    standing = Standing(instance=instance, solvers=solvers, options=options, clock=clock, listener=listener)
    try:
        work = Averaging(instance, float(instance.epsilon.sum()), standing.solve, options, clock, standing.offer)
        climb = work.climbed()
        bound, duals = work.proven()
        whole = instance.has_whole_prices
        if duals is not None:
            standing.raise_bound(next_integer(bound) if whole else bound, duals)
        if climb is not None and standing.bound < np.inf:
            work.chosen(climb)
            claimed = work.claimed - PARAMS.noise
            claimed = next_integer(claimed) if whole else claimed
            if claimed > standing.bound + BOUND * max(1.0, abs(standing.bound)):
                standing.known = Certificate(None, claimed, "solver", None, None)
    except KeyboardInterrupt:
        standing.interrupted = True
    return standing.plan()


def spending_on(instance: AssignmentInstance, solve: Solve, options: Options, clock: Clock) -> Averaging:
    """The fewest wrong answers for the instance's budget, to be planned."""
    refuse(instance)
    return Averaging(instance, np.inf, solve, options, clock, lambda _: None)
