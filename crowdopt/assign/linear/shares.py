"""The linear program where tasks are not alike: solved over few pairs, all pairs priced, those that pay added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.direct import LEAST, clipped, strict
from crowdopt.assign.linear.own_tasks import OwnTasks
from crowdopt.assign.linear.sweep import Prices, linked
from crowdopt.assign.standing import Solvers
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.roundoff import UNIT, sum_below
from crowdopt.core.solution import BY_SIZE, PROVEN, Options, Solution, relative_gap
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.programs import some_pairs
from crowdopt.programs.some_pairs import PairLimits, SomePairs

ADDED = 6  # workers that join a task at a time, at most
DEAR, DEARER, RAISED = 10.0, 30.0, 4  # what is missing costs so many times the dearest; then more; so many times
MISSING = 1e-7  # evidence, or labels: a solver's tolerance
CELLS = 1_000_000  # pairs that are looked at together
TIES = 1e-7  # relative to the mean label; pairs that pay nearly the same join at random, not all with one worker
PAYS = 1e-11  # relative to the task's terms; a pair that pays less than this does not


@dataclass(frozen=True, eq=False)
class OwnDuals:
    """Multipliers of the linear program's rows: ``task`` (k,) x >= 0, ``labels`` (k,) l, and those of ``prices``."""

    task: Floats
    labels: Floats
    prices: Prices

    @classmethod
    def of(cls, tasks: OwnTasks, task: Floats, labels: Floats, prices: Prices) -> OwnDuals:
        """Multipliers without what pulls on a side that is not there."""
        worker = np.where(tasks.least > 0, prices.worker, np.minimum(prices.worker, 0.0))
        budget = 0.0 if tasks.budget is None else min(0.0, prices.budget)
        labels = np.where((labels < 0) & (tasks.arrays.most == UNLIMITED), 0.0, labels)
        labels = np.where((labels > 0) & (tasks.arrays.fewest == 0), 0.0, labels)
        return cls(np.maximum(task, 0.0), labels, Prices(worker, budget))


@dataclass(frozen=True, eq=False)
class Priced:
    """What the linear program costs at least, and pairs ``task * workers + worker`` that would pay, sorted."""

    bound: float
    pairs: Ints


def price_pairs(
    tasks: OwnTasks, duals: OwnDuals, known: Ints, rng: np.random.Generator, most: int, least: Ints | None = None
) -> Priced:
    """``sum C_i x_i + a_i [l_i]+ - b_i [l_i]- + sum_j L_j [w_j]+ - M_j [w_j]- + b B + sum_ij min(0, r_ij)``.

    With ``r_ij = (1 - b) c_ij - q_ij x_i - l_i - w_j``: at most what any shares of labels cost. Less what rounding may
    have added.

    known (p,): pairs that take part already, sorted; most: new pairs of a task that pay, at most; least (k,): new pairs
    of each task in any case, also of those that do not pay, the nearest.
    """
    x, limit, arrays, m = duals.task, duals.labels, tasks.arrays, tasks.room.size
    side = np.where(limit > 0, arrays.fewest, np.where(arrays.most == UNLIMITED, 0, arrays.most))
    terms = [arrays.floor * x, side * limit, np.array([linked(tasks, duals.prices)])]
    found = [np.zeros(0, np.int64)]
    unit = TIES * float(arrays.cost.mean())
    for some, reduced, off in _parts(tasks, duals):
        terms.append(np.minimum(0.0, reduced - off[:, None]).sum(axis=1))
        mine = known[np.searchsorted(known, some[0] * m) : np.searchsorted(known, (some[-1] + 1) * m)] - some[0] * m
        reduced.reshape(-1)[mine] = np.inf
        found.append(
            some[0] * m
            + _lowest(reduced, PAYS / (8 * UNIT) * off, unit, rng, most, 0 if least is None else least[some])
        )
    return Priced(sum_below(np.concatenate(terms)), np.sort(np.concatenate(found)))


