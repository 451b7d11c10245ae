"""The linear program where tasks are not alike: solved over few pairs, all pairs priced, those that pay added."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.direct import LEAST, clipped, strict
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.reduced_costs import OwnDuals, price_pairs
from crowdopt.assign.individual.prices.sweep import Prices
from crowdopt.assign.standing import Solvers
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE, PROVEN, Options, Solution, relative_gap
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.programs import some_pairs
from crowdopt.programs.some_pairs import PairLimits, SomePairs

ADDED = 6  # workers that join a task at a time, at most
DEAR, DEARER, RAISED = 10.0, 30.0, 4  # what is missing costs so many times the dearest; then more; so many times
MISSING = 1e-7  # evidence, or labels: a solver's tolerance


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
