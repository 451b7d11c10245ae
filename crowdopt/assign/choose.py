"""Plans of short sets: chosen among those that prices brought; a vertex of the master first, then what it left.

The master's linear program over the sets of least regret has a vertex with few fractions: sets that it takes in whole
are taken, the rest is priced anew, and the last tasks are chosen by branch and bound. Where rows and kinds are too many
for a linear program the smoothed master's weights are sampled.

Better plans from a plan: some tasks give their sets back and are given others, by prices of what is then left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from crowdopt.arrays import Bools, Floats, Ints, alike, nth_alike
from crowdopt.assign.master import Master
from crowdopt.assign.oracle import EffortParams, Oracle, Sets
from crowdopt.assign.problem import SCALE, Problem
from crowdopt.core.certificate import Certificate, certify
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BRANCHING, BY_SIZE, Options, Solve
from crowdopt.crowd.instance import COVERAGE
from crowdopt.programs import masters


@dataclass(frozen=True)
class ChooseParams:
    """How sets are chosen."""

    heat: float = 2e-3  # of a kind's price: the temperature of the master whose weights are sampled
    steps: int = 30  # of its ascents
    part: float = 0.5  # of the tasks left take sets in a round
    least: int = 16  # tasks of a round, at least
    rounds: int = 24
    through: int = 2_000
    near: float = 0.05  # of a kind's price: dearer sets are left out of linear programs
    columns: int = 3_000  # sets in a linear program beside ``each`` of every kind and class
    each: int = 3
    rows: int = 30_000  # kinds and rows that tie tasks, up to which a linear program is solved
    chained: int = 4_000  # the same, of kinds that share rows
    whole: float = 1e-6
    hair: float = 1e-6  # of a set's cost: what chance adds
    few: float = 0.1  # of the tasks left: where a vertex takes fewer in whole, weights are sampled
    looked: int = 40  # cheap sets that are looked at before others who are alike take a place in one
    last: int = 16  # tasks that branch and bound chooses for
    nodes: int = 50
    dear: float = 20.0  # price of breaking a row that ties tasks by one, in labels


@dataclass(eq=False)
class Chooser:
    """Gives tasks sets of a pool."""

    master: Master
    oracle: Oracle
    clock: Clock
    rng: np.random.Generator
    solve: Solve
    options: Options
    effort: EffortParams = field(default_factory=EffortParams)
    params: ChooseParams = ChooseParams()
    top: Floats | None = None  # the multipliers of the last vertex of all tasks

    @property
    def problem(self) -> Problem:
        """What is planned."""
        return self.master.pool.problem

    def dive(self, tasks: Ints, given: Sets, of: Ints, duals: Floats) -> tuple[Sets, Ints]:
        """Sets for some tasks beside those that are given; -> sets and the task of each, those given among them."""
        pool, problem, params = self.master.pool, self.problem, self.params
        coupling = problem.coupling
        activity = activity_of(given, problem)
        room = problem.room - np.bincount(given.label, minlength=problem.room.size)
        left = self.rng.permutation(tasks)
        parts, owners = [given], [of]
        for number in range(params.rounds):
            if not left.size or self.clock.over:
                break
            count = np.bincount(problem.kind_of[left], minlength=problem.count.size)
            upper = coupling.upper - activity
            upper[: room.size] = np.maximum(0.0, upper[: room.size])
            sides = coupling.lower - activity, upper
            known = pool.cost.size
            if number:
                self._generate(duals, count, room, number)
            is_last = number >= params.rounds - 2
            integer, by_vertex = left.size <= params.last, not is_last and self._is_small(count)
            if by_vertex:
                kinds, chosen, duals, _ = self._vertex(count, sides, duals, integer)
                self.top = duals if left.size == problem.tasks else self.top
                batch, pick = self._handed(left, kinds, chosen)
                if integer:
                    rest = np.setdiff1d(left, batch, assume_unique=True)
                    batch, pick = np.append(batch, rest), np.append(pick, np.full(rest.size, -1))
                price = pool.prices(duals)
            if not by_vertex or (not integer and batch.size < params.few * left.size):
                solved = self.master.solve(duals, params.heat, params.steps, count, sides)
                duals, price = coupling.valid(solved.duals), solved.price
                batch = left if is_last else left[: max(params.least, int(params.part * left.size))]
                batch, pick = self._sampled(batch, price, solved.heat)
            got, new = self._served(batch, pick, duals, room)
            if not got.size and pool.cost.size == known and number:
                break
            parts.append(new)
            owners.append(got)
            activity = activity + activity_of(new, problem)
            left = np.setdiff1d(left, got, assume_unique=True)
            left = self.rng.permutation(left)
        sets, of = Sets.joined(parts), np.concatenate(owners)
        return (sets, of) if problem.short is None else self._within(sets, of)

    def _within(self, sets: Sets, of: Ints) -> tuple[Sets, Ints]:
        """Those that keep the upper sides of what ties tasks: the others' labels would take most beyond them."""
        coupling, kind = self.problem.coupling, self.problem.rows.type[sets.row[sets.owner]]
        use, kept = coupling.use(kind, sets.label, sets.owner, of.size), np.ones(of.size, bool)
        activity = np.asarray(use.sum(axis=1))
        while kept.any():
            over = np.maximum(0.0, activity - coupling.upper)
            broken = np.flatnonzero(over > COVERAGE * np.maximum(1.0, np.abs(activity)))
            gain = np.minimum(use[broken].toarray(), over[broken, None]).sum(axis=0)
            worst = int(np.where(kept, gain, -1.0).argmax())
            if gain[worst] <= 0:
                break
            kept[worst] = False
            activity = activity - use[:, [worst]].toarray()[:, 0]
        some = np.flatnonzero(kept)
        return sets.some(some), of[some]

    def _is_small(self, count: Ints) -> bool:
        """Whether the linear program of these kinds is soon solved."""
        active = np.flatnonzero(count)
        shared = int((np.diff(self.problem.row_of[active]) == 0).sum())
        rows = active.size + self.problem.coupling.lower.size
        return rows <= self.params.rows and shared <= self.params.chained

    def begin(self, duals: Floats) -> tuple[Sets, Ints, Floats]:
        """Sets that a vertex of the whole master takes in whole, their tasks, and amounts (L, G) of what is left."""
        pool, problem = self.master.pool, self.problem
        coupling = problem.coupling
        every = np.arange(problem.tasks)
        kinds, chosen, duals, share = self._vertex(problem.count, (coupling.lower, coupling.upper), duals, False)
        tasks, pick = self._handed(every, kinds, chosen)
        got, sets = self._served(tasks, pick, duals, problem.room.copy())
        amounts = np.zeros((problem.tasks_in.size, problem.room.size))
        owner = pool.sets.owner
        np.add.at(amounts, (problem.lots[1][pool.sets.row[owner]], pool.sets.label), share[owner])
        return sets, got, amounts

    def _generate(self, duals: Floats, count: Ints, room: Ints, turn: int) -> None:
        """Sets of workers who have room left, for the kinds that are left."""
        pool = self.master.pool
        free = np.where(room > 0, np.minimum(self.problem.rows.size, room), 0)
        known = pool.cheapest(pool.prices(duals))[0]
        effort = replace(self.effort, through=self.params.through, turn=turn)
        swept = self.oracle.sweep(duals, effort, self.clock, known, free, count > 0)
        if swept is not None:
            pool.add(swept.sets)

    def _vertex(
        self, count: Ints, sides: tuple[Floats, Floats], duals: Floats, integer: bool
    ) -> tuple[Ints, Ints, Floats, Floats]:
        """Sets that a vertex takes in whole, each so often: for which kinds, which ones; multipliers; parts (S,)."""
        pool, problem, params = self.master.pool, self.problem, self.params
        price = pool.prices(duals)
        least = np.minimum(pool.cheapest(price)[0], self.master.short)
        hardest = self._hardest(count > 0)
        known = hardest >= 0
        regret = np.where(known, price - least[hardest], np.inf)
        allowed = params.columns + params.each * (int((count > 0).sum()) + problem.room.size)
        near = np.flatnonzero(regret <= params.near * np.abs(least[hardest]) + 1e-9)
        if near.size > allowed:
            near = near[np.argpartition(regret[near], allowed)[:allowed]]
        near = np.sort(near)
        lacks = np.flatnonzero(sides[0][: problem.room.size] > 0)  # loads that labels which nobody needs may fill
        program, first = self._program(near, hardest, count, sides, lacks)
        found = self.solve(program, BY_SIZE, self.clock.within(self.options, None))
        if found.primal is None or found.dual is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), duals, np.zeros(pool.cost.size)
        primal, duals = found.primal, problem.coupling.valid(program.row("shared").view(found.dual).copy())
        if integer:
            which = np.zeros(program.cost.size, bool)
            which[first : first + near.size] = True
            whole = self.solve(
                replace(program, integer=which), BRANCHING, self.clock.within(self.options, params.nodes)
            )
            primal = primal if whole.primal is None else whole.primal
        times = np.floor(primal[first : first + near.size] + params.whole).astype(np.int64)
        share = np.zeros(pool.cost.size)
        share[near] = primal[first : first + near.size] - times
        return hardest[near].repeat(times), near.repeat(times), duals, share

    def _program(
        self, near: Ints, hardest: Ints, count: Ints, sides: tuple[Floats, Floats], lacks: Ints
    ) -> tuple[Program, int]:
        """The master of some sets, and the place of the first one; lacks: classes whose labels may go to nobody."""
        pool, problem, params = self.master.pool, self.problem, self.params
        active = np.flatnonzero(count)
        place = np.cumsum(count > 0) - 1
        # what sets of a kind bring beyond it serves the next easier kind of the row
        chain = np.flatnonzero(problem.row_of[active][1:] == problem.row_of[active][:-1])
        sets = pool.sets.some(near)
        owner, rows = sets.owner, problem.rows
        kind = rows.type[sets.row[owner]]
        error = pool.error
        use = problem.coupling.use(kind, sets.label, owner, near.size, None if error is None else error[near])
        served = np.concatenate([place[hardest[near]], chain + 1, chain])
        columns = np.concatenate([np.arange(near.size), near.size + np.tile(np.arange(chain.size), 2)])
        sign = np.concatenate([np.ones(near.size), -np.ones(chain.size), np.ones(chain.size)])
        own = sparse.csc_array((sign, (served, columns)), shape=(active.size, near.size + chain.size))
        cheap = rows.cost[:, lacks].argmin(axis=0)
        fill = problem.coupling.use(cheap, lacks, np.arange(lacks.size), lacks.size)
        every = sparse.hstack([use, sparse.csc_array((use.shape[0], chain.size)), fill])
        own = sparse.hstack([own, sparse.csc_array((active.size, lacks.size))])
        dear = np.full(sides[0].size, params.dear * problem.unit)
        if problem.coupling.has_budget:
            dear[-1] = params.dear
        hair = 1 + params.hair * self.rng.random(near.size)  # another vertex each time
        aim = self._aims(near) * hair
        cost = np.concatenate([aim, np.zeros(chain.size), problem.coupling.goal * problem.coupling.spare[lacks]])
        matrix = sparse.csc_array(sparse.vstack([own, every], format="csc"))
        program = masters.of_sets(sides, count[active], cost, matrix, self.master.short[active], (dear, dear))
        return program, masters.before_sets(active.size, sides[0].size)

    def _aims(self, some: Ints) -> Floats:
        """What sets count in what is minimised, (k,)."""
        pool, coupling = self.master.pool, self.problem.coupling
        aim = coupling.goal * pool.cost[some]
        return aim if pool.error is None else aim + coupling.wrong * SCALE * pool.error[some]

    def best(
        self, most: int | None = None, duals: Floats | None = None, slack: float = np.inf, tight: float = 0.0
    ) -> tuple[Certificate, Sets, Ints]:
        """The best choice of the pool's sets for all tasks, on the solver's word; none: there is no choice.

        most: so many sets, those of the least regret at ``duals``, none above the slack; tight: by how much a row of
        errors is tightened. Where that or ``most`` leaves a choice out nothing is said of what others cost.
        """
        pool, problem = self.master.pool, self.problem
        coupling, hardest = problem.coupling, self._hardest(problem.count > 0)
        upper = coupling.upper.copy()
        upper[coupling.last_own] -= tight
        sides = coupling.lower, upper
        near, all_near = np.flatnonzero(hardest >= 0), True
        if most is not None and duals is not None:
            price = pool.prices(duals)
            regret = price[near] - pool.cheapest(price)[0][hardest[near]]
            near, regret = near[regret <= slack], regret[regret <= slack]
            all_near = near.size <= most
            near = near if all_near else np.sort(near[np.argpartition(regret, most)[:most]])
        program, first = self._program(near, hardest, problem.count, sides, near[:0])
        upper, whole = program.upper.copy(), np.zeros(program.cost.size, bool)
        upper[:first], whole[first : first + near.size] = 0.0, True
        cost = program.cost.copy()
        cost[first : first + near.size] = self._aims(near)
        program = replace(program, upper=upper, integer=whole, cost=cost)
        solution = self.solve(program, BRANCHING, self.clock.within(self.options, self.options.nodes))
        known, none = certify(solution), np.zeros(0, np.int64)
        proven = known if all_near and not tight else replace(known, bound=-np.inf, proof="none")
        if solution.primal is None or not known.is_feasible():
            return proven, pool.sets.some(none), none
        times = np.rint(solution.primal[first : first + near.size]).astype(np.int64)
        tasks, pick = self._handed(np.arange(problem.tasks), hardest[near].repeat(times), near.repeat(times))
        return proven, pool.sets.some(pick), tasks

    def _hardest(self, active: Bools) -> Ints:
        """The hardest kind, of those active, that each set serves, (S,); -1: none."""
        pool, problem = self.master.pool, self.problem
        some = np.flatnonzero(active)
        begin = np.append(pool.start[some], pool.cost.size)
        last = np.searchsorted(begin[:-1], np.arange(pool.cost.size), side="right") - 1
        hardest = np.where(last >= 0, some[np.maximum(last, 0)], 0)
        return np.where((last >= 0) & (problem.row_of[hardest] == pool.sets.row), hardest, -1)

    def _handed(self, left: Ints, kinds: Ints, chosen: Ints) -> tuple[Ints, Ints]:
        """Sets to tasks of the kinds they were chosen for, or easier ones of the row: tasks, and the set of each."""
        kind_of, row_of = self.problem.kind_of, self.problem.row_of
        tasks = left[np.argsort(-kind_of[left], kind="stable")]
        order = np.argsort(-kinds, kind="stable")
        kinds, chosen = kinds[order], chosen[order]
        rows = row_of[kinds]
        # within each row the hardest task goes to the set that serves it; both descend
        place = nth_alike(-rows)
        number = np.searchsorted(-kind_of[tasks], -kinds)  # first task that is no harder
        apart = -rows * (tasks.size + kinds.size + 1)  # what one row's tasks are is nothing to the next
        turn = np.maximum.accumulate(number - place + apart) - apart + place
        inside = turn < np.searchsorted(-row_of[kind_of[tasks]], -rows, side="right")
        return tasks[turn[inside]], chosen[inside]

    def _sampled(self, batch: Ints, price: Floats, heat: Floats) -> tuple[Ints, Ints]:
        from crowdopt.assign.master_kernels import sampled

        pool, problem = self.master.pool, self.problem
        order = batch[np.argsort(problem.kind_of[batch], kind="stable")]
        chance = self.rng.random(order.size)
        pick = sampled(order, problem.kind_of, problem.row_of, pool.set_at, pool.start, price, heat, chance)
        mixed = self.rng.permutation(order.size)
        return order[mixed], pick[mixed]

    def _served(self, batch: Ints, pick: Ints, duals: Floats, room: Ints) -> tuple[Ints, Sets]:
        """Tasks that got a set, and the sets; room (G,), written."""
        from crowdopt.assign.master_kernels import served

        pool, problem = self.master.pool, self.problem
        table, kind_of, row_of = problem.coupling.prices(duals), problem.kind_of, problem.row_of
        sets = pool.sets
        label, ends, got = served(
            batch, pick, kind_of, row_of, pool.set_at, pool.prices(duals), pool.start, sets.at, sets.label,
            problem.kinds, problem.rows, table, self.twins, room, self.params.looked,
        )  # fmt: skip
        return got, Sets(row_of[kind_of[got]], np.append(0, ends), label)

    @cached_property
    def twins(self) -> tuple[Ints, Ints, Ints]:
        """Classes by what their labels are worth and by their groups, where those alike begin, and who is alike."""
        rows = self.problem.rows
        like = (
            alike(rows.worth.T, rows.group, rows.member.T)[0]
            if rows.member.size
            else alike(rows.worth.T, rows.group)[0]
        )
        order = np.argsort(like, kind="stable")
        return np.searchsorted(like[order], np.arange(int(like.max()) + 2)), order, like