def _parts(tasks: OwnTasks, duals: OwnDuals) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Some tasks at a time, the reduced costs of their pairs (infinite where barred), and their rounding."""
    arrays, m, prices = tasks.arrays, tasks.room.size, duals.prices
    paid = (1.0 - prices.budget) * arrays.cost - prices.worker
    far = float(np.abs(prices.worker).max(initial=0.0))
    for some in np.array_split(np.arange(tasks.size), -(-tasks.size * m // CELLS)):
        row, x, limit = arrays.row[some], duals.task[some], duals.labels[some]
        worth = arrays.worth[row] * x[:, None]
        price = paid if len(paid) == 1 else paid[row]
        size = worth.max(axis=1) + np.abs(limit) + far + (1.0 - prices.budget) * float(arrays.cost.max())
        reduced = price - worth - limit[:, None]
        begin, end = arrays.starts[some[0]], arrays.starts[some[-1] + 1]
        owner = np.repeat(np.arange(some.size), np.diff(arrays.starts[some[0] : some[-1] + 2]))
        reduced[owner, arrays.barred[begin:end]] = np.inf
        yield some, reduced, 8 * UNIT * size


def _lowest(
    reduced: Floats, trifle: Floats, unit: float, rng: np.random.Generator, most: int, least: Ints | int
) -> Ints:
    """The pairs of each task that pay most, or the nearest, as places in the table."""
    m = reduced.shape[1]
    paying = (reduced < -trifle[:, None]).sum(axis=1)
    wanted = np.maximum(np.minimum(paying, most), least)
    wanted = np.minimum(wanted, m)
    width = int(wanted.max(initial=0))
    if width == 0:
        return np.zeros(0, np.int64)
    busy = np.flatnonzero(wanted)
    key = reduced[busy] + unit * rng.random((busy.size, m))
    nearest = np.sort(np.partition(key, width - 1, axis=1)[:, :width], axis=1)
    last = nearest[np.arange(busy.size), wanted[busy] - 1]
    row, worker = np.nonzero((key <= last[:, None]) & np.isfinite(key))
    return busy[row] * m + worker


@dataclass(eq=False)
class Shares:
    """The pairs that take part (``task * workers + worker``), the best multipliers, and the best shares of labels."""

    tasks: OwnTasks
    solvers: Solvers
    options: Options
    clock: Clock
    chosen: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    bound: float = -np.inf
    duals: OwnDuals | None = None
    value: float = np.inf
    best: Solution | None = None
    point: Floats | None = None
    pairs: Ints | None = None
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.options.seed)

    def solve(self, start: OwnDuals, wide: Ints) -> bool:
        """Go on until no pair pays, or time ends; False where that does not settle whether there are any shares.

        wide (k,): workers of each task to begin with, those that pay most.
        """
        self._price(start, self.tasks.room.size, wide)
        dear, raised = self._dear(start), 0
        while not (self.clock.over or self.interrupted):
            solution = self.solvers.solve(self._program(dear), BY_SIZE, self.clock.within(self.options, None))
            self.interrupted = solution.interrupted
            if solution.primal is None or solution.dual is None:
                break
            before, missing = self.chosen.size, self._missing(solution)
            if missing <= MISSING:
                self._keep(solution)
            self._price(self._duals(solution), ADDED)
            if relative_gap(self.value, self.bound) <= max(PROVEN, self.options.gap):
                break
            if self.chosen.size == before:
                if missing <= MISSING:
                    break
                if raised == RAISED:
                    return False
                dear, raised = (DEARER * dear[0], DEARER * dear[1]), raised + 1
        return True

    def _price(self, duals: OwnDuals, most: int, least: Ints | None = None) -> None:
        """Claim what the multipliers prove, and let pairs that pay take part."""
        priced = price_pairs(self.tasks, duals, self.chosen, self.rng, most, least)
        self.chosen = np.sort(np.concatenate([self.chosen, priced.pairs]))
        if priced.bound > self.bound:
            self.bound, self.duals = priced.bound, duals

    def _dear(self, duals: OwnDuals) -> tuple[float, float]:
        """What a unit of evidence, and a label, that is missing costs."""
        label = float(self.tasks.arrays.cost.max()) + float(np.abs(duals.prices.worker).max(initial=0.0)) + 1e-3
        return DEAR * max(label, float(duals.task.max(initial=0.0))), DEAR * label

    def _program(self, dear: tuple[float, float]) -> Program:
        tasks, m = self.tasks, self.tasks.room.size
        arrays, (task, worker) = tasks.arrays, np.divmod(self.chosen, m)
        row = arrays.row[task]
        cost = arrays.cost[row if len(arrays.cost) > 1 else np.zeros_like(row), worker]
        sides = PairLimits(
            need=arrays.floor,
            fewest=arrays.fewest.astype(float),
            most=np.where(arrays.most == UNLIMITED, np.inf, arrays.most),
            least=tasks.least.astype(float),
            room=tasks.room.astype(float),
            money=np.inf if tasks.budget is None else tasks.budget,
        )
        return some_pairs.of_pairs(SomePairs(task, worker, arrays.worth[row, worker], cost), sides, dear)

    def _duals(self, solution: Solution) -> OwnDuals:
        assert solution.dual is not None
        rows = {block.name: block.view(solution.dual) for block in solution.program.rows}
        prices = Prices(rows["capacity"].copy(), float(rows["budget"][0]))
        return OwnDuals.of(self.tasks, rows["cover"].copy(), rows["labels"].copy(), prices)

    def _missing(self, solution: Solution) -> float:
        """The most evidence, or labels, that were bought dearly."""
        assert solution.primal is not None
        return max(
            float(solution.program.column(name).view(solution.primal).max(initial=0.0))
            for name in ("short", "few", "under")
        )

    def _keep(self, solution: Solution) -> None:
        """Take the point if it is the cheapest yet."""
        assert solution.primal is not None
        value = float((solution.program.cost * solution.primal).sum()) + self.tasks.constant
        if value < self.value:
            self.value, self.best, self.pairs = value, solution, self.chosen
            self.point = clipped(solution.program, solution.primal)

    def strict(self) -> None:
        """Solve once more, nothing missing, rows tightened as far as a solver's tolerance makes that necessary."""
        if self.best is None:
            return
        program = self.best.program
        upper = program.upper.copy()
        for name in ("short", "few", "under"):
            program.column(name).view(upper)[:] = 0.0
        closed, within = replace(program, upper=upper), self.clock.within(self.options, None)
        self.point = strict(closed, clipped, self.solvers.solve, BY_SIZE, within, None)[1]

    def shares(self) -> tuple[Ints, Floats]:
        """Pairs ``task * workers + worker`` of the open tasks, and their shares; none without a point."""
        if self.point is None or self.pairs is None:
            return np.zeros(0, np.int64), np.zeros(0)
        amounts = self.point[: self.pairs.size]
        some = amounts > LEAST
        return self.pairs[some], amounts[some]
