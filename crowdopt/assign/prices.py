"""Prices of what ties tasks: a linear program over lots first, then the smoothed master and the oracle by turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.boxstep import Boxed, Fractional, box_step
from crowdopt.assign.master import Master, Pool
from crowdopt.assign.oracle import GREEDY, EffortParams, Oracle, Swept
from crowdopt.assign.problem import Problem
from crowdopt.core.clock import Clock
from crowdopt.core.solution import BY_SIZE, Options, Solution, Solve


@dataclass(frozen=True)
class PriceParams:
    """How prices are looked for."""

    cells: int = 60_000  # lots x classes of workers whose linear program is solved; beyond, that of a sample
    heat: float = 0.01  # of a kind's price: the first temperature
    cool: float = 0.4  # by which it falls
    coldest: float = 1e-5
    rounds: tuple[int, ...] = (0, 6, 14, 60)  # of master and oracle at most before each plan
    soon: tuple[int, ...] = (0, 20, 60)  # the same where they take little
    steps: int = 80  # of one ascent
    through: int = 4_000  # sets through other workers, in one round
    cold: float = 5e-4  # a temperature below which master and bound may meet
    closed: float = 3e-6  # relative gap of both at which no round follows
    idle: int = 5  # rounds without a gain before it gets colder
    deeper: int = 4  # by which nodes grow where no set is new
    nodes: int = 100_000  # at most
    proven: int = 1 << 20  # the same where votes decide, of the searches for all kinds' sets together
    closer: float = 0.002  # of the temperature: how far a bound may stay below its set
    loose: float = 0.3  # of the temperature: what sets and their bounds may lie apart
    lot: int = 150  # classes of workers in a part of the crowd that is looked at by itself
    lots: int = 4  # times that the crowd is split
    few: int = 6  # kinds of each row that sets are then looked for
    varied: int = 8  # sets of each kind at prices that chance moves, where rows are many
    wide: float = 0.5  # of a kind's price: sets that much dearer are then of interest


@dataclass(frozen=True, eq=False)
class Linear:
    """The optimum of the linear program over lots."""

    duals: Floats  # of the coupling
    amounts: Floats  # (L, G)
    value: float
    short: Floats | None = None  # (L,): part of the tasks that is left short, where some may be


def sampled(problem: Problem, rng: np.random.Generator, cells: int) -> Problem:
    """The problem, or where lots x classes of workers are more than so many a sample of its kinds, for prices alone."""
    kinds = problem.count.size
    if problem.tasks_in.size * problem.room.size <= cells or problem.is_boxed:
        return problem
    some = np.sort(rng.permutation(kinds)[: max(1, cells // problem.room.size)])
    return problem.part(some, float(problem.count[some].sum()) / problem.tasks) if some.size < kinds else problem


def linear(problem: Problem, solve: Solve, options: Options) -> tuple[Linear | None, Solution | None]:
    """The point, or None, and the solver's answer, which may prove that there is none."""
    if problem.is_boxed:
        step = stepped(problem, 0.0, solve, options)
        return (None if step is None else Linear(-step.thresholds, step.amounts.T, step.value)), None
    found = solve(problem.amounts, BY_SIZE, options)
    if found.dual is None or found.primal is None:
        return None, found
    duals = problem.coupling.valid(problem.amounts.row("tie").view(found.dual).copy())
    amounts = np.maximum(problem.amounts.column("u").view(found.primal), 0.0)
    short = None if problem.short is None else problem.amounts.column("without").view(found.primal)
    return Linear(duals, amounts, float(problem.amounts.cost @ found.primal), short), found


def stepped(problem: Problem, slack: float, solve: Solve, options: Options) -> Boxed | None:
    """The same with so much more evidence for each task, where little ties tasks and workers are very many."""
    rows, types = problem.rows, problem.lots[0]
    tables = rows.worth[types].T, rows.cost[types].T, problem.most.T.astype(np.float64)
    worth, cost, upper = (np.ascontiguousarray(table) for table in tables)
    whole = Fractional(worth, cost, problem.needed + slack * problem.tasks_in, problem.room.astype(np.float64), upper)
    return box_step(whole, solve, options)