def activity_of(sets: Sets, problem: Problem) -> Floats:
    """What sets take from the coupling rows in all, (rows,)."""
    error = problem.errors(sets.row, sets.owner, sets.label)
    kind = problem.rows.type[sets.row[sets.owner]]
    return problem.coupling.activity(kind, sets.label, None if error is None else float(error.sum()))


@dataclass(frozen=True)
class ImproveParams:
    """How plans are improved."""

    shares: tuple[float, ...] = (0.04, 0.1, 0.2, 0.02)  # of the tasks that give their sets back, in turn
    least: int = 12  # tasks
    idle: int = 40  # tries without a better plan that end it
    tries: int = 10_000  # at most


def score(chooser: Chooser, sets: Sets, of: Ints) -> tuple[float, float]:
    """What is wrong with sets that tasks have, then what they cost, loads filled up: less is better."""
    problem, short = chooser.problem, chooser.master.short
    coupling, activity = problem.coupling, activity_of(sets, problem)
    cost = float(problem.rows.cost[problem.rows.type[sets.row[sets.owner]], sets.label].sum())
    lacks = np.maximum(0.0, coupling.lower[: coupling.loads] - activity[: coupling.loads])
    cost += float(coupling.spare @ lacks)
    activity[: coupling.loads] += lacks
    shares = slice(coupling.loads, coupling.loads + len(coupling.weight))
    activity[shares] += coupling.weight @ lacks
    if coupling.has_budget:
        activity[-1] += float(coupling.spare @ lacks)
    over = np.maximum(0.0, activity - coupling.upper) + np.maximum(0.0, coupling.lower - activity)
    without = np.ones(problem.tasks, bool)
    without[of] = False
    if coupling.averages:
        wrong = activity[coupling.last_own]
        cost = coupling.goal * cost + coupling.wrong * float(wrong)
    return float(np.round(over.sum(), 6)), cost + 2 * float(short[problem.kind_of[without]].sum())


