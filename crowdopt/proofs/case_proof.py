"""The bound of a small program by cases of whole columns, each closed by multipliers of its linear program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.certificate import INTEGRALITY
from crowdopt.core.program import Program, relax
from crowdopt.core.solution import Solution
from crowdopt.proofs.deep import Deep, run
from crowdopt.proofs.derivation import GOAL, Derivation
from crowdopt.proofs.exact_program import ExactProgram, fractions
from crowdopt.proofs.linear_proof import OWN, Assumed, Completed, completed, rows_used
from crowdopt.proofs.unproven import Unproven
from crowdopt.proofs.whole_values import raised, value_step, write_bound

Solve: TypeAlias = Callable[[Program], Solution]

CASES = 1_000  # linear programs that are solved; beyond, the bound stays unproven


def prove_by_cases(steps: Derivation, exact: ExactProgram, solve: Solve, aim: Fraction) -> Fraction | None:
    """That no whole point costs less than ``aim``; None where that takes too many cases, or is not so."""
    done = run(_Cases(steps, exact, solve, aim).close(relax(exact.program), OWN))
    return None if done is None else aim


class _Cases:
    """Writes a case as soon as it is closed."""

    def __init__(self, steps: Derivation, exact: ExactProgram, solve: Solve, aim: Fraction) -> None:
        self.steps, self.exact, self.solve, self.aim = steps, exact, solve, aim
        self.goal = dict(enumerate(exact.cost))
        self.step, self.count = value_step(exact), 0

    def close(self, program: Program, box: Assumed) -> Deep[int | None]:
        """The number of the constraint that says that a case's points cost at least ``aim``."""
        self.count += 1
        if self.count > CASES:
            return None
        solution = self.solve(program)
        closed = self._leaf(solution, box)
        if closed is not None or solution.primal is None:
            return closed
        off = np.abs(solution.primal - np.rint(solution.primal)) * self.exact.program.integer
        column = int(np.argmax(off))
        if off[column] <= INTEGRALITY:
            return None
        split: int | None = yield self._split(program, column, solution.primal[column], box)
        return split

    def _split(self, program: Program, column: int, value: float, box: Assumed) -> Deep[int | None]:
        cut, steps = int(np.floor(value)), self.steps
        upper, lower = program.upper.copy(), program.lower.copy()
        upper[column], lower[column] = cut, cut + 1
        below = steps.assumed("L", cut, [(column, 1)])
        high = {**box.high, column: (below, Fraction(cut))}
        one = yield self.close(replace(program, upper=upper), box._replace(high=high))
        if one is None:
            return None
        above = steps.assumed("G", cut + 1, [(column, 1)])
        low = {**box.low, column: (above, Fraction(cut + 1))}
        two = yield self.close(replace(program, lower=lower), box._replace(low=low))
        return None if two is None else steps.either("G", self.aim, GOAL, (one, below), (two, above))

    def _leaf(self, solution: Solution, box: Assumed) -> int | None:
        if solution.ray is not None:
            empty = self._completed({}, solution.ray, box)
            if empty is not None and empty.side > 0:
                return self.steps.combined("G", 1, (), [(number, f / empty.side) for number, f in empty.factors])
        found = None if solution.dual is None else self._completed(self.goal, solution.dual, box)
        if found is None or raised(found.side, self.step) < self.aim:
            return None
        write_bound(self.steps, self.exact, found, self.step)
        return self.steps.first + self.steps.count - 1

    def _completed(self, goal: dict[int, Fraction], multipliers: Floats, box: Assumed) -> Completed | None:
        try:
            return completed(self.exact, goal, rows_used(self.exact, fractions(np.nan_to_num(multipliers))), box)
        except Unproven:
            return None
