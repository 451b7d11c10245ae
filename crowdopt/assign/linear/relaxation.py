"""The LP over classes: its optimum, its multipliers, and both of them for the full program."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.boxstep import Fractional, box_step, pays
from crowdopt.assign.plan import Duals
from crowdopt.core.certificate import FEASIBILITY, Certificate, certify, violation
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE, Options, Solution, Solve, Status
from crowdopt.crowd.alike import Classes
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.programs import aggregated


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


def has_whole_prices(classes: Classes) -> bool:
    """Whether every plan's cost is an integer."""
    return bool((classes.cost == np.rint(classes.cost)).all())


def _is_plain(classes: Classes) -> bool:
    """Whether the LP has nothing but needs and capacities, and is large enough for the box-step."""
    plain = not classes.min_load.any() and not classes.least.any() and not classes.fewest.any()
    unlimited = bool((classes.most == UNLIMITED).all()) and classes.instance.budget is None
    return plain and unlimited and pays(*classes.evidence.shape)