def improve(
    chooser: Chooser,
    sets: Sets,
    of: Ints,
    duals: Floats,
    hear: Callable[[Sets, Ints], bool],
    params: ImproveParams = ImproveParams(),
) -> tuple[Sets, Ints]:
    """Until ``hear``, of each better plan, says that will do, nothing gets better, or the time is over."""
    pool, problem, rng = chooser.master.pool, chooser.master.pool.problem, chooser.rng
    best, idle, number = score(chooser, sets, of), 0, 0
    while not chooser.clock.over and idle < params.idle and number < params.tries:
        price = pool.prices(duals)
        least = np.minimum(pool.cheapest(price)[0], chooser.master.short)
        table = problem.coupling.prices(duals)
        mine = np.bincount(sets.owner, table[problem.rows.type[sets.row[sets.owner]], sets.label], of.size)
        regret = np.maximum(0.0, mine - least[problem.kind_of[of]]) + 0.01 * np.abs(mine)
        drawn = regret * rng.exponential(size=of.size)
        size = max(params.least, int(params.shares[number % len(params.shares)] * problem.tasks))
        out = np.zeros(of.size, bool)
        out[np.argsort(-drawn)[:size]] = True
        kept = np.flatnonzero(~out)
        without = np.ones(problem.tasks, bool)
        without[of[kept]] = False
        trial, trial_of = chooser.dive(np.flatnonzero(without), sets.some(kept), of[kept], duals)
        found = score(chooser, trial, trial_of)
        number += 1
        if found <= best:
            idle = 0 if found < best else idle + 1
            better = found < best
            best, sets, of = found, trial, trial_of
            if better and hear(sets, of):
                break
        else:
            idle += 1
    return sets, of
