"""Quick questions to an instance: do shares do, do whole labels do, what is the bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.certificate import certify, lagrangian_bound
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BY_SIZE, WARM, Options, Solve
from crowdopt.crowd.alike import Classes, classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import breaches
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import aggregated, missing

NOTICE = 1e-6  # evidence, labels or money; a lack below this is solver noise
GROWTH = (1.0, 1.02, 1.06, 1.15, 1.3, 1.6, 2.2, 4.0)  # times what the LP says, until whole labels do
MODEST = 5_000  # pairs up to which what the LP says is tried as it is: beyond, whole labels hardly ever fit so tightly
SHARE = 0.5  # of the time left for one plan of whole labels, which hardly ever takes so long: its work is limited


@dataclass(frozen=True, eq=False)
class ElasticPoint:
    """A feasible point of a program, with its multipliers where there are any."""

    program: Program
    primal: Floats  # (columns,): the point
    dual: Floats | None  # (rows,): multipliers in the house's sign

    def column(self, name: str) -> Floats:
        """Values of a block of columns."""
        return self.program.column(name).view(self.primal)

    @property
    def beyond(self) -> float:
        """Sum of all columns but the first block: in an elastic program, all that is missing."""
        return float(self.primal[self.program.columns[0].stop :].sum())


@dataclass(frozen=True)
class Probe:
    """Whoever solves programs, looks for plans, and watches the clock."""

    solve: Solve
    # ``(instance, seconds) -> pairs`` of any plan of whole labels, or None; it gives up after so much work, not so many
    # seconds, so that a slower machine gives the same answer
    plan: Callable[[AssignmentInstance, float], Ints | None]
    clock: Clock  # when to stop asking

    def run(self, program: Program) -> ElasticPoint | None:
        """Solve one LP or small IP; None without a point."""
        solution = self.solve(program, BY_SIZE, Options(time_limit=self.clock.left))
        if solution.primal is None or not certify(solution).is_feasible():
            return None
        return ElasticPoint(program, solution.primal, solution.dual)

    def elastic(self, classes: Classes, joint_too: bool = True) -> ElasticPoint | None:
        """What is missing at least, over classes; joint limits may be missed too, or are kept."""
        return self.run(missing.elastic(aggregated.of_classes(classes), None if joint_too else missing.SINGLE))

    def has_shares(self, instance: AssignmentInstance) -> bool:
        """Whether the LP relaxation of the rule has a point."""
        point = self.elastic(classes_of(relaxation(instance), joint=True))
        return point is not None and point.beyond <= NOTICE

    def lacks_shares(self, instance: AssignmentInstance) -> bool:
        """Whether multipliers prove that not even shares of labels would do; False where that is not known."""
        program = missing.elastic(aggregated.of_classes(classes_of(relaxation(instance), joint=True)))
        point = self.run(program)
        dual = None if point is None else point.dual
        return dual is not None and lagrangian_bound(program, _at_most_one(program, dual)) > NOTICE

    def bound(self, instance: AssignmentInstance) -> float:
        """The least cost by the LP; infinite where it has no point."""
        options = Options(time_limit=self.clock.left)
        program = aggregated.of_classes(classes_of(relaxation(instance), joint=True))
        return certify(self.solve(program, WARM, options)).bound

    def find(self, instance: AssignmentInstance) -> Ints | None:
        """Any plan of whole labels that keeps every limit, found soon; None where none was."""
        if self.clock.over:
            return None
        pairs = self.plan(instance, SHARE * self.clock.left)
        return None if pairs is None or breaches(instance, pairs) else pairs


def _at_most_one(program: Program, dual: Floats) -> Floats:
    """The multipliers of an elastic program, none above the price of 1 at which its row may be missed: noise."""
    held = dual.copy()
    for block in program.columns[1:]:
        row = program.row(block.name.partition(".")[2])
        held[row.span] = np.clip(held[row.span], -1.0, 1.0)
    return held


def without_budget(instance: AssignmentInstance) -> AssignmentInstance:
    """The instance with all the money in the world."""
    return replace(instance, budget=None)


def growth(instance: AssignmentInstance) -> list[tuple[int, float]]:
    """How much more than what the LP says is tried, step by step: so much beyond so many times as much."""
    steps = list(enumerate(GROWTH))
    return steps if instance.n_tasks * instance.n_workers <= MODEST else steps[1:]
