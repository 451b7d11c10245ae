"""Shares of labels: the linear program, its multipliers, and both for every task and worker.

Where tasks and workers are much alike it is solved over their classes. Elsewhere the linear program over lots gives
each lot its amounts; a task has them in proportion to its need, ``y_ij = u_rj / n_r  C_i / mean C``, at the same cost,
which is at most that of any shares. Tasks for whom that breaks a limit have a program of their own, over a few workers
each at first; all pairs are priced, and those that pay join.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from crowdopt.arrays import Floats, Ints, parts_of
from crowdopt.assign.boxstep import Fractional, box_step, pays
from crowdopt.assign.direct import LEAST, clipped, strict
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.prices import PriceParams, linear, sampled
from crowdopt.assign.problem import ANY, Problem, ProblemParams, problem_of
from crowdopt.assign.standing import Solvers
from crowdopt.core.certificate import FEASIBILITY, Certificate, certify, sum_below, violation
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE, PROVEN, Listener, Options, Progress, Solution, Solve, Status, relative_gap
from crowdopt.crowd.alike import Classes, classes_of
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.vote_errors import breaches
from crowdopt.programs import aggregated, masters
from crowdopt.programs.masters import PairLimits, SomePairs

APART = ProblemParams(apart=True)
OTHERWISE = "prices for each task by itself settle nothing: the program of all tasks, which takes longer"


@dataclass(frozen=True)
class LinearParams:
    """How shares are looked for."""

    kinds: int = 32  # of tasks, and kinds x workers, up to which the program over classes is solved
    cells: int = 15_000
    free: int = 1_000  # kinds that are left to the program, at least
    most: int = 60_000  # at most
    twice: int = 2  # a kind's workers to begin with: so many times its labels at the first prices, and a few
    beside: int = 6
    added: int = 6  # workers that join a kind at a time, at most
    dear: float = 10.0  # what is missing costs so many times the dearest; then more; so many times
    dearer: float = 30.0
    raised: int = 4
    missing: float = 1e-7  # evidence, or labels: a solver's tolerance
    together: int = 1_000_000  # pairs that are looked at together
    faint: float = 1e-12  # a smaller share is none
    pays: float = 1e-11  # relative to a label's price; a pair that pays less than this does not


PARAMS = LinearParams()


def solve_linearly(
    instance: AssignmentInstance, solvers: Solvers, options: Options, listener: Listener | None = None
) -> Plan:
    """Shares of labels, ``min sum c y`` over ``0 <= y <= 1``, with multipliers, or that there are none.

    instance: without joint limits.
    """
    clock = Clock(options.time_limit)
    problem = problem_of(instance, APART)
    kinds = problem.count.size
    if kinds > PARAMS.kinds and kinds * instance.n_workers > PARAMS.cells:
        work = _Work(problem, solvers, options, clock, listener)
        if work.solve():
            return work.plan()
        if listener is not None:
            bound = work.bound if np.isfinite(work.bound) else None
            listener(Progress(clock.spent, None, bound, OTHERWISE))
        options = clock.within(options, options.nodes)
    relaxation = relax_classes(classes_of(instance), solvers.solve, options)
    known, solution = relaxation.certificate, relaxation.solution
    full = relaxation.full() if known.bound < np.inf else None
    pairs = None if full is None else np.argwhere(full > 0)
    certified = known.bound if known.proof == "certificate" else -np.inf
    amounts = None if full is None or pairs is None else full[tuple(pairs.T)]
    made = Plan.of(
        instance, "lp", known, certified, relaxation.duals(), pairs, amounts,
        method="exact", backend=solution.backend, seed=options.seed,
    )  # fmt: skip
    return replace(made, interrupted=solution.interrupted)


@dataclass(frozen=True, eq=False)
class _Prices:
    """Multipliers: ``evidence`` x >= 0 and ``labels`` l of kinds, (K,), ``ties`` of the coupling rows."""

    evidence: Floats
    labels: Floats
    ties: Floats

    def part(self, some: Ints) -> _Prices:
        """Those of some kinds."""
        return _Prices(self.evidence[some], self.labels[some], self.ties)


@dataclass(eq=False)
class _Work:
    """The best shares and the best multipliers known."""

    problem: Problem
    solvers: Solvers
    options: Options
    clock: Clock
    listener: Listener | None
    bound: float = -np.inf
    prices: _Prices | None = None
    found: tuple[Ints, Floats] | None = None
    interrupted: bool = False
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.options.seed)
        rows = self.problem.rows
        self.fewest = rows.fewest[self.problem.row_of].astype(np.float64)
        most = rows.most[self.problem.row_of]
        self.most = np.where(most >= ANY, np.inf, most)

    def solve(self) -> bool:
        """Whether there are shares, or time ended."""
        problem, params, options = self.problem, PriceParams(), self.clock.within(self.options, None)
        kinds, part = problem.count.size, sampled(problem, self.rng, params.cells)
        point, _ = linear(part, self.solvers.solve, options)
        if point is None:
            return False
        start = self._knapsacks(problem.coupling.valid(point.duals))
        self._claim(start)
        free = np.arange(kinds)
        if part is problem:
            share = self._even(point.amounts)
            free = np.flatnonzero(self._breaks(share))
            if not free.size:
                return self._offer(share, free, np.zeros(0, np.int64), np.zeros(0))
            others = np.setdiff1d(np.arange(kinds), free)
            more = max(PARAMS.free - free.size, free.size)
            free = np.union1d(free, self.rng.permutation(others)[: max(0, more)])
            if self._finish(share, free, start):
                return True
            if free.size == kinds or self.clock.over:
                return self.clock.over
        return self._finish(np.zeros((problem.tasks_in.size, problem.room.size)), np.arange(kinds), start)

    def _knapsacks(self, ties: Floats) -> _Prices:
        """The best price of evidence of each kind at multipliers of what ties tasks: its fractional knapsack's."""
        problem, none = self.problem, np.zeros(self.problem.count.size)
        rate = none.copy()
        for some, reduced in self._reduced(_Prices(none, none, ties), np.arange(none.size)):
            worth = problem.rows.worth[problem.rows.type[problem.row_of[some]]]
            ratio = np.where(worth > 0, np.maximum(reduced, 0.0) / np.maximum(worth, 1e-300), np.inf)
            order = np.argsort(ratio, axis=1)
            reached = np.cumsum(np.take_along_axis(worth * np.isfinite(ratio), order, axis=1), axis=1)
            last = np.minimum((reached < problem.kinds.need[some, None]).sum(axis=1), worth.shape[1] - 1)
            best = np.take_along_axis(ratio, np.take_along_axis(order, last[:, None], axis=1), axis=1)[:, 0]
            rate[some] = np.where((problem.kinds.need[some] > 0) & np.isfinite(best), best, 0.0)
        return _Prices(rate, none, ties)

    def _reduced(self, prices: _Prices, kinds: Ints) -> Iterator[tuple[Ints, Floats]]:
        """Some kinds at a time, and the reduced costs of their pairs, infinite where barred, (k, workers)."""
        problem, rows = self.problem, self.problem.rows
        table = problem.coupling.prices(prices.ties)
        for some in np.array_split(kinds, -(-kinds.size * problem.room.size // PARAMS.together)):
            kind = rows.type[problem.row_of[some]]
            worth = prices.evidence[some, None] * rows.worth[kind]
            reduced = table[kind] - worth - prices.labels[some, None]
            for at, where, who in ((rows.shut_at, problem.row_of[some], rows.shut), self._bars(some)):
                begin, barred = parts_of(at, where, who)
                reduced[np.repeat(np.arange(some.size), np.diff(begin)), barred] = np.inf
            reduced[:, problem.room <= 0] = np.inf
            yield some, reduced

    def _bars(self, some: Ints) -> tuple[Ints, Ints, Ints]:
        return self.problem.kinds.bar_at, some, self.problem.kinds.bar

    def _claim(self, prices: _Prices) -> None:
        """What multipliers prove: ``sum n_k (C_k x_k + a_k [l_k]+ - b_k [l_k]- + sum_j min(0, r_kj))`` and the pull."""
        problem, count = self.problem, self.problem.count
        limit = np.where((prices.labels < 0) & np.isinf(self.most), 0.0, prices.labels)
        limit = np.where((limit > 0) & (self.fewest == 0), 0.0, limit)
        prices = _Prices(np.maximum(prices.evidence, 0.0), limit, problem.coupling.valid(prices.ties))
        side = np.where(limit > 0, self.fewest, np.where(np.isinf(self.most), 0.0, self.most))
        terms = [count * problem.kinds.need * prices.evidence, count * side * limit]
        terms.append(np.array([problem.coupling.pull(prices.ties) + problem.constant]))
        for some, reduced in self._reduced(prices, np.arange(count.size)):
            terms.append(count[some] * np.minimum(0.0, reduced).sum(axis=1))
        bound = sum_below(np.concatenate(terms))
        if bound > self.bound:
            self.bound, self.prices = bound, prices
        if self.listener is not None:
            self.listener(Progress(self.clock.spent, None, self.bound, "pricing each task by itself"))

    def _even(self, amounts: Floats) -> Floats:
        """The share that a task of each lot has of each worker's label, for a unit of need, (L, workers)."""
        problem = self.problem
        share = np.maximum(amounts, 0.0) / problem.tasks_in[:, None]
        share[share <= PARAMS.faint] = 0.0
        evidence = (share * problem.rows.worth[problem.lots[0]]).sum(axis=1)
        return share / np.maximum(evidence, PARAMS.faint)[:, None]

    def _breaks(self, share: Floats) -> Ints:
        """Whether even shares break a limit of each kind, (K,)."""
        problem, lot = self.problem, self.problem.lot_of
        need, rows = problem.kinds.need, problem.rows
        labels = need * share.sum(axis=1)[lot]
        bad = (need * share.max(axis=1, initial=0.0)[lot] > 1) | (labels < self.fewest) | (labels > self.most)
        every = np.arange(need.size)
        for at, where, who in ((rows.shut_at, problem.row_of, rows.shut), self._bars(every)):
            begin, barred = parts_of(at, where, who)
            owner = np.repeat(every, np.diff(begin))
            bad[owner[(share[lot[owner], barred] > 0) & (need[owner] > 0)]] = True
        return np.asarray(bad)

    def _finish(self, share: Floats, free: Ints, start: _Prices) -> bool:
        """Shares of free kinds by a program, beside even ones of the others; whether all limits are kept."""
        problem, coupling = self.problem, self.problem.coupling
        if free.size > PARAMS.most:
            return False
        kept = np.setdiff1d(np.arange(problem.count.size), free)
        amount = (problem.count[kept] * problem.kinds.need[kept])[:, None] * share[problem.lot_of[kept]]
        used = np.zeros(coupling.lower.size)
        used[: problem.room.size] = amount.sum(axis=0)
        if coupling.has_budget:
            used[-1] = float((amount * problem.rows.cost[problem.rows.type[problem.row_of[kept]]]).sum())
        sides = coupling.lower - used, np.maximum(0.0, coupling.upper - used)
        program = _Generated(self, free, sides, start.part(free))
        if not program.solve():
            return False
        self.interrupted |= program.interrupted
        if program.best is None:
            return self.clock.over or self.interrupted
        return any(self._offer(share, free, *shares) for shares in program.shares())

    def _offer(self, share: Floats, free: Ints, cell: Ints, amount: Floats) -> bool:
        """Take the shares of all tasks if they keep every limit; cell: place among the free times workers, + worker."""
        problem, instance, m = self.problem, self.problem.instance, self.problem.room.size
        inside = np.full(problem.count.size, -1)
        inside[free] = np.arange(free.size)
        task = np.flatnonzero(inside[problem.kind_of] < 0)
        lot, need = problem.lot_of[problem.kind_of[task]], problem.kinds.need[problem.kind_of[task]]
        at = np.append(0, np.cumsum((share > 0).sum(axis=1)))
        place, who = np.nonzero(share)
        begin, worker, part = parts_of(at, lot, who, share[place, who])
        owner = np.repeat(np.arange(task.size), np.diff(begin))
        found = [(task[owner], worker, need[owner] * part)]
        order = np.lexsort((cell,))
        at = np.searchsorted(cell[order] // m, np.arange(free.size + 1))
        task = np.flatnonzero(inside[problem.kind_of] >= 0)
        begin, worker, part = parts_of(at, inside[problem.kind_of[task]], cell[order] % m, amount[order])
        found.append((np.repeat(task, np.diff(begin)), worker, part))
        task, worker, part = (np.concatenate(one) for one in zip(*found, strict=True))
        some = part > LEAST
        member = np.argsort(problem.worker_class)
        pairs = np.concatenate([np.column_stack([task[some], member[worker[some]]]), instance.fixed])
        amounts = np.concatenate([part[some], np.ones(len(instance.fixed))])
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        pairs, amounts = pairs[order], amounts[order]
        if breaches(instance, pairs, amounts):
            return False
        self.found = pairs, amounts
        return True

    def plan(self) -> Plan:
        """What is known."""
        problem, duals = self.problem, None
        if self.prices is not None:
            worker = self.prices.ties[: problem.room.size][problem.worker_class]
            budget = float(self.prices.ties[-1]) if problem.coupling.has_budget else 0.0
            kind = problem.kind_of
            duals = Duals(self.prices.evidence[kind], worker, self.prices.labels[kind], budget)
        proof = "certificate" if np.isfinite(self.bound) else "none"
        known, (pairs, amounts) = Certificate(None, self.bound, proof, None, None), self.found or (None, None)
        return Plan.of(
            problem.instance, "lp", known, self.bound, duals, pairs, amounts,
            method="exact", backend="highs", seed=self.options.seed, interrupted=self.interrupted,
        )  # fmt: skip


@dataclass(eq=False)
class _Generated:
    """The program of free kinds over pairs that take part; ``chosen``: place among the free times workers, + worker."""

    work: _Work
    free: Ints
    sides: tuple[Floats, Floats]  # of the coupling rows
    start: _Prices
    chosen: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    bound: float = -np.inf  # of the free kinds alone
    value: float = np.inf
    best: tuple[Solution, Ints] | None = None
    interrupted: bool = False

    def solve(self) -> bool:
        """Go on until no pair pays, or time ends; False where that does not settle whether there are any shares."""
        work, params = self.work, PARAMS
        problem = work.problem
        need = problem.kinds.need[self.free]
        most = problem.rows.worth[problem.rows.type[problem.row_of[self.free]]]
        mean = np.maximum(1e-9, np.sort(most, axis=1)[:, -max(1, most.shape[1] // 2) :].mean(axis=1))
        wide = params.twice * np.ceil(np.maximum(need / mean, work.fewest[self.free])).astype(np.int64) + params.beside
        self._join(self.start, problem.room.size, wide)
        label = float(problem.rows.cost.max()) + float(np.abs(self.start.ties[: problem.room.size]).max()) + 1e-3
        dear = params.dear * max(label, float(self.start.evidence.max(initial=0.0))), params.dear * label
        raised = 0
        while not (work.clock.over or self.interrupted):
            solution = work.solvers.solve(self._program(dear), BY_SIZE, work.clock.within(work.options, None))
            self.interrupted = solution.interrupted
            if solution.primal is None or solution.dual is None:
                break
            missing = self._missing(solution)
            value = float((solution.program.cost * solution.primal).sum())
            if missing <= params.missing and value < self.value:
                self.value, self.best = value, (solution, self.chosen)
            before = self.chosen.size
            prices = self._prices(solution)
            self._join(prices, params.added)
            self._claim(prices)
            if relative_gap(self.value, self.bound) <= max(PROVEN, work.options.gap):
                break
            if self.chosen.size == before:
                if missing <= params.missing:
                    break
                if raised == params.raised:
                    return False
                dear, raised = (params.dearer * dear[0], params.dearer * dear[1]), raised + 1
        return True

    def _join(self, prices: _Prices, most: int, least: Ints | None = None) -> None:
        """Let pairs that pay take part, so many of a kind; ``least``: in any case, the nearest."""
        work, m = self.work, self.work.problem.room.size
        count, total = work.problem.count, 0.0
        every = np.zeros(work.problem.count.size)
        evidence, labels = every.copy(), every.copy()
        evidence[self.free], labels[self.free] = prices.evidence, prices.labels
        whole, found, begin = _Prices(evidence, labels, prices.ties), [self.chosen], 0
        trifle = PARAMS.pays * work.problem.unit
        for some, reduced in work._reduced(whole, self.free):
            total += float(count[some] @ np.minimum(0.0, reduced).sum(axis=1))
            mine = self.chosen[(self.chosen >= begin * m) & (self.chosen < (begin + some.size) * m)] - begin * m
            reduced.reshape(-1)[mine] = np.inf
            wanted = np.minimum((reduced < -trifle).sum(axis=1), most)
            wanted = wanted if least is None else np.maximum(wanted, least[begin : begin + some.size])
            width = int(min(m, wanted.max(initial=0)))
            if width:
                key = reduced + 1e-7 * work.problem.unit * work.rng.random(reduced.shape)
                order = np.argpartition(key, width - 1, axis=1)[:, :width]
                near = np.take_along_axis(key, order, axis=1)
                rank = np.argsort(np.argsort(near, axis=1), axis=1)
                row, place = np.nonzero((rank < wanted[:, None]) & np.isfinite(near))
                found.append((begin + row) * m + order[row, place])
            begin += some.size
        self.chosen = np.sort(np.concatenate(found))
        lower, upper = self.sides
        ties, free = prices.ties, self.free
        up, down = (ties > 0) & np.isfinite(lower), (ties < 0) & np.isfinite(upper)
        side = np.where(prices.labels > 0, work.fewest[free], np.where(np.isinf(work.most[free]), 0.0, work.most[free]))
        own = count[free] @ (work.problem.kinds.need[free] * prices.evidence + side * prices.labels)
        self.bound = max(self.bound, total + float(own + lower[up] @ ties[up] + upper[down] @ ties[down]))

    def _claim(self, prices: _Prices) -> None:
        """Of all kinds, each other one's price of evidence the best at these multipliers."""
        work = self.work
        whole = work._knapsacks(work.problem.coupling.valid(prices.ties))
        evidence, labels = whole.evidence.copy(), whole.labels.copy()
        evidence[self.free], labels[self.free] = prices.evidence, prices.labels
        work._claim(_Prices(evidence, labels, prices.ties))

    def _program(self, dear: tuple[float, float]) -> Program:
        problem, free, work = self.work.problem, self.free, self.work
        place, worker = np.divmod(self.chosen, problem.room.size)
        kind, count = problem.rows.type[problem.row_of[free]], problem.count[free].astype(np.float64)
        worth, cost = problem.rows.worth[kind[place], worker], problem.rows.cost[kind[place], worker]
        groups, (lower, upper) = problem.room.size, self.sides
        sides = PairLimits(
            need=count * problem.kinds.need[free],
            fewest=count * work.fewest[free],
            most=count * work.most[free],
            least=np.maximum(0.0, lower[:groups]),
            room=upper[:groups],
            money=float(upper[-1]) if problem.coupling.has_budget else np.inf,
        )
        return masters.of_pairs(SomePairs(place, worker, worth, cost, count[place]), sides, dear)

    def _prices(self, solution: Solution) -> _Prices:
        assert solution.dual is not None
        rows = {block.name: block.view(solution.dual) for block in solution.program.rows}
        ties = np.zeros(self.work.problem.coupling.lower.size)
        ties[: self.work.problem.room.size] = rows["capacity"]
        if self.work.problem.coupling.has_budget:
            ties[-1] = min(0.0, float(rows["budget"][0]))
        return _Prices(np.maximum(0.0, rows["cover"]), rows["labels"].copy(), self.work.problem.coupling.valid(ties))

    def _missing(self, solution: Solution) -> float:
        """The most evidence, or labels, that were bought dearly."""
        assert solution.primal is not None
        return max(
            float(solution.program.column(name).view(solution.primal).max(initial=0.0))
            for name in ("short", "few", "under")
        )

    def shares(self) -> Iterator[tuple[Ints, Floats]]:
        """Pairs and shares: of the best point, then of one with rows tightened, where that is missed by a hair."""
        assert self.best is not None
        solution, chosen = self.best
        program = solution.program
        assert solution.primal is not None
        count = self.work.problem.count[self.free[chosen // self.work.problem.room.size]]
        point = clipped(program, solution.primal)
        if point is not None:
            yield chosen, point[: chosen.size] / count
        upper = program.upper.copy()
        for name in ("short", "few", "under"):
            program.column(name).view(upper)[:] = 0.0
        closed, within = replace(program, upper=upper), self.work.clock.within(self.work.options, None)
        point = strict(closed, clipped, self.work.solvers.solve, BY_SIZE, within, None)[1]
        if point is not None:
            yield chosen, point[: chosen.size] / count


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The aggregated LP as solved; its Lagrangian bound is that of the full program, evaluated block by block."""

    classes: Classes
    solution: Solution
    certificate: Certificate

    @property
    def amounts(self) -> Floats | None:
        """Labels per pair of classes, (T, G)."""
        if self.solution.primal is None:
            return None
        amounts: Floats = self.solution.program.column("u").view(self.solution.primal)
        return np.maximum(amounts, 0.0)

    def full(self) -> Floats | None:
        """The full primal y, (tasks, workers): ``u_tg / (n_t s_g)``."""
        return None if self.amounts is None else self.classes.spread(self.amounts)

    def duals(self) -> Duals | None:
        """The full program's row multipliers: each class's for each of its members."""
        if self.solution.dual is None:
            return None
        return Duals.of_rows(self.solution.program, self.solution.dual).of_members(self.classes)


def relax_classes(classes: Classes, solve: Solve, options: Options) -> Relaxation:
    """Solve the aggregated LP."""
    program = aggregated.of_classes(classes)
    solution = _stepped(classes, program, solve, options) if _is_plain(classes) else None
    if solution is None:
        solution = solve(program, BY_SIZE, options)
    return Relaxation(classes, solution, certify(solution))


def _stepped(classes: Classes, program: Program, solve: Solve, options: Options) -> Solution | None:
    """The box-step's optimum as the program's, where it keeps the rows that the steps do not know."""
    started = perf_counter()
    whole = Fractional(
        np.ascontiguousarray(classes.evidence.T),
        np.ascontiguousarray(classes.cost.T),
        classes.tasks_in * classes.floor,
        (classes.workers_in * classes.capacity).astype(float),
        np.ascontiguousarray((classes.tasks_in[:, None] * classes.room).T.astype(float)),
    )
    step = box_step(whole, solve, options)
    if step is None or violation(program, point := step.amounts.T.reshape(-1)) > FEASIBILITY:
        return None
    multipliers = np.zeros(program.row_lower.size)
    multipliers[program.row("cover").span] = step.prices
    multipliers[program.row("capacity").span] = -step.thresholds
    seconds = perf_counter() - started
    return Solution(program, "box-step", Status.OPTIMAL, point, multipliers, None, step.value, seconds, "box-step")


def _is_plain(classes: Classes) -> bool:
    """Whether the LP has nothing but needs and capacities, and is large enough for the box-step."""
    plain = not classes.min_load.any() and not classes.least.any() and not classes.fewest.any()
    unlimited = bool((classes.most == UNLIMITED).all()) and classes.instance.budget is None
    return plain and unlimited and pays(*classes.evidence.shape)