@dataclass(eq=False)
class Climb:
    """Rounds of the smoothed master and the oracle; ``hear`` of each sweep says whether that will do."""

    problem: Problem
    oracle: Oracle
    clock: Clock
    hear: Callable[[Swept], bool]
    pool: Pool
    short: Floats  # (K,): price of leaving a task of each kind short
    aim: Oracle | None = None  # where votes decide: of evidence that is about enough, whose sets may be
    params: PriceParams = PriceParams()
    best: Swept | None = None
    effort: EffortParams = field(default_factory=EffortParams)
    first: int = 400  # nodes
    turn: int = 0
    heat: float = 0.0
    idle: int = 0  # rounds without a gain
    duals: Floats = field(default_factory=lambda: np.zeros(0))  # the master's last ones

    @property
    def proof(self) -> int:
        """Nodes of a search at most that proves a bound."""
        return min(self.params.nodes, self.params.proven // self.problem.count.size)

    def visit(self, duals: Floats, known: Floats | None = None, through: int | None = None) -> tuple[Swept, int] | None:
        """Sweep; keep its sets and what it proves; -> with how many sets were new; None where that will do."""
        self.turn += 7
        asked = self.params.through if through is None else through
        close = max(self.effort.close, self.params.closer * self.heat)
        effort = replace(self.effort, through=asked, turn=self.turn, close=close)
        swept = self.oracle.sweep(duals, effort, self.clock, known)
        if swept is None:
            return None
        new = self.pool.add(swept.sets)
        if self.aim is not None and through is None:
            many = self.problem.rows.type.size > asked // effort.each
            aimed = self.aim.sweep(duals, GREEDY if many else effort, self.clock)
            new += 0 if aimed is None else self.pool.add(aimed.sets)
        if self.best is None or swept.bound > self.best.bound:
            self.best = swept
        return None if self.hear(swept) else (swept, new)

    def step(self, duals: Floats) -> None:
        """Go on from multipliers of a vertex if they prove more."""
        before = self.best
        self.visit(duals, self.pool.cheapest(self.pool.prices(duals))[0])
        if self.best is not before:
            self.duals = duals

    def prove(self) -> None:
        """Look harder at the best multipliers, until bounds meet their sets, or nodes are as many as they may be."""
        nodes, params = self.effort.nodes, self.params
        while nodes < self.proof and self.best is not None and not self.clock.over:
            swept = self.best
            if _loose(swept, self.problem) <= params.closed * abs(swept.bound):
                break
            nodes *= params.deeper
            known = self.pool.cheapest(self.pool.prices(swept.duals))[0]
            found = self.oracle.sweep(swept.duals, replace(self.effort, nodes=nodes), self.clock, known)
            if found is None:
                break
            self.pool.add(found.sets)
            if found.bound > swept.bound:
                self.best = found
                if self.hear(found):
                    break

    def seed(self, duals: Floats, rng: np.random.Generator) -> None:
        """The pool begins with unlike sets: of workers who are together by lot, or at prices that chance moves."""
        self.heat, self.duals = self.params.heat, duals
        params, problem, groups = self.params, self.problem, self.problem.room.size
        if problem.rows.type.size > params.through // self.effort.each:
            known = self.pool.cheapest(self.pool.prices(duals))[0]
            effort = replace(self.effort, varied=params.varied, slack=params.wide, nodes=0)
            oracle = self.aim or self.oracle
            swept = oracle.sweep(duals, effort, self.clock, known if self.aim is None else None)
            if swept is not None:
                self.pool.add(swept.sets)
            return
        if groups < 2 * params.lot:
            return
        effort = replace(self.effort, through=2 * params.lot, numbers=400_000, nodes=50)
        at, rows = problem.kinds.at, problem.rows.type.size
        for _ in range(params.lots):
            some = np.zeros(problem.count.size, bool)  # a few kinds of each row
            some[(at[:-1, None] + rng.random((rows, params.few)) * np.diff(at)[:, None]).astype(np.int64)] = True
            for part in np.array_split(rng.permutation(groups), groups // params.lot):
                room = np.zeros(groups, np.int64)
                room[part] = np.where(problem.room[part] > 0, problem.rows.size[part], 0)
                swept = self.oracle.sweep(duals, effort, self.clock, None, room, some)
                if swept is None:
                    return
                self.pool.add(swept.sets)

    def run(self, rounds: int) -> bool:
        """So many rounds, or until master and bound meet, or nothing gets better; -> whether more may follow."""
        params, problem, master = self.params, self.problem, Master(self.pool, self.short)
        assert self.best is not None
        for _ in range(rounds):
            if self.clock.over:
                return False
            heat, duals = self.heat, self.duals
            solved = master.solve(duals, heat, params.steps)
            self.duals = duals = problem.coupling.valid(solved.duals)
            price = self.pool.prices(duals)
            known, before = self.pool.cheapest(price)[0], self.best.bound
            met = float(problem.count @ np.minimum(known, self.short)) + problem.coupling.pull(duals) + problem.constant
            visited = self.visit(duals, known)
            if visited is None:
                return False
            swept, new = visited
            gained = self.best.bound - before
            size = max(1e-9, abs(solved.value))
            self.idle = 0 if gained > 0.2 * heat * size else self.idle + 1
            gap = (solved.value - swept.bound) / size
            loose, most = _loose(swept, problem), params.nodes if problem.votes is None else params.deeper * self.first
            if loose > max(params.loose * heat, params.closed) * size and self.effort.nodes < most:
                self.effort = replace(self.effort, nodes=params.deeper * self.effort.nodes)
            if heat < params.cold and swept is not self.best and met <= self.best.bound:
                return False
            if new and gap > 3 * heat and self.idle < params.idle:
                continue
            if heat > params.coldest * 1.01:
                self.heat, self.idle = max(params.coldest, heat * params.cool), 0
            elif new == 0 or self.idle >= params.idle or gap < params.closed:
                return False
        return True


def _loose(swept: Swept, problem: Problem) -> float:
    """How far bounds stay below the sets that were found, all tasks together."""
    there = np.isfinite(swept.cost)
    return float(problem.count[there] @ (swept.cost[there] - swept.value[there]))
